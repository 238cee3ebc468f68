"""Findings as text for people and for machines: one file a format.

Floor: 0 (source).
"""
