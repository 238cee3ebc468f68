"""Validates records: which fit a schema, and why the others do not.

Layer: rows.
Shape: a `validator.Validator` takes batches of texts or of columns, from programs and from pipelines alike. A column is read many values at
       a time where a proof takes them, and one by one where none does; then come the constraints of values (`broken_values`).
       `validating.validated` takes what `sources` recognizes, compares rows with each other and with other tables (`broken_rows`), and
       gives a `result.Validation`.
"""
