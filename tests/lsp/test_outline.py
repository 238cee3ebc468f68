"""Where a cursor stands: of sound texts what the parser says, of unfinished ones what their author means."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from schemac.lsp.cursor import CursorRole, cursor_at
from schemac.lsp.texts import split_lines
from schemac.text.source.diagnostics import Report, SourceText
from schemac.text.source.json_object import TreePath
from schemac.text.syntax.document import Document, parse
from tests.golden import CORPUS

MANIFESTS = sorted(
    [
        *CORPUS.glob("accepted/*/manifest.yaml"),
        *(Path(__file__).parents[2] / "examples").rglob("*.yaml"),
    ]
)


def places(document: Document) -> Iterator[tuple[TreePath, int, bool]]:
    """The path and the offset of every key and every plain value that is written once."""
    waiting: list[TreePath] = [()]
    while waiting:
        path = waiting.pop()
        value = document.value
        for step in path:
            value = value[step]  # type: ignore[index]
        keys = (
            list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        )
        for key in keys:
            inner = (*path, key)
            waiting.append(inner)
            if isinstance(value, dict):
                yield inner, document.key_span(inner).start, True
        if not isinstance(value, dict | list):
            span = document.span(path)
            if span.start < span.end:
                yield path, span.start, False


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_agree_with_the_parser(manifest: Path) -> None:
    source = SourceText(manifest.read_text(encoding="utf-8-sig", errors="replace"), manifest.name)
    # Of an alias the parser tells the place of its anchor; `? ` and tags of collections are not looked into.
    if any(mark in source.content for mark in ("&", "*", "? ", "\t", "!!")):
        return
    report = Report()
    lines = split_lines(source.content)
    documents = parse(source, report)
    for document in documents if not report.has_errors else ():
        for path, offset, is_key in places(document):
            at = source.position(offset)
            cursor = cursor_at(lines, at.line - 1, at.column - 1)
            if is_key:
                assert ((*cursor.path, cursor.key), cursor.role) == (path, CursorRole.KEY), at
            else:
                assert cursor.path == path, at
                assert cursor.role in (CursorRole.VALUE, CursorRole.START)


@pytest.mark.parametrize(
    ("text", "path", "role"),
    [
        ("|", (), CursorRole.START),
        ("fields:\n  - |", ("fields", 0), CursorRole.START),
        ("fields:\n- |", ("fields", 0), CursorRole.START),
        ("fields:\n  - name: a\n    |", ("fields", 0), CursorRole.KEY),
        ("fields:\n  - name: a\n  |", ("fields", 1), CursorRole.START),
        ("fields:\n  - name: a\n|", (), CursorRole.KEY),
        ("fields:\n  - name: a\n    type: |", ("fields", 0, "type"), CursorRole.VALUE),
        ("fields:\n  - name: a\n    type:\n      |", ("fields", 0, "type"), CursorRole.START),
        ("fields:\n  - name: a\n    type:\n      ki|", ("fields", 0, "type"), CursorRole.START),
        ("fields:\n  - name: a\n    type: {kind: |", ("fields", 0, "type", "kind"), CursorRole.VALUE),
        ("fields:\n  - name: a\n    type: {kind: List, |", ("fields", 0, "type"), CursorRole.KEY),
        ("fields:\n  - name: a\n    type: {kind: List,\n           |", ("fields", 0, "type"), CursorRole.KEY),
        ("fields: [{name: a, type: |", ("fields", 0, "type"), CursorRole.VALUE),
        ("fields: [{name: a}, {|", ("fields", 1), CursorRole.KEY),
        ("fields: [{name: 'a}', |", ("fields", 0), CursorRole.KEY),
        ("extra:\n  a.b/c: [x, |", ("extra", "a.b/c", 1), CursorRole.START),
        ("fields:\n  - name: a\n    extra: {\n\n  - name: b\n    |", ("fields", 1), CursorRole.KEY),
        ("fields:\n  - name: {\n  - name: [\n  - type: |", ("fields", 2, "type"), CursorRole.VALUE),
        ("a: 1\n---\nfields:\n  - |", ("fields", 0), CursorRole.START),
        ("description: >\n  some: text |\nfields: []", ("description",), CursorRole.TEXT),
        ('"a b": {"c d": |', ("a b", "c d"), CursorRole.VALUE),
        ("# name: x\nfields:\n  # - name: b\n  - |", ("fields", 0), CursorRole.START),
    ],
)
def test_know_where_an_unfinished_text_is_written(text: str, path: TreePath, role: CursorRole) -> None:
    before, _, after = text.partition("|")
    if role is CursorRole.TEXT:
        before, _, after = text.rpartition("|")
    lines = split_lines(before + after)
    cursor = cursor_at(lines, before.count("\n"), len(before) - before.rfind("\n") - 1)
    assert (cursor.path, cursor.role) == (path, role)
