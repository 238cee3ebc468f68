"""Backfill: rows of a table get values in some columns, computed from the rows themselves, or joined from other sources.

Layer: pipeline.
Shape: `joins` brings in other sources, `frame` compiles one frame of Spark over parts of the table, `task` writes the values of a part,
       `runs` drives all of it to one commit. What a pipeline file may say is in `conforming.backfill_settings`, what calls Python in
       `values.python_functions`.
"""
