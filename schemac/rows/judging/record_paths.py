"""Paths into a record, such as `properties.mag`, "geometry.coordinates[0]" or "`a.b`.c".

Layer: rows.
"""

import re

Step = str | int

_STEP = re.compile(r"`((?:[^`]|``)*)`|\[(\d+)\]|([^.\[`]+)")
GEOJSON_TOP = ("id", "geometry", "bbox", "properties")
GEOJSON_ALWAYS = ("type", "id", "bbox", "geometry", "properties")
GEOJSON_GEOMETRY = ("type", "coordinates")


class UnreadablePathError(ValueError):
    """`position` counts characters from 0."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


def parse_steps(path: str) -> tuple[Step, ...]:
    """Return the keys and positions of a path. Raises UnreadablePathError."""
    steps: list[Step] = []
    position = 0
    while position < len(path):
        match = _STEP.match(path, position)
        if match is None:
            raise UnreadablePathError(position)
        quoted, index, plain = match.groups()
        steps.append(int(index) if index is not None else plain or quoted.replace("``", "`"))
        position = match.end()
        if path[position : position + 1] == "." and position + 1 < len(path):
            position += 1
    return tuple(steps)
