"""Contracts of ODCS, datacontract.yaml and property files of dbt: what comes in, what is named as lost, and what is refused."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import schemac
from schemac.cli.main import main
from schemac.importers.sources import detect, import_source
from schemac.text.source.diagnostics import Report

ODCS = """\
apiVersion: v3.1.0
kind: DataContract
id: x
version: 1.0.0
status: active
servers:
  - {server: s, type: postgres, host: h}
schema:
  - name: trips
    description: All trips
    physicalName: trips_v1
    tags: [mobility]
    properties:
      - name: ride
        physicalName: ride_id
        primaryKey: true
        primaryKeyPosition: 2
        logicalType: integer
        physicalType: bigint
      - {name: region, primaryKey: true, primaryKeyPosition: 1, required: true, logicalType: string, physicalType: varchar(2)}
      - name: fare
        logicalType: number
        physicalType: numeric(10,2)
        description: What was paid
        logicalTypeOptions: {minimum: 0}
        classification: internal
        unique: true
      - {name: at, logicalType: timestamp, required: true}
      - {name: clock, logicalType: timestamp, logicalTypeOptions: {timezone: false}}
      - {name: count, logicalType: integer, logicalTypeOptions: {format: u16}}
      - name: stops
        logicalType: array
        items:
          logicalType: object
          properties:
            - {name: stop, logicalType: string, required: true, logicalTypeOptions: {pattern: "[A-Z]+"}}
            - {name: when, logicalType: date}
      - {name: more, logicalType: object}
  - name: empty
"""
DATA_CONTRACT = """\
dataContractSpecification: 1.2.1
id: orders
info: {title: Orders, version: 1.0.0, owner: me}
models:
  orders:
    description: One record per order
    type: table
    fields:
      order_id: {$ref: '#/definitions/order_id', required: true, unique: true, primaryKey: true}
      total: {type: decimal, precision: 10, scale: 2, required: true, minimum: 0}
      whole: {type: number}
      at: {type: timestamp}
      clock: {type: timestamp_ntz, description: On the wall}
      status: {type: string, enum: [open, paid]}
      lines:
        type: array
        items:
          type: record
          fields:
            sku: {type: text, required: true, pii: true}
            n: {type: int}
      labels: {type: map, keys: {type: string}, values: {type: long, required: true}}
      raw: {type: variant}
      nothing: {type: 'null'}
  lines:
    primaryKey: [order_id, line]
    fields:
      order_id: {$ref: '#/definitions/order_id'}
      line: {type: int}
definitions:
  order_id: {type: text, format: uuid, title: Order ID, name: order_id, classification: restricted}
"""
DBT = """\
version: 2
models:
  - name: orders
    description: One row per order
    config: {contract: {enforced: true}}
    constraints:
      - {type: primary_key, columns: [order_id]}
      - {type: check, expression: "total > 0"}
    columns:
      - name: order_id
        data_type: int
        description: The key
        data_tests: [unique]
      - name: status
        data_type: varchar(20)
        tests:
          - not_null
          - accepted_values: {values: [open, paid]}
      - name: customer
        data_tests:
          - not_null: {where: "status = 'paid'"}
          - relationships: {to: ref('customers'), field: id}
      - {name: odd, data_type: frobnicated}
sources:
  - name: raw
    tables:
      - name: payments
        columns:
          - {name: id, data_type: bigint, constraints: [{type: not_null}, {type: primary_key}]}
seeds:
  - name: countries
unit_tests: []
"""
SOURCES = {"odcs": ODCS, "datacontract": DATA_CONTRACT, "dbt": DBT}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def manifest(text: str, *arguments: str) -> str:
    Path("schema.yml").write_text(text)
    Path("m.yaml").unlink(missing_ok=True)
    assert main(["import", "schema.yml", "--out", "m.yaml", *arguments]) == 0
    assert main(["check", "m.yaml"]) == 0
    return Path("m.yaml").read_text()


@pytest.mark.parametrize("format", SOURCES)
def test_recognize_a_format_and_build_all_of_it(format: str, folder: Path) -> None:
    manifest(SOURCES[format])
    assert detect(Path("schema.yml")) == format
    assert main(["build", "m.yaml", "--target", "arrow"]) == 0


def test_lose_no_key_of_a_contract_of_odcs_silently(folder: Path) -> None:
    text = manifest(
        "kind: DataContract\napiVersion: v3.1.0\nstatus: draft\nretention: 30 days\nid: a\n"
        "schema: [{name: t, properties: [{name: a, logicalType: string}]}]\n"
    )
    assert "# not kept of the contract: id, status, retention\n" in text


def test_read_a_contract_of_odcs(folder: Path) -> None:
    pytest.importorskip("sqlglot")
    assert manifest(ODCS) == (
        "# from a contract of version v3.1.0 of the Open Data Contract Standard\n"
        "# not kept of the contract: version, id, status, servers\n"
        "# not kept: physicalName: trips_v1\n"
        "name: trips\n"
        "description: All trips\n"
        "extra:\n"
        "  schemac.dev/tags:\n"
        "    - mobility\n"
        "  schemac.dev/unique:\n"
        "    -   - fare\n"
        "fields:\n"
        "  # its name in the contract is ride\n"
        "  - {name: ride_id, type: Int64, extra: {lance.org/primaryKey: {position: 2}}}\n"
        "  - name: region\n"
        "    type: String\n"
        "    extra:\n"
        "      lance.org/primaryKey: {position: 1}\n"
        "      schemac.dev/maxLength: 2\n"
        "  - name: fare\n"
        "    description: What was paid\n"
        "    type: {kind: Option, inner: {kind: Decimal, precision: 10, scale: 2}}\n"
        "    extra:\n"
        "      schemac.dev/classification: internal\n"
        "      schemac.dev/minimum: 0\n"
        "  - {name: at, type: {kind: Timestamp, unit: Microsecond}}\n"
        "  - name: clock\n"
        "    type:\n"
        "      kind: Option\n"
        "      inner: {kind: Timestamp, unit: Microsecond, timezone: null}\n"
        "  - {name: count, type: {kind: Option, inner: UInt16}}\n"
        "  - name: stops\n"
        "    type:\n"
        "      kind: Option\n"
        "      inner:\n"
        "        kind: List\n"
        "        itemType:\n"
        "          kind: Option\n"
        "          inner:\n"
        "            kind: Struct\n"
        "            fields:\n"
        "              - {name: stop, type: String, extra: {schemac.dev/pattern: '[A-Z]+'}}\n"
        "              - {name: when, type: {kind: Option, inner: Date}}\n"
        "  # its parts are not described; this is its JSON\n"
        "  - name: more\n"
        "    type: {kind: Option, inner: String}\n"
        "    extra:\n"
        "      lance.org/json: true\n"
        "---\n"
        "# from a contract of version v3.1.0 of the Open Data Contract Standard\n"
        "# not kept of the contract: version, id, status, servers\n"
        "name: empty\n"
        "fields: []\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("options", "kind"),
    [("{format: f32}", "Float32"), ("{format: f64}", "Float64"), ("{minimum: 0}", "Float64")],
)
def test_read_the_width_of_numbers_of_odcs(options: str, kind: str, folder: Path) -> None:
    properties = f"[{{name: a, required: true, logicalType: number, logicalTypeOptions: {options}}}]"
    schema = f"apiVersion: v3.1.0\nkind: DataContract\nid: a\nversion: 1.0.0\nstatus: active\nschema:\n  - {{name: t, properties: {properties}}}\n"
    assert f"name: a, type: {kind}" in manifest(schema)


def test_read_a_data_contract(folder: Path) -> None:
    text = manifest(DATA_CONTRACT)
    orders, lines = schemac.compile_file("m.yaml")
    schema = orders.to_arrow()
    shown = {f.name: f"{f.type}{'' if f.nullable else ' not null'}" for f in schema}
    assert shown == {
        "order_id": "string not null",
        "total": "decimal128(10, 2) not null",
        "whole": "decimal128(38, 0)",
        "at": "timestamp[us, tz=UTC]",
        "clock": "timestamp[us]",
        "status": "string",
        "lines": "list<item: struct<sku: string not null, n: int32>>",
        "labels": "map<string, int64>",
        "raw": "extension<arrow.json>",
        "nothing": "null",
    }
    assert not schema.field("labels").type.item_field.nullable
    assert lines.to_lance().fields[1].unenforced_primary_key_position == 2
    for note in (
        "not kept of the contract: id, info",
        "not kept: format: uuid",
        "not kept: classification: restricted",
    ):
        assert f"# {note}\n" in text
    assert orders.schema.extra == {
        "opendatafabric.org/description": "One record per order",
        "schemac.dev/owner": "me",
        "schemac.dev/unique": [["order_id"]],
    }
    extras = {field.name: field.extra for field in orders.schema.fields}
    assert extras["total"] == {"schemac.dev/minimum": 0}
    assert extras["status"] == {"schemac.dev/enum": ["open", "paid"]}
    assert "schemac.dev/classification: personal" in text


def test_read_no_owner_out_of_an_empty_text(folder: Path) -> None:
    manifest(DATA_CONTRACT.replace("owner: me", 'owner: ""'))
    assert all("schemac.dev/owner" not in dataset.schema.extra for dataset in schemac.compile_file("m.yaml"))


def test_read_properties_of_dbt(folder: Path) -> None:
    text = manifest(DBT)
    orders, payments, countries = sorted(schemac.compile_file("m.yaml"), key=lambda d: len(d.schema.fields))[
        ::-1
    ]
    assert {orders.name, payments.name, countries.name} == {"orders", "raw/payments", "countries"}
    schema = orders.to_arrow()
    assert [(f.name, str(f.type), f.nullable) for f in schema] == [
        ("order_id", "int32", False),
        ("status", "string", False),
        ("customer", "string", True),
        ("odd", "string", True),
    ]
    assert payments.to_lance().fields[0].unenforced_primary_key_position == 1
    for note in (
        'not kept: constraint: {"type": "check", "expression": "total > 0"} (there is no field `total`)',
        """not kept: data_test: {"not_null": {"where": "status = 'paid'"}}""",
        "dbt does not specify its type: set it",
        "there is no kind for its type frobnicated: set it",
        "dbt lists none of its columns: add them",
    ):
        assert f"# {note}\n" in text


SECOND = """\
kind: DataContract
apiVersion: v2.2.2
uuid: x
datasetName: seller
driver: bigquery
dataset:
  - table: payments
    description: What was paid
    tags: [pii]
    columns:
      - {column: day, isPrimaryKey: true, primaryKeyPosition: 1, logicalType: date, physicalType: date, isNullable: false, partitionStatus: true, clusterStatus: false}
      - {column: code, logicalType: string, physicalType: STRING(18), isUnique: true, classification: internal, criticalDataElementStatus: false}
      - {column: sum, logicalType: double, isNullable: true, description: In euros, partitionKeyPosition: -1}
      - {column: odd, logicalType: frob}
"""


def test_read_a_contract_of_the_second_version(folder: Path) -> None:
    text = manifest(SECOND)
    (payments,) = schemac.compile_file("m.yaml")
    assert [(f.name, str(f.type), f.nullable) for f in payments.to_arrow()] == [
        ("day", "date32[day]", False),
        ("code", "string", False),
        ("sum", "double", True),
        ("odd", "string", False),
    ]
    assert payments.schema.extra["schemac.dev/unique"] == [["code"]]
    assert payments.schema.fields[1].extra["schemac.dev/classification"] == "internal"
    assert payments.to_lance().fields[0].unenforced_primary_key_position == 1
    assert "not kept of the contract: uuid, datasetName\n" in text
    assert "  # not kept: partitionStatus: true\n" in text
    assert "there is no kind for its type frob: set it" in text
    assert "clusterStatus" not in text


RULES = """\
models:
  - name: orders
    meta: {owner: shop}
    data_tests:
      - dbt_utils.unique_combination_of_columns: {combination_of_columns: [id, at]}
      - dbt_utils.expression_is_true: {expression: "1 = 1"}
    constraints:
      - {type: unique, columns: [id]}
      - {type: foreign_key, columns: [at], to: ref('days'), to_columns: [day]}
      - {type: check, expression: "id > 0 and id <> 7"}
    columns:
      - {name: id, data_type: bigint, tags: [key], meta: {owner: ids, pii: true}, data_tests: [unique, {accepted_values: {arguments: {values: [1, 2], quote: false}}}]}
      - {name: at, data_type: date, data_tests: [{relationships: {to: "{{ source('raw', 'days') }}", field: day}}, {accepted_values: {values: [soon]}}]}
"""


def test_take_the_tests_of_dbt_for_constraints(folder: Path) -> None:
    text = manifest(RULES)
    (orders,) = schemac.compile_file("m.yaml")
    assert orders.schema.extra == {
        "schemac.dev/owner": "shop",
        "schemac.dev/unique": [["id"], ["id", "at"]],
        "schemac.dev/references": [
            {"fields": ["at"], "dataset": "days", "to": ["day"]},
            {"fields": ["at"], "dataset": "raw/days", "to": ["day"]},
        ],
        "schemac.dev/check": ["id > 0 and id <> 7"],
    }
    (id, _) = orders.schema.fields
    assert id.extra == {
        "schemac.dev/owner": "ids",
        "schemac.dev/classification": "personal",
        "schemac.dev/tags": ["key"],
        "schemac.dev/enum": [1, 2],
    }
    assert "# not kept: accepted_values of at ('soon' is not a date)\n" in text
    assert '# not kept: data_test: {"dbt_utils.expression_is_true": {"expression": "1 = 1"}}\n' in text


def test_read_types_of_dbt_in_the_words_of_its_database(folder: Path) -> None:
    pytest.importorskip("sqlglot")
    (folder / "dbt_project.yml").write_text("name: shop\nprofile: shop\n")
    (folder / "profiles.yml").write_text("shop:\n  target: dev\n  outputs:\n    dev: {type: snowflake}\n")
    manifest(DBT)
    orders = next(d for d in schemac.compile_file("m.yaml") if d.name == "orders")
    assert str(orders.to_arrow().field("order_id").type) == "decimal128(38, 0)"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("kind: DataContract\napiVersion: v1.2.2\n", "version v1.2.2 is not supported; 2.2, 3.0 and 3.1 are"),
        ("kind: DataContract\napiVersion: v2.2.2\n", "it is a contract of ODCS without a table"),
        ("kind: DataContract\napiVersion: v2.2.2\ndataset: [{table: x, columns: [{column: [a]}]}]", "`dataset[0].columns[0].column` has to be a text"),
        ("kind: DataContract\napiVersion: v3.0.0\n", "it is a contract of ODCS without a table"),
        ("kind: DataContract\napiVersion: v3.0.0\nschema: {a: b}\n", "`schema` has to be a list"),
        ("kind: DataContract\napiVersion: v3.0.0\nschema: [{name: x, properties: [{name: a, logicalType: int}]}]", "there is no logicalType int"),
        ("kind: DataContract\napiVersion: v3.0.0\nschema: [{properties: []}]", "`schema[0]` needs a `name`"),
        ("dataContractSpecification: 1.1.0\nmodels: [a]\n", "`models` has to be a mapping"),
        ("dataContractSpecification: 1.1.0\nmodels: {a: {fields: {x: {type: frob}}}}\n", "there is no type frob"),
        ("dataContractSpecification: 1.1.0\nmodels: {a: {fields: {x: {$ref: '#/definitions/y'}}}}\n", "the definition #/definitions/y is not in the contract"),
        ("dataContractSpecification: 1.1.0\nmodels: {a: {fields: {x: {type: decimal, precision: 99}}}}\n", "a precision of 99"),
        ("models:\n  - name: [x]\n", "`models[0].name` has to be a text"),
        ("models:\n  - name: x\n    columns: {a: b}\n", "`models[0].columns` has to be a list"),
    ],
)  # fmt: skip
def test_point_to_what_is_wrong(
    text: str, reason: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "schema.yml").write_text(text)
    assert main(["import", "schema.yml", "--out", "m.yaml", "--format", "json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert found["code"] == "SC552"
    assert reason in found["message"]
    assert "without a table" in reason or found["line"] > 0
    assert not (folder / "m.yaml").exists()


@pytest.mark.parametrize("format", SOURCES)
@pytest.mark.parametrize(
    "text", ["a: [1", "- 1\n- 2\n", "3\n", "a: &a [*a]\n", "a: 1\na: 2\n", "\x00\x01", "[" * 5000]
)
def test_refuse_what_is_another_thing(format: str, text: str, folder: Path) -> None:
    (folder / "x.yaml").write_text(text)
    assert main(["import", "x.yaml", "--from", format, "--out", "m.yaml"]) == 1
    assert not (folder / "m.yaml").exists()


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values of a document."""
    yield path
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, inner in members:
        yield from places(inner, (*path, key))


def replaced(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    if not path:
        return by
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], by)
    return copy


@pytest.mark.parametrize("format", SOURCES)
def test_survive_any_value_at_any_place(format: str, folder: Path) -> None:
    """Each place of a document holds values of several sorts once: a manifest or a finding comes of it, and no exception."""
    from ruamel.yaml import YAML

    document = YAML(typ="safe", pure=True).load(SOURCES[format])
    for path in places(document):
        for value in (True, "x", [None], {"x": None}):
            Path("d.yaml").write_text(json.dumps(replaced(document, path, value)))
            report = Report()
            found = import_source(Path("d.yaml"), format, report)
            assert (found is None) == report.has_errors
            assert {d.code for d in report.diagnostics} <= {"SC552", "SC551"}
