"""A Lance table as it is.

Layer: engines.
Shape: its schema as one version of a comparison. The fields are known by Lance's ids, which the lock remembers for ever; in
a table that was not made with the ids of the lock, they are known by their places in one of its versions.
Errors: SC421 unusable-table.
"""

import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from schemac.arrow.lift import lift
from schemac.arrow.lower import lower
from schemac.artifacts.emission import Emission
from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.engines.lance.artifact import to_message
from schemac.engines.lance.attributes import STORAGE_VERSION, STORAGE_VERSIONS
from schemac.engines.lance.codes import LANCE_LOSS
from schemac.engines.lance.dataset import lance_errors, open_dataset, reason_of
from schemac.engines.lance.limits import Limits
from schemac.engines.lance.nodes import lance_ids, numbers_of
from schemac.engines.lance.tables.differences import differences
from schemac.engines.lance.tables.fields import data_of, in_preorder, paths, schema_without, stale_fields
from schemac.engines.lance.tables.ids import IDS_KEY, ids_as_noted, ids_by_number, ids_by_place
from schemac.engines.lance.tables.indices import INDICES_KEY, indices_of, noted_indices
from schemac.engines.lance.tables.steps import Index
from schemac.evolution.version_pair import LockedSchemaVersion, SchemaVersion, locked_schema_version
from schemac.identity.lock import LockedDataset
from schemac.identity.opening import open_version
from schemac.logical.dataset import LogicalDataset
from schemac.logical.model import Schema
from schemac.logical.origins import Origins
from schemac.logical.slots import columns
from schemac.source.catalogue import UNUSABLE_TABLE
from schemac.source.diagnostic import Diagnostic, Severity
from schemac.source.report import Report


@dataclass(frozen=True)
class LanceTable:
    """An open table."""

    name: str
    """How it is spoken of."""
    dataset: Any
    """pylance's, at its newest version."""
    schema_version: LockedSchemaVersion
    """Its schema, with the ids of those fields that the lock knows."""
    fields: tuple[pb.Field, ...]
    """All its fields, also those that are under way."""
    has_own_numbers: bool
    """Whether it numbers its fields otherwise than the lock."""
    unknown: tuple[str, ...] = ()
    """Fields that the lock does not know."""
    stale: frozenset[int] = frozenset()
    """Fields that a run has begun to fill beside the ones that they were to replace; those count."""
    locked: LockedDataset | None = None
    """The lock that it was opened with; None for one that is imagined."""

    @classmethod
    def imagined(cls, schema_version: LockedSchemaVersion) -> "LanceTable":
        """Return a table of a locked version that has rows and no indices, for a plan without a table."""
        message = to_message(schema_version.lowered, schema_version.numbers)
        return cls(schema_version.label, None, schema_version, tuple(message.fields), has_own_numbers=False)

    @cached_property
    def row_count(self) -> int:
        """Its rows."""
        return 1 if self.dataset is None else int(self.dataset.count_rows())

    @cached_property
    def highest_id(self) -> int:
        """The highest id that Lance knows of: it gives the next one."""
        used = [field.id for field in self.fields]
        return max([*used, *(id for data in self.data for id in data)], default=-1)

    @cached_property
    def data(self) -> tuple[frozenset[int], ...]:
        """The fields that each fragment holds data of."""
        if self.dataset is None:
            return (frozenset(field.id for field in self.fields),)
        return tuple(data_of(fragment.metadata) for fragment in self.dataset.get_fragments())

    @cached_property
    def storage_version(self) -> str | None:
        """The version of its data files, which it keeps for ever; None for one that is imagined."""
        if self.dataset is None:
            return None
        version = str(self.dataset.data_storage_version)
        return version if version[0].isdigit() else "0.1"

    @cached_property
    def metadata(self) -> dict[str, bytes]:
        """That of its schema."""
        entries = json.loads(self.dataset.lance_schema.__reduce__()[1][0])
        return {key: bytes(value) for key, value in entries.items()}

    @cached_property
    def all_indices(self) -> tuple[Index, ...]:
        """The same indices, each with the lock's id of its field."""
        return tuple(self.with_field(index) for index in self.indices)

    def with_field(self, index: Index) -> Index:
        """One that waits has its field already."""
        if index.field_id:
            return index
        lance = next((id for id, path in paths(self.fields).items() if path == index.path), None)
        found = (
            id
            for slot, id in self.schema_version.ids.items()
            if lance in lance_ids(self.schema_version.numbers[slot])
        )
        return replace(index, field_id=next(found, 0))

    @cached_property
    def indices(self) -> tuple[Index, ...]:
        """Its indices, with those that an interrupted run has taken away."""
        if self.dataset is None:
            return ()
        found = {index.name: index for index in indices_of(self.dataset)}
        for name, index in noted_indices(self.dataset).items():
            found.setdefault(name, index)
        return tuple(found.values())

    @cached_property
    def has_notes(self) -> bool:
        """Whether a run left notes in its configuration."""
        return self.dataset is not None and not {INDICES_KEY, IDS_KEY}.isdisjoint(self.dataset.config())

    @property
    def notes_its_version(self) -> bool:
        """Whether its schema repeats the version of its files."""
        return self.dataset is None or STORAGE_VERSION.key.encode() in (self.dataset.schema.metadata or {})

    @property
    def standing(self) -> frozenset[str]:
        """Names of the indices that are there now."""
        return (
            frozenset(d.name for d in self.dataset.describe_indices())
            if self.dataset is not None
            else frozenset()
        )


def open_table(path: str, locked: LockedDataset, report: Report) -> LanceTable | None:
    """Return the newest version of a table; None after saying what is wrong with it."""
    try:
        dataset = open_dataset(path)
        with lance_errors():
            _, *messages = dataset.lance_schema.__reduce__()[1]
            schema = dataset.schema
    except ModuleNotFoundError as error:
        help = "pip install 'schemac[lance]'"
        report.add(UNUSABLE_TABLE, f"{path} needs {error.name}, which is not installed", file=path, help=help)
        return None
    except (ValueError, OSError, RuntimeError) as error:
        message = f"cannot open {path}: {reason_of(error)}"
        report.add(UNUSABLE_TABLE, message, file=path, help="give the path of a Lance table")
        return None
    fields = tuple(pb.Field.FromString(bytes(message)) for message in messages)
    for version in reversed(locked.versions):
        # What Lance does not keep, as views or the items of vectors, the lock knows.
        schema_version = locked_schema_version(locked, version.number)
        messages_then = _messages(schema_version)
        if messages_then is not None and not differences(messages_then, dataset.lance_schema):
            return LanceTable(path, dataset, schema_version, fields, has_own_numbers=False, locked=locked)
    return _lifted(path, dataset, schema, fields, locked, report)


def has_rows(table: LanceTable, report: Report) -> bool | None:
    """Whether a table has rows; None after saying why they cannot be counted: old tables do it by their data files."""
    try:
        with lance_errors():
            return bool(table.row_count)
    except (ValueError, OSError, RuntimeError) as error:
        report.add(
            UNUSABLE_TABLE,
            f"cannot read {table.name}: {reason_of(error)}",
            file=table.name,
            help="bring its files back, or go to a version of the table that has all of its own: lance.dataset(path).versions()",
        )
        return None


def _lifted(
    path: str, dataset: Any, schema: Any, fields: tuple[pb.Field, ...], locked: LockedDataset, report: Report
) -> LanceTable | None:
    """Return a table that is no version of the lock as it is."""
    stale = stale_fields(fields, locked)
    names = frozenset(field.name for field in fields if field.id in stale)
    found = Report()
    settled = schema_without(schema, names)
    tree = lift(_with_version(settled, dataset.data_storage_version, locked), path, found)
    if found.has_errors:
        report.extend(found.diagnostics)
        return None
    model = Schema.model_validate(tree)
    logical = LogicalDataset(locked.name, model, columns(model), Origins(path))
    settled = [(field.name, field.id) for field in in_preorder(fields) if field.id not in stale]
    numbers = numbers_of(lower(logical), settled)
    if numbers is None:
        report.add(UNUSABLE_TABLE, f"the fields of {path} cannot be told apart", file=path)
        return None
    ids, unknown = ids_by_number(logical, numbers, locked)
    by_place = (ids_as_noted(logical, dataset) or ids_by_place(logical, locked)) if unknown else None
    # Where nothing else tells its fields either, the numbers of the lock are what it is held against.
    has_own_numbers = by_place is not None
    if by_place is not None:
        ids, unknown = by_place, []
    schema_version = LockedSchemaVersion(logical, path, locked, ids, numbers)
    return LanceTable(path, dataset, schema_version, fields, has_own_numbers, tuple(unknown), stale, locked)


def is_held(new: SchemaVersion, report: Report) -> bool:
    """Whether Lance can hold a schema at all."""
    errors = limits_of(new, None)
    report.extend(errors)
    return not errors


def limits_of(new: SchemaVersion, version: str | None) -> list[Diagnostic]:
    """Why Lance cannot hold a schema in data files of a version; of that which the schema asks for by default."""
    found = Report()
    emission = Emission(new.dataset, "lance", LANCE_LOSS, found)
    Limits(new.compilation, emission, of_table=version).are_kept()
    return [d for d in found.diagnostics if d.severity is Severity.ERROR]


def _messages(schema_version: LockedSchemaVersion) -> list[bytes] | None:
    """Return the messages of a version; None of one that Lance could not hold."""
    try:
        return [
            field.SerializeToString()
            for field in to_message(schema_version.lowered, schema_version.numbers).fields
        ]
    except ValueError:
        return None


def _with_version(schema: Any, version: str, locked: LockedDataset) -> Any:
    """Return the schema with the version that the files have, where the newest locked schema speaks of it; else without."""
    key = STORAGE_VERSION.key
    metadata = {name: value for name, value in (schema.metadata or {}).items() if name != key.encode()}
    newest = locked.newest
    is_spoken_of = newest is not None and key in open_version(locked, newest).logical.schema.extra
    if is_spoken_of and version in STORAGE_VERSIONS:
        metadata[key.encode()] = json.dumps(version).encode()
    return schema.with_metadata(metadata or None)
