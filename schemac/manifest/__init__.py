"""Manifests: the documents that schemas stand in, the friendly forms, and the way to logical values.

Layer: manifest.
"""
