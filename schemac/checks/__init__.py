"""Judges of one schema: what a grammar cannot see.

Floor: 6 (checks).
"""
