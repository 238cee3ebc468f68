"""Backfill: rows of a table get values in some columns, computed from the rows themselves, or joined from other sources.

Layer: pipeline.
Shape: `frame` compiles one frame of Spark over parts of the table and the sources that are joined, `task` writes the values of a part.
       `pipeline.runner` drives all of it to one commit. What a pipeline file may say is in `conforming.mapping`, what calls Python in
       `spark.python_functions`.
"""
