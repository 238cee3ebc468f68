"""What the versions of a dataset were, each thing told once: from these, a page compares any two of them.

Layer: documentation.
Shape: what changes has steps, each from a version on; what two steps mean is the same where their states are. A page that has
versions of n fields and c changes has n + c of them, however many pairs of versions there are.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from schemac.language.logical.facts import Fact
from schemac.language.logical.schema_fields import SchemaField, preorder, type_text_of
from schemac.versions.evolution.diff import AttributeFact, attribute_facts, schema_facts, type_facts
from schemac.versions.evolution.version_pair import LockedSchemaVersion

T = TypeVar("T")


class Step(NamedTuple):
    """What something is from a version on."""

    since: int
    """The version's index."""
    state: int
    """The same number where it means the same; a type whose parts change is the same type with another text."""
    value: Any
    """As a change has it; None if there is nothing."""
    words: str = ""
    """What changed then; empty for what was there before."""


class PathStep(NamedTuple):
    """Where a field is from a version on."""

    since: int
    parent: int | None
    """The id of what it is in."""
    name: str
    """Empty for a part of a list or map."""
    path: str


@dataclass
class FieldHistory:
    """A field, or a part of one, through all versions."""

    paths: list[PathStep] = dataclasses.field(default_factory=list)
    types: list[Step] = dataclasses.field(default_factory=list)
    attributes: dict[str, list[Step]] = dataclasses.field(default_factory=dict)
    """Those that changed."""


@dataclass
class History:
    """All versions of a dataset."""

    orders: list[tuple[int, ...]] = dataclasses.field(default_factory=list)
    """The ids of each version's fields and parts, parents first."""
    schema: dict[str, list[Step]] = dataclasses.field(default_factory=dict)
    """The schema's own attributes that changed."""
    fields: dict[int, FieldHistory] = dataclasses.field(default_factory=dict)


def read_history(versions: Sequence[LockedSchemaVersion]) -> History:
    """Return what all versions of one lock were, oldest first."""
    history = History()
    schema = _Attributes(schema_facts, lambda version: version.dataset.schema.extra, history.schema)
    readers: dict[int, _Field] = {}
    for number, version in enumerate(versions):
        fields = preorder(version.dataset.columns)
        history.orders.append(tuple([version.ids[field] for field in fields]))
        schema.add(number, version)
        for field in fields:
            id_ = version.ids[field]
            if id_ not in readers:
                readers[id_] = _Field(history.fields.setdefault(id_, FieldHistory()))
            parent = version.ids[field.parent] if field.parent is not None else None
            readers[id_].add(number, field, parent)
    return history


class _Attributes:
    """Reads the steps of attributes out of what each version has of them."""

    def __init__(
        self,
        facts: Callable[[Any, Any], Iterable[AttributeFact]],
        extra_of: Callable[[Any], Mapping[str, Any]],
        steps: dict[str, list[Step]],
    ) -> None:
        self._facts = facts
        self._extra_of = extra_of
        self._steps = steps
        self._first = 0
        self._last: Any = None
        self._states: dict[str, list[Any]] = {}
        """What has each state, by key."""

    def add(self, number: int, now: Any) -> None:
        """Add the steps of one version: a field, or a version for the attributes of its schema."""
        if self._last is None:
            self._first = number
        else:
            changed: dict[str, list[AttributeFact]] = {}
            for one in self._facts(self._last, now):
                changed.setdefault(one[3], []).append(one)
            for key, facts in changed.items():
                (_, before, after, _), *others = facts
                if others:
                    # Several facts of one attribute; it is told as a whole.
                    before, after = (self._extra_of(one).get(key) for one in (self._last, now))
                steps = self._steps.setdefault(key, [Step(self._first, 0, before)])
                states = self._states.setdefault(key, [self._last])
                is_alike = (not any(fact[3] == key for fact in self._facts(one, now)) for one in states)
                state = _state_of(now, states, is_alike)
                steps.append(Step(number, state, after, _words(fact for fact, *_ in facts)))
        self._last = now


class _Field:
    """Reads the history of one field."""

    def __init__(self, history: FieldHistory) -> None:
        self._history = history
        self._attributes = _Attributes(attribute_facts, lambda field: field.extra, history.attributes)
        self._states: list[SchemaField] = []
        """What has each state of its type."""

    def add(self, number: int, field: SchemaField, parent: int | None) -> None:
        """Add the steps of one version."""
        path = PathStep(number, parent, str(field.segment) if field.is_member else "", field.path_text)
        if not self._history.paths or self._history.paths[-1][1:] != path[1:]:
            self._history.paths.append(path)
        types, text = self._history.types, type_text_of(field)
        state = _state_of(field, self._states, (not _facts_of_types(one, field) for one in self._states))
        words = ""
        if types and types[-1].state != state:
            facts = _facts_of_types(self._states[types[-1].state], field)
            words = _words(facts)
            if Fact.SORTED_KEYS_CHANGED in facts:
                text += f" with{'' if getattr(field.type, 'keys_sorted', False) else 'out'} sorted keys"
        if not types or types[-1][1:3] != (state, text):
            types.append(Step(number, state, text, words))
        self._attributes.add(number, field)


def _state_of(now: T, states: list[T], is_alike: Iterable[bool]) -> int:
    """Return the number of the first state that is alike; that of a new one if none is."""
    state = next((n for n, is_one in enumerate(is_alike) if is_one), len(states))
    if state == len(states):
        states.append(now)
    return state


def _facts_of_types(old: SchemaField, new: SchemaField) -> list[Fact]:
    optional = Fact.BECAME_OPTIONAL if new.is_nullable else Fact.BECAME_REQUIRED
    nullability = [optional] if old.is_nullable != new.is_nullable else []
    return [*nullability, *(fact for fact, *_ in type_facts(old.type, new.type))]


def _words(facts: Any) -> str:
    """Return the kinds of facts in words with commas between them, each once."""
    return ", ".join(dict.fromkeys(str(fact).replace("-", " ") for fact in facts))
