"""What fits a type, and which value a text is: the one definition, for records that are text and for columns with a type.

Layer: rows.
Shape: `tokens` reads JSON with exact numbers; `scalars` and `timestamps` turn the text of one value into a value or the name of a rule,
       `parts` puts lists, maps and structs together, and `judge.Judge` reads whole records. `typed_values` reads columns that came with a
       type; `proofs` says of which of their values that is certain, many at a time. `loose` makes Arrow of what was read.
"""
