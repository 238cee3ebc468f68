"""What only tables of format 3 have; pyiceberg 0.12 reads their metadata and commits nothing to them."""

import json
from pathlib import Path
from typing import Any

import pytest

import schemac
from schemac.cli.main import main
from schemac.versions.evolution.changes import Outcome
from schemac.versions.evolution.diff import diff_of
from schemac.versions.evolution.judge import judge_change
from schemac.versions.evolution.version_pair import SchemaVersion, pair_versions
from tests.engines.iceberg.conftest import CATALOG
from tests.engines.iceberg.test_reader import METADATA
from tests.engines.iceberg.test_tables import lock, said

DEFAULT = "iceberg.apache.org/initialDefault"
FORMAT = "iceberg.apache.org/formatVersion"
CLOCK = "{kind: Timestamp, unit: Microsecond, timezone: null}"
NANOS = "{kind: Timestamp, unit: Nanosecond, timezone: null}"


def version(field: str, format_version: int) -> SchemaVersion:
    text = f"extra: {{{FORMAT}: {format_version}}}\nfields:\n  - {{name: key, type: Int64}}\n  {field}\n"
    (dataset,) = schemac.compile_text(f"name: t\n{text}")
    return SchemaVersion(dataset._logical, "test")


def outcomes(old: str, new: str, formats: tuple[int, int]) -> dict[str, Outcome]:
    pair = pair_versions(version(old, formats[0]), version(new, formats[1]))
    return {str(change.fact): judge_change("iceberg", change, pair).outcome for change in diff_of(pair)}


@pytest.mark.parametrize(
    ("old", "new", "fact", "of_2", "of_3"),
    [
        ("- {name: a, type: Date}", f"- {{name: a, type: {CLOCK}}}", "temporal-type-changed", Outcome.REFUSED, Outcome.METADATA),
        ("- {name: a, type: Date}", f"- {{name: a, type: {NANOS}}}", "temporal-type-changed", Outcome.REFUSED, Outcome.DATA),
        ("- {name: a, type: Date}", "- {name: a, type: {kind: Timestamp, unit: Microsecond}}", "temporal-type-changed", Outcome.REFUSED, Outcome.REFUSED),
        (f"- {{name: a, type: {CLOCK}}}", f"- {{name: a, type: {NANOS}}}", "time-unit-refined", Outcome.DATA, Outcome.REFUSED),
        ("", "- {name: a, type: Int32}", "field-added", Outcome.REFUSED, Outcome.REFUSED),
        ("", f"- {{name: a, type: Int32, extra: {{{DEFAULT}: 7}}}}", "field-added", Outcome.REFUSED, Outcome.METADATA),
        ("- {name: a, type: Int32}", f"- {{name: a, type: Int32, extra: {{{DEFAULT}: 7}}}}", "attribute-added", Outcome.REFUSED, Outcome.REFUSED),
        ("- {name: a, type: Int32}", "- {name: a, type: Int32, extra: {iceberg.apache.org/writeDefault: 7}}", "attribute-added", Outcome.REFUSED, Outcome.NEW_FILES),
    ],
)  # fmt: skip
def test_judge_by_the_format(old: str, new: str, fact: str, of_2: Outcome, of_3: Outcome) -> None:
    assert outcomes(old, new, (2, 2))[fact] is of_2
    assert outcomes(old, new, (3, 3))[fact] is of_3


def test_judge_what_was_always_null() -> None:
    old, new = (
        '- {name: a, type: {kind: Option, inner: {kind: "Null"}}}',
        "- {name: a, type: {kind: Option, inner: String}}",
    )
    assert outcomes(old, new, (3, 3)) == {"type-replaced": Outcome.METADATA}


def test_let_a_format_only_rise() -> None:
    field = "- {name: a, type: Int32}"
    assert outcomes(field, field, (2, 3)) == {"attribute-changed": Outcome.METADATA}
    assert outcomes(field, field, (3, 2)) == {"attribute-changed": Outcome.REFUSED}


def test_say_that_pyiceberg_cannot_write_it(
    catalog: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    location = f"file://{tmp_path}/warehouse/n/t"
    tree = {**METADATA, "format-version": 3, "next-row-id": 0, "location": location}
    file = tmp_path / "warehouse/n/t/metadata/00001-a.metadata.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(tree))
    table = catalog.register_table("n.t", f"file://{file}")
    assert main(["import", str(file), "--name", "trips", "--out", "trips.yaml"]) == 0
    lock(Path("trips.yaml").read_text() + "  - {name: more, type: {kind: Option, inner: Int32}}\n")
    name = f"iceberg://{CATALOG}/n.t"
    assert main(["plan", "trips", "--table", name]) == 0
    code, out = said(capsys, "apply", "trips", "--table", name)
    assert code == 1
    assert "pyiceberg cannot make this commit" in " ".join(out.split())
    assert catalog.load_table("n.t").metadata == table.metadata


@pytest.mark.parametrize(
    ("zone", "value"),
    [("null", "2017-11-16T22:31:08.123456789"), ("UTC", "2017-11-16T22:31:08.123456789+00:00")],
)
def test_take_defaults_of_nanoseconds(zone: str, value: str) -> None:
    type_ = f"{{kind: Timestamp, unit: Nanosecond, timezone: {zone}}}"

    def default(text: str) -> str:
        field = f"{{name: a, type: {type_}, extra: {{{DEFAULT}: '{text}'}}}}"
        (dataset,) = schemac.compile_text(f"{{name: t, fields: [{field}], extra: {{{FORMAT}: 3}}}}")
        return str(dataset.to_iceberg()["fields"][0]["initial-default"])

    assert default(value) == value
    with pytest.raises(schemac.SchemaError, match=f'write it as "{value[:19]}'):
        default("yesterday")
