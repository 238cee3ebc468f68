"""What fits a type, and which value a text is: the one definition, for records that are text and for columns with a type.

Layer: rows.
Shape: `tokens` reads JSON with exact numbers; `scalars` turns the text of one value into a value or the name of a rule,
       `judge` puts lists, maps and structs together, and `judge.RecordReader` reads whole records; `typed_values` reads columns that came with a
       type. That is the definition. `json_proofs`, `text_proofs` and `column_proofs` read what is certain to be read alike many values at a time:
       tokens of JSON, texts, and columns with a type. `typed_values` makes Arrow of what was read one by one.
"""
