"""The digits of numbers of JSON that are written again by Spark, as records of the items of a list are.

Layer: pipeline.
Source: Spark's variant keeps a number with an exponent, or with more than 38 digits, as a double, and `to_json` writes the
        shortest digits of that double. They are the record's own up to 15 digits; beyond, only the record has them.
Shape: SQL text. The record is written anew with such numbers as strings that begin with a mark, which a variant keeps letter by letter.
"""

from schemac.pipeline.reading.inputs import NUMBER_MARK
from schemac.pipeline.spark.sqltext import literal, when

MAY_BE_LONG = "[0-9][eE][+-]?[0-9]|[0-9.]{39}"
"""A record without it has no number that a variant keeps as a double."""
OPENED, CLOSED = "\x01", "\x02"
"""Characters that no JSON text can hold unescaped."""
LONG_NUMBERS = r'("(?:[^"\\]++|\\.)*+")|(-?[0-9]++(?:\.[0-9]++)?[eE][+-]?[0-9]++|-?[0-9.]{39,}+)'


def with_numbers_marked(text: str) -> str:
    """Quote and mark the numbers of a JSON text whose digits a variant may lose; a text without them stays as it is."""
    marked = f"regexp_replace({text}, {literal(LONG_NUMBERS)}, {literal(f'$1{OPENED}$2{CLOSED}')})"
    for old, new in ((OPENED + CLOSED, ""), (OPENED, f'"{NUMBER_MARK}'), (CLOSED, '"')):
        marked = f"replace({marked}, {literal(old)}, {literal(new)})"
    return when(f"{text} rlike {literal(MAY_BE_LONG)}", marked, text)
