"""Arrow-shaped values: what a schema has become once its attributes are encodings.

Floor: 1 (physical). pyarrow's own types are the vocabulary; there is no copy of them here.
"""
