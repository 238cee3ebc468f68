"""Artifacts on disk: written whole or not at all, with their provenance beside them.

Layer: artifacts.
"""
