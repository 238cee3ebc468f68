"""Backfill: rows of a table get values in some columns, computed from the rows themselves, or joined from other sources.

Layer: pipeline.
Shape: `settings` says what a pipeline file may have, `functions` calls Python, `joins` brings in other sources, `frame` compiles one frame
       of Spark over parts of the table, `task` writes the values of a part, `runs` drives all of it to one commit.
"""
