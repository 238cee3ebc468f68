"""A walk through the corpus as an author types it: whatever is half written, the server answers, and never with a mistake of its own."""

import random
from pathlib import Path

import pytest
from pygls.workspace import PositionCodec

from schemac.lsp.completion import complete
from schemac.lsp.grammar import GrammarContext
from schemac.lsp.locations import TextScope
from schemac.lsp.navigation import Navigator
from schemac.lsp.presentation import document_symbols, field_text, word_text, workspace_symbols
from schemac.lsp.projects import ProjectFolder
from schemac.lsp.texts import TextLines, line_edits
from schemac.project.project_texts import FieldTarget
from schemac.text.syntax.document import documents_in
from tests.golden import CORPUS
from tests.lsp.editor import applied

MANIFESTS = sorted([*CORPUS.glob("accepted/*/manifest.yaml"), *CORPUS.glob("rejected/*/*.yaml")])
CODEC = PositionCodec()


def walk(manifest: Path, folder: Path, stops: int) -> None:
    """Type a manifest, and ask everything at some of the places where the author may stop."""
    whole = manifest.read_bytes().decode("utf-8", "replace")
    draw = random.Random(whole)
    project = ProjectFolder(folder, is_project=False)
    path = str(folder / "typed.yaml")
    for end in sorted(draw.sample(range(len(whole) + 1), min(stops, len(whole) + 1))):
        text = whole[:end]
        checked = project.check({path: text.encode("utf-8", "surrogatepass")})
        lines = TextLines(text, CODEC)
        at = (len(lines.lines) - 1, len(lines.lines[-1]))
        complete(lines, at, TextScope(checked, path, lines.lines, at[0]), snippets=True)
        navigator = Navigator(checked)
        for line, column in (at, (draw.randrange(len(lines.lines)), draw.randrange(20))):
            context = GrammarContext(lines.lines, (line, min(column, len(lines.lines[line]))))
            word_text(context)
            target = navigator.target(path, context)
            if target is not None:
                navigator.definitions(target)
                navigator.references(target)
            if isinstance(target, FieldTarget):
                field_text(target.dataset_field, checked)
        file = checked.file(path)
        if file is not None:
            document_symbols(file, documents_in(file.content, file.file.name), lines)
            list(workspace_symbols(checked, "a", lambda _, lines=lines: lines))  # type: ignore[misc]


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_answer_while_a_manifest_is_typed(manifest: Path, tmp_path: Path) -> None:
    walk(manifest, tmp_path, 1)


@pytest.mark.long
@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_answer_after_every_letter(manifest: Path, tmp_path: Path) -> None:
    walk(manifest, tmp_path, 1_000)


def test_tell_of_a_field_where_another_is_wrong(tmp_path: Path) -> None:
    """What the checks refuse is not compiled; of a sound column there is all that it says alone."""
    path, wrong = (
        str(tmp_path / "typed.yaml"),
        "{kind: Map, keyType: {kind: Option, inner: String}, valueType: Int8}",
    )
    text = f"name: t\nfields:\n  - {{name: a, type: Int32}}\n  - {{name: b, type: {wrong}}}\n"
    checked = ProjectFolder(tmp_path, is_project=False).check({path: text.encode()})
    navigator, lines = Navigator(checked), text.split("\n")
    sound, unsound = (navigator.target(path, GrammarContext(lines, (line, 12))) for line in (2, 3))
    assert isinstance(sound, FieldTarget)
    assert isinstance(unsound, FieldTarget)
    assert "| Lance | `int32` |" in field_text(sound.dataset_field, checked)
    assert "| Lance |" not in field_text(unsound.dataset_field, checked)


def fields(count: int) -> str:
    rows = [
        f"  - name: f{i}\n    type: {{kind: Decimal, precision: 9, scale: 2}}\n"
        if i % 2
        else f"  - {{name: f{i}, type: Int8}}\n"
        for i in range(count)
    ]
    return "name: wide\nfields:\n" + "".join(rows) + "extra: {schemac.dev/owner: me}\n"


EDITS = (
    ("name: f21\n", "name: f2x\n"), ("name: f21\n", "nam: f21\n"), ("Int8}\n  - name: f31", "Int}\n  - name: f31"),
    ("  - name: f21\n", "  - name: new\n    type: Strin\n  - name: f21\n"), ("    type: {kind: Decimal, precision: 9, scale: 2}\n", ""),
    ("scale: 2}\n  - {name: f30", "scale: 2\n  - {name: f30"), ("  - name: f31\n", "  - name: f31 # 🚕\n    extra: {lance.org/blob: {}}\n"),
    ("  - {name: f0, type: Int8}\n", ""), ("name: f59\n", "name: 59\n    type: Int\n"), ("precision: 9", "precision: 99"),
)  # fmt: skip


@pytest.mark.parametrize("first", EDITS, ids=str)
@pytest.mark.parametrize("second", EDITS, ids=str)
def test_find_after_an_edit_what_a_new_session_finds(
    first: tuple[str, str], second: tuple[str, str], tmp_path: Path
) -> None:
    project = ProjectFolder(tmp_path, is_project=False)
    path = str(tmp_path / "typed.yaml")
    before = fields(60).replace(*first, 1)
    after = before.replace(*second, 1)
    project.check({path: before.encode()})
    anew = ProjectFolder(tmp_path, is_project=False).check({path: after.encode()})
    assert project.check({path: after.encode()}).findings == anew.findings


@pytest.mark.parametrize("seed", range(30))
def test_edit_lines_into_other_lines(seed: int) -> None:
    draw = random.Random(seed)
    words = ["a", "🚕", "b c", "", "name: x", "\u2028", "e\x0bf"]

    def text() -> str:
        end = draw.choice(("\n", ""))
        return "\n".join(draw.choice(words) for _ in range(draw.randrange(6))) + end

    before, after = text(), text()
    assert applied(before, line_edits(TextLines(before, CODEC), after)) == after
