"""Findings, completion and hover in pipelines, overlays and settings, from texts that are not saved."""

import json
from pathlib import Path

import lance
import pyarrow as pa
import pytest
from lsprotocol import types

from schemac.cli.main import main
from tests.lsp.editor import Editor, applied
from tests.lsp.test_session import session

pytestmark = pytest.mark.slow
RIDES = """\
name: rides
fields:
  - {name: fare, description: what was paid, type: {kind: Decimal, precision: 10, scale: 2}}
  - name: stops
    type: {kind: List, itemType: String}
---
name: drivers
fields:
  - {name: id, type: Int64}
"""
PIPELINE = """\
source: {path: in.ndjson}
schema: rides.yaml
dataset: rides
fields:
  fare: cost
target: {path: out.lance}
"""
OVERLAY = """\
datasets:
  rides:
    extra:
      lance.org/storageVersion: '2.1'
    fields:
      fare: {extra: {lance.org/encoding: {compression: zstd}}}
"""


def _project(folder: Path) -> None:
    (folder / "schemac.toml").write_text("# settings\n")
    (folder / "rides.yaml").write_text(RIDES)
    (folder / "in.ndjson").write_text('{"cost": 1.5, "where": {"city": "Kyiv"}}\n')


def test_type_a_pipeline(tmp_path: Path) -> None:
    _project(tmp_path)

    async def act(e: Editor) -> None:
        uri = e.open(tmp_path / "pipeline.yaml", PIPELINE)
        assert await e.found(uri) == []
        e.replace(uri, "  fare: cost", "  fair: cost")
        (found,) = await e.until(uri, ["SC622"])
        assert (found.range.start.line, found.range.start.character) == (4, 2)
        e.replace(uri, "fair", "fare")
        e.replace(uri, "dataset: rides", "dataset: ridez")
        (found,) = await e.until(uri, ["SC611"])
        assert "did you mean" in found.message
        assert str(tmp_path) not in found.message
        e.replace(uri, "ridez", "rides")
        e.replace(uri, "target: {path", "target: {paht")
        assert {one.code for one in await e.found(uri)} == {"SC611"}
        e.replace(uri, "paht", "path")
        assert await e.found(uri) == []
        e.replace(uri, "schema: rides", "schema: riddes")
        (found,) = await e.until(uri, ["SC101"])
        assert found.range.start.line == 1
        e.replace(uri, "riddes", "rides")
        await e.until(uri, [])
        # A manifest that is typed at the same time.
        manifest = e.open(tmp_path / "rides.yaml")
        e.replace(manifest, "name: fare", "name: price")
        await e.until(uri, ["SC622"])
        assert await e.found(manifest) == []
        # A comment ignores warnings alone.
        e.replace(uri, "  fare: cost", "  fare: cost # schemac: ignore[SC622] soon")
        assert "SC622" in {one.code for one in await e.found(uri)}

    session(tmp_path, act)


async def fixed(e: Editor, uri: str, found: types.Diagnostic) -> str:
    """The text after the code action of a finding."""
    asked = types.CodeActionParams(
        types.TextDocumentIdentifier(uri), found.range, types.CodeActionContext([found])
    )
    actions = await e.client.text_document_code_action_async(asked) or ()
    (edit,) = (a.edit for a in actions if isinstance(a, types.CodeAction) and a.edit is not None)
    ((of, edits),) = (edit.changes or {}).items()
    assert of == uri
    return applied(e.texts[uri], list(edits))


def test_say_of_a_pipeline_what_its_check_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _project(tmp_path)
    (tmp_path / "file").write_text("")
    schema = pa.schema([("other", pa.int64())])
    lance.write_dataset(pa.table({"other": [1]}, schema=schema), tmp_path / "taken.lance")
    wrong = {
        PIPELINE.replace("in.ndjson", "inn.ndjson"): ["SC631"],
        PIPELINE.replace("path: in.ndjson", "format: csv"): ["SC630"],
        PIPELINE.replace("in.ndjson", "in.zip"): ["SC631"],
        PIPELINE.replace("out.lance", "file/out.lance"): ["SC656"],
        PIPELINE.replace("out.lance", "taken.lance"): ["SC651"],
        PIPELINE.replace("out.lance}", "taken.lance, mode: append}"): ["SC653"],
        PIPELINE.replace("in.ndjson", "no.ndjson").replace("out", "file/out"): ["SC631", "SC656"],
        PIPELINE.replace("source: {path: in.ndjson}", "sources: [{path: in.ndjson}, {path: b.csv}]"): [
            "SC631"
        ],
        PIPELINE + "quarantine: {path: taken.lance}\n": ["SC655"],
        PIPELINE + "quarantine: {path: out.lance}\n": ["SC650"],
        PIPELINE.replace("target", "targt"): ["SC611"],
        PIPELINE.replace("fare: cost", "fair: cost"): ["SC622"],
        PIPELINE.replace("fare: cost", "fare: {from: cost, zone: UTC}"): ["SC624"],
    }

    async def act(e: Editor) -> None:
        uri = e.open(tmp_path / "pipeline.yaml", PIPELINE)
        assert await e.found(uri) == []
        for text, codes in wrong.items():
            e.put(uri, 0, len(e.texts[uri]), text)
            found = await e.until(uri, codes)
            (tmp_path / "pipeline.yaml").write_text(text)
            assert main(["check", "pipeline.yaml", "--format", "json"]) == 1
            said = json.loads(capsys.readouterr().out)["diagnostics"]
            assert [d["code"] for d in said] == codes
            at = [(d["line"] - 1, d["column"] - 1) for d in said]
            assert [(d.range.start.line, d.range.start.character) for d in found] == at
            assert all(str(tmp_path) not in d.message for d in found)

    monkeypatch.chdir(tmp_path)
    session(tmp_path, act)


def test_ask_nothing_of_a_network_while_somebody_types(tmp_path: Path) -> None:
    _project(tmp_path)
    text = PIPELINE.replace("out.lance", "s3://nowhere.invalid/out.lance")
    text += "storage: {'s3://nowhere.invalid': {secretAccessKey: '${NOT_SET_ANYWHERE}'}}\n"

    async def act(e: Editor) -> None:
        uri = e.open(tmp_path / "pipeline.yaml", text)
        assert await e.found(uri) == []

    session(tmp_path, act)


def test_fix_what_is_wrong_beside_manifests(tmp_path: Path) -> None:
    _project(tmp_path)

    async def act(e: Editor) -> None:
        uri = e.open(tmp_path / "pipeline.yaml", PIPELINE.replace("fare: cost", "fair: cost"))
        (found,) = await e.until(uri, ["SC622"])
        assert await fixed(e, uri, found) == PIPELINE
        e.put(uri, 0, len(e.texts[uri]), PIPELINE.replace("fare: cost", "fare: {from: cost, zone: UTC}"))
        (found,) = await e.until(uri, ["SC624"])
        assert "fare: {from: cost}" in await fixed(e, uri, found)
        overlay = e.open(tmp_path / "prod.overlay.yaml", OVERLAY.replace("rides:", "ridez:"))
        (found,) = await e.until(overlay, ["SC237"])
        assert await fixed(e, overlay, found) == OVERLAY
        settings = e.open(tmp_path / "schemac.toml", "# ours\nmanifest = ['.'] # all\n")
        (found,) = await e.until(settings, ["SC601"])
        assert await fixed(e, settings, found) == "# ours\nmanifests = ['.'] # all\n"

    session(tmp_path, act)


def test_complete_and_hover_in_a_pipeline(tmp_path: Path) -> None:
    _project(tmp_path)

    async def act(e: Editor) -> None:
        uri = e.open(tmp_path / "pipeline.yaml", PIPELINE)
        assert await e.found(uri) == []
        offered = await e.labels(uri, "source", 0)
        assert "maxQuarantined" in offered
        assert "target" not in offered
        assert await e.labels(uri, "rides.yaml", 0) == ["rides.yaml"]
        assert await e.labels(uri, "dataset: ", 9) == ["rides", "drivers"]
        assert {"stops"} <= {*await e.labels(uri, "  fare", 2)}
        assert {"cost", "where.city"} <= {*await e.labels(uri, "cost", 0)}
        e.replace(uri, "fare: cost", "fare: {from: cost, zone: UTC}")
        assert {"expr", "format"} <= {*await e.labels(uri, "zone", 0)}
        assert {"cost", "where.city"} <= {*await e.labels(uri, "cost", 0)}
        e.replace(uri, "target: {path: out.lance}", "target:\n  path: out.lance\n  mode: \n  \n")
        assert {"append", "overwrite"} <= {*await e.labels(uri, "mode: ", 6)}
        assert "connector" in await e.labels(uri, "mode: \n  ", 9)
        assert "Manifest" in await e.hover(uri, "schema")
        assert "`Decimal(10, 2)`" in await e.hover(uri, "fare", 1)

    session(tmp_path, act)


def test_type_an_overlay(tmp_path: Path) -> None:
    _project(tmp_path)

    async def act(e: Editor) -> None:
        uri = e.open(tmp_path / "prod.yaml", OVERLAY)
        assert await e.found(uri) == []
        e.replace(uri, "  rides:", "  ridez:")
        (found,) = await e.until(uri, ["SC237"])
        assert "did you mean `rides`?" in found.message
        e.replace(uri, "ridez", "rides")
        e.replace(uri, "fare: {", "fair: {")
        await e.until(uri, ["SC237"])
        assert await e.labels(uri, "fair", 0) == ["fare", "stops"]
        e.replace(uri, "fair", "fare")
        e.replace(uri, "lance.org/storageVersion", "schemac.dev/unique")
        await e.until(uri, ["SC237"])
        e.replace(uri, "schemac.dev/unique", "lance.org/storageVersion")
        assert await e.found(uri) == []
        assert {"rides", "drivers"} >= {*await e.labels(uri, "  rides", 2)} != set()
        assert "`Decimal(10, 2)`" in await e.hover(uri, "fare", 1)

    session(tmp_path, act)


def test_type_settings(tmp_path: Path) -> None:
    _project(tmp_path)

    async def act(e: Editor) -> None:
        manifest = e.open(tmp_path / "rides.yaml")
        assert await e.found(manifest) == []
        uri = e.open(tmp_path / "schemac.toml")
        assert await e.found(uri) == []
        e.replace(uri, "# settings\n", "# settings\nmanifest = ['.']\n")
        (found,) = await e.until(uri, ["SC601"])
        assert "did you mean" in found.message
        assert found.range.start.line == 1
        # What was sound last counts in the meantime; what is typed counts as soon as it is sound.
        e.replace(uri, "manifest = ['.']", "[lint]\nextend-select = ['SC831']")
        await e.until(uri, [])
        await e.until(manifest, ["SC831", "SC831"])
        params = types.CompletionParams(**e.at(uri, "select"))
        assert await e.client.text_document_completion_async(params) is None

    session(tmp_path, act)
