"""Manifests in one style: the same values with the same comments, laid out alike.

Layer: language.
"""
