"""Identity: every field keeps an id for life, and the lock file remembers it.

Floor: 8 (identity).
"""
