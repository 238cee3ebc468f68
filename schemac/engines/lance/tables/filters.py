"""Filters of Lance that find rows with certain values.

Layer: engines.
Source: DataFusion's `arrow_try_cast`, as pylance 14.0.2 takes it (`tests/conformance/test_values.py` asks for every pair of
types whether the filter finds exactly the rows that are in the way).
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

from schemac.language.attributes.attribute import NUMBERS, Family
from schemac.language.constraints.constraint import Constraint, scale_of
from schemac.language.constraints.field_constraints import Bound, Enum, MultipleOf, Pattern, Size
from schemac.language.kinds.answers import UNITS_BY_ARROW
from schemac.language.logical.schema_fields import SchemaField, is_in_structs
from schemac.versions.evolution.changes import Change
from schemac.versions.evolution.constraints import constraint_of, verify_of
from schemac.versions.evolution.diff import clock_of
from schemac.versions.evolution.version_pair import SchemaVersion, VersionPair

_PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_NUMBERS = NUMBERS | {Family.DECIMAL, Family.BOOLEAN}


def misfit_filter(pair: VersionPair, before: SchemaField, field: SchemaField) -> str:
    """Return the filter of rows whose value changes when it is cast to the new type and back; empty if Lance cannot express it."""
    old, new = _arrow(pair.old, before), _arrow(pair.new, field)
    # Lance's casts there and back keep to the rule for numbers, for durations, and for timestamps by one clock; but
    # DataFusion stops at a day that a timestamp does not reach, try or not.
    family = before.type.family
    is_asked_alike = {family, field.type.family} <= _NUMBERS
    if before.type.kind == field.type.kind:
        is_one_clock = family is Family.TIMESTAMP and clock_of(before, field) in ("", "UTC")
        is_asked_alike = is_asked_alike or is_one_clock or family is Family.DURATION
    if not is_in_structs(before) or not is_asked_alike:
        return ""
    there, back = _word(new), _word(old)
    if not there or not back:
        return ""
    name = column_name(before)
    # To DataFusion -0.0 is not 0, which is all that a number without a sign for it can give back.
    is_signed = before.type.family is Family.FLOAT and field.type.family is not Family.FLOAT
    itself = f"{name} + 0" if is_signed else name
    return f"arrow_try_cast(arrow_try_cast({name}, '{there}'), '{back}') IS DISTINCT FROM {itself}"


def null_filter(before: SchemaField) -> str:
    """Find the rows where a field is null and what is around it is not; empty inside lists and maps."""
    if not is_in_structs(before):
        return ""
    around = f"{column_name(before.parent)} IS NOT NULL AND " if before.parent is not None else ""
    return f"{around}{column_name(before)} IS NULL"


def how_to_find(change: Change, pair: VersionPair | None) -> str:
    """Return how to find the rows of a table that break a new constraint."""
    constraint = constraint_of(change)
    query = ""
    if constraint is not None and pair is not None and change.old_field is not None:
        query = constraint_filter(pair, change.old_field, constraint)
    return f"find the rows with the filter `{query}`" if query else verify_of(change)


def constraint_filter(pair: VersionPair, before: SchemaField, constraint: Constraint) -> str:
    """Return the filter of rows that break a constraint of the new version; empty if Lance cannot express it.

    Values below lists and maps have no name in a filter.
    """
    type_ = _arrow(pair.old, before)
    is_named = is_in_structs(before) and not pa.types.is_nested(type_)
    # DataFusion reads no number as a decimal with a negative scale.
    if not is_named or before.type.type_text() != constraint.type.type_text() or scale_of(before.type) < 0:
        return ""
    name, word = column_name(before), _word(type_) or _TEMPORAL_WORDS.get(str(type_), "")

    def value(one: Any) -> str:
        if isinstance(one, str):
            return "'" + one.replace("'", "''") + "'"
        if isinstance(one, bool):
            return str(one).lower()
        return (
            f"arrow_cast('{one:f}', '{word}')"
            if isinstance(one, Decimal)
            else f"arrow_cast({one!r}, '{word}')"
        )

    is_text = before.type.family is Family.TEXT
    match constraint:
        case Bound() if word:
            is_nan = f" OR isnan({name})" if before.type.family is Family.FLOAT else ""
            return f"NOT ({name} {constraint.operator} {value(constraint.limit)}){is_nan}"
        case Enum() if word or is_text:
            return f"{name} NOT IN ({', '.join(map(value, constraint.values))})"
        case MultipleOf() if word and before.type.family is Family.INTEGER:
            return f"{name} % {value(constraint.divisor)} <> 0"
        case Size():
            # DataFusion counts bytes of texts only; as hexadecimal digits they are twice as many.
            length = f"character_length({name})" if is_text else f"character_length(encode({name}, 'hex'))"
            limit = constraint.limit if is_text else 2 * constraint.limit
            return f"{length} {'<' if constraint.is_lower else '>'} {limit}"
        case Pattern():
            return f"NOT regexp_like({name}, {value(constraint.pattern.text)})"
    return ""


_TEMPORAL_WORDS = {
    **{f"time32[{unit}]": f"Time32({UNITS_BY_ARROW[unit]})" for unit in ("s", "ms")},
    **{f"time64[{unit}]": f"Time64({UNITS_BY_ARROW[unit]})" for unit in ("us", "ns")},
}


def row_filter(ids: Sequence[int]) -> str:
    """Find rows by Lance's ids of them."""
    return f"_rowid IN ({', '.join(map(str, ids))})"


def column_name(field: SchemaField) -> str:
    """Return a field as Lance writes its path."""
    words = [str(segment) for segment in field.path]
    return ".".join(word if _PLAIN_NAME.fullmatch(word) else f"`{word}`" for word in words)


def _arrow(version: SchemaVersion, field: SchemaField) -> Any:
    """Return the Arrow type that a field of a version is lowered to."""
    return next(f.arrow.type for top in version.lowered.fields for f in top.preorder() if f.field is field)


def _word(type_: Any) -> str:
    """DataFusion's word for a plain type; empty if none is known."""
    if pa.types.is_timestamp(type_):
        zone = f'Some("{type_.tz}")' if type_.tz else "None"
        return f"Timestamp({UNITS_BY_ARROW[type_.unit]}, {zone})"
    if pa.types.is_duration(type_):
        return f"Duration({UNITS_BY_ARROW[type_.unit]})"
    if pa.types.is_decimal(type_):
        return f"Decimal{type_.bit_width}({type_.precision}, {type_.scale})"
    return _WORDS.get(str(type_), "")


_WORDS = {
    **{f"{sign}int{bits}": f"{sign.upper()}Int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "halffloat": "Float16",
    "float": "Float32",
    "double": "Float64",
    "bool": "Boolean",
    "date32[day]": "Date32",
    "date64[ms]": "Date64",
}
