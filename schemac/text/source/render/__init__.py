"""Findings as text for people and for machines: one file a format.

Layer: text.
"""
