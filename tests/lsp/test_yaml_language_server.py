"""The JSON Schemas in a real yaml-language-server, where one is installed."""

import asyncio
import os
import shutil
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient

import schemac
from schemac.language.kinds.registry import BY_NAME
from schemac.text.source.diagnostics import Severity
from tests.golden import CORPUS
from tests.lsp.editor import CAPABILITIES, Editor, uri_of
from tests.unit.test_json_schemas import ACCEPTED, PASSING, REJECTED, read

PROGRAM = os.environ.get("YAML_LANGUAGE_SERVER", "")
SCHEMA = Path(__file__).parents[2] / "schemas" / "manifest.schema.json"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not PROGRAM or shutil.which("node") is None,
        reason="YAML_LANGUAGE_SERVER has to name the program of the npm package yaml-language-server, and node has to be there",
    ),
]
OTHERS_SAY = frozenset({"SC217/push_source", "SC302/blank"})
"""Cases that differ from what validators say, for reasons of the server."""


def session(folder: Path, act: Callable[[Editor], Coroutine[Any, Any, None]]) -> None:
    async def run() -> None:
        client = LanguageClient("tests", "1")
        settings = {"validate": True, "completion": True, "hover": True, "schemas": {SCHEMA.as_uri(): ["*"]}}

        def configured(params: types.ConfigurationParams) -> list[Any]:
            return [settings if item.section == "yaml" else {} for item in params.items]

        client.feature(types.WORKSPACE_CONFIGURATION)(configured)
        client.feature(types.CLIENT_REGISTER_CAPABILITY)(lambda _: None)
        await client.start_io("node", PROGRAM, "--stdio")
        try:
            e = Editor(client)
            able = types.ClientCapabilities(
                workspace=types.WorkspaceClientCapabilities(configuration=True),
                text_document=CAPABILITIES.text_document,
            )
            await client.initialize_async(types.InitializeParams(capabilities=able, root_uri=uri_of(folder)))
            client.initialized(types.InitializedParams())
            client.workspace_did_change_configuration(types.DidChangeConfigurationParams({"yaml": settings}))
            await asyncio.sleep(1)
            await act(e)
        finally:
            assert client._server is not None
            client._server.kill()
            await client.stop()  # type: ignore[no-untyped-call]  # of pygls

    asyncio.run(run())


def test_offer_explain_and_flag(tmp_path: Path) -> None:
    async def act(e: Editor) -> None:
        text = "fields:\n  - name: a\n    type:\n      kind: \n"
        uri = e.open(uri_of(tmp_path / "a.yaml"), text)
        await e.found(uri, 0)
        offered = await e.labels(uri, "kind: ", 6)
        assert {label.strip('"') for label in offered} == set(BY_NAME)
        uri = e.open(
            uri_of(tmp_path / "b.yaml"), "fields:\n  - name: a\n    type: Date\n    extra:\n      \n"
        )
        await e.found(uri, 0)
        found = set(await e.labels(uri, "      \n", 6))
        assert "arrow.apache.org/dateEncoding" in found
        assert "arrow.apache.org/bufferEncoding" not in found
        text = "fields:\n  - name: a\n    type: {kind: Time, unit: Second}\n    extra: {lance.org/nonsense: 1, my.own/x: 2}\n"
        uri = e.open(uri_of(tmp_path / "c.yaml"), text)
        assert [d.message for d in await e.found(uri, 0)] == ["Property lance.org/nonsense is not allowed."]
        for word, told in (
            ("name", "The name of the column"),
            ("unit", "counted in"),
            ("extra", "attributes"),
        ):
            assert told in await e.hover(uri, word)

    session(tmp_path, act)


def test_agree_with_the_compiler_over_the_corpus(tmp_path: Path) -> None:
    """What validators find, the server finds too: the list of what a schema cannot say is that of its tests."""

    async def act(e: Editor) -> None:
        silent: set[str] = set()
        for number, case in enumerate([*ACCEPTED, *REJECTED]):
            if case.stem.startswith("strict") or case.parent.name.startswith("strict"):
                continue
            text = read(case)
            if "$schema" in text:
                # The server takes it for the address of another schema, and wants to load that.
                continue
            found = schemac.check_text(text, name=case.name)
            uri = e.open(uri_of(tmp_path / f"{number}.yaml"), text)
            told = [d for d in await e.found(uri, 0) if d.severity is types.DiagnosticSeverity.Error]
            if case in ACCEPTED:
                assert told == [], case
            elif any(d.severity is Severity.ERROR for d in found) and not told:
                silent.add(f"{case.parent.name.partition('-')[0]}/{case.stem}")
            e.close(uri)
        assert silent - PASSING <= OTHERS_SAY

    assert CORPUS.is_dir()
    session(tmp_path, act)
