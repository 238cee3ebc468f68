"""Manifests: the documents that schemas are in, the friendly forms, and the way to logical values.

Layer: language.
"""
