"""Constraints of values: what they mean, whether they can be kept, and which values of Arrow arrays break them.

Layer: language.
"""
