"""What stands already: files and tables into manifests, one file a source.

Layer: importers.
"""
