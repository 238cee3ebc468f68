"""One change after another, as manifests: at least one case for every fact, at the top and below.

Shape: a case has a schema before and one after, and the facts between them in their order.
"""

from collections.abc import Callable, Iterator
from typing import Any

from schemac.engines.lance.attributes import LanceFact
from schemac.engines.paimon.attributes import PaimonFact
from schemac.engines.spark.attributes import SparkFact
from schemac.language.logical.facts import AnyFact, Fact
from tests.conformance.manifest_types import (
    Manifest,
    buffer,
    child_names,
    dictionary,
    extension,
    member,
    of,
    option,
    struct,
)
from tests.evolution import context, formats, paimon
from tests.evolution.case import Case

LANCE, PAIMON, SPARK, OWN = "lance.org", "paimon.apache.org", "spark.apache.org", "schemac.dev"


def _schema(*fields: Manifest, extra: Manifest | None = None) -> Manifest:
    return {"fields": [member("id", of("Int64")), *fields], **({"extra": extra} if extra else {})}


def _types(name: str, old: Manifest, new: Manifest, *facts: AnyFact) -> Case:
    return Case(name, _schema(member("x", old)), _schema(member("x", new)), facts)


def _with(kind: Manifest, extra: Manifest | None) -> Manifest:
    bare = {key: value for key, value in kind.items() if key != "extra"}
    return {**bare, **({"extra": {**kind.get("extra", {}), **extra}} if extra else {})}


def _hint(name: str, kind: Manifest, old: Manifest | None, new: Manifest | None, *facts: AnyFact) -> Case:
    return _types(name, _with(kind, old), _with(kind, new), *facts)


def _whole(name: str, old: Manifest | None, new: Manifest | None, *facts: AnyFact) -> Case:
    return Case(
        name, _schema(member("x", of("Int8")), extra=old), _schema(member("x", of("Int8")), extra=new), facts
    )


def _renamed(field: Manifest, old: str) -> Manifest:
    return {**field, "extra": {**field.get("extra", {}), f"{OWN}/renamedFrom": old}}


TEXT, BYTES, INT, LONG = of("String"), of("Binary"), of("Int32"), of("Int64")
X, Y = member("x", of("Int32")), member("y", of("String"))
NEW = member("n", option(of("Float64")))


def _list(item: Manifest, length: int | None = None, extra: Manifest | None = None) -> Manifest:
    return of("List", extra, itemType=item, **({"fixedLength": length} if length else {}))


def _map(key: Manifest, value: Manifest, **properties: Any) -> Manifest:
    return of("Map", keyType=key, valueType=value, **properties)


def _decimal(precision: int, scale: int, bits: int | None = None) -> Manifest:
    extra = {"arrow.apache.org/decimalEncoding": {"bitWidth": bits}} if bits else None
    return of("Decimal", extra, precision=precision, scale=scale)


def _time(kind: str, unit: str, **properties: Any) -> Manifest:
    return of(kind, unit=unit, **properties)


def _fields() -> Iterator[Case]:
    f = Fact
    yield Case("add an optional column", _schema(X), _schema(X, NEW), (f.FIELD_ADDED,))
    yield Case("add a required column", _schema(X), _schema(X, Y), (f.FIELD_ADDED,))
    yield Case("drop a column", _schema(X, Y), _schema(X), (f.FIELD_DROPPED,))
    yield Case(
        "replace all columns",
        {"fields": [X]},
        {"fields": [NEW]},
        (f.FIELD_ADDED, f.FIELD_DROPPED),
    )
    yield Case("rename a column", _schema(X), _schema(_renamed(member("z", INT), "x")), (f.FIELD_RENAMED,))
    yield Case(
        "move a column into a struct",
        _schema(X, member("s", struct(Y))),
        _schema(member("s", struct(Y, _renamed(member("x", INT), "x")))),
        (f.FIELD_MOVED,),
    )
    yield Case(
        "move a required member out of a struct that may be null",
        _schema(member("s", option(struct(X, Y)))),
        _schema(member("s", option(struct(Y))), _renamed(member("x", INT), "s.x")),
        (f.FIELD_MOVED,),
    )
    yield Case(
        "move a required column into a struct that may be null",
        _schema(X, member("s", option(struct(Y)))),
        _schema(member("s", option(struct(Y, _renamed(member("x", INT), "x"))))),
        (f.FIELD_MOVED,),
    )
    yield Case(
        "replace all members",
        _schema(member("s", option(struct(X)))),
        _schema(member("s", option(struct(NEW)))),
        (f.FIELD_ADDED, f.FIELD_DROPPED),
    )
    yield Case(
        "replace all members in a list",
        _schema(member("l", _list(struct(X)))),
        _schema(member("l", _list(struct(NEW)))),
        (f.FIELD_ADDED, f.FIELD_DROPPED),
    )
    yield Case(
        "move a member into a list",
        _schema(member("s", struct(X, Y)), member("l", _list(struct(Y)))),
        _schema(member("s", struct(Y)), member("l", _list(struct(Y, _renamed(member("x", INT), "s.x"))))),
        (f.FIELD_MOVED,),
    )
    yield Case("change the order of columns", _schema(X, Y), _schema(Y, X), (f.FIELDS_REORDERED,))
    yield _types("make a column optional", INT, option(INT), f.BECAME_OPTIONAL)
    yield _types("make a column required", option(INT), INT, f.BECAME_REQUIRED)
    note = "opendatafabric.org/description"
    yield _hint("describe a column", INT, None, {note: "a"}, f.DESCRIPTION_ADDED)
    yield _hint("describe a column otherwise", INT, {note: "a"}, {note: "b"}, f.DESCRIPTION_CHANGED)
    yield _hint("describe a column no more", INT, {note: "a"}, None, f.DESCRIPTION_REMOVED)


def _nested() -> Iterator[Case]:
    f = Fact
    around: dict[str, Callable[..., Manifest]] = {
        "a struct": lambda *m: struct(*m),
        "a list": lambda *m: _list(struct(*m)),
        "a vector": lambda *m: _list(struct(*m), 2),
        "a map": lambda *m: _map(TEXT, struct(*m)),
    }
    for where, build in around.items():
        yield _types(f"add an optional member in {where}", build(X), build(X, NEW), f.FIELD_ADDED)
        yield _types(f"add a required member in {where}", build(X), build(X, Y), f.FIELD_ADDED)
        yield _types(f"drop a member in {where}", build(X, Y), build(Y), f.FIELD_DROPPED)
        yield _types(
            f"rename a member in {where}", build(X), build(_renamed(member("z", INT), "x")), f.FIELD_RENAMED
        )
        yield _types(f"change the order of members in {where}", build(X, Y), build(Y, X), f.FIELDS_REORDERED)
        yield _types(f"widen a member in {where}", build(X), build(member("x", LONG)), f.INTEGER_WIDENED)
        yield _types(
            f"make a member required in {where}",
            build(NEW),
            build(member("n", of("Float64"))),
            f.BECAME_REQUIRED,
        )
    yield _types("widen the items of a list", _list(INT), _list(LONG), f.INTEGER_WIDENED)
    yield _types("widen the items of a vector", _list(INT, 2), _list(LONG, 2), f.INTEGER_WIDENED)
    yield _types("widen the keys of a map", _map(INT, TEXT), _map(LONG, TEXT), f.INTEGER_WIDENED)
    yield _types("widen the values of a map", _map(TEXT, INT), _map(TEXT, LONG), f.INTEGER_WIDENED)
    yield _types("make items optional", _list(INT), _list(option(INT)), f.BECAME_OPTIONAL)
    yield _types("make values required", _map(TEXT, option(INT)), _map(TEXT, INT), f.BECAME_REQUIRED)


def _type_changes() -> Iterator[Case]:
    f = Fact
    yield _types("Int32 to Int64", INT, LONG, f.INTEGER_WIDENED)
    yield _types("UInt8 to Int16", of("UInt8"), of("Int16"), f.INTEGER_WIDENED)
    yield _types("Int64 to Int32", LONG, INT, f.INTEGER_NARROWED)
    yield _types("Int32 to UInt32", INT, of("UInt32"), f.SIGN_CHANGED)
    yield _types("Float32 to Float64", of("Float32"), of("Float64"), f.FLOAT_WIDENED)
    yield _types("Float64 to Float32", of("Float64"), of("Float32"), f.FLOAT_NARROWED)
    yield _types("Int32 to Float64", INT, of("Float64"), f.NUMBER_FAMILY_CHANGED)
    yield _types("Int64 to Float64", LONG, of("Float64"), f.NUMBER_FAMILY_CHANGED)
    yield _types("Int32 to a decimal with room", INT, _decimal(12, 2), f.NUMBER_FAMILY_CHANGED)
    yield _types("Int32 to a decimal without", INT, _decimal(9, 2), f.NUMBER_FAMILY_CHANGED)
    yield _types("a wide decimal to Float64", _decimal(20, 0), of("Float64"), f.NUMBER_FAMILY_CHANGED)
    yield _types("more digits", _decimal(12, 2), _decimal(20, 2), f.PRECISION_RAISED)
    yield _types("fewer digits", _decimal(20, 2), _decimal(12, 2), f.PRECISION_LOWERED)
    yield _types(
        "more digits after the point, fewer before", _decimal(12, 2), _decimal(12, 4), f.SCALE_RAISED
    )
    yield _types(
        "more digits after the point, as many before",
        _decimal(12, 2),
        _decimal(14, 4),
        f.PRECISION_RAISED,
        f.SCALE_RAISED,
    )
    yield _types("fewer digits after the point", _decimal(12, 4), _decimal(12, 2), f.SCALE_LOWERED)
    yield _types(
        "milliseconds to microseconds",
        _time("Timestamp", "Millisecond"),
        _time("Timestamp", "Microsecond"),
        f.TIME_UNIT_REFINED,
    )
    yield _types(
        "microseconds to nanoseconds",
        _time("Timestamp", "Microsecond"),
        _time("Timestamp", "Nanosecond"),
        f.TIME_UNIT_REFINED,
    )
    yield _types(
        "microseconds to milliseconds",
        _time("Duration", "Microsecond"),
        _time("Duration", "Millisecond"),
        f.TIME_UNIT_COARSENED,
    )
    yield _types(
        "times of day to nanoseconds",
        _time("Time", "Second"),
        _time("Time", "Nanosecond"),
        f.TIME_UNIT_REFINED,
    )
    clock = _time("Timestamp", "Microsecond", timezone=None)
    utc, kyiv = (_time("Timestamp", "Microsecond", timezone=zone) for zone in ("UTC", "Europe/Kyiv"))
    yield _types("give a clock a zone", clock, utc, f.ZONE_ADDED)
    yield _types("take the zone of a clock", utc, clock, f.ZONE_REMOVED)
    yield _types("another zone", utc, kyiv, f.ZONE_CHANGED)
    yield _types("dates to moments", of("Date"), utc, f.TEMPORAL_TYPE_CHANGED)
    yield _types("moments to times of day", utc, _time("Time", "Microsecond"), f.TEMPORAL_TYPE_CHANGED)
    yield _types("texts to bytes", TEXT, BYTES, f.TEXT_AND_BYTES_SWAPPED)
    yield _types("bytes to texts", BYTES, TEXT, f.TEXT_AND_BYTES_SWAPPED)
    yield _types("a length for bytes", BYTES, of("Binary", fixedLength=4), f.BYTE_LENGTH_CHANGED)
    yield _types(
        "another length of bytes",
        of("Binary", fixedLength=4),
        of("Binary", fixedLength=8),
        f.BYTE_LENGTH_CHANGED,
    )
    yield _types("another dimension", _list(of("Float32"), 4), _list(of("Float32"), 8), f.LIST_SIZE_CHANGED)
    yield _types("a length for lists", _list(INT), _list(INT, 4), f.LIST_SIZE_FIXED)
    yield _types("any length for vectors", _list(INT, 4), _list(INT), f.LIST_SIZE_FREED)
    yield _types("sort the keys", _map(TEXT, INT), _map(TEXT, INT, keysSorted=True), f.SORTED_KEYS_CHANGED)
    yield _types(
        "sort the keys no more", _map(TEXT, INT, keysSorted=True), _map(TEXT, INT), f.SORTED_KEYS_CHANGED
    )
    yield _types("numbers to texts", LONG, TEXT, f.TYPE_REPLACED)
    yield _types("texts to numbers", TEXT, LONG, f.TYPE_REPLACED)
    yield _types("one to many", INT, _list(INT), f.TYPE_REPLACED)
    yield _types("texts to sorted maps", TEXT, _map(TEXT, INT, keysSorted=True), f.TYPE_REPLACED)
    yield _types("nothing to something", option(of("Null")), option(INT), f.TYPE_REPLACED)


def _layouts() -> Iterator[Case]:
    f = Fact
    yield _hint("wider offsets", TEXT, None, buffer("Contiguous", 64), f.OFFSET_WIDTH_CHANGED)
    yield _hint("wider offsets of lists", _list(INT), None, buffer("Contiguous", 64), f.OFFSET_WIDTH_CHANGED)
    yield _hint(
        "narrower offsets of lists", _list(INT), buffer("Contiguous", 64), None, f.OFFSET_WIDTH_CHANGED
    )
    yield _hint("views of texts", TEXT, None, buffer("View"), f.BUFFER_LAYOUT_CHANGED)
    yield _hint("views of lists", _list(INT), None, buffer("View"), f.BUFFER_LAYOUT_CHANGED)
    unit = "arrow.apache.org/dateEncoding"
    yield _hint(
        "dates in milliseconds",
        of("Date"),
        {unit: {"unit": "Day"}},
        {unit: {"unit": "Millisecond"}},
        f.DATE_ENCODING_CHANGED,
    )
    yield _types("wider decimals", _decimal(9, 2, 128), _decimal(9, 2, 256), f.DECIMAL_WIDTH_CHANGED)
    yield _hint("a dictionary of texts", TEXT, None, dictionary(), f.DICTIONARY_ADDED)
    yield _hint("a dictionary of integers", INT, None, dictionary(), f.DICTIONARY_ADDED)
    yield _hint("no dictionary", TEXT, dictionary(), None, f.DICTIONARY_REMOVED)
    yield _hint(
        "a narrower dictionary", TEXT, dictionary(), dictionary(indexType="Int8"), f.DICTIONARY_CHANGED
    )
    yield _hint("an extension type", TEXT, None, extension("example.text"), f.EXTENSION_TYPE_CHANGED)
    opaque = extension("arrow.opaque", '{"type_name":"a","vendor_name":"b"}')
    yield _hint(
        "another canonical extension type", TEXT, extension("arrow.json"), opaque, f.EXTENSION_TYPE_CHANGED
    )
    yield _hint("other names of items", _list(INT), None, child_names(item="element"), f.CHILD_NAMES_CHANGED)
    yield _hint(
        "metadata of Arrow", INT, None, {"arrow.apache.org/metadata": {"a": "b"}}, f.ARROW_METADATA_CHANGED
    )


def _lance() -> Iterator[Case]:
    f = Fact
    key, cluster, encoding = f"{LANCE}/primaryKey", f"{LANCE}/clusteringKey", f"{LANCE}/encoding"
    yield _hint("become a key", INT, None, {key: {"position": 1}}, f.PRIMARY_KEY_ADDED)
    yield _hint("be a key no more", INT, {key: {"position": 1}}, None, f.PRIMARY_KEY_REMOVED)
    yield _hint(
        "another place in the key", INT, {key: {"position": 1}}, {key: {"position": 2}}, f.PRIMARY_KEY_MOVED
    )
    yield _hint("cluster by it", INT, None, {cluster: {"position": 1}}, f.CLUSTERING_KEY_CHANGED)
    yield _hint("compress", INT, None, {encoding: {"compression": "zstd"}}, LanceFact.COMPRESSION_CHANGED)
    yield _hint(
        "another structure of pages",
        INT,
        None,
        {encoding: {"structuralEncoding": "fullzip"}},
        LanceFact.STRUCTURAL_ENCODING_CHANGED,
    )
    yield _hint(
        "runs from another share on",
        INT,
        None,
        {encoding: {"rleThreshold": 0.5}},
        LanceFact.PAGE_ENCODING_CHANGED,
    )
    yield _hint(
        "pack a struct",
        struct(X, member("y", INT)),
        None,
        {encoding: {"packed": True}},
        f.PACKED_STRUCT_CHANGED,
    )
    blob = f"{LANCE}/blob"
    yield _hint("become a blob", BYTES, None, {blob: {}}, f.BLOB_ADDED)
    yield _hint("be a blob no more", BYTES, {blob: {}}, None, f.BLOB_REMOVED)
    yield _hint(
        "other thresholds",
        BYTES,
        {blob: {}},
        {blob: {"inlineSizeThreshold": 9}},
        LanceFact.BLOB_THRESHOLDS_CHANGED,
    )
    brain = {f"{LANCE}/floatEncoding": {"format": "bfloat16"}}
    yield _hint("brain floats", _list(of("Float32"), 4), None, brain, f.FLOAT_ENCODING_CHANGED)
    yield _hint("texts to JSON", TEXT, None, {f"{LANCE}/json": True}, f.JSON_CHANGED)
    json_texts = _with(TEXT, {f"{LANCE}/json": True})
    yield _types("JSON to bytes", json_texts, BYTES, f.TEXT_AND_BYTES_SWAPPED, f.JSON_CHANGED)
    documents = _with(TEXT, extension("arrow.json"))
    yield _types(
        "JSON of Arrow to bytes", documents, BYTES, f.TEXT_AND_BYTES_SWAPPED, f.EXTENSION_TYPE_CHANGED
    )
    small, large = (_list(of(kind), 4, brain) for kind in ("Float16", "Float32"))
    yield _types("brain floats of another type", small, large, f.FLOAT_WIDENED)
    yield _hint("JSON to texts", TEXT, {f"{LANCE}/json": True}, None, f.JSON_CHANGED)
    version = f"{LANCE}/storageVersion"
    yield _whole("another storage version", {version: "2.1"}, {version: "2.2"}, f.STORAGE_VERSION_CHANGED)


def _others() -> Iterator[Case]:
    f = Fact
    yield _whole("a Paimon key", None, {f"{PAIMON}/primaryKeys": ["id"]}, PaimonFact.PRIMARY_KEYS_CHANGED)
    yield _whole(
        "Paimon partitions", None, {f"{PAIMON}/partitionKeys": ["id"]}, PaimonFact.PARTITION_KEYS_CHANGED
    )
    options = f"{PAIMON}/options"
    yield _whole(
        "a Paimon option", {options: {"bucket": "1"}}, {options: {"bucket": "2"}}, PaimonFact.OPTION_SET
    )
    yield _whole("no Paimon option", {options: {"bucket": "1"}}, {options: {}}, PaimonFact.OPTION_REMOVED)
    yield _whole("a Paimon comment", None, {f"{PAIMON}/comment": "a"}, PaimonFact.COMMENT_CHANGED)
    yield _hint("a Paimon type", TEXT, None, {f"{PAIMON}/type": "VARCHAR(20)"}, PaimonFact.TYPE_CHANGED)
    yield _hint("a default", TEXT, None, {f"{PAIMON}/defaultValue": "a"}, PaimonFact.DEFAULT_VALUE_CHANGED)
    yield _hint("a Spark type", TEXT, None, {f"{SPARK}/type": "varchar(20)"}, SparkFact.TYPE_CHANGED)
    properties = f"{SPARK}/tableProperties"
    yield _whole("a table property", None, {properties: {"a": "b"}}, SparkFact.TABLE_PROPERTY_SET)
    yield _whole("no table property", {properties: {"a": "b"}}, None, SparkFact.TABLE_PROPERTY_REMOVED)
    yield _hint("an ODF type", TEXT, None, {"opendatafabric.org/type": {"kind": "Did"}}, f.ODF_TYPE_CHANGED)
    yield _whole("an archetype", None, {"kamu.dev/archetype": "Collection"}, f.ARCHETYPE_CHANGED)
    unit = f"{OWN}/unit"
    yield _hint("name the unit", INT, None, {unit: "m"}, f.UNIT_CHANGED)
    yield _hint("another unit", INT, {unit: "m"}, {unit: "ft"}, f.UNIT_CHANGED)
    yield _whole("build for one target", None, {f"{OWN}/targets": ["lance"]}, f.TARGETS_CHANGED)
    own = "example.com/owner"
    yield _hint("an attribute of one's own", INT, None, {own: "a"}, f.ATTRIBUTE_ADDED)
    yield _hint("an attribute changed", INT, {own: "a"}, {own: "b"}, f.ATTRIBUTE_CHANGED)
    yield _hint("no attribute", INT, {own: "a"}, None, f.ATTRIBUTE_REMOVED)


def _constraints() -> Iterator[Case]:
    f = Fact
    least, several, list_ = f"{OWN}/minimum", f"{OWN}/enum", of("List", itemType=TEXT)
    yield _hint("a minimum", INT, None, {least: 1}, f.CONSTRAINT_ADDED)
    yield _hint("no minimum", INT, {least: 1}, None, f.CONSTRAINT_REMOVED)
    yield _hint("a higher minimum", INT, {least: 1}, {least: 2}, f.CONSTRAINT_NARROWED)
    yield _hint("a lower minimum", INT, {least: 2}, {least: 1}, f.CONSTRAINT_WIDENED)
    yield _hint("a lower maximum", LONG, {f"{OWN}/maximum": 9}, {f"{OWN}/maximum": 8}, f.CONSTRAINT_NARROWED)
    yield _hint("the same minimum in quotes", INT, {least: 1}, {least: "1"})
    yield _types(
        "a minimum in another unit",
        _with(_time("Timestamp", "Second"), {least: "2020-01-01T00:00:00Z"}),
        _with(_time("Timestamp", "Millisecond"), {least: "2020-01-01T00:00:00.001Z"}),
        f.TIME_UNIT_REFINED,
        f.CONSTRAINT_NARROWED,
    )
    yield _hint(
        "another pattern", TEXT, {f"{OWN}/pattern": "^a"}, {f"{OWN}/pattern": "^b"}, f.CONSTRAINT_CHANGED
    )
    yield _hint("fewer values", TEXT, {several: ["a", "b"]}, {several: ["b"]}, f.CONSTRAINT_NARROWED)
    yield _hint("more values", TEXT, {several: ["b"]}, {several: ["b", "a"]}, f.CONSTRAINT_WIDENED)
    yield _hint("other values", TEXT, {several: ["a"]}, {several: ["b"]}, f.CONSTRAINT_CHANGED)
    step = f"{OWN}/multipleOf"
    yield _hint("multiples of a multiple", INT, {step: 5}, {step: 10}, f.CONSTRAINT_NARROWED)
    yield _hint("multiples of another number", INT, {step: 5}, {step: 7}, f.CONSTRAINT_CHANGED)
    yield _hint("unique items", list_, None, {f"{OWN}/uniqueItems": True}, f.CONSTRAINT_ADDED)
    yield _types(
        "a length of items",
        list_,
        of("List", itemType=_with(TEXT, {f"{OWN}/maxLength": 3})),
        f.CONSTRAINT_ADDED,
    )
    unique, check = f"{OWN}/unique", f"{OWN}/check"
    yield _whole("unique fields", None, {unique: [["id"]]}, f.CONSTRAINT_ADDED)
    yield _whole("more unique fields", {unique: [["id"]]}, {unique: [["id"], ["x"]]}, f.CONSTRAINT_NARROWED)
    yield _whole("fewer unique fields", {unique: [["id"], ["x"]]}, {unique: [["x"]]}, f.CONSTRAINT_WIDENED)
    yield _whole("another condition", {check: ["id > 1"]}, {check: ["id > 2"]}, f.CONSTRAINT_CHANGED)
    reference = {"fields": ["id"], "dataset": "others"}
    yield _whole("no reference", {f"{OWN}/references": [reference]}, None, f.CONSTRAINT_REMOVED)
    yield from _renamed_constraints()
    yield _types(
        "a length of bytes that was one of characters",
        _with(TEXT, {f"{OWN}/maxLength": 3}),
        _with(BYTES, {f"{OWN}/maxLength": 3}),
        f.TEXT_AND_BYTES_SWAPPED,
        f.CONSTRAINT_CHANGED,
    )
    yield _types(
        "the same maximum of other numbers",
        _with(INT, {f"{OWN}/maximum": 3}),
        _with(of("Float64"), {f"{OWN}/maximum": 3}),
        f.NUMBER_FAMILY_CHANGED,
    )
    yield _types(
        "a minimum of instants that was one of clocks",
        _with(of("Timestamp", unit="Second", timezone=None), {least: "2020-01-01T00:00:00"}),
        _with(of("Timestamp", unit="Second", timezone="UTC"), {least: "2020-01-01T00:00:00Z"}),
        f.ZONE_ADDED,
        f.CONSTRAINT_CHANGED,
    )


def _renamed_constraints() -> Iterator[Case]:
    """Constraints of rows are those of their fields, whatever these are called."""
    f, below = Fact, member("s", struct(member("m", INT)))

    def of_rows(x: str, m: str, factor: int = 1) -> Manifest:
        reference = {"fields": [x], "dataset": "others", "to": ["key"]}
        return {
            f"{OWN}/check": [f"{x} < {m} * {factor} and {x} in (1, 2)"],
            f"{OWN}/references": [reference],
            f"{OWN}/unique": [[x, m]],
        }

    before = _schema(X, below, extra=of_rows("x", "s.m"))
    z, other = _renamed(member("z", INT), "x"), member("s", struct(_renamed(member("n", INT), "m")))
    yield Case(
        "rename what constraints of rows name",
        before,
        _schema(z, other, extra=of_rows("z", "s.n")),
        (f.FIELD_RENAMED, f.FIELD_RENAMED),
    )
    yield Case(
        "rename beside another condition",
        before,
        _schema(z, below, extra=of_rows("z", "s.m", 2)),
        (f.CONSTRAINT_CHANGED, f.FIELD_RENAMED),
    )
    two = _schema(X, member("y", INT), extra={f"{OWN}/check": ["x < y"]})
    swapped = (_renamed(member("y", INT), "x"), _renamed(member("x", INT), "y"))
    yield Case(
        "swap the names in a condition",
        two,
        _schema(*swapped, extra={f"{OWN}/check": ["x < y"]}),
        (f.CONSTRAINT_CHANGED, f.FIELD_RENAMED, f.FIELD_RENAMED),
    )
    yield Case(
        "swap the names of columns and in their condition",
        two,
        _schema(*swapped, extra={f"{OWN}/check": ["y < x"]}),
        (f.FIELD_RENAMED, f.FIELD_RENAMED),
    )
    text = {f"{OWN}/unique": [["x"]]}
    yield Case(
        "unique numbers that were texts",
        _schema(member("x", TEXT), extra=text),
        _schema(X, extra=text),
        (f.CONSTRAINT_CHANGED, f.TYPE_REPLACED),
    )


CASES = (
    *_fields(), *_nested(), *_type_changes(), *_layouts(), *_lance(), *_others(), *_constraints(), *context.CASES,
    *formats.CASES, *paimon.CASES,
)  # fmt: skip
WHOLE_DATASETS = frozenset({Fact.DATASET_ADDED, Fact.DATASET_DROPPED})
"""Facts that two versions of one dataset cannot show."""
