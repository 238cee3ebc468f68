"""A value is where the composer of YAML's own library finds it."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from schemac.text.source.diagnostics import Report, SourceText, Span
from schemac.text.source.json_object import TreePath
from schemac.text.syntax.document import parse
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


def _nodes(
    key: Node | None, node: Node, path: TreePath, seen: set[int]
) -> Iterator[tuple[TreePath, Node | None, Node]]:
    if id(node) in seen:
        # What an alias stands for has the marks of its anchor.
        return
    seen.add(id(node))
    yield path, key, node
    if isinstance(node, MappingNode):
        for child_key, child in node.value:
            yield from _nodes(child_key, child, (*path, child_key.value), seen)
    elif isinstance(node, SequenceNode):
        for i, child in enumerate(node.value):
            yield from _nodes(None, child, (*path, i), seen)


def _span(node: Node) -> Span:
    return Span(node.start_mark.index, node.end_mark.index)


def _find_the_same(content: str) -> None:
    (document,) = parse(SourceText(content), Report())
    root = YAML(typ="safe", pure=True).compose(content)
    for path, key, node in _nodes(None, root, (), set()):
        assert document.has(path)
        assert not document.has((*path, "nowhere"))
        span = document.span(path)
        assert document.span((*path, "nowhere", 1)) == span
        assert document.key_span(path) == (span if key is None else _span(key)), path
        if node.start_mark.index == node.end_mark.index and key is not None:
            assert span == Span(key.end_mark.index, key.end_mark.index), path
        elif isinstance(node, ScalarNode) or node.flow_style:
            assert span == _span(node), path
        else:
            assert span.start == node.start_mark.index, path


@given(manifests(most_columns=3), st.booleans())
@QUICK
def test_find_the_place_of_each_value(tree: Tree, as_yaml: bool) -> None:
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
def test_find_the_place_of_each_value_in_odd_texts(content: str) -> None:
    _find_the_same(content)
