"""A place that is found by searching the text is the one that is found in the whole of it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemac.source.report import Report
from schemac.source.text import SourceText
from schemac.syntax.document import Document, parse
from tests.effort import law
from tests.laws.strategies import Tree, manifests, text

QUICK = law(40)

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
        few = Document(document.source, document.value, 0, document.stream)
        many = Document(document.source, document.value, 0, document.stream)
        many._searches = 10**6
        for ask in (Document.span, Document.key_span, Document.has):
            assert ask(few, path) == ask(many, path), path


@given(manifests(most_columns=3), st.booleans())
@QUICK
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
