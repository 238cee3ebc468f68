"""What stands already: files and tables into manifests, one file a source.

Floor: 10 (importers).
"""
