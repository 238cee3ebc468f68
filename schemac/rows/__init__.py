"""Which rows fit a schema, and why the others do not; sample rows; and what a run over rows is.

Layer: rows.
Shape: `judging` says what fits a type, and which value a text is; `validation` judges tables and rows by it, `samples` makes rows that
       keep every rule, and `runs` says what a run is. Nothing here knows Spark or an engine.
"""
