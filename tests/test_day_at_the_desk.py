"""A day of somebody who writes manifests, over the real processes: what each command says leads to the next one."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
from lsprotocol import types

from tests.documentation.browser import PROGRAM, browser
from tests.lsp.editor import Editor, applied, editor, path_of
from tests.pseudo_terminal import seen

pytestmark = pytest.mark.slow
VIEWS = "tables/page_views.yaml"


class _Desk:
    """A repository, and the commands that are typed in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]),
            "NO_COLOR": "1",
        }
        self.git("init", "-b", "main")

    def git(self, *words: str) -> None:
        """Run git, as somebody."""
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *who, *words], cwd=self.folder, check=True, capture_output=True)

    def schemac(self, line: str, *, code: int = 0, given: str = "") -> str:
        """Run schemac; return what it prints and says."""
        words = [sys.executable, "-m", "schemac", *line.split()]
        run = subprocess.run(
            words,
            cwd=self.folder,
            env=self._environment,
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            check=False,
        )
        assert run.returncode == code, run.stdout
        return run.stdout

    def look(self, line: str, *, code: int = 0) -> str:
        """Run schemac in a terminal of 80 columns; return what somebody sees, of which no line is too long."""
        words = [sys.executable, "-m", "schemac", *line.split()]
        left, lines = seen(words, self.folder, self._environment)
        text = "\n".join(lines)
        assert left == code, text
        assert [line for line in lines if len(line) > 80] == []
        return text

    def edit(self, old: str, new: str) -> str:
        """Return a manifest with another text in it, which is not saved."""
        text = (self.folder / VIEWS).read_text()
        assert old in text
        return text.replace(old, new, 1)


def test_go_from_an_empty_folder_to_a_reviewed_change(tmp_path: Path) -> None:
    desk = _Desk(tmp_path)
    desk.schemac("init --template events --ci github")
    desk.schemac("lock -q")
    desk.git("add", "--all")
    desk.git("commit", "-m", "one")

    # In the editor: what is typed is checked before it is saved, and the first try is a slip.
    slip = desk.edit("inner: UInt32", "inner: UInt63")
    assert "did you mean `UInt64`" in desk.schemac(f"check - --stdin-filename {VIEWS}", given=slip, code=1)
    right = desk.edit("inner: UInt32", "inner: UInt64")
    found = desk.schemac(f"check - --stdin-filename {VIEWS} --fail-on warning", given=right, code=4)
    assert "page_views differs from its lock: 1 field changed" in found
    (tmp_path / VIEWS).write_text(right)

    # A name that is better, without fear for the data; the change before it has to be locked.
    assert "run `schemac lock" in desk.schemac("rename page_views seconds visible_seconds", code=4)
    desk.schemac("lock -q")
    assert "seconds is now visible_seconds" in desk.schemac("rename page_views seconds visible_seconds")
    verdicts = json.loads(desk.schemac("breaking --against git:HEAD --format json", code=1))["verdicts"]
    assert {(v["field"], v["change"]) for v in verdicts} == {
        ("visible_seconds", "field-renamed"),
        ("visible_seconds", "integer-widened"),
    }

    # For those who review it, and those who look later.
    desk.schemac("docs --format markdown -o docs/tables")
    page = (tmp_path / "docs/tables/page_views.md").read_text(encoding="utf-8")
    assert "integer-widened: UInt32 → UInt64" in page.replace("\\", "")
    desk.schemac("build --depfile build.d -q")
    assert "build/artifacts.json:" in (tmp_path / "build.d").read_text()
    desk.schemac("check --format junit --output-file report.xml")
    assert Xml.parse(tmp_path / "report.xml").getroot().get("failures") == "0"
    assert "visible_seconds" in desk.schemac("list --owner web")


class _Hands:
    """What somebody does in an editor: type, take an offer, apply an edit, save."""

    def __init__(self, e: Editor, folder: Path) -> None:
        self.e = e
        self.folder = folder

    def open(self, name: str) -> str:
        return self.e.open(self.folder / name)

    def type(self, uri: str, text: str) -> None:
        """Type at the end."""
        end = len(self.e.texts[uri])
        self.e.put(uri, end, end, text)

    async def take(self, uri: str, label: str) -> None:
        """Take an offer at the end of a text, as an editor does: the defaults of its places stay."""
        text = self.e.texts[uri]
        line = text.count("\n")
        place = types.Position(line, len(text) - text.rfind("\n") - 1)
        params = types.CompletionParams(types.TextDocumentIdentifier(uri), place)
        found = await self.e.client.text_document_completion_async(params)
        assert isinstance(found, types.CompletionList)
        (item,) = (item for item in found.items if item.label == label)
        assert isinstance(item.text_edit, types.TextEdit)
        new = re.sub(r"\$\{\d+:([^}]*)\}", r"\1", item.text_edit.new_text)
        start = text.rfind("\n") + 1 + item.text_edit.range.start.character
        self.e.put(uri, start, len(text), new)

    async def fix(self, uri: str, code: str) -> None:
        """Carry out the way out of a finding."""
        (finding,) = await self.e.until(uri, [code])
        context = types.CodeActionContext([finding])
        asked = types.CodeActionParams(types.TextDocumentIdentifier(uri), finding.range, context)
        actions = await self.e.client.text_document_code_action_async(asked)
        (edit,) = (a.edit for a in actions or () if isinstance(a, types.CodeAction) and a.edit is not None)
        for edits in (edit.changes or {}).values():
            self._put(uri, applied(self.e.texts[uri], list(edits)))

    async def format(self, uri: str) -> None:
        options = types.FormattingOptions(2, insert_spaces=True)
        asked = types.DocumentFormattingParams(types.TextDocumentIdentifier(uri), options)
        edits = await self.e.client.text_document_formatting_async(asked)
        self._put(uri, applied(self.e.texts[uri], list(edits or ())))

    async def rename(self, uri: str, word: str, new: str) -> list[str]:
        """Rename what a word of a text means, and save; the names of the files that changed."""
        params = types.RenameParams(new_name=new, **self.e.at(uri, word, len(word) - 1))
        edit = await self.e.client.text_document_rename_async(params)
        changed = []
        for change in (edit.document_changes or ()) if edit is not None else ():
            assert isinstance(change, types.TextDocumentEdit)
            path, edits = path_of(change.text_document.uri), list(change.edits)
            if change.text_document.uri in self.e.texts:
                self._put(change.text_document.uri, applied(self.e.texts[change.text_document.uri], edits))
                self.save(change.text_document.uri)
            else:
                path.write_text(applied(path.read_text(), edits))
            changed.append(path.name)
        watched = types.DidChangeWatchedFilesParams([])
        self.e.client.workspace_did_change_watched_files(watched)
        return sorted(changed)

    def save(self, uri: str) -> None:
        path_of(uri).write_text(self.e.texts[uri])
        document = types.TextDocumentIdentifier(uri)
        self.e.client.text_document_did_save(types.DidSaveTextDocumentParams(document))

    def _put(self, uri: str, text: str) -> None:
        self.e.put(uri, 0, len(self.e.texts[uri]), text)


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal is looked at through a pseudo-terminal")
@pytest.mark.long
def test_work_in_an_editor_and_a_terminal(tmp_path: Path) -> None:
    desk = _Desk(tmp_path)
    assert "wrote tables/page_views.yaml" in desk.look("init --template events --ci github")
    desk.schemac("lock -q")
    desk.git("add", "--all")
    desk.git("commit", "-m", "one")
    desk.git("update-ref", "refs/remotes/origin/main", "HEAD")

    async def morning(hands: _Hands) -> None:
        # A field is typed, with what the editor offers, and a slip is fixed.
        uri = hands.open(VIEWS)
        hands.type(uri, "  - name: country\n    ty")
        await hands.take(uri, "type")
        await hands.take(uri, "String")
        hands.type(uri, "\n    ex")
        await hands.take(uri, "extra")
        hands.type(uri, "\n      schemac.dev/pat")
        await hands.take(uri, "schemac.dev/pattern")
        hands.type(uri, "'^[A-Z]{2}$'\n")
        assert await hands.e.found(uri) == []
        hands.e.replace(uri, "inner: UInt32", "inner:   UInt63")
        await hands.fix(uri, "SC201")
        assert await hands.e.found(uri) == []
        await hands.format(uri)
        assert "type: {kind: Option, inner: UInt64}" in hands.e.texts[uri]
        hands.save(uri)

    async def afternoon(hands: _Hands) -> None:
        # A better name for a field, whose id stays, and one for a group that two manifests use.
        uri = hands.open(VIEWS)
        assert await hands.rename(uri, "name: seconds", "visible_seconds") == [
            "page_views.lock",
            "page_views.yaml",
        ]
        changed = await hands.rename(uri, "use: event", "any_event")
        assert changed == ["events.yaml", "page_views.yaml", "purchases.yaml"]
        assert await hands.e.found(uri) == []
        assert "since version 1" in await hands.e.hover(uri, "visible_seconds", 3)

    async def sit(act: Callable[[_Hands], Coroutine[Any, Any, None]]) -> None:
        async with editor(tmp_path) as e:
            await act(_Hands(e, tmp_path))
            assert e.logged == []

    asyncio.run(sit(morning))
    # A colleague does without an editor.
    purchases = tmp_path / "tables/purchases.yaml"
    purchases.write_text(purchases.read_text().replace("type: String", "type: bigint", 1))
    assert "SC201" in desk.look("check", code=1)
    desk.schemac("check --fix -q")
    assert "name: order_id\n    type: Int64" in purchases.read_text()
    desk.schemac("fmt --check")
    assert "country" in desk.look("diff lock")
    desk.schemac("lock -q")
    asyncio.run(sit(afternoon))
    desk.schemac("lock --check")
    desk.schemac("check --fail-on warning")
    _look_at_pages(desk)
    _run_ci(desk)


def _look_at_pages(desk: _Desk) -> None:
    """The change as a page for those who review it, and the site for all others."""
    told = desk.look("diff git:HEAD --html change.html")
    assert "visible_seconds" in told
    desk.schemac("docs -o site -q")
    if PROGRAM is None:
        return
    with browser(desk.folder / "browser") as page:
        page.open((desk.folder / "change.html").as_uri())
        assert "visible_seconds" in page.ask("document.body.innerText")
        page.open((desk.folder / "site/datasets/page_views.html").as_uri())
        text = page.ask("document.body.innerText")
        assert "visible_seconds" in text
        assert "pattern ^[A-Z]{2}$" in text
        assert "integer widened" in text
        assert page.errors == []
        assert [one for one in page.requests if not one.startswith(("file:", "about:"))] == []


def _run_ci(desk: _Desk) -> None:
    """The commands of the file that `init` wrote for CI, in its shell."""
    text = (desk.folder / ".github/workflows/schemas.yml").read_text()
    commands = re.findall(r"run: (schemac .*)", text)
    assert [command.split()[1] for command in commands] == ["check", "build", "breaking"]
    for command in commands:
        line = (
            command.partition("  #")[0]
            .replace('"git:origin/$BASE"', "git:origin/main")
            .removeprefix("schemac ")
        )
        said = desk.schemac(line, code=1 if line.startswith("breaking") else 0)
    assert "::error" in said
    assert "visible_seconds" in said
