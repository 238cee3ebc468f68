"""Positions of siblings that need not change when something comes between them.

Layer: identity.
Shape: decimal numbers above 0. What stays in order keeps its position, so that a lock file changes by the lines of the
fields that were moved and no others.
"""

from bisect import bisect_left
from collections.abc import Sequence
from decimal import Decimal

_MOST_DIGITS = 12
_STEP = Decimal(1)


def positions(known: Sequence[Decimal | None]) -> list[Decimal]:
    """Positions for siblings in this order, given those they had; as many as possible are kept."""
    unchanged = _longest_rise(known)
    above: Decimal | None = None
    uppers: list[Decimal | None] = []
    for i in reversed(range(len(known))):
        uppers.append(above)
        above = known[i] if i in unchanged else above
    below = Decimal(0)
    result: list[Decimal] = []
    for i, (position, above) in enumerate(zip(known, reversed(uppers), strict=True)):
        if position is None or i not in unchanged:
            position = between(below, above)
            if len(position.as_tuple().digits) > _MOST_DIGITS:
                return [Decimal(n) for n in range(1, len(known) + 1)]
        result.append(position)
        below = position
    return result


def between(below: Decimal, above: Decimal | None) -> Decimal:
    """Return the shortest number between two; above all if there is no upper one."""
    if above is None:
        return below.to_integral_value(rounding="ROUND_FLOOR") + _STEP
    step = _STEP
    while True:
        candidate = (below // step + 1) * step
        if candidate < above:
            # The middle one of those with as few digits leaves most room on both sides.
            count = int((above - candidate) / step)
            middle = candidate + step * (count // 2)
            return (middle if middle < above else candidate).normalize() + 0
        step /= 10


def _longest_rise(known: Sequence[Decimal | None]) -> frozenset[int]:
    """Return indices of the longest rising series among the known positions."""
    tails: list[Decimal] = []
    ends: list[int] = []
    before: dict[int, int | None] = {}
    for i, position in enumerate(known):
        if position is None:
            continue
        place = bisect_left(tails, position)
        before[i] = ends[place - 1] if place else None
        if place == len(tails):
            tails.append(position)
            ends.append(i)
        else:
            tails[place], ends[place] = position, i
    chosen: set[int] = set()
    i_or_none: int | None = ends[-1] if ends else None
    while i_or_none is not None:
        chosen.add(i_or_none)
        i_or_none = before[i_or_none]
    return frozenset(chosen)
