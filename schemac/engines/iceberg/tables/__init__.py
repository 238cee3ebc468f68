"""Real tables of Iceberg: as they are, and how they are changed.

Layer: engines.
"""
