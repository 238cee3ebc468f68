"""Versions of a schema: the ids of fields in a lock file, what changed, and what it means for each engine.

Layer: versions.
"""
