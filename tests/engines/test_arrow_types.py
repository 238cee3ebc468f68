"""What each engine does with each type that Arrow has: it writes files, or a diagnostic says why not."""

from collections.abc import Iterator

import pyarrow as pa
import pytest

import schemac
from schemac.artifacts.targets import Emission, load_target
from schemac.language.logical.model import SchemaField
from schemac.language.physical import LoweredField, LoweredSchema
from schemac.registry.engine import Engine, engines
from schemac.text.source.diagnostics import Report
from schemac.versions.identity.compilation import Compilation

UNMAKEABLE = {"Type_INTERVAL_DAY_TIME", "Type_INTERVAL_MONTHS"}
"""Ids of types that pyarrow itself cannot make."""

UNKNOWN = {pa.lib.Type_SPARSE_UNION, pa.lib.Type_DENSE_UNION, pa.lib.Type_INTERVAL_MONTH_DAY_NANO}
UNKNOWN |= {pa.lib.Type_RUN_END_ENCODED}
CLOSED = {"lance", "spark", "paimon", "iceberg", "jsonschema", "pydantic"}
"""Engines with types of their own, none of which stands for an unknown one."""


def arrow_types() -> Iterator[pa.DataType]:
    plain = [pa.null(), pa.bool_(), pa.string(), pa.binary(), pa.large_string(), pa.large_binary()]
    yield from [*plain, pa.string_view(), pa.binary_view(), pa.date32(), pa.date64()]
    for bits in (8, 16, 32, 64):
        yield from (getattr(pa, f"int{bits}")(), getattr(pa, f"uint{bits}")())
    yield from (pa.float16(), pa.float32(), pa.float64(), pa.month_day_nano_interval(), pa.binary(16))
    for width in (32, 64, 128, 256):
        yield getattr(pa, f"decimal{width}")(9, 2)
    yield from (
        pa.time32("ms"),
        pa.time64("us"),
        pa.duration("us"),
        pa.timestamp("us"),
        pa.timestamp("us", "UTC"),
    )
    for make in (pa.list_, pa.large_list, pa.list_view, pa.large_list_view):
        yield make(pa.int32())
    yield from (pa.list_(pa.float32(), 3), pa.map_(pa.string(), pa.int32()), pa.struct([("x", pa.int32())]))
    yield from (pa.dictionary(pa.int8(), pa.string()), pa.run_end_encoded(pa.int32(), pa.string()))
    members = [pa.field("x", pa.int32())]
    yield from (pa.sparse_union(members), pa.dense_union(members))


def manifest_of(arrow_type: pa.DataType) -> str:
    """A manifest with fields for a type and its parts."""
    if pa.types.is_map(arrow_type):
        return "{kind: Map, keyType: String, valueType: Int32}"
    if pa.types.is_struct(arrow_type):
        return "{kind: Struct, fields: [{name: x, type: Int32}]}"
    has_no_fields = pa.types.is_union(arrow_type) or pa.types.is_run_end_encoded(arrow_type)
    is_list = pa.types.is_nested(arrow_type) and not has_no_fields
    return "{kind: List, itemType: Int32}" if is_list else "Duration"


def lowered_to(arrow_type: pa.DataType, field: SchemaField, name: str = "a") -> LoweredField:
    """A field whose type is this one, whatever its kind is."""
    parts: list[pa.Field] = []
    if pa.types.is_map(arrow_type):
        parts = [arrow_type.key_field, arrow_type.item_field]
    elif field.children:
        parts = [arrow_type.field(i) for i in range(arrow_type.num_fields)]
    pairs = zip(parts, field.children, strict=True)
    children = tuple([lowered_to(part.type, child, part.name) for part, child in pairs])
    return LoweredField(pa.field(name, arrow_type), children, field)


def test_know_every_type_of_arrow() -> None:
    ids = {getattr(pa.lib, name) for name in dir(pa.lib) if name.startswith("Type_")}
    ids -= {getattr(pa.lib, name) for name in UNMAKEABLE}
    assert {arrow_type.id for arrow_type in arrow_types()} == ids


@pytest.mark.parametrize("engine", [e for e in engines() if e.artifacts], ids=lambda engine: engine.name)
@pytest.mark.parametrize("arrow_type", tuple(arrow_types()), ids=str)
def test_write_or_refuse(arrow_type: pa.DataType, engine: Engine) -> None:
    (dataset,) = schemac.compile_text(f"fields:\n  - {{name: a, type: {manifest_of(arrow_type)}}}\n")
    logical = dataset._compilation.dataset
    report = Report()
    target = load_target(engine.name)
    emission = Emission(logical, engine.name, target.loss_code, report)
    lowered = LoweredSchema((lowered_to(arrow_type, logical.columns[0]),), {})
    artifacts = target.emit(Compilation(logical, lowered), emission)
    assert report.has_errors or artifacts
    if engine.name in CLOSED and arrow_type.id in UNKNOWN:
        assert report.has_errors
