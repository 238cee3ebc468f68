"""Makes rows of a dataset: good ones, and for each rule one that breaks it.

Layer: rows.
Shape: `sampler.Sampler` yields record batches that keep everything that the schema says. Values come from `values` and `patterns`, rows
       that are unique or refer to others from `columns`; what breaks a condition is thrown away. `wrong_records` changes good records until they
       break one rule. `values` writes rows as text, too.
Rule: the same seed gives the same rows, whatever the version of Python: `numbers` draws them; it is made of a hash function, not of Python's generator.
"""
