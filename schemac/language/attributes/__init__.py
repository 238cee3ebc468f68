"""The words of `extra`: one file a domain, each attribute with its value's type and where it may stand.

Layer: language. Knows kinds by name only.
Shape: here are the domains that the core itself understands: `lance.org` among them, for its words are metadata of the lowered
Arrow fields. The domain of an engine is a file of that engine, which `registry` finds.
"""
