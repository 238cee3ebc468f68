"""What is compiled in part, or looked for in part, gives what the whole gives."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemac.engines.iceberg.view import errors_of as iceberg_errors_of
from schemac.engines.paimon.view import errors_of
from schemac.evolution.changes import Change
from schemac.evolution.diff import diff_of
from schemac.evolution.judge import judge, judged_engines
from schemac.evolution.version_pair import SchemaVersion, VersionPair, pair_versions
from schemac.project.configuration import Project
from schemac.project.partial import parts_of
from schemac.project.stages import check_source
from schemac.source.report import Report
from schemac.source.text import SourceText
from schemac.syntax.document import Document, parse
from tests.laws.strategies import Tree, manifests, text
from tests.laws.test_evolution import edited

QUICK = settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
LONG = settings(max_examples=5000, deadline=None, suppress_health_check=list(HealthCheck))


def pair_of(before: SourceText, today: SourceText) -> VersionPair | None:
    report = Report()
    found = [check_source(source, Project(Path()), report) for source in (before, today)]
    if report.has_errors:
        return None
    return pair_versions(
        *(SchemaVersion(datasets[0], label) for datasets, label in zip(found, ("old", "new"), strict=True))
    )


def told(pair: VersionPair, engines: Sequence[str] = judged_engines()) -> list[Any]:
    """All that is said of a change, places included."""
    changes: tuple[Change, ...] = diff_of(pair)
    return sorted(map(str, (v.to_json() for v in judge(changes, pair, engines))))


def in_parts(
    before: SourceText, today: SourceText, engines: Sequence[str] = judged_engines()
) -> list[Any] | None:
    parts = parts_of(before, today)
    pair = pair_of(parts.before, parts.today) if parts is not None else None
    is_right = parts is not None and pair is not None and parts.is_in_order(pair)
    return told(pair, engines) if is_right and pair is not None else None


def _tell_the_same(trees: tuple[Tree, Tree]) -> bool:
    before, today = (
        SourceText(text(tree, as_yaml=True), f"{name}.yaml") for tree, name in zip(trees, "ab", strict=True)
    )
    whole = pair_of(before, today)
    assert whole is not None
    # Of a schema that Paimon or Iceberg could not hold they say so, whichever column is to blame.
    unable = {
        engine
        for engine, errors in (("paimon", errors_of), ("iceberg", iceberg_errors_of))
        if errors(whole.old) or errors(whole.new)
    }
    engines = [engine for engine in judged_engines() if engine not in unable]
    found = in_parts(before, today, engines)
    assert found is None or found == told(whole, engines)
    return found is not None


@given(edited())
@QUICK
def test_tell_the_same_of_parts(trees: tuple[Tree, Tree]) -> None:
    _tell_the_same(trees)


@given(edited(), st.randoms())
@QUICK
def test_tell_the_same_of_parts_in_another_order(trees: tuple[Tree, Tree], random: Any) -> None:
    one, other = trees
    fields = list(other["fields"])
    random.shuffle(fields)
    _tell_the_same((one, {**other, "fields": fields}))


@pytest.mark.long
@given(edited())
@LONG
def test_tell_the_same_of_very_many_parts(trees: tuple[Tree, Tree]) -> None:
    _tell_the_same(trees)


PLAIN = """\
name: rides
# every ride
fields:   # of a day
  # the first

  - name: id
    type: Int64
    description: |
      - name: not a field
        fields:
  - name: place
    type:
      kind: Struct
      fields:
      - name: lat
        type: Float64
  -
    name: note
    type: {kind: Option, inner: String}
extra:
  example.com/owners:
  - a
"""


@pytest.mark.parametrize(
    ("old", "new", "is_in_parts"),
    [
        ("type: Int64", "type: Int32", True),
        ("type: Float64", "type: Float32", True),
        ("name: lat", "name: latitude", True),
        ("inner: String", "inner: Binary", True),
        ("  - a\n", "  - b\n", True),
        ("not a field", "another text", True),
        ("extra:", "  - {name: late, type: Bool}\nextra:", True),
        ("fields:   # of a day", "fields:   # of a night", True),
        ("name: rides", "name: trips", True),
        ("inner: String", "inner: &a String", False),
        ("inner: String", "inner: !!str String", False),
        ("name: rides\n", "---\nname: rides\n", False),
        ("name: rides\n", "name: rides\nextras: *a\n", False),
        ("  # the first\n", "\t# the first\n", False),
    ],
)
def test_tell_parts_apart(old: str, new: str, is_in_parts: bool) -> None:
    before, today = SourceText(PLAIN, "a.yaml"), SourceText(PLAIN.replace(old, new), "b.yaml")
    parts = parts_of(before, today)
    assert (parts is not None) is is_in_parts
    if parts is not None:
        pair, whole = pair_of(parts.before, parts.today), pair_of(before, today)
        assert pair is not None
        assert whole is not None
        assert told(pair) == told(whole)
        assert len(parts.today.content) < len(PLAIN)


def test_see_that_an_edited_column_moved() -> None:
    fields = [f"  - name: {name}\n    type: Int8\n" for name in "abc"]
    before = SourceText("fields:\n" + "".join(fields))
    edited = fields[0].replace("Int8", "Int16")
    today = SourceText("fields:\n" + "".join([fields[1], edited, fields[2]]))
    assert parts_of(before, today) is not None
    assert in_parts(before, today) is None


def _paths(value: Any) -> list[tuple[str | int, ...]]:
    found: list[tuple[str | int, ...]] = [()]
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, child in children:
        found += [(key, *path) for path in _paths(child)]
    return found


def _find_the_same(content: str) -> None:
    (document,) = parse(SourceText(content), Report())
    paths = _paths(document.value)
    for path in [*paths, ("nowhere",), ("fields", 999), *[(*path, "nowhere") for path in paths[:20]]]:
        few = Document(document.source, document.value, 0, document._stream)
        many = Document(document.source, document.value, 0, document._stream)
        many._searches = 10**6
        for ask in (Document.span, Document.key_span, Document.has):
            assert ask(few, path) == ask(many, path), path


@given(manifests(most_columns=3), st.booleans())
@settings(QUICK, max_examples=40)
def test_find_the_same_place_by_searching(tree: Tree, as_yaml: bool) -> None:
    _find_the_same(text(tree, as_yaml=as_yaml))


@pytest.mark.parametrize(
    "content",
    [
        PLAIN,
        "a:\nb: {c: , d: [1, {e: }]}\n",
        "- [a, b]\n-\n- - c\n",
        "a: &x {b: 1}\nc: *x\n",
        "a: 1\n",
    ],
)
def test_find_the_same_place_in_odd_texts(content: str) -> None:
    _find_the_same(content)
