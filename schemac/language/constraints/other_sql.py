"""What SQL has and conditions do not, and what to write instead.

Layer: language.
Rule: what Spark, Arrow and Python could calculate differently is refused; each refusal names another way, or the page that has all of the language.
"""

PAGE = "see `schemac explain SC327` for what can be written"

_PATTERN = "set `schemac.dev/pattern` on the field, which takes a regular expression"
_LENGTH = "the only function is `length`, for text; let the pipeline fill a field with the result of another function (`expr`), and compare that field"
_ITEMS = "set `schemac.dev/minItems` or `schemac.dev/maxItems` on the list"
_TEXT_ALONE = "write the text alone, such as '2020-01-31' or '2020-01-31T13:45:00Z'"
_MEMBERS = "write conditions of single values, and join them by `and` and `or`"

INSTEAD = {
    "/": "multiply instead: write `a = 2 * b` for `a / 2 = b`",
    "%": "set `schemac.dev/multipleOf` on the field",
    "like": _PATTERN,
    "ilike": _PATTERN,
    "rlike": _PATTERN,
    "regexp": _PATTERN,
    "similar": _PATTERN,
    "date": _TEXT_ALONE,
    "time": _TEXT_ALONE,
    "timestamp": _TEXT_ALONE,
    "interval": "compare with a value that is written out, such as '2020-01-31'",
    "case": _MEMBERS,
    "xor": "write `(a and not b) or (b and not a)`",
    "exists": "set `schemac.dev/references` on the schema, which looks values up in another dataset",
    "select": "set `schemac.dev/references` on the schema, which looks values up in another dataset",
    ":": "leave the cast out: numbers of any width are compared with each other exactly",
    "cast": "leave the cast out: numbers of any width are compared with each other exactly",
    "coalesce": "write `a is null or a > 1`; where a value is null, a condition holds",
    "|": "compare the texts one by one",
    ";": "leave it out",
    '"': "write texts in single quotes, and names in backticks",
    "null": "write `is null` or `is not null`; where a value is null, every other condition holds",
    "size": _ITEMS,
    "cardinality": _ITEMS,
    "array_length": _ITEMS,
    "'": "write a quote inside of a text twice, as in 'it''s'",
    "is": "write the field alone, or `not` before it",
}
"""Words and characters of SQL in small letters, with what is in their place."""


def instead_of(word: str) -> str:
    """Return what to write in place of a word or a character."""
    return INSTEAD.get(word.lower(), PAGE)


def instead_of_function(name: str) -> str:
    """Return what to write in place of a function."""
    return INSTEAD.get(name.lower(), _LENGTH)
