"""Judges of one schema: what a grammar cannot see.

Layer: language.
"""
