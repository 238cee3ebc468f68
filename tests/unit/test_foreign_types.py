"""What is suggested for a type in the words of another system parses when it is copied, and means that type."""

import itertools
import json
import re
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import schemac
from schemac.engines.paimon.reader import _FromPaimon
from schemac.engines.paimon.types import (
    STRING,
    VECTOR_ELEMENTS,
    DataField,
    PaimonType,
    parse_type,
)
from schemac.language.attributes.attribute import spellings
from schemac.language.kinds.registry import ARROW_NAMES, FOREIGN_NAMES, KINDS
from schemac.language.kinds.sequences import ARROW_BUFFERS
from schemac.language.manifest.foreign import suggest_type
from schemac.text.source.diagnostics import Report
from tests.conformance.arrow_schemas import leaf_types
from tests.effort import law

_HELP = re.compile(
    r"(?:write|did you mean) `(?P<type>.*?)`(?: with `extra: (?P<extra>\{.*?\})` next to the field's name)?(?:[?;,].*)?"
)


def compiled(*texts: str) -> dict[str, pa.Field]:
    """The Arrow fields of what authors of such texts are told to write; without those that no kind stands for."""
    written = "".join(f"  - name: f{i}\n    type: {quoted(text)}\n" for i, text in enumerate(texts))
    found = schemac.check_text(f"fields:\n{written}")
    assert [f.code for f in found] == ["SC201"] * len(texts), [str(f) for f in found if f.code != "SC201"]
    right: dict[str, str] = {}
    for diagnostic in found:
        text = texts[int(diagnostic.path.removeprefix("f"))]
        match = _HELP.fullmatch(diagnostic.help)
        if match is None:
            assert diagnostic.help.startswith(("there is no kind for", "a Decimal has")), (
                text,
                diagnostic.help,
            )
            continue
        extra = f"\n    extra: {match['extra']}" if match["extra"] else ""
        right[text] = f"    type: {match['type']}{extra}\n"
    manifest = "".join(f"  - name: f{i}\n{lines}" for i, lines in enumerate(right.values()))
    (dataset,) = schemac.compile_text(f"fields:\n{manifest}")
    return dict(zip(right, dataset.to_arrow(), strict=True))


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def same(a: Any, b: Any) -> bool:
    """Whether two Arrow types are the same with all names and nullabilities; `==` looks at neither of a list's."""
    if a != b:
        return False
    return all(
        (x.name, x.nullable) == (y.name, y.nullable) and same(x.type, y.type)
        for x, y in zip(children(a), children(b), strict=True)
    )


def children(type_: Any) -> list[Any]:
    return [type_.field(i) for i in range(type_.num_fields)]


ARROW_LEAVES = {str(t): t for t in leaf_types().values() if not isinstance(t, pa.BaseExtensionType)}
OWN = {str(t): t for t in ARROW_LEAVES.values() if str(t) not in {k.__name__.lower() for k in KINDS}}


def nested_arrow() -> dict[str, pa.DataType]:
    around = (
        lambda t: pa.list_(t),
        lambda t: pa.large_list(t),
        lambda t: pa.list_(pa.field("item", t, nullable=False)),
        lambda t: pa.list_(t, 3),
        lambda t: pa.map_(pa.string(), t),
        lambda t: pa.struct([pa.field("a", t), pa.field("b", t, nullable=False)]),
        lambda t: pa.list_(pa.struct([pa.field("m", pa.map_(pa.int8(), pa.list_(t)))])),
    )
    found = [wrap(t) for wrap, t in itertools.product(around, ARROW_LEAVES.values())]
    return {str(t): t for t in found}


def test_mean_the_types_that_pyarrow_prints() -> None:
    types = {**OWN, **nested_arrow()}
    assert len(types) > 300
    found = compiled(*types)
    wrong = {
        text: str(found.get(text))
        for text, t in types.items()
        if text not in found or not same(found[text].type, t)
    }
    assert wrong == {}


ALIASES = (
    *[
        "null",
        "bool",
        "boolean",
        "i1",
        "int8",
        "i1",
        "int16",
        "i2",
        "int32",
        "i4",
        "int64",
        "i8",
        "uint8",
        "u1",
        "uint16",
        "u2",
        "uint32",
        "u4",
        "uint64",
        "u8",
    ],
    *[
        "f2",
        "halffloat",
        "float16",
        "f4",
        "float",
        "float32",
        "f8",
        "double",
        "float64",
        "string",
        "str",
        "utf8",
        "binary",
        "large_string",
    ],
    *[
        "large_str",
        "large_utf8",
        "large_binary",
        "binary_view",
        "string_view",
        "date32",
        "date64",
        "date32[day]",
        "date64[ms]",
    ],
    *(f"{word}[{unit}]" for word in ("timestamp", "duration") for unit in ("s", "ms", "us", "ns")),
    *["time32[s]", "time32[ms]", "time64[us]", "time64[ns]"],
)
NUMPY = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
"""numpy counts bytes where Rust and Flink's users count bits; nothing is suggested for these by pyarrow's meaning."""


OURS = {word for kind in KINDS for word in spellings(kind.__name__)}
"""Words that a manifest takes as they are."""


def test_mean_what_pyarrow_means_by_its_aliases() -> None:
    aliases = [alias for alias in ALIASES if alias not in NUMPY and alias not in OURS]
    found = compiled(*aliases)
    assert {alias: field.type for alias, field in found.items()} == {a: pa.type_for_alias(a) for a in aliases}


PAIMON_LEAVES = (
    *(["BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE", "STRING", "BYTES"]),
    *(
        "DECIMAL(10, 2)",
        "DECIMAL(38, 0)",
        "NUMERIC(5)",
        "TIME(3)",
        "TIMESTAMP(3)",
        "TIMESTAMP(6)",
        "TIMESTAMP(9)",
    ),
    *("TIMESTAMP_LTZ(3)", "TIMESTAMP(6) WITH LOCAL TIME ZONE", "TIMESTAMP(0)"),
)


def paimon_types() -> list[PaimonType]:
    leaves = [parse_type(text) for text in PAIMON_LEAVES]
    leaves += [leaf.required() for leaf in leaves]
    return [
        *leaves,
        *(PaimonType("ARRAY", parts=(leaf,)) for leaf in leaves),
        *(PaimonType("MULTISET", parts=(leaf.required(),)) for leaf in leaves),
        *(_map(PaimonType("ARRAY", parts=(leaf,)).required()) for leaf in leaves),
        *(
            PaimonType("ROW", fields=(DataField(1, "x", leaf), DataField(2, "y", _map(leaf))))
            for leaf in leaves
        ),
        *(PaimonType("VECTOR", (3,), (leaf,)) for leaf in leaves if leaf.root in VECTOR_ELEMENTS),
    ]


def _map(value: PaimonType) -> PaimonType:
    return PaimonType("MAP", parts=(STRING, value))


def test_mean_the_types_that_paimon_prints() -> None:
    """Against the reader of schema files, which is held against pypaimon and Java elsewhere."""
    types = {t.full_type_text(): t for t in paimon_types()}
    types = {text: t for text, t in types.items() if text.lower() not in OURS}
    found = compiled(*types)
    for text, type_ in types.items():
        # The nullability of a column is not said by what only names its type.
        converted = _FromPaimon("", Report()).member(DataField(0, "a", type_.required()), ("a",))
        (expected,) = schemac.compile_text(f"fields:\n  - {json.dumps(converted)}\n")
        assert same(found[text].type, expected.to_arrow().field("a").type), text


PARAMETERS = (
    "",
    "(10)",
    "(10,2)",
    "[3]",
    "[]",
    "?",
    " NOT NULL",
    "(3)",
    "[ns]",
    "<int>",
    "<string, int>",
    "(5, -2)",
)
WRAPPERS = (
    "{}",
    "array<{}>",
    "map<string, {}>",
    "struct<a: {}, b: int not null>",
    "List<{}>",
    "Optional[{}]",
    "{}[]",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrapper", [w if w in WRAPPERS[:2] else pytest.param(w, marks=pytest.mark.long) for w in WRAPPERS]
)
def test_suggest_only_what_compiles(wrapper: str) -> None:
    names = sorted({*FOREIGN_NAMES, *ARROW_NAMES, *ARROW_BUFFERS, *(k.__name__.upper() for k in KINDS)})
    texts = {wrapper.format(name + parameter) for name, parameter in itertools.product(names, PARAMETERS)}
    known = sorted(text for text in texts if text not in OURS and suggest_type(text) is not None)
    assert len(compiled(*known)) > 500


@pytest.mark.parametrize("name", sorted(FOREIGN_NAMES))
def test_know_every_foreign_name_by_itself(name: str) -> None:
    suggestion = suggest_type(name)
    assert suggestion is not None
    assert (
        f"`{FOREIGN_NAMES[name]}`" in suggestion
        or f"kind: {FOREIGN_NAMES[name]}" in suggestion
        or "Null" in suggestion
    )


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        ("decimal(10,2)", "write `{kind: Decimal, precision: 10, scale: 2}`"),
        ("numeric(18, 4)", "write `{kind: Decimal, precision: 18, scale: 4}`"),
        ("timestamp[ns]", "write `{kind: Timestamp, unit: Nanosecond, timezone: null}`"),
        ("array<int>", "write `{kind: List, itemType: {kind: Option, inner: Int32}}`"),
        (
            "map<string,int>",
            "write `{kind: Map, keyType: String, valueType: {kind: Option, inner: Int32}}`",
        ),
        ("list<string>", "write `{kind: List, itemType: {kind: Option, inner: String}}`"),
        ("List<String>", "write `{kind: List, itemType: String}`"),
        ("list[int]", "write `{kind: List, itemType: Int32}`"),
        ("Int64?", "write `{kind: Option, inner: Int64}`"),
        ("int | None", "write `{kind: Option, inner: Int32}`"),
        ("repeated string", "write `{kind: List, itemType: String}`"),
        ("bigint(20) unsigned", "did you mean `UInt64`?"),
        ("ROW<a INT NOT NULL>", "write `{kind: Struct, fields: [{name: a, type: Int32}]}`"),
        ("struct<1: a: required int>", "write `{kind: Struct, fields: [{name: a, type: Int32}]}`"),
        ("FixedSizeList(Float32, 768)", "write `{kind: List, itemType: Float32, fixedLength: 768}`"),
        ("decimal(100,2)", "a Decimal has 1 to 76 digits, and at most 76 after the point"),
        ("foo<bar>", None),
        ("a" * 10_000, None),
        ("array<" * 5_000, None),
    ],
)
def test_build_a_suggestion_from_what_was_written(text: str, suggestion: str | None) -> None:
    assert suggest_type(text) == suggestion


STYLES = {
    "block": ("\n", "  - name: a{0}\n    type: {1}\n", ""),
    "flow mapping": ("\n", "  - {{name: a{0}, type: {1}, description: 'x, y'}}\n", ""),
    "flow sequence": (
        " [",
        "{{name: b{0}, type: Int8}}, {{name: a{0}, type: {1}}}, {{type: {1} , name: c{0}}}, ",
        "]",
    ),
    "JSON": (" [", '{{"name":"a{0}","type":{1}}},', "]"),
    "parts": ("\n", "  - {{name: a{0}, type: {{kind: Map, keyType: {1}, valueType: {1}}}}}\n", ""),
}


def say_in_every_style(*texts: str) -> None:
    """What is said of a type in quotes is said of it in every style, of its whole text at its place, and no more."""
    for style, (opening, line, closing) in STYLES.items():
        manifest = (
            f"fields:{opening}{''.join(line.format(i, text) for i, text in enumerate(texts))}{closing}\n"
        )
        found = schemac.check_text(manifest)
        lines = manifest.splitlines()
        assert len(found) == len(texts) * (2 if style in ("flow sequence", "parts") else 1), style
        for diagnostic in found:
            text = texts[int(re.sub(r"\D", "", diagnostic.path))]
            assert (diagnostic.code, diagnostic.message) == ("SC201", f"there is no kind '{text}'"), style
            assert diagnostic.help == suggest_type(text, is_nested=style == "parts"), style
            written = lines[diagnostic.line - 1][diagnostic.column - 1 : diagnostic.end_column - 1]
            assert written == text, style


def is_bare(text: str) -> bool:
    """Whether a text may stand without quotes in a manifest; of our own words nothing is said."""
    return text not in OURS and text != "null" and suggest_type(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        *("decimal(10,2)", "numeric(18, 4)", "map<string,int>", "struct<a:int,b:string>", "int[]"),
        *(
            "array<decimal(10,2)>",
            "timestamp[ns, tz=UTC]",
            "list<item: int32>",
            "ROW(a INT, b STRING) NOT NULL",
        ),
    ],
)
def test_read_a_type_that_yaml_takes_apart(text: str) -> None:
    say_in_every_style(text)


@pytest.mark.slow
def test_read_what_the_systems_print_in_every_style() -> None:
    texts = [*OWN, *(t.full_type_text() for t in paimon_types()), *nested_arrow()]
    say_in_every_style(*filter(is_bare, texts))


SCALARS = st.sampled_from(
    ("int", "decimal(10,2)", "numeric(18, 4)", "varchar(10)", "timestamp[ns, tz=UTC]", "int32")
)
TYPES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        inner.map("array<{}>".format),
        inner.map("list<item: {}>".format),
        inner.map("{}[]".format),
        st.tuples(inner, inner).map(lambda pair: f"map<{pair[0]},{pair[1]}>"),
        st.tuples(inner, inner).map(lambda pair: f"struct<a:{pair[0]},b: {pair[1]} not null>"),
    ),
    max_leaves=4,
)


@pytest.mark.slow
@given(TYPES)
@law(40)
def test_read_any_nested_type_in_every_style(text: str) -> None:
    if is_bare(text):
        say_in_every_style(text)


@pytest.mark.parametrize(
    "manifest",
    [
        "fields:\n  - {name: a, type: decimal(10,2}\n",
        "fields:\n  - {name: a, type: Int8, description: see (b, c)}\n",
        "fields:\n  - {name: a, type: Int8}\nextra: {acme.com/x: {type: see (b, c)}, acme.com/x: 1}\n",
        "fields:\n  - {name: a, type: Int8\n",
    ],
)
def test_make_nothing_right_that_is_wrong(manifest: str) -> None:
    assert any(d.severity.value == "error" for d in schemac.check_text(manifest))


def test_fold_a_type_on_several_lines() -> None:
    (found,) = schemac.check_text(
        "fields:\n  - name: a\n    type: struct<\n        a: int,\n        b: int>\n"
    )
    assert found.message == "there is no kind 'struct< a: int, b: int>'"


def test_leave_valid_attributes_as_yaml_reads_them() -> None:
    (dataset,) = schemac.compile_text(
        "fields: [{name: a, type: Int8, extra: {acme.com/x: {type: f (b, c)}}}]"
    )
    assert dataset.schema.fields[0].extra["acme.com/x"] == {"type": "f (b", "c)": None}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_understand_the_titles_of_our_own_types(kind: Any) -> None:
    (dataset,) = schemac.compile_text(f"fields:\n  - {{name: a, type: {example(kind)}}}\n")
    (field,) = dataset.schema.fields
    title = field.type.type_text()
    if kind.__name__ in (title, "Struct"):
        return
    found = compiled(title)[title]
    assert same(found.type, dataset.to_arrow().field("a").type)


def example(kind: Any) -> str:
    return "{kind: Option, inner: 'Null'}" if kind.__name__ == "Null" else kind.example


PIECES = (
    *"<>()[],:;?!|= '\"".replace(" ", ""),
    *(" ", "\n", "٣", "1" * 5000, "-1", "0", "10", "dec8", "NOT NULL", "NULL", "with time zone", "unsigned"),
    *sorted({*FOREIGN_NAMES, *(k.__name__ for k in KINDS)}),
)


@given(st.lists(st.sampled_from(PIECES), max_size=12))
@law(300)
def test_never_fail_on_what_is_no_type(pieces: list[str]) -> None:
    suggestion = suggest_type("".join(pieces))
    assert suggestion is None or suggestion


DIALECTS = {
    "postgres": (
        *(
            "text",
            "integer",
            "bigint",
            "smallint",
            "real",
            "double precision",
            "numeric(12,4)",
            "boolean",
            "bytea",
        ),
        *(
            "timestamptz",
            "text[]",
            "integer[]",
            "varchar(10)",
            "char(3)",
            "character varying(9)",
            "numeric(18,4)[]",
        ),
    ),
    "mysql": ("tinyint", "double", "decimal(10,2)", "blob"),
    "duckdb": (
        *(
            "DOUBLE",
            "FLOAT",
            "INTEGER[]",
            "STRUCT(a INTEGER, b VARCHAR)",
            "MAP(VARCHAR, INTEGER)",
            "TIMESTAMPTZ",
        ),
        *("DECIMAL(9,3)", "BLOB", "VARCHAR"),
    ),
    "clickhouse": ("Nullable(Int64)", "Map(String, Nullable(Int64))", "Decimal(18,4)"),
    "bigquery": ("ARRAY<INT64>", "STRUCT<a INT64, b STRING>", "BYTES", "FLOAT64", "BOOL"),
    "snowflake": ("NUMBER(38,2)", "VARCHAR(10)", "TIMESTAMP_LTZ", "VARIANT"),
    "tsql": ("NVARCHAR(10)", "BIT", "DATETIMEOFFSET"),
}
"""Types of dialects that Spark has as well; the others have no second opinion here."""


@pytest.mark.parametrize("dialect", DIALECTS)
def test_mean_what_a_dialect_means(dialect: str) -> None:
    """Against sqlglot, which says them in Spark's words."""
    sqlglot = pytest.importorskip("sqlglot")
    found = compiled(*DIALECTS[dialect])
    for text in DIALECTS[dialect]:
        (statement,) = sqlglot.transpile(f"CREATE TABLE t (a {text})", read=dialect, write="spark")
        theirs = schemac.from_spark_ddl(statement).to_arrow().field("a").type
        assert same(found[text].type, theirs), (text, statement)


@pytest.mark.parametrize("text", ["bfloat16", "BFloat16"])
def test_answer_a_word_of_its_own_before_a_kind_that_looks_like_it(text: str) -> None:
    """`bfloat16` is two letters off `Float16`, and other numbers."""
    (found,) = schemac.check_text(f"fields: [{{name: a, type: {text}}}]")
    assert found.help == suggest_type(text)
    assert "fixedLength" in found.help


PARTS = (
    "string",
    "bigint",
    "decimal(10,2)",
    "array<int>",
    "list<item: int8 not null>",
    "ARRAY<INT NOT NULL>",
)
AROUND = (
    "{}",
    "array<{}>",
    "array<{} not null>",
    "map<string,{}>",
    "map<string, {} not null>",
    "struct<x:{}>",
    "struct<x: {} not null>",
    "List[{}]",
    "Vec<{}>",
)


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("part", PARTS)
def test_guess_nothing_in_a_safe_fix(around: str, part: str) -> None:
    """A safe fix makes nothing optional that its author has not written as optional, at the outermost level or within."""
    text = f"fields:\n  - {{name: a, type: {quoted(around.format(part))}}}\n"
    fixes = [d.fix for d in schemac.check_text(text) if d.fix is not None]
    written = "".join(edit.text for fix in fixes for edit in fix.edits)
    assert fixes or around.format(part) == "string"
    assert [fix.is_safe for fix in fixes] == ["Option" not in written] * len(fixes), written
