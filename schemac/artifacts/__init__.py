"""Artifacts on disk: written whole or not at all, with their provenance beside them.

Floor: 11 (artifacts).
"""
