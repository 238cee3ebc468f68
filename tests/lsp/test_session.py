"""An author's session, and what may go wrong in one: the real process, asked by pygls' own client."""

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.lsp.editor import CAPABILITIES, Editor, applied, editor, path_of, uri_of

pytestmark = pytest.mark.slow
EXAMPLES = Path(__file__).parents[2] / "examples"


def session(folder: Path, act: Callable[[Editor], Coroutine[Any, Any, None]], **options: Any) -> None:
    """Run a session that logs no mistake of the server."""

    async def run() -> None:
        async with editor(folder, **options) as open_editor:
            await act(open_editor)
            assert open_editor.logged == []

    asyncio.run(run())


def schemac(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "schemac", *arguments]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout + done.stderr


def test_write_a_manifest_from_the_first_word_to_a_renamed_field(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "shared-fields", tmp_path, dirs_exist_ok=True)
    (tmp_path / "schemac.toml").write_text("")
    trips = tmp_path / "trips.yaml"
    trips.write_text("")

    async def act(e: Editor) -> None:
        uri = e.open(trips)
        for text in (
            "name: trips 🚕\n",
            "imports: [groups/audit.yaml]\nfields:\n",
            "  - name: 🚕fare\n    type: ",
        ):
            e.put(uri, len(e.texts[uri]), len(e.texts[uri]), text)
        assert "Decimal" in await e.labels(uri, "type: ", 6)
        e.put(uri, len(e.texts[uri]), len(e.texts[uri]), "bigint\n")
        (name, unused, kind) = await e.found(uri)
        assert (name.code, unused.code, kind.code) == ("SC217", "SC235", "SC201")

    async def finish(e: Editor) -> None:
        uri = e.open(
            trips,
            "name: trips\nfields:\n  - name: 🚕fare\n    type: bigint # 🚕\n  - {name: '🚕', type: Strin}\n",
        )
        first, second = await e.until(uri, ["SC201", "SC201"])
        assert first.range == types.Range(types.Position(3, 10), types.Position(3, 16))
        # Each of the signs of a taxi takes two units of the protocol.
        assert second.range == types.Range(types.Position(4, 23), types.Position(4, 28))
        assert first.message == "there is no kind 'bigint'\nhelp: did you mean `Int64`?"
        assert first.code_description is not None
        assert path_of(first.code_description.href).name == "SC201.md"
        assert "has a mistake in its type" in await e.hover(uri, "🚕fare", 3)
        e.replace(uri, "bigint", "Int64")
        e.replace(uri, "Strin}", "String}")
        assert await e.found(uri) == []
        trips.write_text(e.texts[uri])
        assert schemac(tmp_path, "lock", "trips.yaml").startswith("trips.lock: version 1")
        told = await e.hover(uri, "🚕fare", 3)
        assert "Field id 1, since version 1" in told
        assert "| Arrow | `int64 not null` |" in told
        assert "| Paimon | `BIGINT NOT NULL` |" in told
        here = e.at(uri, "🚕fare", 2)
        places = await e.client.text_document_definition_async(types.DefinitionParams(**here))
        assert isinstance(places, tuple | list)
        assert [path_of(p.uri).name for p in places] == ["trips.yaml", "trips.lock"]
        prepared = await e.client.text_document_prepare_rename_async(types.PrepareRenameParams(**here))
        assert isinstance(prepared, types.PrepareRenamePlaceholder)
        assert (prepared.placeholder, prepared.range.end) == ("🚕fare", types.Position(2, 16))
        edit = await e.client.text_document_rename_async(types.RenameParams(new_name="fare", **here))
        assert edit is not None
        assert edit.change_annotations is not None
        assert edit.change_annotations["locks"].needs_confirmation
        for change in edit.document_changes or ():
            assert isinstance(change, types.TextDocumentEdit)
            path = path_of(change.text_document.uri)
            path.write_text(applied(path.read_text(), list(change.edits)))
        assert "name: fare\n" in trips.read_text()
        # It ends with an error where a lock is not as its manifest.
        schemac(tmp_path, "lock", "--check", "trips.yaml")

    session(tmp_path, act)
    session(tmp_path, finish)


def test_see_findings_of_other_files_move_with_a_group(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "shared-fields", tmp_path, dirs_exist_ok=True)
    groups = tmp_path / "groups" / "audit.yaml"

    async def act(e: Editor) -> None:
        uri = e.open(groups)
        assert await e.found(uri) == []
        e.replace(uri, "kind: Timestamp", "kind: Timestam")
        (found,) = await e.until(uri, ["SC201"])
        assert {path_of(r.location.uri).name for r in found.related_information or ()} >= {"customers.yaml"}
        told = await e.hover(uri, "created_at")
        assert "more place" in told
        places = await e.client.text_document_references_async(
            types.ReferenceParams(types.ReferenceContext(False), **e.at(uri, "  audit:", 3))
        )
        assert {path_of(p.uri).name for p in places or ()} >= {"customers.yaml", "orders.yaml"}
        e.close(uri)
        await e.until(uri, [])
        manifest = e.open(tmp_path / "customers.yaml")
        assert "audit" in await e.labels(manifest, "use: ", 5)
        params = types.DefinitionParams(**e.at(manifest, "use: audit", 6))
        found_at = await e.client.text_document_definition_async(params)
        assert isinstance(found_at, tuple | list)
        assert [path_of(p.uri) for p in found_at if isinstance(p, types.Location)] == [groups]

    session(tmp_path, act)


def test_rename_a_field_of_a_group_for_all_who_use_it(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "shared-fields", tmp_path, dirs_exist_ok=True)
    schemac(tmp_path, "lock")
    groups = tmp_path / "groups" / "audit.yaml"

    async def act(e: Editor) -> None:
        uri = e.open(groups)
        here = e.at(uri, "created_at", 1)
        edit = await e.client.text_document_rename_async(types.RenameParams(new_name="written_at", **here))
        assert edit is not None
        changed = []
        for change in edit.document_changes or ():
            assert isinstance(change, types.TextDocumentEdit)
            path = path_of(change.text_document.uri)
            changed.append(path.name)
            path.write_text(applied(path.read_text(), list(change.edits)))
        assert sorted(changed) == sorted([groups.name, "customers.lock", "orders.lock"])
        schemac(tmp_path, "lock", "--check")

    session(tmp_path, act)


def test_follow_files_and_settings_that_others_change(tmp_path: Path) -> None:
    (tmp_path / "schemac.toml").write_text("")
    (tmp_path / "a.yaml").write_text("name: same\nfields: [{name: x, type: Int8}]\n")
    (tmp_path / "b.yaml").write_text("name: same\nfields: [{name: x, type: Int8}]\n")

    async def act(e: Editor) -> None:
        uri = e.open(tmp_path / "a.yaml")
        other = uri_of(tmp_path / "b.yaml")
        await e.until(other, ["SC216"])
        (tmp_path / "b.yaml").unlink()
        changed(e, other, types.FileChangeType.Deleted)
        await e.until(other, [])
        settings = tmp_path / "schemac.toml"
        settings.write_text("strict = true\n")
        changed(e, uri_of(settings), types.FileChangeType.Changed)
        await e.until(uri, ["SC214"])
        settings.write_text("strict = maybe\n")
        changed(e, uri_of(settings), types.FileChangeType.Changed)
        await e.until(uri_of(settings), ["SC601"])
        # A text that is open counts, whether there is a file or not.
        settings.write_text("")
        (tmp_path / "a.yaml").unlink()
        e.replace(uri, "Int8", "Int")
        changed(e, uri, types.FileChangeType.Deleted)
        await e.until(uri, ["SC201"])
        e.close(uri)
        await e.until(uri, [])

    session(tmp_path, act)


def changed(e: Editor, uri: str, type_: types.FileChangeType) -> None:
    params = types.DidChangeWatchedFilesParams([types.FileEvent(uri, type_)])
    e.client.workspace_did_change_watched_files(params)


def test_follow_a_project_that_begins_around_an_open_text(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "opened", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    (elsewhere / "a.yaml").write_text("name: a\nfields: [{name: x, type: Int}]\n")

    async def act(e: Editor) -> None:
        uri = e.open(elsewhere / "a.yaml")
        await e.until(uri, ["SC201"])
        (elsewhere / "schemac.toml").write_text("strict = true\n")
        changed(e, uri_of(elsewhere / "schemac.toml"), types.FileChangeType.Created)
        e.replace(uri, "Int", "Int8")
        await e.until(uri, ["SC214"])

    session(folder, act)


def test_serve_texts_without_a_project_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "alone.yaml").write_text("fields: [{name: x, type: Int}]\n")
    (tmp_path / "compose.yaml").write_text("services: {web: {image: nginx}}\n")

    async def act(e: Editor) -> None:
        await e.until(e.open(tmp_path / "alone.yaml"), ["SC201"])
        other = e.open(tmp_path / "compose.yaml")
        assert all(d.severity is types.DiagnosticSeverity.Information for d in await e.found(other))
        untitled = e.open("untitled:Untitled-1", "fields:\n  - name: a\n    type: Sring\n")
        await e.until(untitled, ["SC201"])
        assert "String" in await e.labels(untitled, "Sring", 5)
        assert await e.hover(untitled, "name:") != ""
        lone = e.open("file:///%00/nowhere.yaml", "\ufefffields: [{name: a, type: Int8}]\r\n")
        assert await e.found(lone) == []

    session(tmp_path, act)


def test_go_on_after_mistakes_cancellations_and_words_that_nobody_knows(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("fields:\n" + "  - {name: a, type: Int8}\n" * 30)

    async def act(e: Editor) -> None:
        uri = e.open(tmp_path / "a.yaml")
        requests = [
            asyncio.ensure_future(
                e.client.protocol.send_request_async(
                    types.TEXT_DOCUMENT_HOVER, types.HoverParams(**e.at(uri, "Int8"))
                )
            )
            for _ in range(5)
        ]
        for i, request in enumerate(requests):
            if i % 2:
                request.cancel()
        answers = await asyncio.gather(*requests, return_exceptions=True)
        assert all(isinstance(a, types.Hover) for a in answers[::2])
        far = types.TextDocumentPositionParams(
            types.TextDocumentIdentifier(uri), types.Position(10_000, 10_000)
        )
        hover = types.HoverParams(far.text_document, far.position)
        assert await e.client.text_document_hover_async(hover) is None
        with pytest.raises(Exception, match="Method Not Found"):
            await e.client.protocol.send_request_async("textDocument/unheardOf", {})
        e.client.protocol.notify("$/nonsense", {"a": 1})
        unknown = types.TextDocumentIdentifier("file:///not/open.yaml")
        assert (
            await e.client.text_document_hover_async(types.HoverParams(unknown, types.Position(0, 0))) is None
        )
        refused = types.RenameParams(new_name="b", **e.at(uri, "name: a", 6))
        with pytest.raises(Exception, match="used twice"):
            await e.client.text_document_rename_async(refused)
        page = await e.client.workspace_execute_command_async(
            types.ExecuteCommandParams("schemac.explain", ["SC201"])
        )
        assert str(page).startswith("# SC201")
        assert [path_of(shown).name for shown in e.shown] == ["SC201.md"]

    session(tmp_path, act)


def test_answer_clients_that_can_do_little(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("fields:\n  - name: a\n    type: Decimal\n")

    async def act(e: Editor) -> None:
        uri = e.open(tmp_path / "a.yaml")
        offered = await e.client.text_document_completion_async(
            types.CompletionParams(**e.at(uri, "Decimal", 3))
        )
        assert isinstance(offered, types.CompletionList)
        assert {item.insert_text_format for item in offered.items} == {types.InsertTextFormat.PlainText}
        e.replace(uri, "Decimal", "Int8")
        edit = await e.client.text_document_rename_async(
            types.RenameParams(new_name="b", **e.at(uri, "a\n", 0))
        )
        assert edit is not None
        assert edit.document_changes is None
        assert list(edit.changes or ()) == [uri]

    assert CAPABILITIES.workspace is not None
    session(tmp_path, act, capabilities=types.ClientCapabilities())


def test_go_on_after_a_mistake_of_its_own(tmp_path: Path) -> None:
    """A request, and a check, that end with an exception are told in the log; the next ones are answered."""
    (tmp_path / "a.yaml").write_text("fields: [{name: a, type: Int8}]\n")
    broken = (
        "from schemac.lsp import answers, projects, server\n"
        "def boom(*_, **__): raise ZeroDivisionError('boom')\n"
        "answers.word_text = boom\n"
        "check = projects.with_distinct_datasets\n"
        "projects.with_distinct_datasets = lambda files, report: boom() if b'Boom' in files[0].content else check(files, report)\n"
        "server.start()\n"
    )

    async def run() -> None:
        async with editor(tmp_path, program=("-c", broken)) as e:
            uri = e.open(tmp_path / "a.yaml")
            assert await e.found(uri) == []
            assert await e.hover(uri, "Int8") == ""
            e.replace(uri, "Int8", "Boom")
            assert "Int8" in await e.labels(uri, "Boom", 2)
            e.replace(uri, "Boom", "Int")
            await e.until(uri, ["SC201"])
            assert all("ZeroDivisionError: boom" in text for text in e.logged)
            assert e.logged

    asyncio.run(run())


def test_format(tmp_path: Path) -> None:
    """Only the lines that the formatter changes are edited."""
    (tmp_path / "a.yaml").write_text("name:   🚕\nfields:\n  - {name: a, type: Int8}\n")

    async def run() -> None:
        async with editor(tmp_path) as e:
            uri = e.open(tmp_path / "a.yaml")
            options = types.FormattingOptions(2, True)
            params = types.DocumentFormattingParams(types.TextDocumentIdentifier(uri), options)
            edits = await e.client.text_document_formatting_async(params) or ()
            assert [edit.range.start.line for edit in edits] == [0]
            assert applied(e.texts[uri], list(edits)) == "name: 🚕\nfields:\n  - {name: a, type: Int8}\n"
            assert e.logged == []

    asyncio.run(run())
