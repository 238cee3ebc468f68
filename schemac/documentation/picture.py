"""A picture of the references between datasets: the positions of the boxes, and of the lines between them.

Layer: documentation.
Units: those of SVG, about a pixel of a screen; the origin is the upper left corner.
Source: the layered layout of Sugiyama, Tagawa and Toda (1981): layers by the longest path, places for lines that pass a layer, and
the order in a layer by the mean of the neighbours'. A dataset is to the left of those that it references.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import NamedTuple

from schemac.documentation.model import Relation

_HEIGHT = 32.0
_PER_CHARACTER = 7.6
_PADDING = 28.0
_MOST_CHARACTERS = 34
_GAP_ACROSS = 72.0
_GAP_DOWN = 14.0
_BETWEEN = 34.0
"""Between two groups of datasets that have nothing to do with each other."""
_MARGIN = 8.0
_SWEEPS = 6
_BYPASS = 8.0
"""Height of the place where a line passes a layer."""

Edge = tuple[str, str]
"""A reference between datasets: the one that refers, and the one that it refers to."""


class Box(NamedTuple):
    """A dataset."""

    name: str
    label: str
    """Its name, as much of it as there is room for."""
    x: float
    y: float
    width: float
    height: float


class ReferenceLine(NamedTuple):
    """References from one dataset to another."""

    source: str
    target: str
    path: str
    """As SVG writes it."""
    title: str


@dataclass(frozen=True, slots=True)
class Picture:
    """All boxes and lines."""

    width: float
    height: float
    boxes: tuple[Box, ...] = ()
    lines: tuple[ReferenceLine, ...] = ()


class _Place(NamedTuple):
    """A box, or where a line passes a layer: the name of the one, source, target and layer of the other."""

    name: str
    source: str = ""
    target: str = ""
    layer: int = 0


_Span = tuple[float, float, float]
"""Where a line is level at a place: from left to right, and at which height."""


def draw(relations: Iterable[Relation]) -> Picture:
    """Return the picture of all datasets that refer to others, or are referred to."""
    titles: dict[Edge, list[str]] = defaultdict(list)
    for one in relations:
        if one.source != one.target:
            titles[one.source, one.target].append(f"{', '.join(one.fields)} → {', '.join(one.to)}")
    boxes: list[Box] = []
    lines: list[ReferenceLine] = []
    top = width = 0.0
    for edges in _connected_groups(titles):
        drawn = _draw_group(edges, titles, top)
        boxes += drawn.boxes
        lines += drawn.lines
        width, top = max(width, drawn.width), drawn.height + _BETWEEN
    return Picture(width + 2 * _MARGIN, max(0.0, top - _BETWEEN) + 2 * _MARGIN, tuple(boxes), tuple(lines))


def _connected_groups(edges: Iterable[Edge]) -> list[list[Edge]]:
    """Return the lines that hang together, the largest group first."""
    edges_of: dict[str, set[Edge]] = defaultdict(set)
    for edge in edges:
        for name in edge:
            edges_of[name].add(edge)
    groups: list[list[Edge]] = []
    while edges_of:
        names, together = [next(iter(edges_of))], set[Edge]()
        while names:
            new = edges_of.pop(names.pop(), set()) - together
            together |= new
            names += itertools.chain.from_iterable(new)
        groups.append(sorted(together))
    return sorted(groups, key=lambda group: (-len(group), group))


def _draw_group(edges: Sequence[Edge], titles: Mapping[Edge, list[str]], top: float) -> Picture:
    """Return the picture of datasets that are connected, from `top` down, as wide and tall as its layers."""
    forward = _without_cycles(edges)
    layer_of = _layer_by_name(forward)
    layers, chains = _with_bypasses(forward, layer_of)
    _sort_layers(layers, chains)
    widths = [
        max(len(_shortened_name(place.name)) for place in layer if not place.source) * _PER_CHARACTER
        + _PADDING
        for layer in layers
    ]
    lefts = [sum(widths[:n]) + n * _GAP_ACROSS + _MARGIN for n in range(len(layers))]
    heights = [sum(_height(place) + _GAP_DOWN for place in layer) - _GAP_DOWN for layer in layers]
    tallest = max(heights)
    boxes: list[Box] = []
    spans: dict[_Place, _Span] = {}
    for layer, left, width, height in zip(layers, lefts, widths, heights, strict=True):
        y = top + _MARGIN + (tallest - height) / 2
        for place in layer:
            if not place.source:
                boxes.append(Box(place.name, _shortened_name(place.name), left, y, width, _HEIGHT))
            spans[place] = (left, left + width, y + _height(place) / 2)
            y += _height(place) + _GAP_DOWN
    lines = [
        ReferenceLine(*edge, _curve(edge[0], chain, spans), "; ".join(titles[edge]))
        for edge, chain in chains.items()
    ]
    return Picture(lefts[-1] + widths[-1], top + tallest, tuple(boxes), tuple(lines))


def _without_cycles(edges: Sequence[Edge]) -> dict[Edge, Edge]:
    """Return each line with its ends from left to right: those that would close a circle run from right to left."""
    after: dict[str, list[str]] = defaultdict(list)
    for source, target in edges:
        after[source].append(target)
    done: set[str] = set()
    under_way: set[str] = set()
    backward: set[Edge] = set()
    for start in sorted({name for edge in edges for name in edge}):
        stack = [(start, iter(after[start]))] if start not in done else []
        under_way.update(name for name, _ in stack)
        while stack:
            name, rest = stack[-1]
            reached = next(rest, None)
            if reached is None:
                stack.pop()
                under_way.discard(name)
                done.add(name)
            elif reached in under_way:
                backward.add((name, reached))
            elif reached not in done:
                under_way.add(reached)
                stack.append((reached, iter(after[reached])))
    return {edge: (edge[1], edge[0]) if edge in backward else edge for edge in edges}


def _layer_by_name(forward: Mapping[Edge, Edge]) -> dict[str, int]:
    """Return the layer of each dataset: one more than the largest of those to its left."""
    before: dict[str, set[str]] = defaultdict(set)
    after: dict[str, set[str]] = defaultdict(set)
    for left, right in forward.values():
        before[right].add(left)
        after[left].add(right)
    layer: dict[str, int] = {}
    for name in TopologicalSorter(before).static_order():
        layer[name] = max((layer[left] + 1 for left in before[name]), default=0)
    # What nothing stands left of comes close to what it refers to.
    for name in layer:
        if not before[name]:
            layer[name] = min(layer[right] for right in after[name]) - 1
    return layer


def _with_bypasses(
    forward: Mapping[Edge, Edge], layer_of: Mapping[str, int]
) -> tuple[list[list[_Place]], dict[Edge, list[_Place]]]:
    """Return the places of each layer, and those that each line runs through, from left to right."""
    layers: list[list[_Place]] = [[] for _ in range(max(layer_of.values()) + 1)]
    for name, layer in sorted(layer_of.items()):
        layers[layer].append(_Place(name))
    chains: dict[Edge, list[_Place]] = {}
    for edge, (left, right) in forward.items():
        between = [_Place("", *edge, layer) for layer in range(layer_of[left] + 1, layer_of[right])]
        for place in between:
            layers[place.layer].append(place)
        chains[edge] = [_Place(left), *between, _Place(right)]
    return layers, chains


def _sort_layers(layers: list[list[_Place]], chains: Mapping[Edge, list[_Place]]) -> None:
    """Sort each layer by the mean place of the neighbours in the layer next to it, there and back some times."""
    near: dict[bool, dict[_Place, list[_Place]]] = {False: defaultdict(list), True: defaultdict(list)}
    for chain in chains.values():
        for left, right in itertools.pairwise(chain):
            near[False][right].append(left)
            near[True][left].append(right)
    for sweep in range(_SWEEPS):
        is_back = sweep % 2 == 1
        rows = reversed(layers[:-1]) if is_back else iter(layers[1:])
        for row in rows:
            where = {place: n for layer in layers for n, place in enumerate(layer)}
            means = {
                place: sum(where[one] for one in neighbours) / len(neighbours)
                if (neighbours := near[is_back][place])
                else where[place]
                for place in row
            }
            row.sort(key=means.__getitem__)


def _curve(source: str, chain: Sequence[_Place], spans: Mapping[_Place, _Span]) -> str:
    """Return the curve of a line: level at every place that it runs through."""
    stops = [spans[place] for place in chain]
    if chain[0].name != source:
        # A line that closes a circle runs back; its arrow is at the left.
        stops = [(end, start, y) for start, end, y in reversed(stops)]
    parts = [f"M{stops[0][1]:.1f} {stops[0][2]:.1f}"]
    for (_, from_x, from_y), (to_x, end_x, to_y) in itertools.pairwise(stops):
        half = (from_x + to_x) / 2
        parts.append(f"C{half:.1f} {from_y:.1f} {half:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}")
        if end_x != stops[-1][1]:
            parts.append(f"H{end_x:.1f}")
    return "".join(parts)


def _height(place: _Place) -> float:
    """Return the height that a place takes; a bypass of a line is lower than a box."""
    return _BYPASS if place.source else _HEIGHT


def _shortened_name(name: str) -> str:
    """Return the name of a dataset, cut with an ellipsis where it is too long for a box."""
    return name if len(name) <= _MOST_CHARACTERS else f"{name[: _MOST_CHARACTERS - 1]}…"
