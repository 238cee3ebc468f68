"""Judges records that are text, one by one, in plain Python: the value of each field, or every reason why it has none.

Layer: rows.
Shape: `judge.Judge` is made of an Arrow schema and `settings.Settings`, and compiles one reader for each field. It gives what the
       pipeline's expressions for Spark (`schemac/pipeline/conforming/projection.py`) give, to the letter; a test runs both on the
       same records. `tokens` reads JSON as Spark's variant keeps it, `scalars` and `timestamps` turn the text of one value
       into a value or the name of a rule, `parts` puts lists, maps and structs together, `arrays` makes Arrow of the values.
"""
