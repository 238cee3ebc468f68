"""The pages of rules.

Layer: lint.
"""
