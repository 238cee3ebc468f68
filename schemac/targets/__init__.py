"""The engines: one file each, and the only files that know one.

Floor: 9 (targets). A new target is one file here that exposes `TARGET`.
"""
