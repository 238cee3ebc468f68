"""Which engines there are, and what each of them can do.

Layer: registry.
"""
