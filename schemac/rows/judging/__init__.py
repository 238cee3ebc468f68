"""What fits a type, and which value a text is: the one definition, for records that are text and for columns with a type.

Layer: rows.
Shape: `tokens` reads JSON with exact numbers; `scalars` turns the text of one value into a value or the name of a rule,
       `judge` puts lists, maps and structs together, and `judge.RecordReader` has the readers of a record; `typed_values` reads columns that
       came with a type. That is the definition. `proofs` says how what is certain to be read alike is read many values at a time: tokens of
       JSON by `json_proofs`, texts by `text_proofs`, objects of Python by `object_proofs`, and columns with a type by `column_proofs`.
       `typed_values` makes Arrow of what was read one by one.
"""
