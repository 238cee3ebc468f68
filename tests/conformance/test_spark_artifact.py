"""Spark reads the artifacts as the schema they were made from."""

import json
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import types as spark
from pyspark.sql.pandas.types import from_arrow_type

import schemac
from schemac import Dataset
from tests.conformance.manifest_types import POSITIONS, TYPES, Manifest, buffer, member, of, option, struct

ANYWHERE = {"schemac.dev/targets": ["arrow", "spark"]}
COMMENTED = "opendatafabric.org/description"
REFUSED = {
    "Decimal with negative scale",
    "Decimal with negative scale and 76 digits",
    "Decimal with scale above precision",
}
"""Types that Spark cannot hold: its decimals want a scale between zero and the precision."""


def compiled(*fields: Manifest, **extra: Any) -> Dataset:
    (dataset,) = schemac.compile_text(json.dumps({"fields": list(fields), "extra": {**ANYWHERE, **extra}}))
    return dataset


def column(type_: Manifest) -> spark.StructField:
    schema = spark.StructType.fromJson(compiled(member("field", type_)).to_spark())
    return schema["field"]


def losses(type_: Manifest) -> list[tuple[str, str, str]]:
    """What both files lose."""
    found = compiled(member("field", type_)).losses("spark")
    return [(loss.path, loss.lost, loss.becomes) for loss in found if not loss.artifact]


def _all_fields() -> list[Manifest]:
    fields = []
    for place, put in POSITIONS.items():
        for name, type_ in TYPES.items():
            field = {**put(type_), "name": f"{name}, {place}"}
            if name not in REFUSED and _passes_the_checks(field):
                fields.append(field)
    return fields


def _passes_the_checks(field: Manifest) -> bool:
    try:
        compiled(field)
    except schemac.SchemaError:
        return False
    return True


@pytest.fixture(scope="module")
def everything() -> Dataset:
    """Every type at every position, in one dataset."""
    return compiled(*_all_fields())


def test_read_every_type_at_every_position(everything: Dataset) -> None:
    schema = spark.StructType.fromJson(everything.to_spark())
    assert len(schema) > 1500
    assert json.loads(schema.json()) == everything.to_spark()
    for field, arrow in zip(schema, everything.to_arrow(), strict=True):
        assert_is_same_tree(field.dataType, field.nullable, arrow)


def assert_is_same_tree(type_: spark.DataType, is_nullable: bool, arrow: Any) -> None:
    """Structure, names and nullability; what stands at the leaves has tests of its own."""
    assert is_nullable == arrow.nullable, arrow
    storage = arrow.type
    if isinstance(storage, pa.BaseExtensionType):
        # pyarrow's tensors have optional items whatever the manifest says.
        assert isinstance(type_, spark.ArrayType) == pa.types.is_nested(storage.storage_type)
    elif arrow.metadata and arrow.metadata.get(b"ARROW:extension:name") == b"lance.blob.v2":
        assert isinstance(type_, spark.BinaryType)
    elif isinstance(type_, spark.StructType):
        assert [f.name for f in type_] == [f.name for f in storage.fields]
        for field, child in zip(type_, storage.fields, strict=True):
            assert_is_same_tree(field.dataType, field.nullable, child)
    elif isinstance(type_, spark.ArrayType):
        assert_is_same_tree(type_.elementType, type_.containsNull, storage.value_field)
    elif isinstance(type_, spark.MapType):
        assert_is_same_tree(type_.keyType, False, storage.key_field)
        assert_is_same_tree(type_.valueType, type_.valueContainsNull, storage.item_field)
    else:
        assert not pa.types.is_nested(storage)


WIDENED: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "Null": ("void", []),
    "Bool": ("boolean", []),
    "Int8": ("tinyint", []),
    "Int16": ("smallint", []),
    "Int32": ("int", []),
    "Int64": ("bigint", []),
    "UInt8": ("smallint", [("uint8", "short")]),
    "UInt16": ("int", [("uint16", "integer")]),
    "UInt32": ("bigint", [("uint32", "long")]),
    "UInt64": ("decimal(20,0)", [("uint64", "decimal(20,0)")]),
    "Float16": ("float", [("float16", "float")]),
    "Float32": ("float", []),
    "Float64": ("double", []),
    "Date": ("date", []),
    "Date in milliseconds": ("date", []),
    "String": ("string", []),
    "large String": ("string", []),
    "String view": ("string", [("string_view", "string")]),
    "Binary": ("binary", []),
    "large Binary": ("binary", []),
    "Binary view": ("binary", [("binary_view", "binary")]),
    "Binary of 16 bytes": ("binary", []),
    "Time in Seconds": ("time(0)", []),
    "Time in Milliseconds": ("time(3)", []),
    "Time in Microseconds": ("time(6)", []),
    "Time in Nanoseconds": ("time(6)", [("time in ns", "time(6)")]),
    "Timestamp in Seconds": ("timestamp", [("timestamp in s", "timestamp in us")]),
    "Timestamp in Microseconds": ("timestamp", []),
    "Timestamp in Nanoseconds": ("timestamp", [("timestamp in ns", "timestamp in us")]),
    "Timestamp without zone": ("timestamp_ntz", []),
    "Timestamp of a city": ("timestamp", [("the zone America/New_York", "the zone of the session")]),
    "Duration in Seconds": ("interval day to second", [("duration in s", "interval in us")]),
    "Duration in Microseconds": ("interval day to second", []),
    "Decimal": ("decimal(12,2)", []),
    "Decimal in 32 bits": ("decimal(9,2)", [("decimal of 32 bits", "decimal of 128 bits")]),
    "Decimal in 64 bits": ("decimal(9,2)", [("decimal of 64 bits", "decimal of 128 bits")]),
    "Decimal in 128 bits": ("decimal(9,2)", []),
    "Decimal in 256 bits": ("decimal(9,2)", [("decimal of 256 bits", "decimal of 128 bits")]),
    "Decimal of 50 digits": ("string", [("decimal(50, 5)", "string")]),
    "dictionary of Int64": ("bigint", [("a dictionary with int32 indices", "int64")]),
    "dictionary of UInt8": ("smallint", [("a dictionary with int32 indices", "uint8"), ("uint8", "short")]),
    "String dictionary by Int8": ("string", [("a dictionary with int8 indices", "string")]),
    "json": ("string", []),
    "blob": ("binary", []),
    "uuid": ("binary", []),
    "bool8": ("tinyint", []),
    "vector": ("array<float>", []),
    "tensor": ("array<float>", []),
    "brain floats": ("array<float>", [("bfloat16 values", "float")]),
    "large List": ("array<int>", []),
    "List view": ("array<int>", [("a list of views", "a list")]),
    "Map": ("map<string,bigint>", []),
    "sorted Map": ("map<string,bigint>", [("a map with sorted keys", "a map")]),
    "Struct": ("struct<x:int,y:string>", []),
}


@pytest.mark.parametrize("name", WIDENED)
def test_widen_with_exactly_these_losses(name: str) -> None:
    text, lost = WIDENED[name]
    type_ = option(TYPES[name])
    assert column(type_).dataType.simpleString() == text
    assert losses(type_) == [("field", *loss) for loss in lost]


def _readings() -> dict[str, spark.DataType]:
    """What Spark makes by itself of those Arrow types that it can read."""
    found = {}
    for name in WIDENED:
        arrow = compiled(member("field", option(TYPES[name]))).to_arrow().field("field").type
        with suppress(PySparkException):
            found[name] = from_arrow_type(arrow)
    return found


@pytest.mark.parametrize("name", sorted(set(_readings()) - {"Decimal of 50 digits", "blob", "brain floats"}))
def test_agree_with_sparks_own_reading_of_arrow(name: str) -> None:
    """But for the blob, and for values that it reads wrong: decimals of 50 digits, brain floats as bytes."""
    ours, theirs = column(option(TYPES[name])).dataType, _readings()[name]
    if isinstance(theirs, spark.TimeType):
        # Spark takes every time for one in microseconds.
        assert isinstance(ours, spark.TimeType)
    else:
        assert ours == theirs


def test_widen_what_spark_cannot_read() -> None:
    assert set(WIDENED) - set(_readings()) >= {
        "UInt8",
        "UInt64",
        "Float16",
        "String view",
        "uuid",
        "List view",
    }


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refuse_decimals_that_spark_refuses(name: str) -> None:
    with pytest.raises(schemac.SchemaError) as refused:
        compiled(member("field", TYPES[name])).to_spark()
    assert {found.code for found in refused.value.diagnostics} == {"SC521"}


FLOAT = of("Float32")
VECTOR = of("List", itemType=FLOAT, fixedLength=8)
HALVES = of("List", itemType=of("Float16"), fixedLength=8)
METADATA: dict[str, tuple[Manifest, Manifest]] = {
    "vector": (VECTOR, {"arrow.fixed-size-list.size": 8}),
    "vector of halves": (HALVES, {"arrow.fixed-size-list.size": 8, "arrow.float16": "true"}),
    "large string": (of("String", buffer("Contiguous", 64)), {"arrow:large-var-char": "true"}),
    "large binary": (of("Binary", buffer("Contiguous", 64)), {"arrow:large-var-binary": "true"}),
    "large list": (of("List", buffer("Contiguous", 64), itemType=FLOAT), {"arrow.large_list": "true"}),
    "fixed binary": (of("Binary", fixedLength=3), {"arrow.fixed-size-binary.byte-width": 3}),
    "blob": (of("Binary", {"lance.org/blob": {}}), {"ARROW:extension:name": "lance.blob.v2"}),
    "blob with a threshold": (
        of("Binary", {"lance.org/blob": {"inlineSizeThreshold": 7}}),
        {"ARROW:extension:name": "lance.blob.v2", "lance-encoding:blob-inline-size-threshold": "7"},
    ),
    "json": (of("String", {"lance.org/json": True}), {"ARROW:extension:name": "arrow.json"}),
    "list of json": (
        of("List", itemType=of("String", {"lance.org/json": True})),
        {"_lance.element": '{"ARROW:extension:name":"arrow.json","arrow:large-var-char":"true"}'},
    ),
    "date in milliseconds": (TYPES["Date in milliseconds"], {"arrow.date-millisecond": "true"}),
    "uuid": (
        TYPES["uuid"],
        {"ARROW:extension:name": "arrow.uuid", "arrow.fixed-size-binary.byte-width": 16},
    ),
    "tensor": (
        TYPES["tensor"],
        {
            "ARROW:extension:name": "arrow.fixed_shape_tensor",
            "ARROW:extension:metadata": '{"shape":[2,3]}',
            "arrow.fixed-size-list.size": 6,
        },
    ),
    "encoding": (
        of(
            "Int64",
            {"lance.org/encoding": {"compression": "zstd", "compressionLevel": 3, "rleThreshold": 0.5}},
        ),
        {
            "lance-encoding:compression": "zstd",
            "lance-encoding:compression-level": "3",
            "lance-encoding:rle-threshold": "0.5",
        },
    ),
    "primary key": (
        of("Int64", {"lance.org/primaryKey": {"position": 1}}),
        {
            "lance-schema:unenforced-primary-key": "true",
            "lance-schema:unenforced-primary-key:position": "1",
        },
    ),
    "description": (of("Int64", {COMMENTED: "how many"}), {COMMENTED: '"how many"', "comment": "how many"}),
    "foreign": (
        of("Int64", {"example.com/x": {"b": 1, "a": [None]}}),
        {"example.com/x": '{"a":[null],"b":1}'},
    ),
    "list of vectors": (
        of("List", itemType=VECTOR),
        {"_lance.element": '{"arrow.fixed-size-list.size":8}'},
    ),
    "map of large strings": (
        of("Map", keyType=of("String", buffer("Contiguous", 64)), valueType=HALVES),
        {
            "_lance.key": '{"arrow:large-var-char":"true"}',
            "_lance.value": '{"arrow.fixed-size-list.size":8,"arrow.float16":"true"}',
        },
    ),
    "list of lists of large strings": (
        of("List", itemType=of("List", itemType=of("String", buffer("Contiguous", 64)))),
        {"_lance.element": '{"_lance.element":"{\\"arrow:large-var-char\\":\\"true\\"}"}'},
    ),
    "varchar": (
        of("String", {"spark.apache.org/type": "varchar(9)"}),
        {"spark.apache.org/type": '"varchar(9)"'},
    ),
    "large varchar": (
        of("String", {"spark.apache.org/type": "varchar(9)", **buffer("Contiguous", 64)}),
        {"spark.apache.org/type": '"varchar(9)"', "arrow:large-var-char": "true"},
    ),
}


@pytest.mark.parametrize("name", METADATA)
def test_mark_columns_with_the_keys_of_lance_spark(name: str) -> None:
    type_, expected = METADATA[name]
    assert column(type_).metadata == expected


def test_mark_members_of_structs() -> None:
    type_ = column(struct(member("v", VECTOR))).dataType
    assert isinstance(type_, spark.StructType)
    assert type_["v"].metadata == {"arrow.fixed-size-list.size": 8}


@pytest.mark.parametrize(
    ("word", "type_"),
    [
        ("varchar(20)", spark.VarcharType(20)),
        ("char(3)", spark.CharType(3)),
        ("variant", spark.VariantType()),
    ],
)
def test_take_sparks_richer_word(word: str, type_: spark.DataType) -> None:
    assert column(of("String", {"spark.apache.org/type": word})).dataType == type_


def test_set_table_properties_of_top_level_columns() -> None:
    dataset = compiled(
        member("v", VECTOR),
        member("h", HALVES),
        member("bytes", of("List", itemType=of("Int8"), fixedLength=4)),
        member("text", of("String", buffer("Contiguous", 64))),
        member("b", of("Binary", {"lance.org/blob": {}})),
        member("z", of("Int64", {"lance.org/encoding": {"compression": "zstd", "compressionLevel": 3}})),
        member("fixed", of("Binary", fixedLength=3)),
        member("nested", struct(member("v", VECTOR))),
        **{"spark.apache.org/tableProperties": {"owner": "it's me"}},
    )
    statement = dataset.to_spark_ddl()
    found = statement[statement.index("TBLPROPERTIES") :]
    assert found == (
        "TBLPROPERTIES (\n"
        "  'b.lance.encoding' = 'blob',\n"
        "  'file_format_version' = '2.2',\n"
        "  'fixed.arrow.fixed-size-binary.byte-width' = '3',\n"
        "  'h.arrow.fixed-size-list.size' = '8',\n"
        "  'h.arrow.float16' = 'true',\n"
        "  'owner' = 'it\\'s me',\n"
        "  'text.arrow.large_var_char' = 'true',\n"
        "  'v.arrow.fixed-size-list.size' = '8',\n"
        "  'z.lance.compression' = 'zstd',\n"
        "  'z.lance.compression-level' = '3'\n"
        ");\n"
    )


@pytest.fixture(name="session")
def session_under_another_name(request: pytest.FixtureRequest) -> Any:
    """The types of PySpark have the name `spark` here."""
    return request.getfixturevalue("spark")


ODD = "a`b 'c' \"d\" \\ ü名 \n tab\t %"


@pytest.mark.usefixtures("spark")
def test_parse_every_statement(session: Any, everything: Dataset) -> None:
    parser = session._jsparkSession.sessionState().sqlParser()
    odd = compiled(
        member(ODD.replace("\n", ""), of("Int8", {COMMENTED: ODD})),
        member("s", struct(member("in`ner", of("String", {COMMENTED: ODD})), member("no", of("Int8")))),
        **{COMMENTED: ODD, "spark.apache.org/tableProperties": {ODD: ODD}},
    )
    for dataset in (everything, odd, compiled()):
        # A plan is made of the whole statement, so nothing of it can be beside the grammar.
        (statement,) = dataset.to_spark_statements()
        assert "CreateTable" in parser.parsePlan(statement).toString()


REFERENCES = (
    "${env:HOME}",
    "${system:java.version}",
    "${spark.app.name}",
    "$${env:HOME}",
    "\\${env:HOME}",
    "$",
    "${",
)


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("text", REFERENCES)
def test_replace_nothing_in_names_and_texts(session: Any, text: str) -> None:
    """What looks like a variable of Spark's is a name or a text like any other, wherever it stands."""
    parser = session._jsparkSession.sessionState().sqlParser()
    field = member(text, of("Int8", {COMMENTED: text}))
    dataset = compiled(
        {**field, "extra": {COMMENTED: text, "lance.org/primaryKey": {}}},
        member("s", struct(field)),
        **{COMMENTED: text, "spark.apache.org/tableProperties": {text: text}},
    )
    # The session may be one of a pipeline, which substitutes nothing; most sessions of users do.
    session.sql("RESET spark.sql.variable.substitute")
    of_session = session.conf.get("spark.sql.variable.substitute")
    session.conf.set("spark.sql.variable.substitute", "true")
    statements = dataset.to_spark_statements()
    created = None
    for statement in statements:
        if statement.startswith(("SET", "RESET")):
            session.sql(statement)
        elif statement.startswith("CREATE"):
            created = parser.parsePlan(statement)
    is_reset = any(statement.startswith("RESET") for statement in statements)
    assert session.conf.get("spark.sql.variable.substitute") == (of_session if is_reset else "true")
    session.sql("RESET spark.sql.variable.substitute")
    assert created is not None
    column, parent = created.columns().apply(0), created.columns().apply(1)
    (inner,) = json.loads(parent.dataType().json())["fields"]
    assert (column.name(), column.comment().get()) == (text, text)
    assert (inner["name"], inner["metadata"]["comment"]) == (text, text)
    table = created.tableSpec()
    assert (table.comment().get(), table.properties().apply(text)) == (text, text)


@pytest.mark.usefixtures("spark")
def test_define_the_columns_of_the_schema(session: Any, everything: Dataset) -> None:
    """The columns of the statement are those of the JSON, but for what DDL has no words for."""
    statement = everything.to_spark_ddl()
    columns = statement[statement.index("(") + 1 : statement.index("\n)\nUSING")]
    parsed = session._jvm.org.apache.spark.sql.types.StructType.fromDDL(columns)
    read = spark.StructType.fromJson(json.loads(parsed.json()))
    expected = spark.StructType.fromJson(everything.to_spark())
    assert [f.name for f in read] == [f.name for f in expected]
    for ours, theirs in zip(expected, read, strict=True):
        assert theirs.nullable == ours.nullable
        assert _loosened(theirs.dataType) == _loosened(ours.dataType), ours.name


def _loosened(type_: spark.DataType) -> spark.DataType:
    """The type without the nullability of items and values, without metadata, texts of any length as texts."""
    if isinstance(type_, spark.ArrayType):
        return spark.ArrayType(_loosened(type_.elementType))
    if isinstance(type_, spark.MapType):
        return spark.MapType(_loosened(type_.keyType), _loosened(type_.valueType))
    if isinstance(type_, spark.StructType):
        return spark.StructType([spark.StructField(f.name, _loosened(f.dataType), f.nullable) for f in type_])
    return type_
