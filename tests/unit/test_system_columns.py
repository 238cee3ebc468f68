"""System columns that are inserted on request: what is missing, first and in order; what is there stays."""

import json
from pathlib import Path
from typing import Any

import pytest

import schemac
from schemac.cli.main import main

FARE = "{name: fare, type: Float64}"
RFC = ["offset UInt64", "op UInt8", "system_time Timestamp", "event_time Timestamp"]
KAMU = ["offset Int64", "op Int32", "system_time Timestamp", "event_time Timestamp"]


def columns(text: str, variant: Any = "rfc") -> list[str]:
    (dataset,) = schemac.compile_text(text, system_columns=variant)
    return [f"{field.name} {field.type.kind}" for field in dataset.schema.fields]


@pytest.mark.parametrize(("variant", "expected"), [("rfc", RFC), ("kamu", KAMU), (None, [])])
def test_insert_all_of_a_variant(variant: Any, expected: list[str]) -> None:
    assert columns(f"fields: [{FARE}]", variant) == [*expected, "fare Float64"]


@pytest.mark.parametrize(
    ("present", "expected"),
    [
        ("{name: op, type: Int32}, " + FARE, [RFC[0], "op Int32", *RFC[2:], "fare Float64"]),
        (FARE + ", {name: op, type: Int32}", [RFC[0], *RFC[2:], "fare Float64", "op Int32"]),
        (FARE + ", {name: event_time, type: Date}", [*RFC[:3], "fare Float64", "event_time Date"]),
        (
            "{name: op, type: UInt8}, {name: offset, type: UInt64}",
            ["system_time Timestamp", "event_time Timestamp", "op UInt8", "offset UInt64"],
        ),
    ],
    ids=["in its place", "among the data", "time of the event", "in another order"],
)
def test_leave_what_is_there(present: str, expected: list[str]) -> None:
    assert columns(f"fields: [{present}]") == expected


def test_take_the_names_of_the_vocabulary() -> None:
    text = f"- {{kind: SetVocab, offsetColumn: n, eventTimeColumn: day}}\n- kind: SetDataSchema\n  schema:\n    fields: [{FARE}, {{name: day, type: Date}}]\n"
    assert columns(text) == ["n UInt64", *RFC[1:3], "fare Float64", "day Date"]


def test_find_nothing_odd_about_what_was_inserted() -> None:
    found: list[schemac.Diagnostic] = []
    for variant in ("rfc", "kamu"):
        (dataset,) = schemac.compile_text(f"fields: [{FARE}]", system_columns=variant)
        found += schemac.check_text(dataset.to_odf(), strict=True)
    assert found == []


def test_insert_for_every_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trips.yaml").write_text(f"fields: [{FARE}]\n")
    (tmp_path / "schemac.toml").write_text('systemColumns = "kamu"\n')
    assert main(["check"]) == 0
    assert main(["build"]) == 0
    by_setting = json.loads((tmp_path / "build/trips/spark/schema.json").read_text())
    assert [f["type"] for f in by_setting["fields"]] == [
        "long",
        "integer",
        "timestamp",
        "timestamp",
        "double",
    ]
    assert main(["build", "--system-columns", "rfc"]) == 0
    (dataset,) = schemac.compile_file("trips.yaml", system_columns="rfc")
    assert (tmp_path / "build/trips/odf/schema.yaml").read_text() == dataset.to_odf()
    assert dataset.to_arrow().names == ["offset", "op", "system_time", "event_time", "fare"]
    assert [f.name for f in dataset.to_lance().fields][:2] == ["offset", "op"]


def test_place_findings_about_inserted_columns_at_the_fields() -> None:
    with pytest.raises(schemac.SchemaError) as raised:
        schemac.compile_text(
            "- {kind: SetVocab, offsetColumn: op}\n- kind: SetDataSchema\n  schema:\n    fields: []\n",
            system_columns="rfc",
        )
    places = {(found.code, found.line, found.column) for found in raised.value.diagnostics}
    assert ("SC301", 4, 13) in places
