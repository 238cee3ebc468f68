"""Both parsers read the same, and the slow one has the last word."""

from importlib.util import find_spec, module_from_spec
from typing import Any

import pytest
from ruamel.yaml import events as library

from schemac.text.source.diagnostics import Diagnostic, Report, SourceText, Span
from schemac.text.source.json_object import TreePath
from schemac.text.source.text import decode_text
from schemac.text.syntax.compose import compose
from schemac.text.syntax.document import Document, parse
from schemac.text.syntax.entries import Positions
from schemac.text.syntax.events import CParser, EventSource, fast_events, pure_events
from tests.golden import CORPUS

pytestmark = pytest.mark.slow

TEXTS = {
    path.relative_to(CORPUS).as_posix(): source
    for path in sorted(CORPUS.rglob("*.yaml"))
    if (source := decode_text(path.read_bytes(), path.name, Report())) is not None
}


def _read(
    source: SourceText, event_source: EventSource
) -> tuple[list[Any], tuple[Diagnostic, ...], list[tuple[TreePath, Span, Span]]]:
    report = Report()
    values, used = compose(source, report, (event_source, pure_events))
    places: list[tuple[TreePath, Span, Span]] = []
    for i, value in enumerate(values):
        document = Document(source, value, i, Positions(source.content, used))
        places += [(path, document.span(path), document.key_span(path)) for path in _paths(value, (), 5000)]
    return values, report.diagnostics, places


def _paths(value: Any, at: TreePath, most: int) -> list[TreePath]:
    found = [at]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if len(found) < most:
            found += _paths(item, (*at, key), most - len(found))
    return found


@pytest.mark.parametrize("given", [(), ("start", "end", "style", "comment")], ids=["few", "all"])
@pytest.mark.parametrize("kind", ["ScalarEvent", "SequenceStartEvent", "MappingStartEvent"])
def test_make_events_as_their_library_does(kind: str, given: tuple[str, ...]) -> None:
    spec = find_spec(library.__name__)
    assert spec is not None
    assert spec.loader is not None
    untouched = module_from_spec(spec)
    spec.loader.exec_module(untouched)
    first = ("anchor", None, (True, False), *(("text",) if kind == "ScalarEvent" else ()))
    ours, theirs = (getattr(module, kind)(*first, *given) for module in (library, untouched))
    names = [name for base in type(theirs).__mro__[:-1] for name in vars(base)["__slots__"]]
    assert len(names) == 8
    assert [getattr(ours, name) for name in names] == [getattr(theirs, name) for name in names]
    assert type(ours).__init__ is not type(theirs).__init__


@pytest.mark.skipif(CParser is None, reason="the extension with the C parser is not there")
@pytest.mark.parametrize("source", TEXTS.values(), ids=TEXTS.keys())
def test_read_the_same_with_both_parsers(source: SourceText) -> None:
    assert _read(source, fast_events) == _read(source, pure_events)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{a: 12:30, b: http://x}", {"a": "12:30", "b": "http://x"}),
        ("{zone: +05:30}", {"zone": "+05:30"}),
        ("a: x\u2028y", {"a": "x\u2028y"}),
        ('"\\ud83d\\ude80": 1', {"🚀": 1}),
        ("🚀: 名前 # x", {"🚀": "名前"}),
        ("a: !!str 1", {"a": "1"}),
        ("a: !!float 1", {"a": 1.0}),
        ("a: ! 1", {"a": "1"}),
    ],
    ids=["colons in braces", "offset in braces", "line separator", "surrogates", "wide", "str", "float", "!"],
)
def test_read_what_yaml_1_1_reads_otherwise(text: str, value: Any) -> None:
    report = Report()
    for event_source in (fast_events, pure_events):
        assert compose(SourceText(text), report, (event_source, pure_events))[0] == [value]
    assert report.diagnostics == ()


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        ("no", "no"), ("Yes", "Yes"), ("on", "on"), ("2020-01-01", "2020-01-01"), ("1_000", "1_000"), ("0b1", "0b1"),
        ("true", True), ("FALSE", False), ("null", None), ("~", None), ("010", 10), ("0o10", 8), ("0x1F", 31),
        ("-1", -1), ("+1", 1), ("1.", 1.0), (".5", 0.5), ("1e3", 1000.0), ("-.inf", float("-inf")), ("1e", "1e"),
        ("0x", "0x"), ("0o8", "0o8"), ("+", "+"), ("-", "-x"), (".", "."), ("9" * 500, "9" * 500),
    ],
)  # fmt: skip
def test_resolve_scalar_by_the_core_schema(scalar: str, value: Any) -> None:
    written = "-x" if scalar == "-" else scalar
    assert compose(SourceText(f"a: {written}"), Report())[0] == [{"a": value}]


def test_place_findings_behind_wide_characters() -> None:
    source = SourceText('"🚀名": [x, !foo y]\n')
    report = Report()
    compose(source, report)
    (found,) = report.diagnostics
    assert (found.line, found.column, found.end_column) == (1, 11, 17)


def test_cover_closing_bracket_by_span() -> None:
    source = SourceText("a: {b: [1, 2], c: {}}\n")
    (document,) = parse(source, Report())
    assert source.excerpt(document.span(("a",))) == "{b: [1, 2], c: {}}"
    assert source.excerpt(document.span(("a", "b"))) == "[1, 2]"
    assert source.excerpt(document.span(("a", "c"))) == "{}"
    assert source.excerpt(document.key_span(("a", "c"))) == "c"
    assert source.excerpt(document.span(("a", "b", 7))) == "[1, 2]"
