"""The words of `extra`: one file a domain, each attribute with its value's type and where it may stand.

Layer: attributes. Knows kinds by name only.
"""
