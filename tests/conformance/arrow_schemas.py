"""Arrow schemas that Lance accepts: every type at every position, and deep mixtures of them.

Shape: named schemas, the same in every run. A position says what stands around the type; each schema holds it
required and optional, with metadata and without.
"""

import random
from collections.abc import Callable, Iterator
from typing import Any

import lance
import pyarrow as pa

Field = Any
Type = Any

ZONES = (None, "UTC", "+05:30", "-00:30", "America/New_York")
UNITS = ("s", "ms", "us", "ns")
METADATA: dict[str, dict[str, str]] = {
    "word": {"owner": "sales"},
    "empty": {"note": ""},
    "many": {
        "b": "2",
        "a": "1",
        "": "no key",
        "Ünï/çode": "значення ✓",
        "long": "x" * 300,
        "line": 'a\nb\t"c"\\',
    },
    "extension": {"ARROW:extension:name": "example.point"},
    "extension_with_empty_metadata": {
        "ARROW:extension:name": "example.point",
        "ARROW:extension:metadata": "",
    },
    "clustering": {"lance-schema:unenforced-clustering-key:position": "3"},
    "encoding": {"lance-encoding:compression": "zstd", "lance-encoding:compression-level": "9"},
}


def leaf_types() -> dict[str, Type]:
    """Types without children of their own in Lance, by a name for tests."""
    plain = (
        *(
            pa.bool_(),
            pa.int8(),
            pa.int16(),
            pa.int32(),
            pa.int64(),
            pa.uint8(),
            pa.uint16(),
            pa.uint32(),
            pa.uint64(),
        ),
        *(pa.float16(), pa.float32(), pa.float64(), pa.date32(), pa.date64()),
        *(pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()),
        *(pa.binary(1), pa.binary(16), pa.decimal128(38, 0), pa.decimal128(10, 2), pa.decimal128(5, -3)),
        *(pa.decimal128(3, 7), pa.decimal256(76, 10), pa.decimal256(8, -8)),
        *(pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")),
        *(pa.timestamp(unit, zone) for unit in UNITS for zone in ZONES),
        *(pa.duration(unit) for unit in UNITS),
    )
    dictionaries = (
        *(pa.dictionary(index(), pa.string()) for index in (pa.int8, pa.int16, pa.int32, pa.int64)),
        *(pa.dictionary(index(), pa.string()) for index in (pa.uint8, pa.uint16, pa.uint32, pa.uint64)),
        *(pa.dictionary(pa.int32(), value) for value in (pa.large_string(), pa.binary(), pa.large_binary())),
        *(pa.dictionary(pa.int32(), value) for value in (pa.int64(), pa.uint8(), pa.float32(), pa.bool_())),
        pa.dictionary(pa.int32(), pa.string(), ordered=True),
    )
    extensions = (
        *(pa.uuid(), pa.bool8(), pa.json_(pa.string()), pa.json_(pa.large_string())),
        *(pa.opaque(pa.binary(), "point", "PostGIS"), pa.opaque(pa.int32(), 'quo"te', "vend/or")),
        pa.fixed_shape_tensor(pa.float32(), [2, 3]),
        pa.fixed_shape_tensor(pa.int8(), [4], dim_names=["C"]),
        pa.fixed_shape_tensor(pa.float64(), [2, 3], dim_names=["H", "W"], permutation=[1, 0]),
    )
    vectors = (
        *(
            pa.list_(item, 3)
            for item in (pa.bool_(), pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.float64())
        ),
        *(
            pa.list_(item, 2)
            for item in (pa.date32(), pa.timestamp("us", "UTC"), pa.decimal128(9, 2), pa.binary(4))
        ),
        pa.list_(pa.field("item", pa.float32(), nullable=False), 768),
        pa.list_(pa.field("element", pa.float32(), metadata={"lost": "yes"}), 4),
        pa.list_(pa.list_(pa.int16(), 2), 3),
        pa.list_(pa.list_(pa.list_(pa.uint8(), 2), 3), 4),
        brain_floats(8),
    )
    return {str(type_).replace("\n", " "): type_ for type_ in (*plain, *dictionaries, *extensions, *vectors)}


def brain_floats(length: int) -> Type:
    """A vector of Lance's brain floats."""
    metadata = {"ARROW:extension:name": "lance.bfloat16", "ARROW:extension:metadata": ""}
    return pa.list_(pa.field("item", pa.binary(2), metadata=metadata), length)


def nested_types() -> dict[str, Type]:
    """Types with children in Lance, one level of them."""
    member = pa.field("x", pa.int32(), nullable=False)
    return {
        "empty struct": pa.struct([]),
        "struct": pa.struct([member, pa.field("ß y", pa.string(), metadata={"k": ""})]),
        "list": pa.list_(pa.field("item", pa.int32(), nullable=False)),
        "list of elements": pa.list_(pa.field("element", pa.string(), metadata={"k": "v"})),
        "large list": pa.large_list(pa.float64()),
        "list of structs": pa.list_(pa.struct([member])),
        "large list of structs": pa.large_list(pa.struct([member])),
        "list of vectors": pa.list_(pa.list_(pa.float32(), 4)),
        "vector of structs": pa.list_(pa.field("item", pa.struct([member]), nullable=False), 2),
        "map": pa.map_(pa.string(), pa.int64()),
        "map with other names": pa.map_(
            pa.field("keys", pa.int32(), nullable=False, metadata={"k": ""}),
            pa.field("values", pa.struct([member]), nullable=False),
        ),
        "map of maps": pa.map_(pa.string(), pa.map_(pa.string(), pa.list_(pa.int8()))),
        "blob": blob_type(),
    }


def blob_type() -> Type:
    """The struct of a blob, without the mark that makes it one."""
    return lance.blob_field("blob").type.storage_type


POSITIONS: dict[str, Callable[[Field], Field]] = {
    "column": lambda field: field,
    "member": lambda field: pa.field("outer", pa.struct([pa.field("before", pa.int8()), field])),
    "item": lambda field: pa.field("outer", pa.list_(field)),
    "large_item": lambda field: pa.field("outer", pa.large_list(field), nullable=False),
    "value": lambda field: pa.field("outer", pa.map_(pa.string(), field)),
    "member_of_item": lambda field: pa.field(
        "outer", pa.list_(pa.struct([field, pa.field("z", pa.string())]))
    ),
    "member_of_vector": lambda field: pa.field("outer", pa.list_(pa.struct([field]), 2)),
}


def _key_position(field: Field) -> Field:
    return pa.field("outer", pa.map_(field.with_nullable(False), pa.string()))


def schemas() -> Iterator[tuple[str, pa.Schema]]:
    """All schemas with their names."""
    types = {**leaf_types(), **nested_types()}
    for type_name, type_ in types.items():
        for position, place in POSITIONS.items():
            yield f"{type_name} as {position}", _at(place, type_)
    for type_name, type_ in leaf_types().items():
        yield f"{type_name} as key", pa.schema([_key_position(pa.field("key", type_))])
    yield "null", pa.schema([POSITIONS[p](pa.field("n", pa.null())).with_name(p) for p in POSITIONS])
    for name, metadata in METADATA.items():
        for position, place in POSITIONS.items():
            field = place(pa.field("field", pa.int32(), metadata=metadata))
            yield (
                f"{name} metadata as {position}",
                pa.schema([field.with_name("top").with_metadata(metadata), field]),
            )
        yield f"{name} metadata of the schema", pa.schema([pa.field("a", pa.int8())], metadata=metadata)
    yield from _keys()
    for seed in range(200):
        yield f"mixture {seed}", _mixture(random.Random(seed))
    yield "no columns", pa.schema([])


def _at(place: Callable[[Field], Field], type_: Type) -> pa.Schema:
    required = place(pa.field("field", type_, nullable=False))
    optional = place(pa.field("field", type_))
    marked = place(pa.field("field", type_, metadata={"owner": "sales", "note": ""}))
    return pa.schema(
        [required.with_name("required"), optional.with_name("optional"), marked.with_name("marked")]
    )


def _keys() -> Iterator[tuple[str, pa.Schema]]:
    primary = "lance-schema:unenforced-primary-key"
    forms: dict[str, dict[str, str]] = {
        "flag": {primary: "true"},
        "flag and position": {primary: "true", f"{primary}:position": "2"},
        "position alone": {f"{primary}:position": "4"},
        "position zero": {f"{primary}:position": "0"},
        "false flag": {primary: "false"},
        "false flag and position": {primary: "false", f"{primary}:position": "1"},
        "loud flag": {primary: "YES"},
        "odd flag": {primary: "t"},
        "broken position": {primary: "on", f"{primary}:position": "first"},
        "broken position alone": {f"{primary}:position": "-1"},
        "clustering zero": {"lance-schema:unenforced-clustering-key:position": "0"},
        "broken clustering": {"lance-schema:unenforced-clustering-key:position": "x"},
        "clustering with a plus": {"lance-schema:unenforced-clustering-key:position": "+2"},
    }
    for name, metadata in forms.items():
        yield f"key with {name}", pa.schema([pa.field("id", pa.int64(), nullable=False, metadata=metadata)])


def _mixture(chance: random.Random) -> pa.Schema:
    leaves = list(leaf_types().values())

    def type_(depth: int) -> Type:
        form = (
            chance.choice(("leaf", "leaf", "struct", "list", "large_list", "map", "vector"))
            if depth
            else "leaf"
        )
        if form == "struct":
            return pa.struct([field(f"f{i}", depth - 1) for i in range(chance.randint(1, 4))])
        if form == "list":
            return pa.list_(field("item", depth - 1))
        if form == "large_list":
            return pa.large_list(field("item", depth - 1))
        if form == "map":
            return pa.map_(pa.field("key", pa.string(), nullable=False), field("value", depth - 1))
        if form == "vector":
            members = [field(f"v{i}", depth - 1) for i in range(chance.randint(1, 2))]
            return pa.list_(pa.struct(members), chance.randint(1, 9))
        return chance.choice(leaves)

    def field(name: str, depth: int) -> Field:
        metadata = chance.choice((None, None, None, *METADATA.values()))
        inner = type_(depth)
        if isinstance(inner, pa.BaseExtensionType):
            metadata = (
                None if metadata is None else {k: v for k, v in metadata.items() if "extension" not in k}
            )
        return pa.field(name, inner, chance.random() < 0.5, metadata)

    columns = [field(f"column_{i}", chance.randint(0, 6)) for i in range(chance.randint(1, 8))]
    return pa.schema(columns, metadata=chance.choice((None, {"owner": "me"})))
