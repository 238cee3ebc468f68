"""What editors, files and people do wrong: the server goes on, and says what it can."""

import asyncio
import json
from itertools import product
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.lsp.editor import Editor, applied, editor, uri_of
from tests.lsp.test_session import session

pytestmark = pytest.mark.slow
WRONG_BODIES = (b"{nonsense", b"[1, 2]", b"null", b'"x"', b"\xff\xfe", b"{}", b'{"jsonrpc": "2.0"}')
WRONG = "fields:\n  - {name: a, type: Itn8}\n"


def test_go_on_after_messages_that_are_none(tmp_path: Path) -> None:
    async def run() -> None:
        async with editor(tmp_path) as e:
            process = e.client._server
            assert process is not None
            assert process.stdin is not None
            for body in WRONG_BODIES:
                process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
                uri = e.open(f"{uri_of(tmp_path)}/{len(body)}.yaml", WRONG)
                assert [one.code for one in await e.found(uri)] == ["SC201"], body

    asyncio.run(run())


REQUESTS = (
    *(types.TEXT_DOCUMENT_COMPLETION, types.TEXT_DOCUMENT_HOVER, types.TEXT_DOCUMENT_DEFINITION),
    *(types.TEXT_DOCUMENT_REFERENCES, types.TEXT_DOCUMENT_PREPARE_RENAME, types.TEXT_DOCUMENT_RENAME),
    *(types.TEXT_DOCUMENT_CODE_ACTION, types.TEXT_DOCUMENT_INLAY_HINT, types.TEXT_DOCUMENT_DOCUMENT_SYMBOL),
    *(types.WORKSPACE_SYMBOL, types.TEXT_DOCUMENT_FORMATTING, types.WORKSPACE_EXECUTE_COMMAND),
)
NO_PARAMETERS: tuple[object, ...] = (
    {},
    [],
    [1],
    "x",
    7,
    None,
    {"textDocument": 1, "command": []},
    {"textDocument": {"url": "file:///a.yaml"}, "position": {"line": "x"}},
)


def test_answer_requests_with_other_parameters(tmp_path: Path) -> None:
    async def run() -> None:
        async with editor(tmp_path) as e:
            process = e.client._server
            assert process is not None
            assert process.stdin is not None
            assert process.stderr is not None
            log = asyncio.create_task(process.stderr.read())  # an editor reads it, and so must we: it is long
            for n, (method, parameters) in enumerate(product(REQUESTS, NO_PARAMETERS)):
                id = f"wrong {n}"
                asked: asyncio.Future[object] = asyncio.get_running_loop().create_future()
                e.client.protocol._request_futures[id] = asked  # type: ignore[assignment]
                request = {"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}
                body = json.dumps(request).encode()
                process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
                with pytest.raises(JsonRpcException) as told:
                    await asyncio.wait_for(asked, 20)
                assert told.value.code == -32602, (method, parameters)
            uri = e.open(tmp_path / "a.yaml", WRONG)
            assert [one.code for one in await e.found(uri)] == ["SC201"], "it goes on"
        await log

    asyncio.run(run())


def test_hold_one_text_however_often_it_is_opened_and_closed(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("fields: [{name: a, type: Int8}]\n")

    async def act(e: Editor) -> None:
        uri = e.open(path)
        assert e.open(path, WRONG) == uri
        await e.until(uri, ["SC201"])
        e.replace(uri, "Itn8", "Int8")
        await e.until(uri, [])
        # Closed while its check is under way, and again; then asked about.
        e.replace(uri, "Int8", "Itn8")
        asked = asyncio.ensure_future(
            e.client.text_document_hover_async(types.HoverParams(**e.at(uri, "Itn8", 1)))
        )
        e.close(uri)
        e.close(uri)
        await asked
        assert await e.client.text_document_hover_async(types.HoverParams(**e.at(uri, "Itn8", 1))) is None
        e.versions.pop(uri)
        await e.until(uri, [])
        # An edit of a text that is not open is no reason to stop.
        e.versions[uri] = 7
        e.texts[uri] = ""
        e.put(uri, 0, 0, WRONG)
        again = e.open(path, WRONG)
        await e.until(again, ["SC201"])

    session(tmp_path, act)


def test_serve_files_outside_of_the_project_and_folders_without_settings(tmp_path: Path) -> None:
    inside, outside, alone = tmp_path / "in", tmp_path / "out", tmp_path / "alone" / "deep"
    for folder in (inside, outside, alone):
        folder.mkdir(parents=True)
    (inside / "schemac.toml").write_text("strict = false\n")
    (outside / "b.yaml").write_text("fields: [{name: b, type: Itn8}]\n")

    async def act(e: Editor) -> None:
        for path in (outside / "a.yaml", alone / "a.yaml", inside / "missing" / "a.yaml"):
            uri = e.open(f"{uri_of(path)}", WRONG)
            await e.until(uri, ["SC201"])
            assert "Int8" in await e.labels(uri, "Itn8", 2)
        # Of a folder without settings, only what is open counts.
        assert uri_of(outside / "b.yaml") not in e.diagnostics

    session(inside, act)


def test_serve_texts_that_are_large_or_oddly_encoded(tmp_path: Path) -> None:
    (tmp_path / "schemac.toml").write_text("")
    (tmp_path / "latin.yaml").write_bytes("fields: [{name: größe, type: Int8}]\n".encode("latin-1"))
    (tmp_path / "wide.yaml").write_bytes("fields: [{name: a, type: Int8}]\n".encode("utf-16"))
    (tmp_path / "nul.yaml").write_bytes(b"fields: [{name: a\0, type: Int8}]\n")
    lines = "".join(f"  # {'x' * 96}\n" for _ in range(100_000))
    large = f"name: large\nfields:\n{lines}  - {{name: a, type: Int8}}\n"
    assert len(large) > 10_000_000

    async def act(e: Editor) -> None:
        uri = e.open(f"{uri_of(tmp_path)}/a.yaml", large)
        assert await e.found(uri) == []
        e.replace(uri, "Int8", "Itn8")
        await e.until(uri, ["SC201"])
        for name, code in (("latin", "SC103"), ("wide", "SC103"), ("nul", "SC102")):
            found = await e.until(uri_of(tmp_path / f"{name}.yaml"), [code])
            assert found[0].message

    session(tmp_path, act)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_place_findings_and_edits_whatever_ends_lines_and_indents(end: str, tmp_path: Path) -> None:
    text = f"name: 🚕🚕{end}fields:{end}  - {{name: 🚕, type: Itn8}}{end}"

    async def act(e: Editor) -> None:
        uri = e.open(f"{uri_of(tmp_path)}/a.yaml", text)
        found = await e.found(uri)
        (kind,) = (one for one in found if one.code == "SC201")
        # The sign takes two units.
        assert kind.range == types.Range(types.Position(2, 21), types.Position(2, 25))
        asked = types.CodeActionParams(
            types.TextDocumentIdentifier(uri), kind.range, types.CodeActionContext([kind])
        )
        actions = await e.client.text_document_code_action_async(asked) or ()
        (edit,) = (a.edit for a in actions if isinstance(a, types.CodeAction) and a.edit is not None)
        (edits,) = (edit.changes or {}).values()
        after = applied(text.replace(end, "\n"), list(edits)).replace("\n", end)
        assert after == text.replace("Itn8", "Int8")
        tabs = e.open(f"{uri_of(tmp_path)}/b.yaml", f"fields:{end}\t- {{name: a, type: Int8}}{end}")
        (tab,) = await e.found(tabs)
        assert tab.range.start.line == 1

    session(tmp_path, act)
