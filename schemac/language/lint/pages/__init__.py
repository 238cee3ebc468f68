"""The pages of rules.

Layer: language.
"""
