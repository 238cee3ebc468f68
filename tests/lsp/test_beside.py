"""Findings, completion and hover in pipelines, overlays and settings, from texts that are not saved."""

from pathlib import Path

import pytest
from lsprotocol import types

from tests.lsp.editor import Editor
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
