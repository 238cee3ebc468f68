"""Schemas of locked versions, and fields in the form of a lock.

Layer: versions.
Shape: if an installed engine has no numbers in a version, because it was not installed when the version was locked,
they are computed now. The result is always the same, so it need not be written. The type text of a field has its own
properties without its children, which have lines of their own; `?` stands for Option.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, cached_property
from typing import NamedTuple

import schemac.language.kinds.registry  # noqa: F401 — without it no kind is known
from schemac.arrow.metadata import compact
from schemac.language.logical.dataset import LogicalDataset, Origins
from schemac.language.logical.model import PART_KEYS, Part, Schema, SchemaField, columns, preorder
from schemac.text.source.json_object import Json
from schemac.versions.identity import lock as locks

_CHILDREN = frozenset({"fields", *PART_KEYS.values()})


def shape_of(field: SchemaField, parent: int | None, position: Decimal | None) -> locks.FieldShape:
    """Return the shape of a field that is below a parent."""
    type_ = field.type
    properties: Json = {}
    for name, info in type(type_).model_fields.items():
        key = info.alias or name
        if name == "kind" or key in _CHILDREN or name == "extra":
            continue
        value = getattr(type_, name)
        if value != info.get_default():
            properties[key] = value
    text = compact({"kind": type_.kind, **properties}) if properties else str(type_.kind)
    extra = compact(dict(field.extra)) if field.extra else ""
    return locks.FieldShape(parent, field.segment, position, f"{text}?" if field.is_nullable else text, extra)


def _children(states: Iterable[locks.FieldState]) -> dict[int | None, list[locks.FieldState]]:
    """Return the siblings in their order, by the id of what is around them."""
    children: dict[int | None, list[locks.FieldState]] = {}
    for state in sorted(states, key=locks.order_of):
        children.setdefault(state.shape.parent, []).append(state)
    return children


def _members(children: Mapping[int | None, list[locks.FieldState]], parent: int | None) -> list[Json]:
    """Return the fields below a parent as a manifest has them; the columns if the parent is None."""
    return [
        {"name": state.shape.segment, "type": _type(children, state), **_extra(state.shape.extra)}
        for state in children.get(parent, ())
    ]


def _extra(text: str) -> Json:
    """Return a lock's text of attributes as a mapping with `extra`; empty without a text."""
    return {"extra": json.loads(text)} if text else {}


def _type(children: Mapping[int | None, list[locks.FieldState]], state: locks.FieldState) -> Json:
    """Return the type of a field with all its parts as a manifest has it, `Option` around one that may be null."""
    text = state.shape.type
    is_nullable = text.endswith("?")
    text = text.removesuffix("?")
    type_: Json = json.loads(text) if text.startswith("{") else {"kind": text}
    if type_["kind"] == "Struct":
        type_["fields"] = _members(children, state.id)
    for child in children.get(state.id, ()):
        if isinstance(child.shape.segment, Part):
            key = PART_KEYS[child.shape.segment]
            type_[key] = {**_type(children, child), **_extra(child.shape.extra)}
    return {"kind": "Option", "inner": type_} if is_nullable else type_


@dataclass(frozen=True)
class LockedVersion:
    """One version as it was: its schema, and the state behind every field, with the numbers of all installed engines."""

    version: locks.Version
    logical: LogicalDataset
    states: Mapping[SchemaField, locks.FieldState]

    @cached_property
    def ids(self) -> dict[SchemaField, int]:
        """The ids of the fields."""
        return {field: state.id for field, state in self.states.items()}

    @cached_property
    def numbers(self) -> dict[SchemaField, locks.Numbers]:
        """The engines' numbers of the fields."""
        return {field: state.numbers for field, state in self.states.items()}

    @cached_property
    def states_by_id(self) -> dict[int, locks.FieldState]:
        """The states by the ids of their fields."""
        return {state.id: state for state in self.states.values()}


def open_version(dataset: locks.LockedDataset, version: locks.Version) -> LockedVersion:
    """Return a version of a lock, rebuilt with the numbers of all installed engines."""
    opened = _locked_version(dataset, version)
    for engine, numbering in locks.numberings().items():
        if version.is_numbered_by(engine):
            continue
        made = dataset.view(_Replay).numbered(engine, numbering, version.number)
        if made is not None:
            opened = _with_numbers(opened, engine, made)
    return opened


def _locked_version(dataset: locks.LockedDataset, version: locks.Version) -> LockedVersion:
    """Return a version as the lock has it, without numbers of engines that did not number it."""
    children = _children(dataset.states_of(version.number))
    schema = Schema.model_validate({"fields": _members(children, None), **_extra(version.extra)})
    logical = LogicalDataset(
        dataset.name, schema, columns(schema), Origins(f"version {version.number} of {dataset.name}")
    )
    states: list[locks.FieldState] = []
    stack = children.get(None, [])[::-1]
    while stack:
        states.append(stack.pop())
        stack += reversed(children.get(states[-1].id, ()))
    return LockedVersion(version, logical, dict(zip(preorder(logical.columns), states, strict=True)))


class _Numbered(NamedTuple):
    """The numbers that an engine assigns now to a version that it did not number."""

    numbers: Mapping[int, tuple[int, ...]]
    """By the ids of the lock."""
    highest: int
    data: str
    """As compact JSON; empty for none."""


def _with_numbers(opened: LockedVersion, engine: str, made: _Numbered) -> LockedVersion:
    """Return a version with the numbers of one more engine."""
    version = opened.version
    version = version._replace(
        highest=version.highest.with_value(engine, made.highest),
        data=version.data.with_value(engine, made.data) if made.data else version.data,
        carried=tuple([name for name in version.carried if name != engine]),
    )
    states = {
        field: state._replace(numbers=state.numbers.with_value(engine, made.numbers[state.id]))
        for field, state in opened.states.items()
    }
    return LockedVersion(version, opened.logical, states)


class _Replay:
    """Numbers, for engines installed since, the versions of a dataset that they did not number.

    It starts at the last version that is numbered, and ends at the one that is asked for; no version is rebuilt twice.
    """

    def __init__(self, dataset: locks.LockedDataset) -> None:
        self._dataset = dataset
        self._locked_version = cache(lambda place: _locked_version(dataset, dataset.versions[place]))
        self._numbered: dict[tuple[str, int], _Numbered] = {}

    def numbered(self, engine: str, numbering: locks.Numbering, number: int) -> _Numbered | None:
        """Return the numbers of an engine for the version of this number; None if it numbers nothing there."""
        place = number - 1
        for each in range(
            self._first_place(engine, place, is_existing_only=numbering.is_existing_only), place + 1
        ):
            before = self._locked_version(each - 1) if each else None
            if before is not None and (last := self._numbered.get((engine, each - 1))) is not None:
                before = _with_numbers(before, engine, last)
            opened, former = self._locked_version(each), None
            highest = opened.version.highest.of(engine)
            if before is not None:
                # Numbers are above all that any earlier version is known to have had.
                highest = max(highest, before.version.highest.of(engine))
                former = former_of(before, opened.ids, engine)
            made, highest = numbering.number(opened.logical, former, highest)
            data = numbering.next_data(before.version.data.of(engine) if before is not None else {})
            self._numbered[engine, each] = _Numbered(
                {state.id: made.get(field, ()) for field, state in opened.states.items()},
                highest,
                compact(dict(data)) if data else "",
            )
        return self._numbered.get((engine, place))

    def _first_place(self, engine: str, place: int, *, is_existing_only: bool) -> int:
        """Return the index of the first version to number before the one at `place`; `place + 1` if that has numbers."""
        versions, first = self._dataset.versions, place + 1
        while first and not versions[first - 1].is_numbered_by(engine):
            if (engine, first - 1) in self._numbered:
                return first
            first -= 1
        while (
            is_existing_only
            and first <= place
            and (not first or versions[first - 1].highest.get(engine) is None)
        ):
            first += 1
        return first


def former_of(
    before: LockedVersion, ids: Mapping[SchemaField, int], engine: str, back: frozenset[int] = frozenset()
) -> locks.Former:
    """Return the former version as an engine's numbering gets it, with its fields matched to those of another schema."""
    schema_fields = {state.id: field for field, state in before.states.items()}
    fields = {
        field: locks.Old(schema_fields[id], before.states[schema_fields[id]].numbers.of(engine), id in back)
        for field, id in ids.items()
        if id in schema_fields
    }
    return locks.Former(before.logical, fields)
