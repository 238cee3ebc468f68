"""The contents of the pages, read from manifests, locks and engines.

Layer: documentation.
"""

import dataclasses
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from schemac.artifacts.targets import types_in_target
from schemac.documentation.history import History, read_history
from schemac.language.attributes.builtin import DESCRIPTION, Deprecation
from schemac.language.attributes.constraints import OF_ROWS, OF_VALUES, REFERENCES
from schemac.language.logical.dataset import LogicalDataset, named_key, primary_key
from schemac.language.logical.model import Part
from schemac.language.logical.schema_fields import ATTRIBUTES as OWNERSHIP
from schemac.language.logical.schema_fields import Ownership, SchemaField, type_text_of
from schemac.project.configuration import Project
from schemac.project.locking import locked_datasets
from schemac.project.manifests import CompiledFile
from schemac.project.options import CompileOptions
from schemac.project.targets import emit_targets, engines_of
from schemac.registry.installed import engine
from schemac.text.source.report import Report
from schemac.versions.evolution.changes import Change
from schemac.versions.evolution.diff import diff
from schemac.versions.evolution.version_pair import LockedSchemaVersion, locked_schema_version
from schemac.versions.identity.compilation import Compilation, Locked


class EngineType(NamedTuple):
    """What an engine has in place of a field."""

    engine: str
    """As people write it."""
    text: str


class LossText(NamedTuple):
    """What an engine does not keep."""

    engine: str
    lost: str
    becomes: str

    @property
    def text(self) -> str:
        """It as a sentence; what is left out has no place in the engine at all."""
        return (
            f"{self.lost} is left out" if self.becomes == "nothing" else f"{self.lost} becomes {self.becomes}"
        )


class Property(NamedTuple):
    """An attribute, as text."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class FieldPage:
    """A field, or a part of a list or map, and what is in it."""

    name: str
    path: str
    anchor: str
    """Of its own on the page of the dataset; letters, digits and hyphens."""
    type_text: str
    is_nullable: bool
    is_member: bool
    """Whether it is a field with a name of its author's, not a part of a list or map."""
    description: str = ""
    id: int | None = None
    """That of the lock."""
    key_position: int | None = None
    """Its place in the primary key, from 1."""
    owner: str = ""
    """Where it is not that of the dataset; likewise the tags and the classification."""
    tags: tuple[str, ...] = ()
    classification: str = ""
    deprecation: Deprecation | None = None
    constraints: tuple[Property, ...] = ()
    attributes: tuple[Property, ...] = ()
    """All others."""
    types: tuple[EngineType, ...] = ()
    losses: tuple[LossText, ...] = ()
    children: "tuple[FieldPage, ...]" = ()


class Relation(NamedTuple):
    """A reference from the fields of one dataset to those of another."""

    source: str
    fields: tuple[str, ...]
    target: str
    to: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Revision:
    """What changed from one version to another."""

    old: str
    new: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class DatasetPage:
    """A dataset."""

    name: str
    file: str
    """Its page's file, without the ending."""
    manifest: str
    description: str
    owner: str
    tags: tuple[str, ...]
    classification: str
    deprecation: Deprecation | None
    fields: tuple[FieldPage, ...]
    key: tuple[str, ...]
    """The paths of the primary key."""
    constraints: tuple[Property, ...]
    attributes: tuple[Property, ...]
    losses: tuple[LossText, ...]
    """Those of the schema as a whole."""
    versions: tuple[str, ...] = ()
    """Labels of the locked versions, the oldest first; the last one may be what is not locked yet."""
    revisions: tuple[Revision, ...] = ()
    """What each version but the first one changed, the oldest first."""
    history: History | None = None
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
        return tuple(_flat(self.fields))


def _flat(fields: tuple[FieldPage, ...]) -> list[FieldPage]:
    """Return fields with all those below them, each before its children."""
    return [one for top in fields for one in (top, *_flat(top.children))]


@dataclass(frozen=True)
class Site:
    """All pages."""

    title: str
    datasets: tuple[DatasetPage, ...]
    relations: tuple[Relation, ...] = dataclasses.field(default=())

    def of(self, name: str) -> DatasetPage | None:
        """Return the page of a dataset; None if another project has it."""
        return self._by_name.get(name)

    @cached_property
    def _by_name(self) -> dict[str, DatasetPage]:
        return {one.name: one for one in self.datasets}

    def relations_of(self, name: str) -> tuple[Relation, ...]:
        """Return the references of a dataset to others."""
        return tuple([one for one in self.relations if one.source == name])

    def relations_to(self, name: str) -> tuple[Relation, ...]:
        """Return the references of others to a dataset."""
        return tuple([one for one in self.relations if one.target == name and one.source != name])


_LISTED_KEYS = {
    DESCRIPTION.key,
    *(a.key for a in OWNERSHIP),
    *(a.key for a in OF_VALUES),
    *(a.key for a in OF_ROWS),
}
"""Attributes that have a place of their own on a page."""
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]|^[.-]")
_UNLOCKED = "not locked yet"


class _Known(NamedTuple):
    """Facts about the fields of a dataset that are not in its manifest."""

    dataset: LogicalDataset
    whole: Ownership
    ids: Mapping[SchemaField, int]
    key: Sequence[SchemaField]
    types: Mapping[SchemaField, list[EngineType]]
    losses: Mapping[str, list[LossText]]


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
            pages.append(_dataset(dataset, file, locks.get(dataset.name), project))
            relations += [
                Relation(dataset.name, tuple(one.fields), one.dataset, tuple(one.to or one.fields))
                for one in REFERENCES.read(dataset.schema.extra) or ()
            ]
    pages.sort(key=lambda one: (one.name.casefold(), one.name))
    return Site(title, tuple(pages), tuple(relations))


def _dataset(
    dataset: LogicalDataset, file: CompiledFile, locked: Locked | None, project: Project
) -> DatasetPage:
    """Return the page of a dataset; without a lock it has no versions, revisions or ids."""
    whole, extra = Ownership.of(None, dataset.schema), dataset.schema.extra
    types, losses = _engines(dataset, locked, project)
    key = primary_key(dataset.columns) or named_key(dataset)
    known = _Known(dataset, whole, locked.identities.ids if locked is not None else {}, key, types, losses)
    versions = _versions(dataset, locked)
    labels = [version.label.removeprefix("lock:") for version in versions]
    revisions = [
        Revision(*names, diff(*pair))
        for names, pair in zip(pairwise(labels), pairwise(versions), strict=True)
    ]
    return DatasetPage(
        dataset.name,
        file_of(dataset.name),
        file.file.name,
        _text(extra.get(DESCRIPTION.key)),
        whole.owner or "",
        whole.tags,
        whole.classification or "",
        whole.deprecation,
        tuple([_field(field, known) for field in dataset.columns]),
        tuple([field.path_text for field in key]),
        tuple(_of(extra, OF_ROWS)),
        tuple(_others(extra)),
        tuple(losses.get("", ())),
        tuple(labels),
        tuple(revisions),
        read_history(versions) if len(versions) > 1 else None,
    )


def file_of(name: str) -> str:
    """Return a name as a part of a URL and of a file's name, of ASCII alone; different names stay different."""
    return _UNSAFE.sub(lambda sign: f"~{ord(sign[0]):x}~", name)


def _field(field: SchemaField, known: _Known) -> FieldPage:
    """Return a field with its children for a page; ownership appears only where it differs from what is around it."""
    ownership = Ownership.of(field, known.dataset.schema)
    above = Ownership.of(field.parent, known.dataset.schema)
    path = field.path_text
    return FieldPage(
        field.segment.value if isinstance(field.segment, Part) else field.segment,
        path,
        f"field-{file_of(path)}",
        type_text_of(field),
        field.is_nullable,
        field.is_member,
        _text(field.extra.get(DESCRIPTION.key)),
        known.ids.get(field),
        known.key.index(field) + 1 if field in known.key else None,
        ownership.owner or "" if ownership.owner != above.owner else "",
        tuple([tag for tag in ownership.tags if tag not in above.tags]),
        ownership.classification or "" if ownership.classification != above.classification else "",
        ownership.deprecation if ownership.deprecation != above.deprecation else None,
        tuple(_of(field.extra, OF_VALUES)),
        tuple(_others(field.extra)),
        tuple(known.types.get(field, ())),
        tuple(known.losses.get(path, ())),
        # A part that says nothing but the type of its list or map has no entry of its own.
        tuple([_field(c, known) for c in field.children if c.is_member or c.children or c.extra]),
    )


def _engines(
    dataset: LogicalDataset, locked: Locked | None, project: Project
) -> tuple[Mapping[SchemaField, list[EngineType]], Mapping[str, list[LossText]]]:
    """Return what the project's targets have for each field, and what they lose at each path."""
    options = CompileOptions.of(project)
    compilation = Compilation.of(dataset, options.arrow_options, options.versions, locked)
    types: dict[SchemaField, list[EngineType]] = defaultdict(list)
    for name in engines_of(dataset, options.targets, is_named=options.are_targets_named):
        engine_types = types_in_target(name, compilation)
        if engine_types is None or engine_types[1].has_errors:
            continue
        for field, text in engine_types[0].items():
            types[field].append(EngineType(engine(name).title, text))
    # What a target refuses is for `build` to say.
    losses: dict[str, list[LossText]] = defaultdict(list)
    for loss in emit_targets(compilation, options, Report()).losses:
        lost = LossText(engine(loss.target).title, loss.lost, loss.becomes)
        if lost not in losses[loss.path]:
            losses[loss.path].append(lost)
    return types, losses


def _versions(dataset: LogicalDataset, locked: Locked | None) -> list[LockedSchemaVersion]:
    """Return the locked versions, the oldest first, and the present schema if it is not locked; none without a lock."""
    if locked is None or locked.dataset.newest is None:
        return []
    versions = [locked_schema_version(locked.dataset, version.number) for version in locked.dataset.versions]
    if locked.identities.is_changed:
        now = LockedSchemaVersion(
            dataset, _UNLOCKED, locked.dataset, locked.identities.ids, locked.identities.numbers
        )
        versions.append(now)
    return versions


def _of(extra: Mapping[str, Any], attributes: Iterable[Any]) -> Iterable[Property]:
    """Yield the attributes that are set in `extra`, in this order and without references."""
    for attribute in attributes:
        if attribute.key in extra and attribute is not REFERENCES:
            yield Property(attribute.key.rpartition("/")[2], _text(extra[attribute.key]))


def _others(extra: Mapping[str, Any]) -> Iterable[Property]:
    """Yield the attributes of `extra` that a page lists nowhere else, by their full keys."""
    for key, value in extra.items():
        if key not in _LISTED_KEYS:
            yield Property(key, _text(value))


def _text(value: Any) -> str:
    """Return a value as text; of a list, each item on a line of its own."""
    if value is None:
        return ""
    if isinstance(value, list) and value and not any(isinstance(item, dict) for item in value):
        return "\n".join(
            ", ".join(map(_text, item)) if isinstance(item, list) else _text(item) for item in value
        )
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
