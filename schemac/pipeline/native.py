"""Reads a list, map or struct in one native step, where that is provably the same as reading it item by item.

Shape: for a field with parts, SQL text of the reading, of the proof that nothing is wrong, and of the value. Where the
       proof fails the item-by-item way of `nested` decides, and finds the reasons.
Source: Spark's JSON reader is fast and lenient. The schema of a variant names the kind of every token inside it, so one
        pattern over that text shows that the reader had no occasion to be lenient; what it could not read at all it
        says in a corrupt-record column.
"""

import re
from dataclasses import dataclass

import pyarrow as pa

from .scalars import FLOAT32_LARGEST, extension_name, storage_type
from .shapes import is_list, is_scalar, spark_type
from .sqltext import fresh, literal, name

SIMPLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
READER = "map('columnNameOfCorruptRecord', '_c', 'allowNonNumericNumbers', 'false')"
LARGEST_FLOAT16 = 65504.0


@dataclass(frozen=True)
class Reading:
    """`{}` stands for the column that keeps the reading."""

    read: str
    is_proven: str
    value: str


def native_reading(field: pa.Field, variant: str) -> Reading | None:
    """How the field is read natively; None for types whose rules the reader does not have."""
    held, tokens = _held(field), _tokens(field)
    if held is None or tokens is None:
        return None
    schema_text = f"schema_of_variant({variant}) rlike {literal('^' + tokens + '$')}"
    wrapped = f"concat('{{\"v\":', to_json({variant}), '}}')"
    parsed = f"from_json({wrapped}, {literal(f'v {held}, _c string')}, {READER})"
    wrong = _wrong(field, "{}.v")
    proof = f"coalesce({{}}._c is null and {{}}.v is not null and not ({wrong}), false)"
    return Reading(f"if({schema_text}, {parsed}, null)", proof, f"cast({{}}.v as {spark_type(field)})")


def _held(field: pa.Field) -> str | None:
    """The type that the reader is asked for."""
    data_type = field.type
    if is_list(data_type):
        inner = _held(data_type.value_field)
        return inner and f"array<{inner}>"
    if pa.types.is_map(data_type):
        inner = _held(data_type.item_field)
        has_text_keys = (
            spark_type(data_type.key_field) == "string" and extension_name(data_type.key_field) is None
        )
        return f"map<string,{inner}>" if inner and has_text_keys else None
    if pa.types.is_struct(data_type) and not is_scalar(field):
        inners = [(member.name, _held(member)) for member in data_type]
        if not inners or any(inner is None or not SIMPLE_NAME.match(label) for label, inner in inners):
            return None
        return "struct<" + ",".join(f"{name(label)}:{inner}" for label, inner in inners) + ">"
    if extension_name(field) is not None:
        return None
    kind = _kind(data_type)
    return None if kind is None else kind[0]


def _kind(data_type: pa.DataType) -> tuple[str, str] | None:
    """What the reader reads a scalar as, and the tokens it may be written as."""
    held, is_ = storage_type(data_type), pa.types
    if is_.is_integer(held):
        return "bigint", "BIGINT"
    if is_.is_floating(held):
        return "double", r"(?:BIGINT|DOUBLE|DECIMAL[(][0-9]+,[0-9]+[)])"
    if is_.is_boolean(held):
        return "boolean", "BOOLEAN"
    if is_.is_string(held) or is_.is_large_string(held) or is_.is_string_view(held):
        return "string", "STRING"
    return None


def _tokens(field: pa.Field) -> str | None:
    """A pattern over the schema text of a variant."""
    data_type = field.type
    if is_list(data_type):
        inner = _tokens(data_type.value_field)
        return inner and f"(?:ARRAY<{inner}>|VOID)"
    if pa.types.is_map(data_type):
        inner = _tokens(data_type.item_field)
        return inner and f"(?:OBJECT<(?:[^:<>,`]+: {inner}(?:, |(?=>)))*>|VOID)"
    if pa.types.is_struct(data_type):
        members = sorted((member.name, _tokens(member)) for member in data_type)
        pattern = "".join(f"(?:{label}: {inner}(?:, |(?=>)))?" for label, inner in members)
        return None if any(inner is None for _, inner in members) else f"(?:OBJECT<{pattern}>|VOID)"
    kind = _kind(data_type)
    return None if kind is None else f"(?:{kind[1]}|VOID)"


def _limits(data_type: pa.DataType) -> tuple[str, str] | None:
    held = storage_type(data_type)
    if pa.types.is_unsigned_integer(held):
        return "0L", f"{min(2**held.bit_width, 2**63) - 1}L"
    if pa.types.is_integer(held) and held.bit_width < 64:
        return f"{-(2 ** (held.bit_width - 1))}L", f"{2 ** (held.bit_width - 1) - 1}L"
    if pa.types.is_floating(held):
        largest = {16: LARGEST_FLOAT16, 32: FLOAT32_LARGEST, 64: 1.7976931348623157e308}[held.bit_width]
        return f"-{largest!r}D", f"{largest!r}D"
    return None


def _wrong(field: pa.Field, value: str) -> str:
    """Whether a rule is broken that only shows in the values."""
    data_type = field.type
    rules = [] if field.nullable else [f"{value} is null"]
    if is_list(data_type):
        if pa.types.is_fixed_size_list(data_type):
            rules.append(f"size({value}) <> {data_type.list_size}")
        rules += _wrong_items(data_type.value_field, value)
    elif pa.types.is_map(data_type):
        x = fresh()
        inner = _wrong(data_type.item_field, x)
        rules += [f"exists(map_values({value}), {x} -> {inner})"] if inner != "false" else []
    elif pa.types.is_struct(data_type):
        inners = [_wrong(member, f"{value}.{name(member.name)}") for member in data_type]
        inners = [inner for inner in inners if inner != "false"]
        if inners:
            rules.append(f"({value} is not null and ({' or '.join(inners)}))")
    elif (limits := _limits(data_type)) is not None:
        rules.append(f"not ({value} between {limits[0]} and {limits[1]})")
    return f"coalesce({' or '.join(rules)}, false)" if rules else "false"


def _wrong_items(item: pa.Field, value: str) -> list[str]:
    """The same for the items of a list; without a lambda where two numbers tell."""
    limits = None if not is_scalar(item) else _limits(item.type)
    if is_scalar(item) and (limits is not None or _wrong(item, "x") == "false" or not item.nullable):
        rules = [] if item.nullable else [f"size(array_compact({value})) <> size({value})"]
        if limits is not None:
            inside = f"array_min({value}) >= {limits[0]} and array_max({value}) <= {limits[1]}"
            rules.append(f"not coalesce({inside}, true)")
        return rules
    x = fresh()
    inner = _wrong(item, x)
    return [f"exists({value}, {x} -> {inner})"] if inner != "false" else []
