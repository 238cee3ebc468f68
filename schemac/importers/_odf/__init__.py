"""What the ODF importer leans on: the standard's binary forms.

Floor: 7 (importers).
"""
