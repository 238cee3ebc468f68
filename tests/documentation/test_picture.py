"""Pictures of references: no box on another, every line from its source to its target."""

import re
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from schemac.documentation.model import Relation
from schemac.documentation.picture import draw

NAMES = st.sampled_from([f"{letter * n}" for letter in "abcdefgh" for n in (1, 12, 60)])
RELATIONS = st.lists(st.builds(Relation, NAMES, st.just(("x",)), NAMES, st.just(("y",))), max_size=40)


@settings(max_examples=40)
@given(RELATIONS)
def test_draw_every_reference_between_boxes_that_stand_apart(relations: list[Relation]) -> None:
    drawn = draw(relations)
    wanted = {(one.source, one.target) for one in relations if one.source != one.target}
    assert sorted((line.source, line.target) for line in drawn.lines) == sorted(wanted)
    assert {box.name for box in drawn.boxes} == {name for edge in wanted for name in edge}
    for one, other in combinations(drawn.boxes, 2):
        is_beside = one.x + one.width <= other.x or other.x + other.width <= one.x
        assert is_beside or one.y + one.height <= other.y or other.y + other.height <= one.y
    boxes = {box.name: box for box in drawn.boxes}
    for box in drawn.boxes:
        assert 0 <= box.x <= box.x + box.width <= drawn.width
        assert 0 <= box.y <= box.y + box.height <= drawn.height
    for line in drawn.lines:
        numbers = list(map(float, re.findall(r"-?\d+\.\d", line.path)))
        source, target = boxes[line.source], boxes[line.target]
        assert _is_at_edge(numbers[0], numbers[1], source)
        assert _is_at_edge(numbers[-2], numbers[-1], target)
    assert draw(reversed(relations)) == drawn


def _is_at_edge(x: float, y: float, box: object) -> bool:
    left, top, width, height = (getattr(box, name) for name in ("x", "y", "width", "height"))
    return bool(min(abs(x - left), abs(x - left - width)) < 0.06 and abs(y - top - height / 2) < 0.06)
