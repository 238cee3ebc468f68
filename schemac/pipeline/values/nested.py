"""Converts a value with parts (list, map, struct), to any depth, in one SQL expression.

Layer: pipeline.
Shape: an expression of type struct<v, e>: the value, and the reasons why it does not fit (null or empty when it does).
       Paths hold positions: `items[3].k`, `prices["EUR"]`.
"""

from dataclasses import dataclass, replace

import pyarrow as pa
from pyspark.sql.types import ArrayType, LongType, MapType, TimestampNTZType

from schemac.judging.forms import LONGEST_VALUE
from schemac.pipeline.declaration.job import Coerce, EpochUnit, FieldSource, Unexpected
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.spark.sqltext import concat, first_of, fresh, let, literal, struct, variant_of, when
from schemac.pipeline.values import inputs
from schemac.pipeline.values.clocks import Clock, zone_of
from schemac.pipeline.values.exact_numbers import has_exact, is_unsure, with_numbers_marked
from schemac.pipeline.values.inputs import Counted, Input, Json, Text, Typed, typed_input
from schemac.pipeline.values.scalars import Scalar, extension_name, scalar_of, storage_type
from schemac.pipeline.values.shapes import is_list, is_scalar, spark_type
from schemac.pipeline.values.timestamps import is_outside, text_of_count
from schemac.source.catalogue import SOURCE_TYPE_MISMATCH

REASON_TYPE = "struct<path:string,rule:string,value:string>"
AS_IT_IS = FieldSource()
NO_REASONS = f"cast(null as array<{REASON_TYPE}>)"

Path = tuple[str, ...]


@dataclass(frozen=True)
class Rules:
    """What a job decides for every field."""

    coerce: Coerce = Coerce.NONE
    unexpected: Unexpected = Unexpected.IGNORE
    null_texts: tuple[str, ...] = ()


def reason(path: Path, rule: str, value: str) -> str:
    """One reason; rule and value are SQL text."""
    shown = f"substr(cast({value} as string), 1, {LONGEST_VALUE})"
    return struct([("path", concat(path)), ("rule", rule), ("value", shown)])


def required(path: Path) -> str:
    """Give the reason of a value that must be there and is not."""
    return reason(path, literal("required"), "null")


def scalar_reason(source: Input, j: str, t: str, scalar: Scalar, path: Path, rules: Rules) -> str:
    """Why a token that is there has no value."""
    other = inputs.is_other_token(source, j, scalar.token, rules.coerce)
    if other is None:
        return reason(path, scalar.rule(t), j)
    rule = first_of([(other, literal("type"))], scalar.rule(t))
    return reason(path, rule, when(other, j, t))


def is_typed_alike(field: pa.Field, source: Input) -> bool:
    """Whether the source has typed the column as we need it, with no rule left to check."""
    if not isinstance(source, Typed) or extension_name(field) is not None:
        return False
    data_type, is_ = storage_type(field.type), pa.types
    has_more_rules = (
        is_.is_unsigned_integer(data_type)
        or is_.is_float16(data_type)
        or is_.is_fixed_size_binary(data_type)
        or is_.is_time(data_type)
        or is_.is_duration(data_type)
        or (is_.is_timestamp(data_type) and data_type.unit != "us")
    )
    return not has_more_rules and source.type.simpleString() == scalar_of(field).spark_type


def as_read(field: pa.Field, source: Input, origin: FieldSource = AS_IT_IS) -> tuple[Input, FieldSource]:
    """Decide what a field without parts reads of a typed source, and how.

    A day is that of a timestamp which is its midnight; an instant becomes a clock where the field has no zone, in the zone
    that is told or else UTC; what Spark has no type for is read as text where no count is as exact.
    """
    if not isinstance(source, Typed):
        return source, origin
    timestamp, data_type = source.timestamp, storage_type(field.type)
    is_count, is_told = isinstance(source, Counted), origin.format is not None or origin.epoch is not None
    if timestamp is not None and (pa.types.is_date(data_type) or is_count) and not is_told:
        is_instant = timestamp.tz is not None and pa.types.is_timestamp(data_type)
        if is_instant or pa.types.is_date(data_type):
            unit: EpochUnit = "Nanosecond" if is_count else "Microsecond"
            count = source.column if is_count else f"unix_micros(cast({source.column} as timestamp))"
            return Typed(count, LongType()), origin.model_copy(update={"epoch": unit})
    if isinstance(source, Counted):
        return Text(text_of_count(source.column, source.held)), origin
    takes_clock = pa.types.is_timestamp(data_type) and data_type.tz is None
    if timestamp is not None and timestamp.tz is not None and takes_clock:
        shown = Clock.of("UTC", zone_of(field)).shown(source.column)
        return Typed(f"cast({shown} as timestamp_ntz)", TimestampNTZType()), origin
    return source, origin


def convert(field: pa.Field, source: Input, path: Path, rules: Rules) -> str:
    """Value and reasons of one field, whatever its type."""
    if is_scalar(field):
        return _convert_scalar(field, source, path, rules)
    if isinstance(source, Text):
        return _convert_cell(field, source, path, rules)
    if is_list(field.type):
        return _convert_list(field, source, path, rules)
    if pa.types.is_map(field.type):
        return _convert_map(field, source, path, rules)
    return _convert_struct(field, source, path, rules)


def outcome(value: str, reasons: str) -> str:
    """Pair a value with its reasons."""
    return struct([("v", value), ("e", reasons)])


def _convert_scalar(field: pa.Field, source: Input, path: Path, rules: Rules) -> str:
    source, how = as_read(field, source)
    scalar = scalar_of(field, epoch=how.epoch)
    missing = NO_REASONS if field.nullable else f"array({required(path)})"

    def with_value(j: str, t: str, v: str) -> str:
        wrong = f"array({scalar_reason(source, j, t, scalar, path, rules)})"
        return outcome(v, first_of([(f"{j} is null", missing), (f"{v} is null", wrong)], NO_REASONS))

    def with_text(j: str, t: str) -> str:
        if scalar.is_identity:
            return with_value(j, t, t)
        value = scalar.value(t)
        if scalar.is_exact and isinstance(source, Json) and not source.is_marked:
            value = when(is_unsure(source, t), "null", value)
        return let(value, lambda v: with_value(j, t, v))

    def with_token(j: str) -> str:
        text = inputs.exact_text(source, j, scalar.token, rules.coerce)
        return with_text(j, j) if text == j else let(text, lambda t: with_text(j, t))

    if isinstance(source, Typed):
        if inputs.is_container(source.type):
            raise PipelineError(
                SOURCE_TYPE_MISMATCH,
                f"`{field.name}` is {field.type}, the source has {source.type.simpleString()}",
            )
        if is_typed_alike(field, source):
            branches = [(f"{source.column} is null", missing)]
            if (outside := is_outside(storage_type(field.type), source.column)) is not None:
                branches.append((outside, f"array({reason(path, literal('range'), source.column)})"))
            return outcome(source.column, first_of(branches, NO_REASONS))
        if source.type.simpleString() == scalar.spark_type == "binary":
            return _binary_outcome(field, source.column, path, missing)
    return let(inputs.token_text(source, rules.null_texts), with_token)


def binary_width(field: pa.Field) -> int | None:
    """Bytes that every value of the field must have."""
    if extension_name(field) == "arrow.uuid":
        return 16
    return int(field.type.byte_width) if pa.types.is_fixed_size_binary(field.type) else None


def _binary_outcome(field: pa.Field, column: str, path: Path, missing: str) -> str:
    width_bytes = binary_width(field)
    branches = [(f"{column} is null", missing)]
    if width_bytes is not None:
        wrong = reason(path, literal("length"), f"octet_length({column})")
        branches.append((f"octet_length({column}) <> {width_bytes}", f"array({wrong})"))
    return outcome(column, first_of(branches, NO_REASONS))


def _convert_cell(field: pa.Field, source: Text, path: Path, rules: Rules) -> str:
    """Convert a list, map or struct that is written as JSON inside a text."""
    value = f"cast(null as {spark_type(field)})"

    is_marked = has_exact(field)

    def with_variant(variant: str) -> str:
        wrong = outcome(value, f"array({reason(path, literal('cast'), source.text)})")
        is_broken = f"{source.text} is not null and {variant} is null"
        return when(is_broken, wrong, convert(field, Json(variant, is_marked=is_marked), path, rules))

    blank = inputs.token_text(source, tuple({"", *rules.null_texts}))
    return let(variant_of(with_numbers_marked(blank) if is_marked else blank), with_variant)


def _absent_or(field: pa.Field, source: Input, is_wrong: str, path: Path, body: str) -> str:
    """Use the body where the value is there and of the right shape."""
    value = f"cast(null as {spark_type(field)})"
    missing = outcome(value, NO_REASONS if field.nullable else f"array({required(path)})")
    if isinstance(source, Json):
        shown = source.text
        is_absent = is_nothing(source)
    else:
        assert isinstance(source, Typed)
        shown, is_absent = f"to_json({source.column})", f"{source.column} is null"
    mistyped = outcome(value, f"array({reason(path, literal('type'), shown)})")
    return first_of([(is_absent, missing), (is_wrong, mistyped)], body)


def _joined(reasons: str) -> str:
    return f"flatten(array_compact({reasons}))"


def _convert_list(field: pa.Field, source: Input, path: Path, rules: Rules) -> str:
    item_field = field.type.value_field
    x, i = fresh(), fresh()
    if isinstance(source, Json):
        items, item = f"try_variant_get({source.variant}, '$', 'array<variant>')", _alone(source, x)
    elif isinstance(source, Typed) and isinstance(source.type, ArrayType):
        items, item = source.column, typed_input(x, source.type.elementType)
    else:
        raise _mismatch(field, source)
    inner = convert(item_field, item, (*path, "'['", f"cast({i} as string)", "']'"), rules)

    def finish(results: str) -> str:
        y = fresh()
        reasons = f"transform({results}, {y} -> {y}.e)"
        if pa.types.is_fixed_size_list(field.type):
            is_short = f"size({results}) <> {field.type.list_size}"
            wrong = f"array({reason(path, literal('length'), f'size({results})')})"
            reasons = f"array_append({reasons}, {when(is_short, wrong, NO_REASONS)})"
        return outcome(f"transform({results}, {y} -> {y}.v)", _joined(reasons))

    def with_items(a: str) -> str:
        body = let(f"transform({a}, ({x}, {i}) -> {inner})", finish)
        return _absent_or(field, source, f"{a} is null", path, body)

    return let(items, with_items)


def _alone(parent: Json, column: str) -> Input:
    """Read a variant out of another one, that stands by itself."""
    return Json(column, is_marked=parent.is_marked)


def _mismatch(field: pa.Field, source: Input) -> PipelineError:
    held = source.type.simpleString() if isinstance(source, Typed) else "text"
    return PipelineError(SOURCE_TYPE_MISMATCH, f"`{field.name}` is {field.type}, the source has {held}")


def _convert_map(field: pa.Field, source: Input, path: Path, rules: Rules) -> str:
    x = fresh()
    key_source: Input = Text(f"{x}.key")
    if isinstance(source, Json):
        entries = f"map_entries(try_variant_get({source.variant}, '$', 'map<string,variant>'))"
        value_source = _alone(source, f"{x}.value")
    elif isinstance(source, Typed) and isinstance(source.type, MapType):
        entries = f"map_entries({source.column})"
        key_source = typed_input(f"{x}.key", source.type.keyType)
        value_source = typed_input(f"{x}.value", source.type.valueType)
    else:
        raise _mismatch(field, source)
    at = (*path, "'[\"'", f"cast({x}.key as string)", "'\"]'")
    pair = struct(
        [
            # A key is no value: a text that means null stays what it is there.
            ("k", convert(field.type.key_field, key_source, at, replace(rules, null_texts=()))),
            ("w", convert(field.type.item_field, value_source, at, rules)),
        ]
    )

    def finish(results: str) -> str:
        y = fresh()
        keys = f"transform({results}, {y} -> {y}.k.v)"
        pairs = f"transform({results}, {y} -> {struct([('key', f'{y}.k.v'), ('value', f'{y}.w.v')])})"
        is_unique = (
            f"(size(array_distinct({keys})) = size({keys}) and not exists({keys}, {y} -> {y} is null))"
        )
        reasons = f"flatten(transform({results}, {y} -> array({y}.k.e, {y}.w.e)))"
        has_twin = f"size(array_distinct(array_compact({keys}))) <> size(array_compact({keys}))"
        twin = reason(path, literal("key"), f"to_json({keys})")
        reasons = f"array_append({reasons}, {when(has_twin, f'array({twin})', NO_REASONS)})"
        return outcome(when(is_unique, f"map_from_entries({pairs})"), _joined(reasons))

    def with_entries(a: str) -> str:
        return _absent_or(field, source, f"{a} is null", path, let(f"transform({a}, {x} -> {pair})", finish))

    return let(entries, with_entries)


def _convert_struct(field: pa.Field, source: Input, path: Path, rules: Rules) -> str:
    members: list[pa.Field] = list(field.type)
    parts = [
        (
            f"m{i}",
            convert(member, inputs.child(source, member.name), (*path, literal("." + member.name)), rules),
        )
        for i, member in enumerate(members)
    ]
    is_wrong = "false" if isinstance(source, Typed) else f"not {is_object(source)}"
    extra = unexpected_keys(source, [m.name for m in members], path) if rules.unexpected == "reject" else None

    def finish(p: str) -> str:
        value = struct((member.name, f"{p}.m{i}.v") for i, member in enumerate(members))
        reasons = [f"{p}.m{i}.e" for i in range(len(members))] + ([extra] if extra else [])
        # Spark has to be told the type of the reasons where there are none.
        return outcome(value, _joined(f"array({', '.join(reasons or [NO_REASONS])})"))

    return _absent_or(field, source, is_wrong, path, let(struct(parts), finish))


def is_object(source: Input) -> str:
    """Whether a variant holds a JSON object."""
    assert isinstance(source, Json)
    return f"startswith(schema_of_variant({source.variant}), 'OBJECT')"


def is_nothing(source: Json) -> str:
    """Whether a variant is missing, or a JSON null; Spark's own test says false for the former."""
    return f"({source.variant} is null or is_variant_null({source.variant}))"


def unexpected_keys(source: Input, known: list[str], path: Path) -> str | None:
    """Give a reason for each key of a JSON object that no field takes."""
    if not isinstance(source, Json):
        return None
    k = fresh()
    keys = f"map_keys(try_variant_get({source.variant}, '$', 'map<string,variant>'))"
    others = f"array_except({keys}, array({', '.join(map(literal, known))}))"
    at = (*path, "'.'", k) if path and path != ("''",) else (k,)
    return f"transform({others}, {k} -> {reason(at, literal('unexpected'), k)})"
