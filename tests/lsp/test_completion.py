"""What is offered: of each place the registries tell what fits, so that nothing has to be listed here."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pygls.workspace import PositionCodec

from schemac.language.attributes.attribute import Family
from schemac.language.attributes.registry import ATTRIBUTES, OPEN
from schemac.language.kinds.registry import BY_NAME, KINDS
from schemac.language.logical.model import LogicalType
from schemac.lsp.completion import complete
from schemac.lsp.locations import TextScope
from schemac.lsp.projects import CheckedProject
from schemac.lsp.texts import TextLines
from schemac.project.configuration import Project
from schemac.text.source.diagnostics import Report, SourceText
from schemac.text.syntax.document import parse


def offered(text: str, *, snippets: bool = False) -> dict[str, str]:
    """The texts that are offered at a `|`, by their labels."""
    before, _, after = text.partition("|")
    lines = TextLines(before + after, PositionCodec())
    place = (before.count("\n"), len(before) - before.rfind("\n") - 1)
    items = complete(
        lines,
        place,
        TextScope(CheckedProject(Project(Path("/"))), "/nowhere.yaml", lines.lines, place[0]),
        snippets=snippets,
    )
    return {item.label: item.text_edit.new_text for item in items if item.text_edit is not None}


@pytest.mark.parametrize(
    "text",
    [
        "fields:\n  - name: a\n    type: |\n",
        "fields:\n  - {name: a, type: |",
        "fields:\n  - name: a\n    type: {kind: List, itemType: |",
        "kind: SetDataSchema\nschema:\n  fields:\n  - name: a\n    type:\n      |",
        "groups:\n  g:\n    fields:\n      - name: a\n        type: |",
        "kind: DatasetSnapshot\nversion: 1\ncontent:\n  metadata:\n  - kind: SetPollingSource\n    read:\n      schema:\n        fields:\n          - type: |",
    ],
)
def test_offer_every_kind_as_a_type(text: str) -> None:
    found = offered(text)
    assert set(BY_NAME) <= set(found)
    for name in BY_NAME:
        report = Report()
        (document,) = parse(SourceText(f"type: {found[name].strip()}"), report)
        assert not report.has_errors
        value: Any = document.value
        assert value["type"] == name or value["type"]["kind"] == name


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("style", ["    type: {}\n    extra:\n      |", "    extra: {{|}}\n    type: {}\n"])
def test_offer_the_attributes_that_fit(kind: type[LogicalType], style: str) -> None:
    family = Family.TEXT if kind.family is Family.OPTION else kind.family
    found = offered("fields:\n  - name: a\n" + style.format(kind.example))
    assert set(found) == {
        key
        for key, a in {**ATTRIBUTES, **OPEN}.items()
        if a.on_field and (a.fits is None or family in a.fits)
    }


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_offer_the_properties_of_a_kind(kind: type[LogicalType]) -> None:
    name = json.dumps(kind.__name__)
    found = offered(f"fields:\n  - name: a\n    type:\n      kind: {name}\n      |\n")
    assert set(found) == {one.alias for one in kind.model_fields.values()} - {"kind"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fields:\n  - name: a\n    |", {"type", "extra", "description"}),
        ("fields:\n  - use: a\n    |", {"with"}),
        ("fields:\n  - name: a\n    type: {kind: Time, unit: |}", {"Second", "Millisecond", "Microsecond", "Nanosecond"}),
        ("fields:\n  - name: a\n    type: Date\n    extra: {arrow.apache.org/dateEncoding: {unit: |", {"Day", "Millisecond"}),
        ("fields:\n  - name: a\n    type: {kind: Map, keysSorted: |", {"true", "false"}),
        ("fields:\n  - name: a\n    extra:\n      schemac.dev/classification: |", {
            "public", "internal", "confidential", "personal", "sensitivePersonal"}),
        ("fields:\n  - name: a\n    type: String\n    extra: {opendatafabric.org/type: {kind: |", {"Did", "Multihash", "ObjectLink"}),
        ("fields:\n  - name: a\n  # |", set()),
        ("description: |-\n  a |\n", set()),
        ("fields:\n  - name: |", set()),
        ("services:\n  web:\n    |", set()),
        ("fields:\n  - {name: a, |type: Int8}", {"type", "extra", "description"}),
        ("imports: [x]\nfields: []\n|", {"name", "extra", "description", "groups"}),
    ],
)  # fmt: skip
def test_offer_what_is_left(text: str, expected: set[str]) -> None:
    assert set(offered(text if not text.startswith("description") else "description: >\n  a |\n")) == expected


def test_find_kinds_by_the_names_of_other_systems() -> None:
    assert offered("fields:\n  - name: a\n    type: bigin|")["Int64 (bigint)"] == "Int64"
    snippet = offered("fields:\n  - name: a\n    type: |", snippets=True)["Decimal"]
    assert snippet == "{kind: Decimal, precision: ${1:12}, scale: ${2:2}}"


def test_leave_the_colon_that_is_there() -> None:
    assert offered("fields:\n  - na|me: a\n")["name"] == "name"
    assert offered("fields:\n  - name:|\n    type: Int8") == {}
    assert offered("fields:\n  - type:|")["Int8"] == " Int8"
    assert offered("fields:\n  - '|'")["name"] == "name: "


@pytest.mark.slow
def test_offer_the_attributes_of_an_engine_of_another_distribution(tmp_path: Path) -> None:
    package = Path(__file__).parents[2] / "examples/engine-sqlite"
    about = tmp_path / "schemac_sqlite-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: schemac-sqlite\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[schemac.engines]\nsqlite = schemac_sqlite:ENGINE\n")
    script = (
        "from tests.lsp.test_completion import offered\n"
        "found = offered('fields:\\n  - name: a\\n    type: Int8\\n    extra:\\n      |')\n"
        "assert 'sqlite.org/default' in found\n"
        "assert 'sqlite' in offered('extra: {schemac.dev/targets: [|')\n"
    )
    paths = f"{tmp_path}:{package}:{Path(__file__).parents[2]}"
    subprocess.run([sys.executable, "-c", script], check=True, env={"PYTHONPATH": paths})
