"""Types as an author writes them, and places to put them: the rows and columns of the matrices.

Shape: `TYPES` and `POSITIONS` by name; a position takes a type (a mapping with `kind`, `extra` beside it if it has
any) and gives the field that holds it.
"""

from collections.abc import Callable
from typing import Any

from schemac.language.kinds.registry import KINDS

Manifest = dict[str, Any]

VERSIONS = ("2.0", "2.1", "2.2", "2.3")
UNITS = ("Second", "Millisecond", "Microsecond", "Nanosecond")
INDICES = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
_IN_FULL = ("Time", "Timestamp", "Duration", "Decimal")
"""Kinds that are listed below with what they can be."""
_FIRST = (
    *("Bool", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"),
    *("Float16", "Float32", "Float64", "Date", "String", "Binary"),
)
"""Kinds in the order of the pages; of every other the registry gives the name."""
PLAIN = (
    *_FIRST,
    *(kind.__name__ for kind in KINDS if kind.variants() and kind.__name__ not in (*_IN_FULL, *_FIRST)),
)
ARROW = "arrow.apache.org"


def of(kind: str, extra: Manifest | None = None, /, **properties: Any) -> Manifest:
    """A type."""
    return {"kind": kind, **properties, **({"extra": extra} if extra else {})}


def option(inner: Manifest) -> Manifest:
    """The same type, absent or not."""
    return {"kind": "Option", "inner": inner}


def buffer(kind: str, bits: int | None = None) -> Manifest:
    """A buffer hint."""
    return {f"{ARROW}/bufferEncoding": {"kind": kind, **({"offsetBitWidth": bits} if bits else {})}}


def dictionary(**value: Any) -> Manifest:
    """A dictionary hint."""
    return {f"{ARROW}/dictionaryEncoding": value}


def extension(name: str, metadata: str | None = None) -> Manifest:
    """An extension type over the kind."""
    return {
        f"{ARROW}/extensionType": {"name": name, **({"metadata": metadata} if metadata is not None else {})}
    }


def member(name: str, type_: Manifest) -> Manifest:
    """A field; the attributes of its type stand beside its name."""
    bare = {key: value for key, value in type_.items() if key != "extra"}
    return {"name": name, "type": bare, **({"extra": type_["extra"]} if "extra" in type_ else {})}


def child_names(**names: str) -> Manifest:
    """Names of a list's or map's parts in Arrow."""
    return {f"{ARROW}/childNames": names}


def struct(*members: Manifest, extra: Manifest | None = None) -> Manifest:
    """A struct of fields."""
    return of("Struct", extra, fields=list(members))


_FLOATS = of("Float32")
_PERSON = struct(member("x", of("Int32")), member("y", option(of("String"))))

TYPES: dict[str, Manifest] = {
    **{kind: of(kind) for kind in PLAIN},
    "Null": of("Null"),
    **{
        f"{kind} in {unit}s": of(kind, unit=unit)
        for kind in ("Time", "Timestamp", "Duration")
        for unit in UNITS
    },
    "Timestamp without zone": of("Timestamp", unit="Microsecond", timezone=None),
    "Timestamp with offset": of("Timestamp", unit="Microsecond", timezone="+05:30"),
    "Timestamp of a city": of("Timestamp", unit="Microsecond", timezone="America/New_York"),
    "Date in milliseconds": of("Date", {f"{ARROW}/dateEncoding": {"unit": "Millisecond"}}),
    "Decimal": of("Decimal", precision=12, scale=2),
    "Decimal of 50 digits": of("Decimal", precision=50, scale=5),
    "Decimal with negative scale": of("Decimal", precision=5, scale=-3),
    "Decimal with scale above precision": of("Decimal", precision=3, scale=7),
    "Decimal with negative scale and 76 digits": of("Decimal", precision=76, scale=-10),
    **{
        f"Decimal in {bits} bits": of(
            "Decimal", {f"{ARROW}/decimalEncoding": {"bitWidth": bits}}, precision=9, scale=2
        )
        for bits in (32, 64, 128, 256)
    },
    "Binary of 16 bytes": of("Binary", fixedLength=16),
    **{f"large {kind}": of(kind, buffer("Contiguous", 64)) for kind in ("String", "Binary")},
    **{f"contiguous {kind}": of(kind, buffer("Contiguous")) for kind in ("String", "Binary")},
    **{f"{kind} view": of(kind, buffer("View")) for kind in ("String", "Binary")},
    **{f"String dictionary by {index}": of("String", dictionary(indexType=index)) for index in INDICES},
    "ordered dictionary": of("String", dictionary(ordered=True)),
    "dictionary of large Strings": of("String", {**dictionary(), **buffer("Contiguous", 64)}),
    "dictionary of String views": of("String", {**dictionary(), **buffer("View")}),
    "dictionary of Binary": of("Binary", dictionary()),
    "dictionary of fixed Binary": of("Binary", dictionary(), fixedLength=4),
    **{
        f"dictionary of {k}": of(k, dictionary())
        for k in ("Int64", "UInt8", "Float32", "Float16", "Date", "Time")
    },
    **{f"dictionary of {k}": of(k, dictionary()) for k in ("Timestamp", "Duration")},
    "dictionary of Decimal": of("Decimal", dictionary(), precision=9, scale=2),
    "dictionary of Bool": of("Bool", dictionary()),
    "List of elements": of("List", child_names(item="element"), itemType=option(of("Int32"))),
    "vector of elements": of("List", child_names(item="element"), itemType=of("Float32"), fixedLength=3),
    "Map with other names": of(
        "Map", child_names(key="keys", value="values"), keyType=of("String"), valueType=option(of("Int8"))
    ),
    "Int32 with Arrow metadata": of("Int32", {f"{ARROW}/metadata": {"own": "word", "empty": ""}}),
    "uuid": of("Binary", extension("arrow.uuid"), fixedLength=16),
    "bool8": of("Int8", extension("arrow.bool8")),
    "arrow json": of("String", extension("arrow.json")),
    "large arrow json": of("String", {**extension("arrow.json"), **buffer("Contiguous", 64)}),
    "opaque": of("Binary", extension("arrow.opaque", '{"type_name":"point","vendor_name":"PostGIS"}')),
    "tensor": of(
        "List", extension("arrow.fixed_shape_tensor", '{"shape":[2,3]}'), itemType=_FLOATS, fixedLength=6
    ),
    "own extension": of("Binary", extension("example.point", "3d")),
    "own extension over a struct": {**_PERSON, "extra": extension("example.person")},
    "json": of("String", {"lance.org/json": True}),
    "blob": of("Binary", {"lance.org/blob": {}}),
    "blob with thresholds": of(
        "Binary",
        {
            "lance.org/blob": {
                "inlineSizeThreshold": 10,
                "dedicatedSizeThreshold": 99,
                "packFileSizeThreshold": 999,
            }
        },
    ),
    "brain floats": of(
        "List", {"lance.org/floatEncoding": {"format": "bfloat16"}}, itemType=_FLOATS, fixedLength=4
    ),
    "empty Struct": struct(),
    "Struct": _PERSON,
    "Struct of a Struct": struct(member("inner", option(_PERSON))),
    "packed Struct": {
        **struct(member("x", of("Int32")), member("y", of("Float64"))),
        "extra": {"lance.org/encoding": {"packed": True}},
    },
    "packed Struct with options": {
        **struct(member("x", option(of("Int32"))), member("y", of("Float64"))),
        "extra": {"lance.org/encoding": {"packed": True}},
    },
    "packed Struct with texts": {**_PERSON, "extra": {"lance.org/encoding": {"packed": True}}},
    "packed Struct with a vector": {
        **struct(member("v", of("List", itemType=_FLOATS, fixedLength=2)), member("y", of("Int8"))),
        "extra": {"lance.org/encoding": {"packed": True}},
    },
    "packed Struct with a Struct": {
        **struct(member("inner", struct(member("z", of("Int8")))), member("y", of("Int8"))),
        "extra": {"lance.org/encoding": {"packed": True}},
    },
    "packed Struct with a List": {
        **struct(member("l", of("List", itemType=of("Int8"))), member("y", of("Int8"))),
        "extra": {"lance.org/encoding": {"packed": True}},
    },
    "List": of("List", itemType=of("Int32")),
    "List of options": of("List", itemType=option(of("String"))),
    "large List": of("List", buffer("Contiguous", 64), itemType=option(of("Int32"))),
    "List view": of("List", buffer("View"), itemType=of("Int32")),
    "large List view": of("List", buffer("View", 64), itemType=of("Int32")),
    "List of Structs": of("List", itemType=option(_PERSON)),
    "List of Lists": of("List", itemType=option(of("List", itemType=option(of("Int32"))))),
    "List of vectors": of("List", itemType=of("List", itemType=_FLOATS, fixedLength=3)),
    "vector": of("List", itemType=_FLOATS, fixedLength=4),
    "vector of options": of("List", itemType=option(_FLOATS), fixedLength=4),
    "vector of vectors": of("List", itemType=of("List", itemType=_FLOATS, fixedLength=2), fixedLength=3),
    "vector of Structs": of("List", itemType=_PERSON, fixedLength=2),
    "Map": of("Map", keyType=of("String"), valueType=option(of("Int64"))),
    "Map of numbers": of("Map", keyType=of("Int32"), valueType=of("Float64")),
    "sorted Map": of("Map", keyType=of("String"), valueType=of("Int64"), keysSorted=True),
    "Map of Lists": of(
        "Map", keyType=of("String"), valueType=option(of("List", itemType=option(of("Int32"))))
    ),
    "Map of Structs": of("Map", keyType=of("String"), valueType=option(_PERSON)),
}


def _field(type_: Manifest) -> Manifest:
    return member("field", type_)


POSITIONS: dict[str, Callable[[Manifest], Manifest]] = {
    "column": _field,
    "optional column": lambda t: _field(option(t)),
    "member": lambda t: _field(struct(member("a", t))),
    "optional member of an optional Struct": lambda t: _field(option(struct(member("a", option(t))))),
    "item": lambda t: _field(of("List", itemType=t)),
    "optional item of an optional List": lambda t: _field(option(of("List", itemType=option(t)))),
    "item of a large List": lambda t: _field(of("List", buffer("Contiguous", 64), itemType=t)),
    "key": lambda t: _field(of("Map", keyType=t, valueType=of("Int8"))),
    "value": lambda t: _field(of("Map", keyType=of("Int8"), valueType=t)),
    "optional value of an optional Map": lambda t: _field(
        option(of("Map", keyType=of("Int8"), valueType=option(t)))
    ),
    "item of a vector": lambda t: _field(of("List", itemType=t, fixedLength=2)),
    "optional item of an optional vector": lambda t: _field(
        option(of("List", itemType=option(t), fixedLength=2))
    ),
    "item of a vector of vectors": lambda t: _field(
        of("List", itemType=of("List", itemType=t, fixedLength=2), fixedLength=2)
    ),
    "item of a vector in a List": lambda t: _field(
        of("List", itemType=of("List", itemType=option(t), fixedLength=2))
    ),
    "member of an item": lambda t: _field(of("List", itemType=struct(member("a", t)))),
    "optional member of an optional item": lambda t: _field(
        option(of("List", itemType=option(struct(member("a", option(t))))))
    ),
    "member of an item of a vector": lambda t: _field(
        of("List", itemType=struct(member("a", t)), fixedLength=2)
    ),
    "optional member of an optional item of an optional vector": lambda t: _field(
        option(of("List", itemType=option(struct(member("a", option(t)))), fixedLength=2))
    ),
    "item of an item": lambda t: _field(of("List", itemType=of("List", itemType=t))),
    "member of a value": lambda t: _field(
        of("Map", keyType=of("String"), valueType=struct(member("a", option(t))))
    ),
}
