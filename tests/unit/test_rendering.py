"""Findings as people and machines see them. Wording is asserted here and in the corpus alone."""

import json
from dataclasses import replace
from typing import Any

import pytest

from schemac.text.source.catalogue import DUPLICATE_FIELD_NAME
from schemac.text.source.ci_reports import render_github
from schemac.text.source.diagnostics import (
    Diagnostic,
    Label,
    Located,
    Report,
    Severity,
    SourceText,
    Span,
    findings_document,
    labels_at,
)
from schemac.text.source.rendering import count_summary, render_text


def _at(line: str, culprit: str, *, message: str = "odd", **more: Any) -> Diagnostic:
    start = line.index(culprit) + 1
    return Diagnostic(
        "SC201", "unknown-kind", Severity.ERROR, message, "a.yaml", 3, start, 3, start + len(culprit),
        excerpt=(line,), **more,
    )  # fmt: skip


def test_underline_culprit() -> None:
    assert render_text([_at("type: Int46", "Int46", path="trips.fare", help="did you mean `Int64`?")]) == (
        "error[SC201]: odd\n"
        " --> a.yaml:3:7 (trips.fare)\n"
        "3 | type: Int46\n"
        "  |       ^^^^^\n"
        "  = help: did you mean `Int64`?\n"
        "\n"
    )


def test_paint_severities() -> None:
    painted = render_text([_at("type: Int46", "Int46", help="no")], colour=True)
    assert painted == (
        "\x1b[1;31merror[SC201]\x1b[0m\x1b[1m: odd\x1b[0m\n"
        " \x1b[34m-->\x1b[0m a.yaml:3:7\n"
        "\x1b[34m3 |\x1b[0m type: Int46\n"
        "\x1b[34m  |\x1b[0m       \x1b[1;31m^^^^^\x1b[0m\n"
        "  \x1b[34m=\x1b[0m help: no\n"
        "\n"
    )
    for severity, code in ((Severity.WARNING, "33"), (Severity.NOTE, "36")):
        assert f"\x1b[1;{code}m{severity}" in render_text(
            [replace(_at("a", "a"), severity=severity)], colour=True
        )


def test_leave_no_colour_in_plain_text() -> None:
    assert "\x1b" not in render_text([_at("type: Int46", "Int46", help="no")])


@pytest.mark.parametrize(
    ("line", "culprit", "blanks", "marks"),
    [
        ("名前: Int46", "Int46", 6, 5),
        ("a: 名前だ", "名前だ", 3, 6),
        ("🚀🚀 x", "x", 5, 1),
        ("e\u0301e\u0301 x", "x", 3, 1),
        ("👩\u200d👩\ufe0f x", "x", 5, 1),
        ("\ta: x", "x", 7, 1),
        ("a\t: x", "x", 6, 1),
        ("größe: x", "x", 7, 1),
    ],
    ids=["before", "culprit", "emoji", "combining", "joined", "tab", "tab inside", "narrow"],
)
def test_underline_by_columns_of_a_terminal(line: str, culprit: str, blanks: int, marks: int) -> None:
    underline = render_text([_at(line, culprit)]).splitlines()[3]
    assert underline == "  | " + " " * blanks + "^" * marks


@pytest.mark.parametrize("position", [0, 500, 989], ids=["start", "middle", "end"])
def test_cut_long_line_around_culprit(position: int) -> None:
    line = "x" * position + "CULPRIT" + "y" * (993 - position)
    shown, underline = render_text([_at(line, "CULPRIT")]).splitlines()[2:4]
    assert len(shown) <= 4 + 120
    assert "…" in shown
    assert shown[underline.index("^") : underline.rindex("^") + 1] == "CULPRIT"
    assert (shown[4] == "…") == (position > 0)


def test_cut_long_culprit() -> None:
    shown, underline = render_text([_at("a: " + "z" * 1000, "z" * 1000)]).splitlines()[2:4]
    assert max(len(shown), len(underline)) <= 4 + 120
    assert underline.endswith("^" * 100)


def test_underline_to_the_end_of_the_first_of_several_lines() -> None:
    several = replace(_at("fields: [", "["), end_line=9, end_column=2)
    assert render_text([several]).splitlines()[3] == "  |         ^"


def test_mark_an_empty_place() -> None:
    nothing = replace(_at("schema:", ":"), end_column=7)
    assert render_text([nothing]).splitlines()[3] == "  |       ^"


def test_show_label_with_its_line() -> None:
    source = SourceText("- a\n" * 9 + "- {name: a}\n", "a.yaml")
    report = Report()
    report.add(
        DUPLICATE_FIELD_NAME, "the name 'a' is used twice", location=Located(source, Span(45, 46)),
        labels=labels_at(Located(source, Span(2, 3)), "first used here"),
    )  # fmt: skip
    assert render_text(report.diagnostics) == (
        "error[SC301]: the name 'a' is used twice\n"
        "  --> a.yaml:10:10\n"
        "10 | - {name: a}\n"
        "   |          ^\n"
        " 1 | - a\n"
        "   |   - first used here\n"
        "\n"
    )


def test_name_the_file_of_a_label_elsewhere() -> None:
    other = Label("first used here", "b.yaml", 1, 1, 1, 2, excerpt="a")
    shown = render_text([_at("a", "a", labels=(other,))]).splitlines()
    assert shown[4:7] == [" ::: b.yaml:1:1", "1 | a", "  | - first used here"]


def test_show_finding_of_a_file_as_a_whole() -> None:
    whole = Diagnostic("SC101", "unreadable-file", Severity.ERROR, "cannot read a.yaml", "a.yaml")
    assert render_text([whole]) == "error[SC101]: cannot read a.yaml\n --> a.yaml\n\n"
    assert render_text([replace(whole, file="")]) == "error[SC101]: cannot read a.yaml\n\n"


def test_disarm_control_characters() -> None:
    """A name may hold an escape sequence, and a terminal would obey it."""
    evil = _at(
        "a\x1b[31m\x07 x", "x", message="the name '\x1b[2J\n' is used twice", path="\x9b1m", help="\u2028"
    )
    shown = render_text([evil])
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "the name '\\x1b[2J\\n' is used twice" in shown
    assert "3 | a␛[31m␇ x\n  |         ^" in shown
    assert "(\\x9b1m)" in shown
    assert "help: \\u2028" in shown


def test_count_findings() -> None:
    error = _at("a", "a")
    note = replace(error, severity=Severity.NOTE)
    assert count_summary([]) == ""
    assert count_summary([error, error, note]) == "2 errors, 1 note"


def test_render_json() -> None:
    other = Label("first", "b.yaml", 1, 1, 1, 2)
    document = json.loads(
        json.dumps(findings_document([_at("größe", "ö", path="größe", help="no", labels=(other,))]))
    )
    assert document == {
        "diagnostics": [
            {
                "code": "SC201", "slug": "unknown-kind", "severity": "error", "message": "odd", "file": "a.yaml",
                "line": 3, "column": 3, "end_line": 3, "end_column": 4, "path": "größe", "help": "no",
                "labels": [
                    {"message": "first", "file": "b.yaml", "line": 1, "column": 1, "end_line": 1, "end_column": 2}
                ],
                "fix": None,
            }
        ],
        "summary": {"error": 1, "warning": 0, "note": 0},
    }  # fmt: skip


def test_render_commands_of_github() -> None:
    found = _at("a: x", "x", message="50 % of\na, b: c", help="no\r\n")
    assert render_github([found]) == (
        "::error file=a.yaml,line=3,endLine=3,col=4,endColumn=5,title=SC201 unknown-kind::"
        "50 %25 of%0Aa, b: c%0Ahelp: no%0D%0A\n"
    )
    several = replace(found, end_line=4, file="a,b:c.yaml", message="m", help="", severity=Severity.NOTE)
    assert render_github([several]) == (
        "::notice file=a%2Cb%3Ac.yaml,line=3,endLine=4,col=4,title=SC201 unknown-kind::m\n"
    )
    whole = Diagnostic("SC602", "nothing-to-compile", Severity.WARNING, "m")
    assert render_github([whole]) == "::warning title=SC602 nothing-to-compile::m\n"


def test_sort_findings_and_drop_doubles() -> None:
    report = Report()
    first, second = _at("ab", "a"), _at("ab", "b")
    report.extend([second, replace(second, severity=Severity.NOTE), first, second])
    assert [(d.column, d.severity) for d in report.diagnostics] == [(1, "error"), (2, "error"), (2, "note")]
    assert report.has_errors
