"""The digits of a JSON number as they stand in the record.

Layer: pipeline.
Source: Spark's variant keeps a number with an exponent, or with more than 38 digits, as a double, and `to_json` writes the
        shortest digits of that double. They are the record's own up to 15 digits; beyond, only the record has them.
Shape: SQL text. The record is written anew with such numbers as strings, which a variant keeps letter by letter. For a list
       or a map these strings begin with a mark, by which whoever reads an item tells the number from a string.
"""

import pyarrow as pa

from schemac.judging.forms import MAY_BE_LONG
from schemac.pipeline.spark.sqltext import literal, parsed, when
from schemac.pipeline.values.inputs import NUMBER_MARK, Json, variant_path
from schemac.pipeline.values.scalars import scalar_of
from schemac.pipeline.values.shapes import is_list, is_scalar

__all__ = [
    "MAY_BE_LONG",
    "exact_token",
    "has_exact",
    "is_unsure",
    "with_numbers_marked",
    "with_numbers_quoted",
]

OPENED, CLOSED = "\x01", "\x02"
"""Characters that no JSON text can hold unescaped."""
LONG_NUMBERS = r'("(?:[^"\\]++|\\.)*+")|(-?[0-9]++(?:\.[0-9]++)?[eE][+-]?[0-9]++|-?[0-9.]{39,}+)'
SURE_DIGITS = 15


def has_exact(field: pa.Field) -> bool:
    """Whether each digit counts of some number inside a value of the field."""
    if is_scalar(field):
        return scalar_of(field).is_exact
    data_type = field.type
    if is_list(data_type):
        return has_exact(data_type.value_field)
    if pa.types.is_map(data_type):
        return has_exact(data_type.item_field)
    return any(has_exact(member) for member in data_type)


def with_numbers_quoted(text: str, opening: str = '"') -> str:
    """Quote those numbers of a JSON text whose digits a variant may lose."""
    found = f"regexp_replace({text}, {literal(LONG_NUMBERS)}, {literal(f'$1{OPENED}$2{CLOSED}')})"
    for old, new in ((OPENED + CLOSED, ""), (OPENED, opening), (CLOSED, '"')):
        found = f"replace({found}, {literal(old)}, {literal(new)})"
    return found


def with_numbers_marked(text: str) -> str:
    """Quote and mark them; a text without such numbers stays as it is."""
    return when(f"{text} rlike {literal(MAY_BE_LONG)}", with_numbers_quoted(text, f'"{NUMBER_MARK}'), text)


def is_double(source: Json) -> str:
    """Whether the variant has the value as a double."""
    return f"(schema_of_variant({source.variant}) = 'DOUBLE')"


def exact_token(source: Json, raw: str, text: str) -> str:
    """Take the token as the record has it; `text` is the token as the variant has it, which for all others is the same."""
    found = f"try_variant_get({parsed(with_numbers_quoted(raw))}, {literal(variant_path(source.steps))}, 'string')"
    return when(is_double(source), f"coalesce({found}, {text})", text)


def is_unsure(source: Json, text: str) -> str:
    """Whether digits may have been lost on the way: for variants whose text is out of reach."""
    digits = f"length(regexp_replace({text}, {literal('[eE].*|[^0-9]')}, ''))"
    # A double that is zero may be one that was too small to be told from it.
    is_zero = f"not {text} rlike '[1-9]'"
    return f"({is_double(source)} and ({digits} > {SURE_DIGITS} or {is_zero}))"
