"""Makes rows of a dataset: good ones, and for each rule one that breaks it.

Layer: rows.
Shape: `sampler.Sampler` yields record batches that keep everything that the schema says. Values come from `values` and `patterns`, rows
       that are unique or refer to others from `plan`; what breaks a condition is thrown away. `wrong` changes good records until they
       break one rule. `written` writes rows as text.
Rule: the same seed gives the same rows, whatever the version of Python: `draws` is made of a hash function, not of Python's generator.
"""
