"""Artifacts on disk: written whole or not at all, with their provenance next to them.

Layer: artifacts.
"""
