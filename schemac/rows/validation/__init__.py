"""Judges tables and rows that a program holds: which fit a dataset, and why the others do not.

Layer: rows.
Shape: `validating.validated` takes what `sources` recognizes and gives a `result.Validation`. A column is judged many values at a time
       where `judging.proofs` proves them, and one by one where it does not; then come the constraints: of values
       (`broken_values`), and of rows among each other and against other tables (`broken_rows`).
"""
