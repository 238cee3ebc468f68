"""The digits of a JSON number as they stand in the record.

Layer: pipeline.
Source: Spark's variant keeps a number with an exponent, or with more than 38 digits, as a double, and `to_json` writes the
        shortest digits of that double. They are the record's own up to 15 digits; beyond, only the record has them.
Shape: SQL text. The record is written anew with such numbers as strings, which a variant keeps letter by letter.
"""

from schemac.pipeline.inputs import Json, variant_path
from schemac.pipeline.sqltext import literal, parsed, when

OPENED, CLOSED = "\x01", "\x02"
"""Characters that no JSON text can hold unescaped."""
LONG_NUMBERS = r'("(?:[^"\\]++|\\.)*+")|(-?[0-9]++(?:\.[0-9]++)?[eE][+-]?[0-9]++|-?[0-9.]{39,}+)'
SURE_DIGITS = 15


def is_double(source: Json) -> str:
    """Whether the variant has the value as a double."""
    return f"(schema_of_variant({source.variant}) = 'DOUBLE')"


def exact_token(source: Json, raw: str, text: str) -> str:
    """Take the token as the record has it; `text` is the token as the variant has it, which for all others is the same."""
    marked = f"regexp_replace({raw}, {literal(LONG_NUMBERS)}, {literal(f'$1{OPENED}$2{CLOSED}')})"
    quoted = marked
    for old, new in ((OPENED + CLOSED, ""), (OPENED, '"'), (CLOSED, '"')):
        quoted = f"replace({quoted}, {literal(old)}, {literal(new)})"
    found = f"try_variant_get({parsed(quoted)}, {literal(variant_path(source.steps))}, 'string')"
    return when(is_double(source), f"coalesce({found}, {text})", text)


def is_unsure(source: Json, text: str) -> str:
    """Whether digits may have been lost on the way: for values inside lists and maps, whose record is out of reach."""
    digits = f"length(regexp_replace({text}, {literal('[eE].*|[^0-9]')}, ''))"
    # A double that is zero may be one that was too small to be told from it.
    is_zero = f"not {text} rlike '[1-9]'"
    return f"({is_double(source)} and ({digits} > {SURE_DIGITS} or {is_zero}))"
