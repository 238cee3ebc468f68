"""The kinds of types: one file a kind, or a tight family, with everything that the kind answers for itself.

Layer: language. A new kind is one file here and its module in `registry.py`.
"""
