"""A layout says the same as before with the same comments, and is what it is when it is laid out again."""

import random
import re
from io import StringIO
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

import schemac
from schemac.cli.main import main
from schemac.language.formatting.format import formatted
from schemac.text.source.diagnostics import Report, SourceText
from schemac.text.syntax.document import parse
from tests.compiling import compile_bytes
from tests.fixing import Text, corpus
from tests.laws.strategies import manifests

ROOT = Path(schemac.__file__).parent.parent
OWN = [
    path
    for path in sorted([*ROOT.glob("examples/**/*.yaml"), *ROOT.glob("schemac/cli/templates/**/*.yaml")])
    if "pipeline" not in path.name
]
COMMENT = re.compile(r"(?:^|\s)(#.*)$", re.MULTILINE)


def keep_laws(text: str) -> str:
    laid_out = formatted(text)
    assert formatted(laid_out) == laid_out
    assert [c.strip() for c in COMMENT.findall(laid_out)] == [c.strip() for c in COMMENT.findall(text)]
    return laid_out


@pytest.mark.parametrize("text", list(corpus()), ids=lambda text: text.name)
def test_keep_the_meaning_of_the_corpus(text: Text) -> None:
    try:
        before = text.content.decode()
    except UnicodeDecodeError:
        return
    laid_out = formatted(before)
    assert formatted(laid_out) == laid_out
    if laid_out == before:
        return
    assert before.count("\ufeff") == laid_out.count("\ufeff")
    assert ("\r\n" in before) == ("\r\n" in laid_out)
    assert sorted(COMMENT.findall(laid_out)) == sorted(COMMENT.findall(before))
    one, other = (
        compile_bytes(content.encode(), "manifest.yaml", strict=text.is_strict, folder=text.folder)
        for content in (before, laid_out)
    )
    assert one.files == other.files
    assert sorted(d.code for d in one.diagnostics) == sorted(d.code for d in other.diagnostics)


@pytest.mark.parametrize("path", OWN, ids=lambda path: str(path.relative_to(ROOT)))
def test_leave_own_manifests_as_they_are(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert formatted(text) == text


@st.composite
def written(draw: st.DrawFn) -> str:
    """A manifest in some style, with comments and blank lines in any place that may have them."""
    tree = draw(manifests(3))
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = draw(st.sampled_from([True, False, None]))
    yaml.width = draw(st.sampled_from([40, 80, 4096]))
    yaml.indent = draw(st.sampled_from([2, 4]))
    yaml.allow_unicode = True
    yaml.sort_base_mapping_type_on_output = draw(st.booleans())
    stream = StringIO()
    yaml.dump(tree, stream)
    lines = stream.getvalue().splitlines()
    source = random.Random(draw(st.integers(0, 2**32)))
    read = parse(SourceText("\n".join(lines)), Report())
    assume(read)
    value = read[0].value
    for n in range(draw(st.integers(0, 6))):
        at = source.randrange(len(lines))
        changed = [*lines]
        match source.randrange(3):
            case 0:
                changed[at] += f"{' ' * source.randrange(1, 6)}# t{n}"
            case 1:
                changed.insert(at, f"{' ' * source.randrange(9)}# l{n}")
            case _:
                changed.insert(at, "")
        # A comment inside of a text is none.
        report = Report()
        found = parse(SourceText("\n".join(changed)), report)
        if not report.has_errors and len(found) == 1 and found[0].value == value:
            lines = changed
    return "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))


def _keep_laws_of_written(text: str) -> None:
    laid_out = formatted(text)
    assert formatted(laid_out) == laid_out
    # Of a value behind its key, the comments of both are at the end of one line.
    marks = re.compile(r"# [tl][0-9](?=(?: # [tl][0-9])*$)", re.MULTILINE)
    assert sorted(marks.findall(laid_out)) == sorted(marks.findall(text))
    assert not re.search(r"[ \t]$", laid_out.replace("\u2028", ""), re.MULTILINE) or laid_out == text
    one, other = schemac.compile_text(text), schemac.compile_text(laid_out)
    assert [(d.name, d.schema) for d in one] == [(d.name, d.schema) for d in other]


ALL = list(HealthCheck)


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=ALL)
@given(written())
@example(
    "{fields: [{name: a, type: {kind: Binary}, extra: {lance.org/encoding: {compression: none}, example.com/a: "
    "{'0': {'0': :0}}}}], extra: {paimon.apache.org/primaryKeys: [a]}}"
)
@example("fields: [{name: a, type: String, extra: {example.com/a: [:a, ':b', \":c\"]}}]")
@example("fields:\n- name: a\n  type: String\n  extra:\n    example.com/a: :it's\n      more\n")
def test_keep_the_meaning_of_any_manifest(text: str) -> None:
    _keep_laws_of_written(text)


@pytest.mark.long
@settings(max_examples=5000, deadline=None, suppress_health_check=ALL)
@given(written())
def test_keep_the_meaning_of_many_manifests(text: str) -> None:
    _keep_laws_of_written(text)


LINES = (
    ("{0}  one",),
    ("{0}  one", "", "{0}    two"),
    ("{0}  one", "{0}  two", ""),
    ("{0}  \t",),
    ("{0}     ",),
    ("{0}  one", "{0}     ", "{0}  two"),
    ("", "{0}  one", "{0}   "),
)
"""Lines of a block of text: deeper ones, blank ones, and those with blanks or tabs alone, which are a part of the text."""
SCALARS = {
    **{style: "text" if style == "plain" else f"{style}text{style}" for style in ("plain", "'", '"')},
    "plain lines": "one\n{0}  two",
    "quoted lines": '"one\n{0}  two"',
    **{
        f"{style}{chomping}{comment}{number}": f"{style}{chomping}{comment}\n" + "\n".join(lines)
        for style in ("|", ">")
        for chomping in ("", "-", "+", "2", "2-")
        for comment in ("", "  # why")
        for number, lines in enumerate(LINES)
    },
}
"""A value of each style, below a key that stands `{0}` deep."""
PLACES = (
    ("name: a\nfields: []\ndescription: ", ""),
    ("name: a\nfields:\n  - name: b\n    type: Int8\n    description: ", "    "),
    ("name: a\nfields:\n  - type: Int8\n    name: b\n    extra:\n      a.org/b: ", "      "),
    ("name: a\nfields:\n  - type: Int8\n    name: b\n    extra:\n      a.org/b:\n        - ", "        "),
    ("name: a\nfields:\n  - type: Int8\n    extra: {}\n    name: ", "    "),
    ("fields:\n  - {name: b, type: Int8}\n---\nfields: []\nname: ", ""),
)
ENDS = (
    "",
    "\n",
    "\n\n",
    " ",
    "\n  ",
    "\n\n  ",
    "\n# end",
    "\n\n# end\n",
    "  # here",
    "\n---",
    "\n              \n",
)


LINE_ENDS = ("\n", "\r\n")


def _keep_value(scalar: str, place: tuple[str, str], end: str, line_end: str) -> None:
    start, indent = place
    text = (start + SCALARS[scalar].format(indent) + end).replace("\n", line_end)
    report = Report()
    before = [one.value for one in parse(SourceText(text), report)]
    laid_out = formatted(text)
    assert report.has_errors or [one.value for one in parse(SourceText(laid_out), Report())] == before
    assert formatted(laid_out) == laid_out, (text, laid_out)


@pytest.mark.parametrize("number", range(len(SCALARS)), ids=list(SCALARS))
def test_keep_any_value_at_the_end_of_a_text(number: int) -> None:
    """With each end and each line end in one place, and in another place for the next of them: each pair of two occurs."""
    for (n, end), (m, line_end) in product(enumerate(ENDS), enumerate(LINE_ENDS)):
        place = PLACES[(number + n + m * len(PLACES) // 2) % len(PLACES)]
        _keep_value(list(SCALARS)[number], place, end, line_end)


@pytest.mark.long
@pytest.mark.parametrize("scalar", SCALARS)
def test_keep_any_value_at_the_end_of_a_text_in_every_place(scalar: str) -> None:
    for place, end, line_end in product(PLACES, ENDS, LINE_ENDS):
        _keep_value(scalar, place, end, line_end)


def test_format_the_other_files_where_one_is_a_mistake_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(text: str, name: str) -> str:
        if name == "b.yaml":
            raise AssertionError(name)
        return formatted(text, name)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("schemac.language.formatting.format.formatted", failing)
    for name in "abc":
        Path(f"{name}.yaml").write_text("fields:\n- {name: x,   type: Int8}\n")
    assert main(["fmt"]) == 3
    assert ["x,   type" in Path(f"{name}.yaml").read_text() for name in "abc"] == [False, True, False]


LONG = "a" * 70
STYLE = {
    "name: a\nfields:\n- type: {kind: 'Int32'}\n  name:   \"b\"\n": "name: a\nfields:\n  - name: b\n    type: Int32\n",
    "fields:\n    -   extra: {a.b/c: 1}\n        name: 'no'\n        type:\n            kind: Option\n            inner:\n                kind: String\n": "fields:\n  - name: 'no'\n    type: {kind: Option, inner: String}\n    extra: {a.b/c: 1}\n",
    "# top\n\n\n\nfields:   # here\n  # the first\n  - name: a   \n    type: Int32\n    # its end\n\n  # the second\n  - {name: b, type: Int32}": "# top\n\nfields:   # here\n  # the first\n  - name: a\n    type: Int32\n    # its end\n\n  # the second\n  - {name: b, type: Int32}\n",
    "fields:\n  - {name: a, # one\n     type: Int32}\n": "fields:\n  - name: a  # one\n    type: Int32\n",
    "fields:\n  - &a {type: Int32, name: x}\n  - *a\n": "fields:\n  - &a {name: x, type: Int32}\n  - *a\n",
    "fields: [{name: a, type: Int32}]\n---\nname: b\nfields: []\n": "fields: [{name: a, type: Int32}]\n---\nname: b\nfields: []\n",
    "fields:\r\n- {name: a, type: {kind: Int32}}\r\n": "fields:\r\n  - {name: a, type: Int32}\r\n",
    "fields:\n  - name: a\n    description: |\n        two\n          lines\n    type: Int32\n": "fields:\n  - name: a\n    description: |\n      two\n        lines\n    type: Int32\n",
    f"fields:\n  - {{name: {LONG}, type: {{kind: Decimal, precision: 9, scale: 2}}}}  # why\n": f"fields:\n  # why\n  - name: {LONG}\n    type: {{kind: Decimal, precision: 9, scale: 2}}\n",
    f"fields:\n  - name: a\n    type: Int32\n    extra: {{a.b/c: {LONG}, a.b/d: {LONG}}}  # why\n": f"fields:\n  - name: a\n    type: Int32\n    extra:  # why\n      a.b/c: {LONG}\n      a.b/d: {LONG}\n",
}
"""Texts, and how they are laid out."""


@pytest.mark.parametrize(("text", "expected"), STYLE.items())
def test_lay_out(text: str, expected: str) -> None:
    assert keep_laws(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "services:\n   web: {image:   nginx}\n",
        "fields: [\n",
        "a: {{ .Values.a }}\n",
        "",
        "fields:\n  - {name:   a, type: Int32}\n---\nkind:   Service\n",
        "%YAML 1.2\n---\nfields:   []\n",
    ],
)
def test_leave_other_texts_alone(text: str) -> None:
    assert formatted(text) == text


def test_lay_out_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    path, other = tmp_path / "a.yaml", tmp_path / "compose.yaml"
    path.write_text("fields:\n- {name:   a, type: Int32}\n")
    other.write_text("services:   {}\n")
    assert main(["fmt", "--check"]) == 1
    assert capsys.readouterr() == ("a.yaml\n", "would reformat 1 file; 1 file unchanged\n")
    assert main(["fmt", "--diff"]) == 1
    assert "+  - {name: a, type: Int32}\n" in capsys.readouterr().out
    assert path.read_text() == "fields:\n- {name:   a, type: Int32}\n"
    assert main(["fmt"]) == 0
    assert path.read_text() == "fields:\n  - {name: a, type: Int32}\n"
    assert other.read_text() == "services:   {}\n"
    assert main(["fmt", "--check"]) == 0
    path.write_text("fields: [\n")
    assert main(["fmt"]) == 1
    assert path.read_text() == "fields: [\n"
