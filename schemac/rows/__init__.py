"""Validation of rows with reasons, sample rows, and the parts of runs over rows.

Layer: rows.
Shape: `judging` says what fits a type, and which value a text is; `validation` judges tables and rows by it, `samples` makes rows that
       keep every rule, and `runs` says what a run is. Nothing here knows Spark or an engine.
"""
