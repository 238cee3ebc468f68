"""Identity: every field keeps an id for life, and the lock file remembers it.

Layer: versions.
"""
