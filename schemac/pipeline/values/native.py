"""Reads values in one native step, where that is provably the same as reading them one by one.

Layer: pipeline.
Shape: for a field, the type that Spark's JSON reader is asked for, a pattern over the kinds of token that it may meet,
       SQL text that finds what only shows in the values, and SQL text of the value. Where the proof fails the
       item-by-item way decides, and finds the reasons.
Source: Spark's JSON reader is fast and lenient. The schema of a variant names the kind of every token inside it, so one
        pattern over that text shows that the reader had no occasion to be lenient; what it could not read at all it
        says in a corrupt-record column. Patterns are possessive: Java's others recurse, and end on a long record.
"""

import re
from dataclasses import dataclass

import pyarrow as pa

from schemac.attributes.attribute import Role
from schemac.judging.scalars import Token
from schemac.pipeline.spark.sqltext import fresh, literal, name, struct, when
from schemac.pipeline.values.scalars import (
    FLOAT32_LARGEST,
    LARGEST_BFLOAT16,
    Scalar,
    extension_name,
    role_of,
    scalar_of,
    storage_type,
)
from schemac.pipeline.values.shapes import is_list, is_scalar, spark_type

SIMPLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
CORRUPT = "_schemac_corrupt"
READER = f"map('columnNameOfCorruptRecord', '{CORRUPT}', 'allowNonNumericNumbers', 'false')"
LARGEST = {16: 65504.0, 32: FLOAT32_LARGEST, 64: 1.7976931348623157e308}

KEY = "(?:[A-Za-z_][A-Za-z0-9_]*+|(?:`[^`]*+`)++)"
NEXT = "(?:, |(?=>))"
NUMBER = r"(?:BIGINT|DOUBLE|DECIMAL[(][0-9]+,[0-9]+[)])"
KEYS_IN_ONE_GROUP = 32


def _anything(depth: int) -> str:
    inner = "(?:[^<>`]++|`[^`]*+`)*+"
    for _ in range(depth):
        inner = f"(?:[^<>`]++|`[^`]*+`|<{inner}>)*+"
    return f"[A-Z]++(?:[(][0-9,]++[)])?+(?:<{inner}>)?+"


# Any type, to a depth that no key of interest to nobody will pass.
ANYTHING = _anything(8)


@dataclass(frozen=True)
class Reading:
    """`{}` stands for the column that keeps the reading."""

    read: str
    is_proven: str
    value: str


@dataclass(frozen=True)
class Leaf:
    """How a scalar is read: the type asked for, its tokens, and the conversion that is left to do."""

    held: str
    tokens: str
    scalar: Scalar | None = None

    def value(self, x: str) -> str:
        """Give the value; null where there is none."""
        if self.scalar is None or self.scalar.is_identity:
            return x
        return self.scalar.value(x if self.held == "string" else f"cast({x} as string)")

    @property
    def is_converted(self) -> bool:
        """Whether something is left to do."""
        return self.scalar is not None and not self.scalar.is_identity


def native_reading(field: pa.Field, variant: str) -> Reading | None:
    """How the field is read natively; None for types whose rules the reader does not have."""
    asked, pattern = held(field), tokens(field, is_open=False)
    if asked is None or pattern is None:
        return None
    schema_text = f"schema_of_variant({variant}) rlike {literal('^' + pattern + '$')}"
    wrapped = f"concat('{{\"v\":', to_json({variant}), '}}')"
    parsed = f"from_json({wrapped}, {literal(f'v {asked}, {CORRUPT} string')}, {READER})"
    is_wrong = wrong(field, "{}.v")
    proof = f"coalesce({{}}.{CORRUPT} is null and {{}}.v is not null and not ({is_wrong}), false)"
    return Reading(when(schema_text, parsed), proof, typed_value(field, "{}.v"))


def leaf(field: pa.Field, scalar: Scalar | None = None) -> Leaf | None:
    """How a field without parts is read; None where only the item-by-item way can."""
    extension, held_type, is_ = extension_name(field), storage_type(field.type), pa.types
    if role_of(field) is Role.JSON:
        return None
    if role_of(field) is Role.BRAIN_FLOATS:
        return Leaf("float", NUMBER)
    if extension is None:
        if is_.is_integer(held_type):
            return Leaf("bigint", "BIGINT")
        if is_.is_floating(held_type):
            return Leaf("double" if held_type.bit_width == 64 else "float", NUMBER)
        if is_.is_boolean(held_type):
            return Leaf("boolean", "BOOLEAN")
        if is_.is_decimal(held_type):
            return _decimal(held_type)
    found = scalar or scalar_of(field)
    if found.token is Token.STRING:
        return Leaf("string", "STRING", found)
    return Leaf("bigint", "BIGINT", found) if found.token is Token.NUMBER else None


def _decimal(data_type: pa.DataType) -> Leaf | None:
    """Read a decimal whose digits the token type counts, so that the reader has nothing to round."""
    precision, scale = data_type.precision, data_type.scale
    if not 0 <= scale <= precision <= 38:
        return None
    whole = precision - scale
    fitting = [
        f"(?:{'|'.join(str(digits) for digits in range(1, whole + places + 1))}),{places}"
        for places in range(scale + 1)
        if whole + places > 0
    ]
    return Leaf(f"decimal({precision},{scale})", f"(?:BIGINT|DECIMAL[(](?:{'|'.join(fitting)})[)])")


def held(field: pa.Field, scalar: Scalar | None = None) -> str | None:
    """Name the type that the reader is asked for."""
    data_type = field.type
    if is_scalar(field):
        found = leaf(field, scalar)
        return None if found is None else found.held
    if is_list(data_type):
        inner = held(data_type.value_field)
        return inner and f"array<{inner}>"
    if pa.types.is_map(data_type):
        inner = held(data_type.item_field)
        key = data_type.key_field
        has_text_keys = is_scalar(key) and extension_name(key) is None and scalar_of(key).is_identity
        return f"map<string,{inner}>" if inner and has_text_keys else None
    return struct_of([(member.name, held(member)) for member in data_type])


def struct_of(members: list[tuple[str, str | None]]) -> str | None:
    """Build a struct type of members; None where one of them has none."""
    if not members or any(inner is None for _, inner in members):
        return None
    return "struct<" + ",".join(f"{name(label)}:{inner}" for label, inner in members) + ">"


def tokens(field: pa.Field, scalar: Scalar | None = None, *, is_open: bool) -> str | None:
    """Build a pattern over the schema text of a variant; `is_open` lets objects have other keys as well."""
    data_type = field.type
    if is_scalar(field):
        found = leaf(field, scalar)
        return None if found is None else f"(?:{found.tokens}|VOID)"
    if is_list(data_type):
        inner = tokens(data_type.value_field, is_open=is_open)
        return inner and f"(?:ARRAY<{inner}>|VOID)"
    if pa.types.is_map(data_type):
        inner = tokens(data_type.item_field, is_open=is_open)
        return inner and f"(?:OBJECT<(?:{KEY}: {inner}{NEXT})*+>|VOID)"
    members = [(member.name, tokens(member, is_open=is_open)) for member in data_type]
    found_all = [(label, inner) for label, inner in members if inner is not None]
    return f"(?:{object_of(found_all, is_open)}|VOID)" if len(found_all) == len(members) else None


def object_of(members: list[tuple[str, str]], is_open: bool) -> str:
    """Build a pattern of an object with some of these members, or others too."""
    entries = [f"{_key(label)}: {inner}" for label, inner in sorted(members)]
    if is_open:
        known = "|".join(_key(label) for label, _ in members)
        entries.append(f"(?!(?:{known}): ){KEY}: {ANYTHING}")
        return f"OBJECT<(?:(?:{'|'.join(entries)}){NEXT})*+>"
    optional = [f"(?:{entry}{NEXT})?+" for entry in entries]
    groups = range(0, len(optional), KEYS_IN_ONE_GROUP)
    return "OBJECT<" + "".join(f"(?>{''.join(optional[i : i + KEYS_IN_ONE_GROUP])})" for i in groups) + ">"


def _key(label: str) -> str:
    """Write a key as the schema text does."""
    return label if SIMPLE_NAME.match(label) else re.escape(name(label))


def _limits(field: pa.Field) -> tuple[str, str] | None:
    data_type = storage_type(field.type)
    if role_of(field) is Role.BRAIN_FLOATS:
        return f"-{LARGEST_BFLOAT16!r}D", f"{LARGEST_BFLOAT16!r}D"
    if extension_name(field) is not None:
        return None
    if pa.types.is_unsigned_integer(data_type):
        return "0L", f"{min(2**data_type.bit_width, 2**63) - 1}L"
    if pa.types.is_integer(data_type) and data_type.bit_width < 64:
        return f"{-(2 ** (data_type.bit_width - 1))}L", f"{2 ** (data_type.bit_width - 1) - 1}L"
    if pa.types.is_floating(data_type):
        largest = LARGEST[data_type.bit_width]
        return f"-{largest!r}D", f"{largest!r}D"
    return None


def wrong(field: pa.Field, value: str, converted: str | None = None) -> str:
    """Whether a rule is broken that only shows in the values; `converted`: where the conversion is kept."""
    data_type = field.type
    rules = [] if field.nullable else [f"{value} is null"]
    if is_scalar(field):
        found = leaf(field)
        if converted is not None or (found is not None and found.is_converted):
            assert found is not None
            rules.append(f"({value} is not null and {converted or found.value(value)} is null)")
        elif (limits := _limits(field)) is not None:
            rules.append(f"not ({value} between {limits[0]} and {limits[1]})")
    elif is_list(data_type):
        if pa.types.is_fixed_size_list(data_type):
            rules.append(f"size({value}) <> {data_type.list_size}")
        rules += _wrong_items(data_type.value_field, value)
    elif pa.types.is_map(data_type):
        x = fresh()
        inner = wrong(data_type.item_field, x)
        rules += [f"exists(map_values({value}), {x} -> {inner})"] if inner != "false" else []
    else:
        inners = [wrong(member, f"{value}.{name(member.name)}") for member in data_type]
        inners = [inner for inner in inners if inner != "false"]
        if inners:
            rules.append(f"({value} is not null and ({' or '.join(inners)}))")
    return f"coalesce({' or '.join(rules)}, false)" if rules else "false"


def _wrong_items(item: pa.Field, value: str) -> list[str]:
    """Do the same for the items of a list; without a lambda where two numbers tell."""
    found = leaf(item) if is_scalar(item) else None
    if found is not None and not found.is_converted:
        rules = [] if item.nullable else [f"size(array_compact({value})) <> size({value})"]
        if (limits := _limits(item)) is not None:
            inside = f"array_min({value}) >= {limits[0]} and array_max({value}) <= {limits[1]}"
            rules.append(f"not coalesce({inside}, true)")
        return rules
    x = fresh()
    inner = wrong(item, x)
    return [f"exists({value}, {x} -> {inner})"] if inner != "false" else []


def typed_value(field: pa.Field, value: str) -> str:
    """Give the value of a reading that is proven."""
    return f"cast({_value(field, value)} as {spark_type(field)})"


def _value(field: pa.Field, value: str) -> str:
    data_type = field.type
    if is_scalar(field):
        found = leaf(field)
        assert found is not None
        return found.value(value)
    x, k = fresh(), fresh()
    if is_list(data_type):
        inner = _value(data_type.value_field, x)
        return value if inner == x else f"transform({value}, {x} -> {inner})"
    if pa.types.is_map(data_type):
        inner = _value(data_type.item_field, x)
        return value if inner == x else f"transform_values({value}, ({k}, {x}) -> {inner})"
    places = [(member, f"{value}.{name(member.name)}") for member in data_type]
    inners = [(member.name, _value(member, place)) for member, place in places]
    if all(inner == place for (_, inner), (_, place) in zip(inners, places, strict=True)):
        return value
    return when(f"{value} is null", "null", struct(inners))
