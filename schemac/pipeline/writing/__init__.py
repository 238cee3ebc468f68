"""Rows into the table, or a format of Spark, and the others into the quarantine, committed once.

Layer: pipeline.
"""
