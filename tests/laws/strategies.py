"""Hypothesis strategies for manifests that pass the checks by construction.

Shape: plain trees (dictionaries and lists) in the standard form, as a manifest's text would hold them; `text` writes
one as JSON or as YAML. Everything the language has can occur: all kinds with all properties, nesting, attributes
of every domain beside `name` and beside a nested `kind`, foreign attributes, names in any script.
"""

import io
import json
from typing import Any

from hypothesis import strategies as st
from ruamel.yaml import YAML

from schemac.arrow.metadata import compact
from schemac.language.kinds.registry import BY_NAME, KINDS

Tree = dict[str, Any]
Extra = dict[str, Any]

ARROW, LANCE, SPARK = "arrow.apache.org", "lance.org", "spark.apache.org"
UNITS = ("Second", "Millisecond", "Microsecond", "Nanosecond")
INDICES = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
INTEGERS = INDICES
FLOATS = ("Float16", "Float32", "Float64")
ZONES = ("UTC", "Europe/Kyiv", "America/New_York", "+05:30", "-00:45", None)
DIGITS = {32: 9, 64: 18, 128: 38, 256: 76}

_characters = st.characters(codec="utf-8", exclude_categories=("C", "Z"))
words = st.text(_characters, min_size=1, max_size=12)
sentences = st.lists(words, min_size=1, max_size=5).map(" ".join)
_ordinary_names = st.from_regex(r"[a-z][a-z0-9_]{0,9}", fullmatch=True)
_odd_names = st.sampled_from(
    ("no", "on", "2020-01-01", "null", "12", "a.b", "a b", "Ünï", "名前", "_x", "it's", 'q"q')
)
names = st.one_of(_ordinary_names, _odd_names, words)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | sentences
    | st.floats(-1e9, 1e9, allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=4,
)


def _subset(entries: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Tree]:
    """An object with any of these entries."""
    return st.fixed_dictionaries({}, optional=entries)


def _buffer(*, has_large_views: bool = False) -> st.SearchStrategy[Extra]:
    contiguous = st.fixed_dictionaries(
        {"kind": st.just("Contiguous")}, optional={"offsetBitWidth": st.sampled_from((32, 64))}
    )
    widths = (32, 64) if has_large_views else (32,)
    view = st.fixed_dictionaries(
        {"kind": st.just("View")}, optional={"offsetBitWidth": st.sampled_from(widths)}
    )
    return (contiguous | view).map(lambda hint: {f"{ARROW}/bufferEncoding": hint})


_dictionary = _subset({"indexType": st.sampled_from(INDICES), "ordered": st.booleans()}).map(
    lambda hint: {f"{ARROW}/dictionaryEncoding": hint}
)


def _extension(name: str, metadata: str | None = None) -> Extra:
    return {f"{ARROW}/extensionType": {"name": name, **({} if metadata is None else {"metadata": metadata})}}


_own_extension = st.builds(
    _extension, st.sampled_from(("example.point", "org.x.y")), st.none() | st.just("") | words
)
_opaque = st.builds(
    lambda type_, vendor: _extension("arrow.opaque", json.dumps({"type_name": type_, "vendor_name": vendor})),
    words,
    words,
)
_blob_thresholds = st.integers(1, 2**40)
_blob = _subset(
    {
        "inlineSizeThreshold": _blob_thresholds,
        "dedicatedSizeThreshold": _blob_thresholds,
        "packFileSizeThreshold": _blob_thresholds,
    }
).map(lambda value: {f"{LANCE}/blob": value})
_compression = st.one_of(
    st.fixed_dictionaries({"compression": st.sampled_from(("none", "lz4", "zstd"))}),
    st.fixed_dictionaries({"compression": st.just("zstd"), "compressionLevel": st.integers(0, 22)}),
    st.fixed_dictionaries({"rleThreshold": st.sampled_from((0, 0.25, 1, 1.0))}),
    st.fixed_dictionaries({"structuralEncoding": st.sampled_from(("miniblock", "fullzip", "sparse"))}),
    st.fixed_dictionaries({"bss": st.sampled_from(("off", "auto")), "minichunkSize": st.integers(1, 2**20)}),
    st.fixed_dictionaries(
        {
            "dictDivisor": st.integers(2, 100),
            "dictSizeRatio": st.floats(0.01, 1),
            "dictValuesCompression": st.just("zstd"),
            "dictValuesCompressionLevel": st.integers(0, 22),
        }
    ),
)
_nothing: st.SearchStrategy[Extra] = st.just({})


@st.composite
def _hints(draw: st.DrawFn, kind: str, properties: Tree) -> Extra:
    """Encoding hints of a leaf that go together."""
    choices: list[st.SearchStrategy[Extra]] = [_nothing, _nothing, _own_extension]
    if kind in ("String", "Binary") and "fixedLength" not in properties:
        choices += [_buffer(), st.builds(lambda a, b: {**a, **b}, _buffer(), _dictionary)]
    if kind == "Date":
        units = st.sampled_from(("Day", "Millisecond"))
        choices.append(units.map(lambda unit: {f"{ARROW}/dateEncoding": {"unit": unit}}))
    if kind == "Decimal":
        widths = st.sampled_from(
            [bits for bits, digits in DIGITS.items() if digits >= properties["precision"]]
        )
        choices.append(widths.map(lambda bits: {f"{ARROW}/decimalEncoding": {"bitWidth": bits}}))
    if kind not in ("Bool", "Null"):
        choices.append(_dictionary)
    if kind == "String":
        choices += [st.just({f"{LANCE}/json": True}), st.just(_extension("arrow.json")), _opaque]
        richer = st.sampled_from(("varchar(20)", "char(3)", "variant"))
        choices.append(richer.map(lambda word: {f"{SPARK}/type": word}))
        choices.append(
            st.sampled_from(("Did", "Multihash")).map(
                lambda word: {"opendatafabric.org/type": {"kind": word}}
            )
        )
    if kind == "Binary":
        choices += [_opaque, _extension_of_uuid()] if properties.get("fixedLength") == 16 else [_opaque]
        choices += [] if "fixedLength" in properties else [_blob]
    if kind == "Int8":
        choices.append(st.just(_extension("arrow.bool8")))
    if kind in (*INTEGERS, *FLOATS, "Decimal"):
        choices.append(st.sampled_from(("m/s", "°C")).map(lambda unit: {"schemac.dev/unit": unit}))
    hints = draw(st.one_of(choices))
    is_whole = any(key.endswith(("/blob", "/extensionType")) for key in hints)
    if kind != "Null" and not is_whole and draw(st.integers(0, 5)) == 0:
        hints = {**hints, f"{LANCE}/encoding": draw(_compression)}
    return hints


def _extension_of_uuid() -> st.SearchStrategy[Extra]:
    return st.just(_extension("arrow.uuid"))


_notes = st.one_of(
    _nothing,
    _nothing,
    _subset(
        {
            "opendatafabric.org/description": sentences,
            "example.com/owner": json_values,
            "x-y.org/a_b-c": json_values,
            "schemac.dev/renamedFrom": words,
            "paimon.apache.org/defaultValue": sentences,
        }
    ),
)

_decimals = st.integers(1, 76).flatmap(
    lambda precision: st.fixed_dictionaries(
        {"precision": st.just(precision), "scale": st.integers(max(-9, -precision), precision)}
    )
)
_units = _subset({"unit": st.sampled_from(UNITS)})
_leaf_properties: dict[str, st.SearchStrategy[Tree]] = {
    "Binary": _subset({"fixedLength": st.sampled_from((1, 16, 2**28 - 1))}),
    "Decimal": _decimals,
    "Duration": _units,
    "Time": _units,
    "Timestamp": _subset({"unit": st.sampled_from(UNITS), "timezone": st.sampled_from(ZONES)}),
}

_LEAVES = tuple(kind.__name__ for kind in KINDS if kind.variants())
"""Every kind that has values of its own, of the registry."""


def _variants(kind: str) -> st.SearchStrategy[Tree]:
    """The properties of a kind that nobody has described better here."""
    exclude = {"kind", "extra"}
    found = [variant.model_dump(by_alias=True, exclude=exclude) for variant in BY_NAME[kind].variants()]
    return st.sampled_from([{k: v for k, v in one.items() if v is not None} for one in found])


class _Typed:
    """A type, and the attributes that belong to its place."""

    def __init__(self, type_: Tree, extra: Extra, *, is_optional: bool = False) -> None:
        self.type = type_
        self.extra = extra
        self.is_optional = is_optional

    def optional(self) -> "_Typed":
        return (
            self
            if self.is_optional
            else _Typed({"kind": "Option", "inner": self.type}, self.extra, is_optional=True)
        )

    def nested(self) -> Tree:
        """The type with its attributes beside `kind`."""
        return {**self.type, "extra": self.extra} if self.extra else self.type


@st.composite
def _leaves(draw: st.DrawFn) -> _Typed:
    kind = draw(st.sampled_from((*_LEAVES, "Null")))
    if kind == "Null":
        return _Typed({"kind": "Null"}, draw(_notes)).optional()
    properties = draw(_leaf_properties[kind] if kind in _leaf_properties else _variants(kind))
    extra = {**draw(_hints(kind, properties)), **draw(_notes)}
    typed = _Typed({"kind": kind, **properties}, extra)
    return typed.optional() if draw(st.booleans()) else typed


@st.composite
def _tensors(draw: st.DrawFn) -> _Typed:
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    size = 1
    for n in shape:
        size *= n
    metadata: Tree = {"shape": shape}
    if draw(st.booleans()):
        metadata["dim_names"] = [f"d{i}" for i in range(len(shape))]
    if draw(st.booleans()):
        metadata["permutation"] = draw(st.permutations(range(len(shape))))
    item = {"kind": draw(st.sampled_from(("Float32", "Int8", "Float64")))}
    extra = _extension("arrow.fixed_shape_tensor", json.dumps(metadata))
    return _Typed({"kind": "List", "itemType": item, "fixedLength": size}, extra)


@st.composite
def _brain_floats(draw: st.DrawFn) -> _Typed:
    item = {"kind": draw(st.sampled_from(("Float16", "Float32")))}
    type_ = {"kind": "List", "itemType": item, "fixedLength": draw(st.integers(1, 1024))}
    return _Typed(type_, {f"{LANCE}/floatEncoding": {"format": "bfloat16"}})


@st.composite
def _nested(draw: st.DrawFn, inner: st.SearchStrategy[_Typed]) -> _Typed:
    form = draw(st.sampled_from(("struct", "list", "vector", "map", "tensor", "brain floats")))
    if form == "struct":
        packed = _subset({f"{LANCE}/encoding": st.just({"packed": True})})
        extra = {**draw(packed | _nothing | _own_extension), **draw(_notes)}
        typed = _Typed({"kind": "Struct", "fields": draw(_fields(inner, 0, 4))}, extra)
    elif form == "list":
        hints = draw(_nothing | _buffer(has_large_views=True))
        typed = _Typed({"kind": "List", "itemType": draw(inner).nested()}, {**hints, **draw(_notes)})
    elif form == "vector":
        length = draw(st.sampled_from((1, 2, 768, 2**31 - 1)))
        typed = _Typed(
            {"kind": "List", "itemType": draw(inner).nested(), "fixedLength": length}, draw(_notes)
        )
    elif form == "map":
        key = draw(inner.filter(lambda typed: not typed.is_optional))
        sorted_keys = draw(_subset({"keysSorted": st.booleans()}))
        type_ = {"kind": "Map", "keyType": key.nested(), "valueType": draw(inner).nested(), **sorted_keys}
        typed = _Typed(type_, draw(_notes))
    else:
        typed = draw(_tensors() if form == "tensor" else _brain_floats())
    return typed.optional() if draw(st.booleans()) else typed


@st.composite
def _fields(draw: st.DrawFn, types: st.SearchStrategy[_Typed], least: int, most: int) -> list[Tree]:
    distinct = draw(st.lists(names, min_size=least, max_size=most, unique_by=str.casefold))
    return [_field(name, draw(types), is_beside_name=draw(st.booleans())) for name in distinct]


def _field(name: str, typed: _Typed, *, is_beside_name: bool) -> Tree:
    """A column or member; attributes stand beside the name, or inside the Option where there is one."""
    if is_beside_name or not typed.is_optional or not typed.extra:
        return {"name": name, "type": typed.type, **({"extra": typed.extra} if typed.extra else {})}
    return {"name": name, "type": {"kind": "Option", "inner": {**typed.type["inner"], "extra": typed.extra}}}


types = st.recursive(_leaves(), _nested, max_leaves=8)

_schema_notes = st.one_of(
    _nothing,
    _subset(
        {
            f"{LANCE}/storageVersion": st.sampled_from(("2.0", "2.1", "2.2", "2.3")),
            f"{SPARK}/tableProperties": st.dictionaries(words, sentences, max_size=2),
            "paimon.apache.org/options": st.dictionaries(words, sentences, max_size=2),
            "paimon.apache.org/comment": sentences,
            "opendatafabric.org/description": sentences,
            "kamu.dev/archetype": st.sampled_from(("Collection", "VersionedFile")),
            "example.com/x": json_values,
        }
    ),
)


@st.composite
def manifests(draw: st.DrawFn, most_columns: int = 6) -> Tree:
    """A schema with its columns; nothing in it makes a check complain."""
    columns: list[Tree] = draw(_fields(types, 0, most_columns))
    has_keys = draw(st.booleans())
    if has_keys:
        _mark_keys(draw, columns)
    extra = dict(draw(_schema_notes))
    if columns and draw(st.integers(0, 3)) == 0:
        extra["paimon.apache.org/primaryKeys"] = [columns[0]["name"]]
    return {"fields": columns, **({"extra": extra} if extra else {})}


def _mark_keys(draw: st.DrawFn, columns: list[Tree]) -> None:
    for position, column in enumerate(draw(st.permutations(columns)), 1):
        kind = column["type"]["kind"]
        is_leaf = kind not in ("Option", "Struct", "Map", "List", "Null")
        form = draw(st.sampled_from(("none", "primary", "unordered", "clustering")))
        if form == "primary" and is_leaf:
            mark = {f"{LANCE}/primaryKey": {"position": position}}
        elif form == "unordered" and is_leaf:
            mark = {f"{LANCE}/primaryKey": {}}
        elif form == "clustering":
            mark = {f"{LANCE}/clusteringKey": {"position": position}}
        else:
            continue
        column["extra"] = {**column.get("extra", {}), **mark}


@st.composite
def texts(draw: st.DrawFn) -> str:
    """The text of a manifest."""
    return text(draw(manifests()), as_yaml=draw(st.booleans()))


def text(tree: Tree, *, as_yaml: bool = False) -> str:
    """A tree as a manifest's text."""
    if not as_yaml:
        return json.dumps(tree, ensure_ascii=False)
    yaml = YAML(typ="safe", pure=True)
    yaml.allow_unicode = True
    yaml.default_flow_style = False
    stream = io.StringIO()
    yaml.dump(tree, stream)
    return stream.getvalue()


_SPARK_ATOMIC = (
    *("boolean", "byte", "short", "integer", "long", "float", "double", "date", "void", "string", "binary"),
    *("timestamp", "timestamp_ntz", "interval day to second", "interval hour", "variant", "char(3)"),
    *("varchar(20)", "decimal(38,38)", "decimal(1,0)", "decimal(10,2)", *(f"time({n})" for n in range(7))),
    "string collate UNICODE_CI",
)
_spark_metadata = st.one_of(
    st.just({}),
    st.dictionaries(
        st.sampled_from(("comment", "owner", "example.com/note", "lance-encoding:compression", "ß")),
        sentences,
    ),
    st.dictionaries(st.sampled_from(("owner", "example.com/note", "unit")), json_values, max_size=2),
    st.just({"__COLLATIONS": {"a": "icu.UNICODE_CI"}}),
)


@st.composite
def _spark_arrays(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> Tree:
    return {"type": "array", "elementType": draw(inner), "containsNull": draw(st.booleans())}


@st.composite
def _spark_maps(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> Tree:
    key = draw(inner.filter(lambda type_: type_ != "void"))
    return {
        "type": "map",
        "keyType": key,
        "valueType": draw(inner),
        "valueContainsNull": draw(st.booleans()),
    }


@st.composite
def _spark_structs(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> Tree:
    distinct = draw(st.lists(names, max_size=4, unique_by=str.casefold))
    return {"type": "struct", "fields": [_spark_field(draw, name, draw(inner)) for name in distinct]}


def _spark_field(draw: st.DrawFn, name: str, type_: Any) -> Tree:
    metadata = dict(draw(_spark_metadata))
    if isinstance(type_, dict) and type_["type"] == "array":
        metadata |= draw(_array_marks(type_["elementType"]))
    elif type_ == "binary":
        widths = st.fixed_dictionaries({"arrow.fixed-size-binary.byte-width": st.sampled_from((1, 16))})
        metadata |= draw(st.one_of(_nothing, widths, st.just({"arrow:large-var-binary": "true"})))
    elif type_ == "string":
        large = {"arrow:large-var-char": "true"}
        metadata |= draw(st.sampled_from(({}, large, {"ARROW:extension:name": "arrow.json"})))
    nullable = type_ == "void" or draw(st.booleans())
    return {"name": name, "type": type_, "nullable": nullable, "metadata": metadata}


def _array_marks(item: Any) -> st.SearchStrategy[Tree]:
    """What lance-spark's metadata may say of an array."""
    of_item = st.dictionaries(st.sampled_from(("owner", "comment")), sentences, min_size=1).map(
        lambda entries: {"_lance.element": compact(entries)}
    )
    vector: Tree = {"arrow.fixed-size-list.size": 8}
    half = {**vector, "arrow.float16": "true"} if item == "float" else vector
    large = {"arrow.large_list": "true"}
    return st.one_of(
        _nothing, of_item, st.sampled_from((vector, half, large, {"_lance.list.child.name": "e"}))
    )


def _spark_nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(_spark_arrays(inner), _spark_maps(inner), _spark_structs(inner))


@st.composite
def struct_types(draw: st.DrawFn) -> Tree:
    """A StructType in its JSON form, as Spark or lance-spark may have it."""
    types = st.recursive(st.sampled_from(_SPARK_ATOMIC), _spark_nested, max_leaves=8)
    document: Tree = draw(_spark_structs(types))
    return document
