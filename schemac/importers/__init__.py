"""Importers: existing files and tables into manifests, one file for each source.

Layer: importers.
"""
