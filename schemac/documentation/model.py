"""The contents of the pages, read from manifests, locks and engines; and what the versions of a dataset were, each thing told once.

Layer: documentation.
Shape: from a history, a page compares any two versions. What changes has steps, each from a version on; what two steps mean is the same
       where their states are. So a page of n fields and c changes has n + c steps, however many pairs of versions there are.
"""

import dataclasses
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

from schemac.artifacts.targets import types_in_target
from schemac.language.attributes.builtin import DESCRIPTION
from schemac.language.attributes.constraints import OF_ROWS, OF_VALUES, REFERENCES
from schemac.language.logical.dataset import LogicalDataset, named_key, primary_key
from schemac.language.logical.facts import Fact
from schemac.language.logical.model import ATTRIBUTES as OWNERSHIP
from schemac.language.logical.model import Ownership, Part, SchemaField, preorder, type_text_of
from schemac.project.configuration import Project
from schemac.project.locking import locked_datasets
from schemac.project.manifests import CompiledFile
from schemac.project.options import CompileOptions
from schemac.project.targets import emit_targets, engines_of
from schemac.registry.engine import engine
from schemac.text.source.diagnostics import Report
from schemac.text.source.phrases import printable
from schemac.versions.evolution.changes import Change
from schemac.versions.evolution.diff import AttributeFact, attribute_facts, diff, schema_facts, type_facts
from schemac.versions.evolution.version_pair import LockedSchemaVersion, locked_schema_version
from schemac.versions.identity.compilation import Compilation, Locked

T = TypeVar("T")


class HistoryStep(NamedTuple):
    """What something is from a version on."""

    since: int
    """The version's index."""
    state: int
    """The same number where it means the same; a type whose parts change is the same type with another text."""
    text: str | None
    """None if there is nothing."""
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


AttributeSteps = dict[str, list[HistoryStep]]
"""Those attributes that changed, by key."""


@dataclass
class FieldHistory:
    """A field, or a part of one, through all versions."""

    paths: list[PathStep] = dataclasses.field(default_factory=list)
    types: list[HistoryStep] = dataclasses.field(default_factory=list)
    attributes: AttributeSteps = dataclasses.field(default_factory=dict)


@dataclass
class History:
    """All versions of a dataset, as `site.js` compares them: its texts have no hidden characters."""

    orders: list[tuple[int, ...] | None] = dataclasses.field(default_factory=list)
    """The ids of each version's fields and parts, parents first; None where they are those of the version before."""
    schema: AttributeSteps = dataclasses.field(default_factory=dict)
    """The attributes of the schema itself."""
    fields: dict[int, FieldHistory] = dataclasses.field(default_factory=dict)


class PageRow(NamedTuple):
    """A row of a table: the key of an attribute with its value, or the title of an engine with what it has, or does not keep."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class PageEntry:
    """What pages say of a dataset, and of each of its fields."""

    description: str
    ownership: Ownership
    """Of a field, only what is not that of what it is in."""
    constraints: tuple[PageRow, ...]
    attributes: tuple[PageRow, ...]
    """All others."""
    losses: tuple[PageRow, ...]
    """Of a dataset, those of the schema as a whole."""


@dataclass(frozen=True, slots=True)
class FieldPage(PageEntry):
    """A field, or a part of a list or map, and what is in it."""

    name: str
    path: str
    anchor: str
    """Of its own on the page of the dataset; letters, digits and hyphens."""
    type_text: str
    is_member: bool
    """Whether it is a field with a name of its author's, not a part of a list or map."""
    id: int | None
    """That of the lock."""
    key_position: int | None
    """Its place in the primary key, from 1."""
    types: tuple[PageRow, ...]
    children: "tuple[FieldPage, ...]"


class Relation(NamedTuple):
    """A reference from the fields of one dataset to those of another."""

    source: str
    fields: tuple[str, ...]
    target: str
    to: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Revision:
    """What changed from one version to the next."""

    new: str
    """The label of the next one."""
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class DatasetPage(PageEntry):
    """A dataset."""

    name: str
    file: str
    """Its page's file, without the ending."""
    manifest: str
    fields: tuple[FieldPage, ...]
    key: tuple[str, ...]
    """The paths of the primary key."""
    versions: tuple[str, ...]
    """Labels of the locked versions, the oldest first; the last one may be what is not locked yet."""
    revisions: tuple[Revision, ...]
    """What each version but the first one changed, the oldest first."""
    history: History | None
    """What all versions were, where there are several."""

    @property
    def field_count(self) -> int:
        """How many fields it has, those in structs too."""
        return sum(1 for one in self.all_fields if one.is_member)

    @property
    def version_text(self) -> str:
        """Its newest version, and whether there are changes since."""
        if not self.versions:
            return "not locked"
        *before, last = self.versions
        is_locked = last.isdigit() or not before
        return f"version {last}" if is_locked else f"version {before[-1]}, with changes that are {last}"

    @property
    def all_fields(self) -> "tuple[FieldPage, ...]":
        """Every field and part, parents first."""
        return tuple(_with_parts(self.fields))


def _with_parts(fields: tuple[FieldPage, ...]) -> list[FieldPage]:
    """Return fields with all those below them, each before its children."""
    return [one for top in fields for one in (top, *_with_parts(top.children))]


@dataclass(frozen=True)
class Site:
    """All pages."""

    title: str
    datasets: tuple[DatasetPage, ...]
    relations: tuple[Relation, ...]

    @cached_property
    def by_name(self) -> dict[str, DatasetPage]:
        """The pages of datasets by name; each reference of a large site asks for one."""
        return {one.name: one for one in self.datasets}

    def relations_with(self, name: str) -> tuple[Relation, ...]:
        """Return the references of a dataset to others, and then those of others to it."""
        to = (one for one in self.relations if one.target == name and one.source != name)
        return (*(one for one in self.relations if one.source == name), *to)


_LISTED_KEYS = {one.key for one in (DESCRIPTION, *OWNERSHIP, *OF_VALUES, *OF_ROWS)}
"""Attributes that have a place of their own on a page."""
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]|^[.-]")
_UNLOCKED = "not locked yet"


class _Known(NamedTuple):
    """Facts about the fields of a dataset that are not in its manifest."""

    dataset: LogicalDataset
    ids: Mapping[SchemaField, int]
    key: Sequence[SchemaField]
    types: Mapping[SchemaField, list[PageRow]]
    losses: Mapping[str, list[PageRow]]


def read_site(title: str, files: Iterable[CompiledFile], project: Project, report: Report) -> Site:
    """Return all pages; what is wrong with a lock is in the report."""
    pages: list[DatasetPage] = []
    relations: list[Relation] = []
    for file in files:
        local_report = Report()
        locks = locked_datasets(file.file.path, file.file.name, file.datasets, local_report, is_error=False)
        # That a schema is not locked yet is on its page.
        report.extend(d for d in local_report.diagnostics if d.severity == "error")
        for dataset in file.datasets:
            pages.append(_dataset_page(dataset, file, locks.get(dataset.name), project))
            relations += [
                Relation(dataset.name, tuple(one.fields), one.dataset, tuple(one.to or one.fields))
                for one in REFERENCES.read(dataset.schema.extra) or ()
            ]
    pages.sort(key=lambda one: (one.name.casefold(), one.name))
    return Site(title, tuple(pages), tuple(relations))


def _dataset_page(
    dataset: LogicalDataset, file: CompiledFile, locked: Locked | None, project: Project
) -> DatasetPage:
    """Return the page of a dataset; without a lock it has no versions, revisions or ids."""
    extra = dataset.schema.extra
    known = _known(dataset, locked, project)
    versions: list[LockedSchemaVersion] = []
    if locked is not None and locked.lock.newest is not None:
        versions = [locked_schema_version(locked.lock, version.number) for version in locked.lock.versions]
        versions += [LockedSchemaVersion.of(locked, _UNLOCKED)] if locked.is_changed else []
    labels = [version.label.removeprefix("lock:") for version in versions]
    pairs = zip(labels[1:], pairwise(versions), strict=True)
    revisions = [Revision(label, diff(*pair)) for label, pair in pairs]
    return DatasetPage(
        _value_text(extra.get(DESCRIPTION.key)),
        Ownership.of(None, dataset.schema),
        tuple(_listed_attributes(extra, OF_ROWS)),
        tuple(_other_attributes(extra)),
        tuple(known.losses.get("", ())),
        dataset.name,
        file_of(dataset.name),
        file.file.name,
        tuple([_field_page(field, known) for field in dataset.columns]),
        tuple([field.path_text for field in known.key]),
        tuple(labels),
        tuple(revisions),
        read_history(versions) if len(versions) > 1 else None,
    )


def file_of(name: str) -> str:
    """Return a name as a part of a URL and of a file's name, of ASCII alone; different names stay different."""
    return _UNSAFE.sub(lambda sign: f"~{ord(sign[0]):x}~", name)


def _field_page(field: SchemaField, known: _Known) -> FieldPage:
    """Return a field with its children for a page; ownership appears only where it differs from what is around it."""
    own, above = (Ownership.of(one, known.dataset.schema) for one in (field, field.parent))
    path = field.path_text
    return FieldPage(
        _value_text(field.extra.get(DESCRIPTION.key)),
        Ownership(
            own.owner if own.owner != above.owner else None,
            tuple([tag for tag in own.tags if tag not in above.tags]),
            own.classification if own.classification != above.classification else None,
            own.deprecation if own.deprecation != above.deprecation else None,
        ),
        tuple(_listed_attributes(field.extra, OF_VALUES)),
        tuple(_other_attributes(field.extra)),
        tuple(known.losses.get(path, ())),
        field.segment.value if isinstance(field.segment, Part) else field.segment,
        path,
        f"field-{file_of(path)}",
        type_text_of(field),
        field.is_member,
        known.ids.get(field),
        known.key.index(field) + 1 if field in known.key else None,
        tuple(known.types.get(field, ())),
        # A part that says nothing but the type of its list or map has no entry of its own.
        tuple([_field_page(c, known) for c in field.children if c.is_member or c.children or c.extra]),
    )


def _known(dataset: LogicalDataset, locked: Locked | None, project: Project) -> _Known:
    """Return the ids of the lock, the primary key, what the project's targets have for each field, and what they lose at each path."""
    options = CompileOptions.of(project)
    compilation = Compilation.of(dataset, options.arrow_options, options.versions, locked)
    types: dict[SchemaField, list[PageRow]] = defaultdict(list)
    for name in engines_of(dataset, options.targets, is_named=options.are_targets_named):
        engine_types = types_in_target(name, compilation)
        if engine_types is None or engine_types[1].has_errors:
            continue
        for field, text in engine_types[0].items():
            types[field].append(PageRow(engine(name).title, text))
    # What a target refuses is for `build` to say.
    losses: dict[str, list[PageRow]] = defaultdict(list)
    for loss in emit_targets(compilation, options, Report()).losses:
        lost = PageRow(engine(loss.target).title, loss.text)
        if lost not in losses[loss.path]:
            losses[loss.path].append(lost)
    key = primary_key(dataset.columns) or named_key(dataset)
    return _Known(dataset, locked.ids if locked is not None else {}, key, types, losses)


def _listed_attributes(extra: Mapping[str, Any], attributes: Iterable[Any]) -> Iterable[PageRow]:
    """Yield the attributes that are set in `extra`, in this order and without references."""
    for attribute in attributes:
        if attribute.key in extra and attribute is not REFERENCES:
            yield PageRow(attribute.key.rpartition("/")[2], _value_text(extra[attribute.key]))


def _other_attributes(extra: Mapping[str, Any]) -> Iterable[PageRow]:
    """Yield the attributes of `extra` that a page lists nowhere else, by their full keys."""
    for key, value in extra.items():
        if key not in _LISTED_KEYS:
            yield PageRow(key, _value_text(value))


def _value_text(value: Any) -> str:
    """Return a value as text; of a list, each item on a line of its own."""
    if value is None:
        return ""
    if isinstance(value, list) and value and not any(isinstance(item, dict) for item in value):
        lists = (item if isinstance(item, list) else [item] for item in value)
        return "\n".join(", ".join(map(_value_text, items)) for items in lists)
    return json_or_text(value)


def read_history(versions: Sequence[LockedSchemaVersion]) -> History:
    """Return what all versions of one lock were, oldest first."""
    history, order = History(), None
    schema = _AttributeReader(schema_facts, history.schema)
    readers: dict[int, _FieldReader] = {}
    for number, version in enumerate(versions):
        fields, before = preorder(version.dataset.columns), order
        order = tuple([version.ids[field] for field in fields])
        history.orders.append(None if order == before else order)
        schema.add(number, version, version.dataset.schema.extra)
        for field in fields:
            id_ = version.ids[field]
            if id_ not in readers:
                readers[id_] = _FieldReader(history.fields.setdefault(id_, FieldHistory()))
            parent = version.ids[field.parent] if field.parent is not None else None
            readers[id_].add(number, field, parent)
    history.schema = dict(sorted(history.schema.items()))
    for one in history.fields.values():
        one.attributes = dict(sorted(one.attributes.items()))
    return history


class _AttributeReader:
    """Reads the steps of attributes out of what each version has of them."""

    def __init__(self, facts: Callable[[Any, Any], Iterable[AttributeFact]], steps: AttributeSteps) -> None:
        self._facts = facts
        self._steps = steps
        self._first = 0
        self._last: Any = None
        self._extra: Mapping[str, Any] = {}
        self._states: dict[str, list[Any]] = {}
        """What has each state, by key."""

    def add(self, number: int, now: Any, extra: Mapping[str, Any]) -> None:
        """Add the steps of one version: a field, or a version for the attributes of its schema; with its attributes."""
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
                    before, after = self._extra.get(key), extra.get(key)
                first = HistoryStep(self._first, 0, _history_text(before))
                steps = self._steps.setdefault(printable(key), [first])
                states = self._states.setdefault(key, [self._last])
                is_alike = (not any(fact[3] == key for fact in self._facts(one, now)) for one in states)
                state = _state_of(now, states, is_alike)
                words = _facts_text(fact for fact, *_ in facts)
                steps.append(HistoryStep(number, state, _history_text(after), words))
        self._last, self._extra = now, extra


def _history_text(value: Any) -> str | None:
    """Return the value of an attribute as a text without hidden characters; None if there is none."""
    return None if value is None else printable(json_or_text(value), keep="\n")


def json_or_text(value: Any) -> str:
    """Return a value as a text: as it is if it is one, else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


class _FieldReader:
    """Reads the history of one field."""

    def __init__(self, history: FieldHistory) -> None:
        self._history = history
        self._attributes = _AttributeReader(attribute_facts, history.attributes)
        self._states: list[SchemaField] = []
        """What has each state of its type."""

    def add(self, number: int, field: SchemaField, parent: int | None) -> None:
        """Add the steps of one version."""
        name = printable(str(field.segment)) if field.is_member else ""
        path = PathStep(number, parent, name, printable(field.path_text))
        if not self._history.paths or self._history.paths[-1][1:] != path[1:]:
            self._history.paths.append(path)
        types, text = self._history.types, printable(type_text_of(field), keep="\n")
        state = _state_of(field, self._states, (not _facts_of_types(one, field) for one in self._states))
        words = ""
        if types and types[-1].state != state:
            facts = _facts_of_types(self._states[types[-1].state], field)
            words = _facts_text(facts)
            if Fact.SORTED_KEYS_CHANGED in facts:
                text += f" with{'' if getattr(field.type, 'keys_sorted', False) else 'out'} sorted keys"
        if not types or types[-1][1:3] != (state, text):
            types.append(HistoryStep(number, state, text, words))
        self._attributes.add(number, field, field.extra)


def _state_of(now: T, states: list[T], is_alike: Iterable[bool]) -> int:
    """Return the number of the first state that is alike; that of a new one if none is."""
    state = next((n for n, is_one in enumerate(is_alike) if is_one), len(states))
    if state == len(states):
        states.append(now)
    return state


def _facts_of_types(old: SchemaField, new: SchemaField) -> list[Fact]:
    """Return what changed in a type, and whether it became optional or required."""
    optional = Fact.BECAME_OPTIONAL if new.is_nullable else Fact.BECAME_REQUIRED
    nullability = [optional] if old.is_nullable != new.is_nullable else []
    return [*nullability, *(fact for fact, *_ in type_facts(old.type, new.type))]


def _facts_text(facts: Any) -> str:
    """Return the kinds of facts in words with commas between them, each once."""
    return ", ".join(dict.fromkeys(str(fact).replace("-", " ") for fact in facts))
