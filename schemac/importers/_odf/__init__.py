"""What the ODF importer leans on: the standard's binary forms.

Floor: 10 (importers).
"""
