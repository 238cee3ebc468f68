"""Validates records: which fit a schema, and why the others do not.

Layer: rows.
Shape: a `validator.Validator` takes batches of texts or of columns, from programs and from pipelines alike. A column is read many values at
       a time where a proof takes them, and one by one where none does; then come the constraints of values (`validator`).
       `validating.validated` takes the rows that a program has, compares rows with each other and with other tables (`row_constraints`), and
       gives a `result.Validation`.
"""
