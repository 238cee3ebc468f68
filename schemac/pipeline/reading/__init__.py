"""Sources: their files and tables into records, none of which is lost, each with its exact text or typed columns.

Layer: pipeline.
"""
