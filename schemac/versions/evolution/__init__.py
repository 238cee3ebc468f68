"""Two versions of a schema: what changed, what engines make of it, and the steps to get there.

Layer: versions.
"""
