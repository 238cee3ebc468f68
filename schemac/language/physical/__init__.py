"""Arrow-shaped values: what a schema has become once its attributes are encodings.

Layer: language. pyarrow's own types are the vocabulary; there is no copy of them here.
"""
