"""Versions of timestamps that a table cannot come to, because nobody had said which clock the readings are from.

Layer: engines.
Shape: a lock's history of one table's fields, with the types and clocks by which its values go through each version.
Rule: such a version is passed by where a later one can be come to and holds timestamps as well: instants that became readings
and are instants again stay what they are. Where something else follows, as a Date, the readings of the version are from the
clock that the next later version declares; where none does, from that of the last earlier one. A version that says it itself,
or is in UTC, means what it says.
"""

import json
from collections.abc import Sequence
from dataclasses import replace

from schemac.arrow.lower_metadata import compact
from schemac.attributes.family import Family
from schemac.attributes.own import CLOCK_ZONE
from schemac.evolution.clocks import clock_of
from schemac.evolution.version_pair import locked_schema_version
from schemac.identity.lock import LockedDataset, Shape, State
from schemac.logical.schema_fields import SchemaField


class ClockHistory:
    """The versions of one lock, opened where a field is a timestamp."""

    def __init__(self, locked: LockedDataset) -> None:
        self._locked = locked
        self._fields: dict[int, dict[int, SchemaField]] = {}

    def effective_states(self, table: SchemaField, states: Sequence[State]) -> list[State]:
        """Return the states that a field goes through, the first of which is that of the table, as its values can go through them."""
        if not any("Timestamp" in state.shape.type for state in states):
            return list(states)
        fields = [table, *map(self._field, states[1:])]
        effective, here = list(states), 0
        while here < len(fields) - 1:
            there = here + 1
            if clock_of(fields[here], fields[there]) is None:
                later = range(there + 1, len(fields))
                there = next((i for i in later if clock_of(fields[here], fields[i]) is not None), there)
                if there > here + 1 and fields[there].type.family is Family.TIMESTAMP:
                    effective[here + 1 : there] = [
                        _with_type(state, effective[here]) for state in effective[here + 1 : there]
                    ]
                else:
                    there = here + 1
                    _declare(effective, here)
            here = there
        return effective

    def _field(self, state: State) -> SchemaField:
        if state.first not in self._fields:
            version = locked_schema_version(self._locked, state.first)
            self._fields[state.first] = {id: field for field, id in version.ids.items()}
        return self._fields[state.first][state.id]


def clock_in(shape: Shape) -> str:
    """Return the clock that a shape declares; empty if it declares none."""
    return (CLOCK_ZONE.read(json.loads(shape.extra)) or "") if CLOCK_ZONE.key in shape.extra else ""


def _with_type(state: State, like: State) -> State:
    """Return a state of the type of another, as nullable as it was."""
    mark = "?" if state.shape.type.endswith("?") else ""
    return replace(state, shape=replace(state.shape, type=like.shape.type.removesuffix("?") + mark))


def _declare(states: list[State], here: int) -> None:
    """Give a step out of a state the clock that a later state declares, or else an earlier one."""
    zones = [clock_in(state.shape) for state in states]
    later = next(filter(None, zones[here + 2 :]), "")
    earlier = next(filter(None, reversed(zones[:here])), "")
    # What the first state is, the table says itself.
    place = here + 1 if later else here
    if later or earlier:
        shape = states[place].shape
        extra = json.loads(shape.extra) if shape.extra else {}
        extra = compact({**extra, CLOCK_ZONE.key: later or earlier})
        states[place] = replace(states[place], shape=replace(shape, extra=extra))
