"""DDL of PostgreSQL, DuckDB, Snowflake and BigQuery: types, keys, comments, what is lost, and scripts that are broken."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import schemac
from schemac.cli.main import main
from schemac.importers.sources import import_value
from schemac.text.source.diagnostics import Report

pytest.importorskip("sqlglot")
DIALECTS = ("postgres", "duckdb", "snowflake", "bigquery")
JSON = "lance.org/json"


def imported(dialect: str, text: str) -> Any:
    report = Report()
    found = import_value(dialect, text, "s.sql", report)
    assert not report.has_errors, report.diagnostics
    assert found is not None
    return found


def column(dialect: str, type_: str) -> tuple[str, tuple[str, ...]]:
    """The type of a column as Arrow shows it, and its notes."""
    found = imported(dialect, f"CREATE TABLE t (c {type_} NOT NULL)")
    (field,) = found.schema["fields"]
    dataset = schemac.compile_text(json.dumps({"name": "t", "fields": [field]}))[0]
    return str(dataset.to_arrow().field(0).type), found.notes.at((found.schema["fields"][0]["name"],))


TYPES: dict[str, dict[str, tuple[str, str]]] = {
    "postgres": {
        "smallint": ("int16", ""),
        "int8": ("int64", ""),
        "real": ("float", ""),
        "float(24)": ("float", ""),
        "float": ("double", ""),
        "numeric(10,2)": ("decimal128(10, 2)", ""),
        "numeric(50)": ("decimal256(50, 0)", ""),
        "numeric": ("decimal128(38, 18)", "numeric without precision has no bounds"),
        "character varying(10)": ("string", ""),
        "text": ("string", ""),
        "bytea": ("binary", ""),
        "timestamp": ("timestamp[us]", ""),
        "timestamp(3) with time zone": ("timestamp[ms, tz=UTC]", ""),
        "timestamptz(4)": ("timestamp[us, tz=UTC]", "not kept: the 4 digits in TIMESTAMPTZ(4), here 6"),
        "time(0)": ("time32[s]", ""),
        "uuid": ("extension<arrow.uuid>", ""),
        "jsonb": ("extension<arrow.json>", ""),
        "int[]": ("list<item: int32>", ""),
        "interval day to second": ("duration[us]", ""),
        "public.vector(3)": ("fixed_size_list<item: float not null>[3]", ""),
        "inet": ("string", "not kept: the type INET; this is its text"),
        "bit varying(5)": ("string", "not kept: varying(5)"),
    },
    "duckdb": {
        "HUGEINT": ("decimal128(38, 0)", "not kept: the type HUGEINT"),
        "UBIGINT": ("uint64", ""),
        "uint16": ("uint16", ""),
        "DECIMAL": ("decimal128(18, 3)", ""),
        "VARCHAR(10)": ("string", ""),
        "TIMESTAMP_NS": ("timestamp[ns]", ""),
        "INTEGER[3]": ("fixed_size_list<item: int32>[3]", ""),
        "STRUCT(a INTEGER, b VARCHAR[])": ("struct<a: int32, b: list<item: string>>", ""),
        "MAP(VARCHAR, INTEGER)": ("map<string, int32>", ""),
        "ENUM('a', 'b')": ("string", ""),
    },
    "snowflake": {
        "NUMBER": ("decimal128(38, 0)", ""),
        "INT": ("decimal128(38, 0)", ""),
        "NUMBER(10,2)": ("decimal128(10, 2)", ""),
        "REAL": ("double", ""),
        "VARCHAR(10)": ("string", ""),
        "TIMESTAMP_NTZ": ("timestamp[ns]", ""),
        "TIMESTAMP_LTZ(3)": ("timestamp[ms, tz=UTC]", ""),
        "TIMESTAMP_TZ(6)": ("timestamp[us, tz=UTC]", "not kept: the zone of each timestamp"),
        "VARIANT": ("extension<arrow.json>", "not kept: the type VARIANT; this is its JSON"),
        "ARRAY(NUMBER(10,0))": ("list<item: decimal128(10, 0)>", ""),
        "OBJECT(a NUMBER NOT NULL, b VARCHAR)": ("struct<A: decimal128(38, 0) not null, B: string>", ""),
        "VECTOR(FLOAT, 256)": ("fixed_size_list<item: float not null>[256]", ""),
    },
    "bigquery": {
        "INT64": ("int64", ""),
        "NUMERIC": ("decimal128(38, 9)", ""),
        "BIGNUMERIC": ("decimal256(76, 38)", "not kept: the type BIGNUMERIC"),
        "STRING(10)": ("string", ""),
        "DATETIME": ("timestamp[us]", ""),
        "TIMESTAMP": ("timestamp[us, tz=UTC]", ""),
        "ARRAY<STRUCT<a INT64 NOT NULL, b STRING>>": (
            "list<item: struct<a: int64 not null, b: string> not null>",
            "",
        ),
        "RANGE<DATE>": ("struct<start: date32[day], end: date32[day]>", "not kept: the type RANGE<DATE>"),
    },
}


@pytest.mark.parametrize(("dialect", "type_"), [(d, t) for d in TYPES for t in TYPES[d]])
def test_read_a_type(dialect: str, type_: str) -> None:
    wanted, note = TYPES[dialect][type_]
    shown, notes = column(dialect, type_)
    assert shown == wanted
    assert bool(notes) == bool(note)
    assert not note or notes[0].startswith(note)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_judge_every_type_that_is_parsed(dialect: str) -> None:
    """Each has a kind, or a diagnostic that says how to leave the column out; none is taken for another in silence."""
    from sqlglot import exp

    for member in exp.DataType.Type:
        report = Report()
        for text in (member.value, f"{member.value}(3)", f"{member.value}[]"):
            import_value(dialect, f"CREATE TABLE t (c {text})", "s.sql", report)
        assert {d.code for d in report.diagnostics} <= {"SC551", "SC552"}
        assert all(d.help or d.code == "SC552" for d in report.diagnostics)


DUMP = """\
--
-- PostgreSQL database dump
--
\\restrict x
SET statement_timeout = 0;
SET lock_timeout = 0;
CREATE TYPE public.mood AS ENUM ('sad', 'ok');
CREATE TYPE public.pair AS (a integer, b text);
CREATE DOMAIN public.year AS integer CHECK (VALUE > 1900);
CREATE TABLE public.Users (
    id bigint NOT NULL,
    name character varying(20) DEFAULT 'x'::character varying NOT NULL,
    feeling public.mood,
    both public.pair,
    born public.year,
    hours numeric(4,2) GENERATED ALWAYS AS (round(1.0, 2)) VIRTUAL,
    kept text STORAGE EXTERNAL NOT NULL,
    "Mixed Case" integer,
    CONSTRAINT c CHECK (born > 3)
)
PARTITION BY RANGE (born);
CREATE TABLE public.logs (at timestamp with time zone, n serial);
COPY public.users (id) FROM stdin;
1\tit's
\\.
ALTER TABLE public.users OWNER TO x;
ALTER TABLE ONLY public.users ADD CONSTRAINT users_pkey PRIMARY KEY (id);
ALTER TABLE public.logs ALTER COLUMN at SET NOT NULL;
ALTER TABLE public.logs ADD COLUMN more text;
COMMENT ON TABLE public.users IS 'people';
COMMENT ON COLUMN public.users.name IS 'of the person';
CREATE INDEX i ON public.users (name);
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_recognize_a_dump_and_read_all_of_it(folder: Path) -> None:
    (folder / "dump.sql").write_text(DUMP)
    assert main(["import", "dump.sql", "--out", "m.yaml"]) == 0
    assert main(["check", "m.yaml"]) == 0
    assert (folder / "m.yaml").read_text().replace("ENUM (", "ENUM(") == (
        "# not kept: PARTITION BY RANGE(born)\n"
        "# not kept: 2 statements SET\n"
        "# not kept: CREATE DOMAIN public.year AS integer CHECK (VALUE > 1900)\n"
        "# not kept: COPY public.users (id) FROM stdin\n"
        "# not kept: ALTER TABLE public.users OWNER TO x\n"
        "# not kept: CREATE INDEX i ON public.users (name)\n"
        "name: public/users\n"
        "description: people\n"
        "extra:\n"
        "  schemac.dev/check:\n"
        "    - born > 3\n"
        "fields:\n"
        "  - {name: id, type: Int64, extra: {lance.org/primaryKey: {position: 1}}}\n"
        "  # not kept: DEFAULT CAST('x' AS VARCHAR)\n"
        "  - name: name\n"
        "    description: of the person\n"
        "    type: String\n"
        "    extra:\n"
        "      schemac.dev/maxLength: 20\n"
        "  # not kept: the name of its type, public.mood\n"
        "  - name: feeling\n"
        "    type: {kind: Option, inner: String}\n"
        "    extra:\n"
        "      schemac.dev/enum: [sad, ok]\n"
        "  # not kept: the name of its type, public.pair\n"
        "  - name: both\n"
        "    type:\n"
        "      kind: Option\n"
        "      inner:\n"
        "        kind: Struct\n"
        "        fields:\n"
        "          - {name: a, type: {kind: Option, inner: Int32}}\n"
        "          - {name: b, type: {kind: Option, inner: String}}\n"
        "  # not kept: the name of its type, public.year\n"
        "  - {name: born, type: {kind: Option, inner: Int32}}\n"
        "  # not kept: GENERATED ALWAYS AS (ROUND(CAST(1.0 AS DECIMAL), 2))\n"
        "  # not kept: VIRTUAL\n"
        "  - name: hours\n"
        "    type: {kind: Option, inner: {kind: Decimal, precision: 4, scale: 2}}\n"
        "  # not kept: STORAGE EXTERNAL\n"
        "  - {name: kept, type: String}\n"
        "  - {name: Mixed Case, type: {kind: Option, inner: Int32}}\n"
        "---\n"
        "name: public/logs\n"
        "fields:\n"
        "  - {name: at, type: {kind: Timestamp, unit: Microsecond}}\n"
        "  # not kept: DEFAULT from a sequence\n"
        '  - {name: "n", type: Int32}\n'
        "  - {name: more, type: {kind: Option, inner: String}}\n"
    )


RULES = """\
CREATE TABLE public.users (id bigint PRIMARY KEY, email varchar(20) UNIQUE, tags varchar(5)[], "Mixed Case" int CHECK ("Mixed Case" > 0),
    price numeric(10,2), CONSTRAINT p CHECK ((price > (0)::numeric)),
    CHECK (((email)::text = ANY ((ARRAY['a'::character varying, 'b'::character varying])::text[]))),
    CHECK (length(email) > 3 AND price BETWEEN 1 AND 5.25), UNIQUE (email, price),
    UNIQUE NULLS NOT DISTINCT (price), CHECK (now() > '2020-01-01'), CHECK (price IN (SELECT 1)));
CREATE TABLE public.orders (id bigint, "user" bigint REFERENCES public.users, other bigint REFERENCES elsewhere (k) ON DELETE CASCADE,
    FOREIGN KEY (id) REFERENCES users(id));
ALTER TABLE ONLY public.orders ADD CONSTRAINT u UNIQUE (id);
"""


def test_take_constraints_of_tables() -> None:
    """What PostgreSQL writes of them in a dump is what an author would write; the rest is told in the first lines."""
    users = imported("postgres", RULES)
    (orders,) = users.others
    assert users.schema["extra"] == {
        "schemac.dev/check": [
            "price > 0",
            "email IN ('a', 'b')",
            "LENGTH(email) > 3 AND price BETWEEN 1 AND 5.25",
            "`Mixed Case` > 0",
        ],
        "schemac.dev/unique": [["email", "price"], ["email"]],
    }
    assert len(users.comments) == 3
    assert all(note.startswith("not kept: ") for note in users.comments)
    assert orders.schema["extra"] == {
        "schemac.dev/references": [
            {"fields": ["id"], "dataset": "public/users"},
            {"fields": ["user"], "dataset": "public/users", "to": ["id"]},
            {"fields": ["other"], "dataset": "elsewhere", "to": ["k"]},
        ],
        "schemac.dev/unique": [["id"]],
    }
    assert orders.comments == ("not kept: ON DELETE CASCADE",)
    tree = {field["name"]: field for field in users.schema["fields"]}
    assert tree["tags"]["type"]["inner"]["itemType"]["extra"] == {"schemac.dev/maxLength": 5}


def test_read_what_warehouses_say_of_columns() -> None:
    found = imported(
        "bigquery",
        "CREATE TABLE `p.d.t` (a INT64 NOT NULL OPTIONS(description='key', labels=[('x', 'y')]), l ARRAY<STRING>, PRIMARY KEY (a) NOT ENFORCED)"
        " CLUSTER BY a OPTIONS(description='all', expiration_timestamp=NULL)",
    )
    a, items = found.schema["fields"]
    assert found.name == "d/t"
    assert a["extra"] == {"opendatafabric.org/description": "key", "lance.org/primaryKey": {"position": 1}}
    assert items["type"] == {"kind": "List", "itemType": {"kind": "String"}}
    assert found.schema["extra"] == {"opendatafabric.org/description": "all"}
    assert found.comments[0] == "from the table p.d.t"
    assert "not kept: CLUSTER BY a" in found.comments
    flake = imported(
        "snowflake",
        "CREATE TABLE s.t (id INT IDENTITY(1,1) PRIMARY KEY, \"low\" VARCHAR COLLATE 'en' COMMENT 'small', n INT AUTOINCREMENT) COMMENT = 'x'",
    )
    id, low, n = flake.schema["fields"]
    assert (id["name"], low["name"], n["type"]["kind"]) == ("ID", "low", "Option")
    assert id["extra"] == {"lance.org/primaryKey": {"position": 1}}
    assert low["extra"] == {"opendatafabric.org/description": "small"}
    assert flake.notes.at(("low",)) == ("not kept: COLLATE 'en'",)


def test_say_of_a_key_that_cannot_be_kept() -> None:
    found = imported("bigquery", "CREATE TABLE t (a INT64, PRIMARY KEY (a) NOT ENFORCED)")
    assert found.comments == ("not kept: PRIMARY KEY (a)",)


BROKEN: dict[str, tuple[str, str]] = {
    "no statement": ("-- nothing\n", "it has no CREATE TABLE statement"),
    "cut off": ("CREATE TABLE t (a int, b", "expecting )"),
    "an open quote": ("CREATE TABLE t (a int DEFAULT 'x)", "' is opened and never closed"),
    "no table": ("CREATE TABLE FUNCTION f(x int) RETURNS int", "CREATE TABLE"),
    "a name twice": ("CREATE TABLE a (x int); CREATE TABLE A (x int)", "it creates the table"),
    "a change": ("CREATE TABLE a (x int); ALTER TABLE a DROP COLUMN x", "includes the change is expected"),
    "a change of another": ("CREATE TABLE a (x int); ALTER TABLE b ADD COLUMN y int", "includes the change"),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_refuse_a_broken_script(
    case: str, dialect: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, reason = BROKEN[case]
    (folder / "s.sql").write_text(text)
    assert main(["import", "s.sql", "--from", dialect, "--out", "m.yaml", "--format", "json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert found["code"] == "SC552"
    assert reason in found["message"]
    assert found["line"] > 0
    assert not (folder / "m.yaml").exists()


def test_refuse_what_is_no_text_or_too_large(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(schemac.SchemaError, match="not valid Unicode"):
        schemac.from_postgres('CREATE TABLE t ("\ud800" int)')
    (folder / "s.sql").write_bytes(b"CREATE TABLE t (a int) -- \xff")
    assert main(["import", "s.sql", "--from", "duckdb"]) == 1
    assert "it is not UTF-8" in capsys.readouterr().err
    with (folder / "s.sql").open("wb") as stream:
        stream.truncate(33 * 1024 * 1024)
    for dialect in ("duckdb", "ddl"):
        assert main(["import", "s.sql", "--from", dialect]) == 1
        assert "it is larger than 32 MiB" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("statement", "arguments", "lost"),
    [
        ("CREATE TABLE t (a int, id bigint, PRIMARY KEY (id, a))", ("--from", "postgres"), "PRIMARY KEY (id, a)"),
        ("CREATE TABLE t (a INT, id BIGINT, PRIMARY KEY (a, id))", ("--from", "ddl"), "PRIMARY KEY (a, id)"),
        ("CREATE TABLE t (a INTERVAL YEAR, id BIGINT, PRIMARY KEY (id, a))", ("--from", "ddl"), "PRIMARY KEY (id, a)"),
        ("CREATE TABLE t (a INT, id BIGINT, PRIMARY KEY (a, id)) USING paimon", ("--from", "ddl"), "primaryKeys a, id"),
    ],
)  # fmt: skip
def test_keep_no_part_of_a_key(
    folder: Path, capsys: pytest.CaptureFixture[str], statement: str, arguments: tuple[str, ...], lost: str
) -> None:
    """Rows that differ in the column that is left out have the same values in the others."""
    (folder / "s.sql").write_text(statement)
    assert main(["import", "s.sql", *arguments, "--skip", "a"]) == 0
    text = capsys.readouterr().out
    assert f"# not kept: {lost}\n" in text
    (dataset,) = schemac.compile_text(text)
    assert dataset.schema.extra == {}
    assert [(field.name, field.extra) for field in dataset.schema.fields] == [("id", {})]


def test_leave_out_what_has_no_kind(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = "CREATE TABLE s (a int, b int); CREATE TABLE t (a int, b int, i interval, u nowhere.known)"
    (folder / "s.sql").write_text(script)
    assert main(["import", "s.sql", "--from", "postgres", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)["diagnostics"]
    assert [d["code"] for d in found] == ["SC551", "SC551"]
    assert main(["import", "s.sql", "--from", "postgres", "--skip", "i", "--skip", "u"]) == 0
    assert (
        main(
            [
                "import",
                "s.sql",
                "--from",
                "postgres",
                "--skip",
                "b",
                "--skip",
                "i",
                "--skip",
                "u",
                "--out",
                "m.yaml",
            ]
        )
        == 0
    )
    assert [len(d.schema.fields) for d in schemac.compile_file("m.yaml")] == [1, 1]


def test_point_to_other_dialects(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "s.sql").write_text("CREATE TABLE t (a int, b text[])")
    assert main(["import", "s.sql", "--format", "json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert "--from postgres" in found["help"]


@pytest.mark.parametrize("make", [lambda n: "ARRAY<" * n, lambda n: "STRUCT<a " * n], ids=["array", "struct"])
def test_refuse_bottomless_types(make: Callable[[int], str]) -> None:
    report = Report()
    assert (
        import_value("bigquery", f"CREATE TABLE t (a {make(3000)}INT64{'>' * 3000})", "s.sql", report) is None
    )
    assert report.diagnostics[0].code == "SC552"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_survive_a_script_that_ends_anywhere(dialect: str) -> None:
    for end in range(0, len(DUMP), 7):
        import_value(dialect, DUMP[:end], "s.sql", Report())


def test_read_every_type_as_duckdb_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The types are those of DuckDB's own list, with and without digits; what it gives to Arrow is the oracle."""
    duckdb = pytest.importorskip("duckdb")
    session = duckdb.connect()
    rows = session.sql(
        "SELECT DISTINCT type_name FROM duckdb_types() WHERE database_name = 'system'"
    ).fetchall()
    names = sorted(name for (name,) in rows)
    assert len(names) > 50
    timestamps = [f"{name}({digits})" for name in ("TIMESTAMP", "DATETIME") for digits in range(11)]
    more = [
        "TIMESTAMP(9) WITHOUT TIME ZONE",
        "TIMESTAMP WITH TIME ZONE",
        "DECIMAL(5, 2)",
        "DECIMAL(38, 38)",
        "VARCHAR(5)",
    ]
    judged = 0
    for type_ in (*names, *timestamps, *more):
        try:
            (expected,) = session.sql(f"SELECT NULL::{type_} AS c").to_arrow_table().schema
        except duckdb.Error:
            continue
        (tmp_path / "s.sql").write_text(f"CREATE TABLE t (c {type_});")
        if main(["import", str(tmp_path / "s.sql"), "--from", "duckdb"]) != 0:
            capsys.readouterr()
            continue
        text = capsys.readouterr().out
        ((found,),) = [dataset.to_arrow() for dataset in schemac.compile_text(text)]
        judged += 1
        if "  # not kept" not in text:
            # Without its lossless conversion, DuckDB gives the texts of JSON and of UUIDs.
            is_text = found.type in (pa.json_(), pa.uuid()) and expected.type == pa.string()
            assert is_text or str(found.type) == str(expected.type).replace("Etc/UTC", "UTC"), type_
    assert judged > 40
