"""Findings as the protocol has them: places, links, and what can be done."""

from pathlib import Path

import pytest
from lsprotocol import types
from pygls.workspace import PositionCodec

from schemac.lsp.texts import TextLines, actions, page_link, to_lsp_diagnostic
from schemac.registry.codes import codes
from schemac.text.source.diagnostics import Diagnostic, Edit, Fix, Region, Severity
from tests.lsp.editor import applied, path_of

TEXT = "name: 🚕\nfields:\n  - {name: 🚕🚕, type: Int}\n"


def lines_of(name: str) -> TextLines:
    return TextLines(TEXT if name == "a.yaml" else "", PositionCodec())


def path_of_name(name: str) -> str:
    return f"/project/{name}"


def test_carry_out_a_fix_and_open_the_page() -> None:
    column = TEXT.splitlines()[2].index("Int") + 1
    fix = Fix("write `Int32`", (Edit("a.yaml", 3, column, 3, column + 3, "Int32"),))
    unsafe = Fix("remove it", (Edit("a.yaml", 1, 1, 2, 1, ""),), is_safe=False)
    found = [
        Diagnostic(
            "SC201", "unknown-kind", Severity.ERROR, "no", "a.yaml", 3, column, 3, column + 3, fix=fix
        ),
        Diagnostic("SC201", "unknown-kind", Severity.ERROR, "no", "a.yaml", 1, 1, 1, 5, fix=unsafe),
    ]
    pairs = [(one, to_lsp_diagnostic(one, lines_of, path_of_name)) for one in found]
    first, second, explain = actions(pairs, lines_of, path_of_name)
    assert (first.title, first.kind, first.is_preferred) == (
        "Write `Int32`",
        types.CodeActionKind.QuickFix,
        True,
    )
    assert first.edit is not None
    ((uri, edits),) = (first.edit.changes or {}).items()
    assert path_of(uri) == Path("/project/a.yaml")
    assert applied(TEXT, list(edits)) == TEXT.replace("Int", "Int32")
    assert (second.title, second.is_preferred) == ("Remove it (changes what the manifest means)", False)
    assert explain.command is not None
    assert (explain.command.command, explain.command.arguments) == ("schemac.explain", ["SC201"])


@pytest.mark.parametrize("code", codes())
def test_link_to_the_page_of_every_code(code: str) -> None:
    link = page_link(code)
    assert link is not None
    assert path_of(link).read_text(encoding="utf-8").startswith(f"# {code} ")


@pytest.mark.parametrize(
    ("encoding", "columns"),
    [
        (types.PositionEncodingKind.Utf8, (13, 21)),
        (types.PositionEncodingKind.Utf16, (11, 15)),
        (types.PositionEncodingKind.Utf32, (11, 13)),
    ],
)
def test_count_as_the_client_counts(encoding: types.PositionEncodingKind, columns: tuple[int, int]) -> None:
    text = "a: 'ä', b: 🚕🚕 c" if encoding is not types.PositionEncodingKind.Utf8 else "a: 'äö', b: 🚕🚕 c"
    lines = TextLines(text, PositionCodec(encoding))
    start = text.index("🚕")
    range_ = lines.range(Region.within(1, start + 1, start + 3))
    assert (range_.end.character - range_.start.character) == columns[1] - columns[0]
    assert lines.place(range_.start) == (0, start)
    assert lines.place(range_.end) == (0, start + 2)
