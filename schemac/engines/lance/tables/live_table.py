"""A Lance table as it is.

Layer: engines.
Shape: its schema as one version of a comparison. A table that has exactly the fields of a locked version is at that version; the
fields of any other are known by Lance's ids, which the lock remembers for ever.
Errors: SC421 unusable-table.
"""

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from schemac.arrow.from_arrow import from_arrow
from schemac.arrow.to_arrow import to_arrow_fields
from schemac.artifacts.targets import Emission
from schemac.engines.lance import LANCE_LOSS
from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.engines.lance.artifact import to_message
from schemac.engines.lance.attributes import STORAGE_VERSION, STORAGE_VERSIONS
from schemac.engines.lance.dataset import lance_errors, open_dataset, reason_of
from schemac.engines.lance.fields import lance_ids, nodes_in, numbers_of
from schemac.engines.lance.limits import LanceLimits
from schemac.engines.lance.tables import field_ids
from schemac.engines.lance.tables.fields import differences, ids_in_files, in_preorder, stale_fields
from schemac.engines.lance.tables.steps import INDICES_KEY, TableIndex, indices_of, noted_indices
from schemac.engines.lance.transactions import schema_parts
from schemac.language.attributes.constraints import KEYS_OF_ROWS
from schemac.language.logical.dataset import LogicalDataset, Origins
from schemac.language.logical.model import Schema, columns, preorder
from schemac.text.source.catalogue import UNUSABLE_TABLE
from schemac.text.source.diagnostics import Diagnostic, Report
from schemac.text.source.files import install_help
from schemac.versions.evolution.tables import Candidate, TableRecord, choose_version, lock_ids, state_version
from schemac.versions.evolution.version_pair import (
    LockedSchemaVersion,
    SchemaVersion,
    locked_schema_version,
    locked_schema_versions,
    narrowed_tree,
)
from schemac.versions.identity.lock import LockedDataset
from schemac.versions.identity.match import Ids
from schemac.versions.identity.opening import open_version


@dataclass(frozen=True)
class LanceTable:
    """A Lance table with its fields, as far as a lock knows them; or an imagined one, for a plan without a table."""

    name: str
    """Its path; the label of its version for an imagined one."""
    dataset: Any
    """The `LanceDataset` of its newest version; None for an imagined table."""
    schema_version: LockedSchemaVersion
    """Its schema, with the ids of those fields that the lock knows."""
    fields: tuple[pb.Field, ...]
    """All its fields, also those that an interrupted run has added and not filled."""
    has_different_ids: bool
    """Whether it numbers its fields otherwise than the lock."""
    unknown: tuple[str, ...] = ()
    """Fields that the lock does not know."""
    stale: frozenset[int] = frozenset()
    """The ids of fields that an interrupted run has added next to those that they were to replace, and that hold no values yet."""
    locked: LockedDataset | None = None
    """The lock that it was opened with; None for one that is imagined."""
    stated: int | None = None
    """The locked version that it has, as the user says."""
    version: int | None = None
    """The locked version that it has; None for one that is at none."""

    @classmethod
    def imagined(cls, schema_version: LockedSchemaVersion) -> "LanceTable":
        """Return a table of a locked version that has rows and no indices, for a plan without a table."""
        message = to_message(schema_version.lowered, schema_version.numbers)
        label, fields = schema_version.label, tuple(message.fields)
        number = schema_version.number
        return cls(label, None, schema_version, fields, has_different_ids=False, version=number)

    @cached_property
    def row_count(self) -> int:
        """The number of its rows; 1 for an imagined table."""
        return 1 if self.dataset is None else int(self.dataset.count_rows())

    @cached_property
    def highest_id(self) -> int:
        """The highest field id in the schema or a data file, -1 for none; Lance gives the next one to a new field."""
        used = [field.id for field in self.fields]
        return max([*used, *(id for ids in self.ids_in_fragments for id in ids)], default=-1)

    @cached_property
    def ids_in_fragments(self) -> tuple[frozenset[int], ...]:
        """For each fragment, the ids of the fields that its files have data of."""
        if self.dataset is None:
            return (frozenset(field.id for field in self.fields),)
        return tuple(ids_in_files(fragment.metadata) for fragment in self.dataset.get_fragments())

    @cached_property
    def storage_version(self) -> str | None:
        """The storage version of its data files, which never changes; None for an imagined table."""
        if self.dataset is None:
            return None
        version = str(self.dataset.data_storage_version)
        return version if version[0].isdigit() else "0.1"

    @cached_property
    def metadata(self) -> dict[str, bytes]:
        """The metadata of its schema."""
        return schema_parts(self.dataset.lance_schema)[0]

    @property
    def with_recorded_constraints(self) -> LockedSchemaVersion:
        """Its schema version with the row constraints of its own metadata alone, because only these have been checked.

        The locked version that it is at may have others, for it is found by its fields.
        """
        version = self.schema_version
        if self.dataset is None:
            return version
        schema = version.dataset.schema
        others = {key: value for key, value in schema.extra.items() if key not in KEYS_OF_ROWS}
        table_rules = {key: json.loads(value) for key, value in self.metadata.items() if key in KEYS_OF_ROWS}
        with_rules = schema.model_copy(update={"extra": others | table_rules})
        return replace(version, dataset=replace(version.dataset, schema=with_rules))

    @property
    def recorded(self) -> str | None:
        """The locked version that its metadata records, as text; None if it records none."""
        return field_ids.record_of(self.name, self.dataset, ()).recorded

    @cached_property
    def indices(self) -> tuple[TableIndex, ...]:
        """Its indices."""
        return () if self.dataset is None else tuple(indices_of(self.dataset, self.lock_ids))

    @cached_property
    def dropped_indices(self) -> tuple[TableIndex, ...]:
        """The indices that an interrupted run has dropped and noted."""
        noted = {} if self.dataset is None else noted_indices(self.dataset)
        names = {index.name for index in self.indices}
        return tuple(index for name, index in noted.items() if name not in names)

    @cached_property
    def lock_ids(self) -> dict[int, int]:
        """The lock's id of each field by Lance's ids; a field that the lock does not know is not among them."""
        version = self.schema_version
        return {
            number: id for field, id in version.ids.items() for number in lance_ids(version.numbers[field])
        }

    @cached_property
    def has_notes(self) -> bool:
        """Whether an interrupted run left notes in its configuration."""
        config = {} if self.dataset is None else self.dataset.config()
        return INDICES_KEY in config or field_ids.IDS_KEY in config


def open_table(
    path: str, locked: LockedDataset, report: Report, stated: int | None = None
) -> LanceTable | None:
    """Return the newest version of a table; None after reporting what is wrong with it.

    `stated` is the locked version of the table, or of its fields, as given by the user.
    """
    try:
        dataset = open_dataset(path)
        with lance_errors():
            _, fields = schema_parts(dataset.lance_schema)
            schema = dataset.schema
    except ModuleNotFoundError as error:
        message = f"{path} needs {error.name}, which is not installed"
        report.add(UNUSABLE_TABLE, message, file=path, help=install_help(error))
        return None
    except (ValueError, OSError, RuntimeError) as error:
        message = f"cannot open {path}: {reason_of(error)}"
        report.add(UNUSABLE_TABLE, message, file=path, help="give the path of a Lance table")
        return None
    opened = _OpenedTable(path, dataset, schema, tuple(fields), locked, stated)
    own = opened.own_schema(report) if field_ids.IDS_KEY in dataset.config() else None
    if own is not None:
        noted = field_ids.ids_as_noted(own, dataset.config(), is_numbered=True)
        if noted is not None:
            return opened.with_ids(own, noted)
    record = field_ids.record_of(path, dataset, opened.current_fields, stated)
    candidates = field_ids.candidates_of(opened.current_fields, locked, record.recorded)
    if candidates and (
        stated is None or any(c.version.number == stated and not c.is_part for c in candidates)
    ):
        chosen = choose_version(record, candidates, report)
        if chosen is None:
            return None
        same = [c for c in candidates if c.identity == chosen.identity and not c.is_part]
        return opened.at_version(same or [chosen], report)
    if own is not None:
        # Somebody has written the rows of a table again that was between two commits.
        noted = field_ids.ids_as_noted(own, dataset.config(), is_numbered=False)
        if noted is not None:
            return opened.with_ids(own, noted)
    return opened.identified_by_field(record, report)


@dataclass(frozen=True)
class _OpenedTable:
    """A table that Lance has opened, before it is known at which locked version it is."""

    path: str
    dataset: Any
    schema: Any
    fields: tuple[pb.Field, ...]
    locked: LockedDataset
    stated: int | None

    @cached_property
    def stale(self) -> frozenset[int]:
        """The ids of fields that an interrupted run has added and not filled."""
        return stale_fields(self.fields, self.locked)

    @cached_property
    def current_fields(self) -> list[pb.Field]:
        """The fields that are not stale, in pre-order."""
        return [field for field in in_preorder(self.fields) if field.id not in self.stale]

    def own_schema(self, report: Report) -> LockedSchemaVersion | None:
        """Return the table's schema without any id of the lock; None after reporting why it cannot be read."""
        import_report, key = Report(), STORAGE_VERSION.key
        metadata = {k: value for k, value in (self.schema.metadata or {}).items() if k != key.encode()}
        is_spoken_of = key in open_version(self.locked, self.locked.versions[-1]).logical.schema.extra
        if is_spoken_of and self.dataset.data_storage_version in STORAGE_VERSIONS:
            metadata[key.encode()] = json.dumps(self.dataset.data_storage_version).encode()
        tree = from_arrow(self.schema.with_metadata(metadata or None), self.path, import_report)
        if import_report.has_errors:
            report.extend(import_report.diagnostics)
            return None
        model = Schema.model_validate(tree)
        logical = LogicalDataset(self.locked.name, model, columns(model), Origins(self.path))
        stale_names = {field.name for field in self.fields if field.id in self.stale}
        if stale_names:
            paths = [field.path for field in preorder(logical.columns) if stale_names.isdisjoint(field.path)]
            model = Schema.model_validate(narrowed_tree(logical, paths))
            logical = replace(logical, schema=model, columns=columns(model))
        numbers = numbers_of(to_arrow_fields(logical), self.current_fields)
        if numbers is None:
            report.add(UNUSABLE_TABLE, f"the fields of {self.path} cannot be told apart", file=self.path)
            return None
        return LockedSchemaVersion(logical, self.path, self.locked, {}, numbers)

    def at_version(self, candidates: Sequence[Candidate], report: Report) -> LanceTable | None:
        """Return the table at the first of these versions that it is equal to, else with its own schema and the ids of the first one.

        None after reporting that its schema cannot be read. A version also has what Lance does not store, such as views.
        """
        for candidate in candidates:
            version = candidate.version
            try:
                fields = to_message(version.lowered, version.numbers).fields
            except ValueError:
                # Lance could not hold that version.
                continue
            if not differences(fields, self.dataset.lance_schema, ids=False):
                numbers = version.view(nodes_in).numbers([field.id for field in self.current_fields])
                schema_version = replace(version, numbers=numbers)
                has_different_ids, number = not candidate.has_ids, version.number
                return self._table(schema_version, has_different_ids=has_different_ids, version=number)
        own, chosen = self.own_schema(report), candidates[0]
        if own is None:
            return None
        ids = zip(preorder(own.dataset.columns), lock_ids(chosen.version), strict=True)
        schema_version = replace(own, ids=dict(ids))
        has_different_ids, number = not chosen.has_ids, chosen.version.number
        return self._table(schema_version, has_different_ids=has_different_ids, version=number)

    def with_ids(self, own: LockedSchemaVersion, ids: Ids, version: int | None = None) -> LanceTable:
        """Return the table with ids for all of its fields, and the locked version that it has, if it has one."""
        by_number = field_ids.ids_by_number(own)
        has_different_ids = bool(by_number.unknown) or by_number.ids != ids
        return self._table(replace(own, ids=ids), has_different_ids=has_different_ids, version=version)

    def identified_by_field(self, record: TableRecord, report: Report) -> LanceTable | None:
        """Return a table that has no locked version, field by field; None after reporting which fields are ambiguous."""
        own = self.own_schema(report)
        if own is None:
            return None
        if self.stated is not None:
            version = locked_schema_version(self.locked, self.stated)
            ids, unknown = field_ids.ids_by_name(own, version)
            if not unknown:
                return self.with_ids(own, ids, self.stated)
            message = f"{self.path} has fields that {version.label} does not have with these names and types: {', '.join(unknown)}"
            help = help_for_stranger(self.path, own, self.locked)
            report.add(UNUSABLE_TABLE, message, file=self.path, help=help)
            return None
        if record.is_fresh and not record.is_replaced:
            for recorded_version in self.locked.versions:
                if recorded_version.is_recorded_as(record.recorded):
                    version = locked_schema_version(self.locked, recorded_version.number)
                    ids, unknown = field_ids.ids_by_name(own, version)
                    if not unknown and len(ids) == len(version.ids):
                        return self.with_ids(own, ids, version.number)
        ids, unknown = field_ids.ids_by_number(own)
        others = [] if unknown else list(field_ids.new_tables_of(own, is_fresh=record.is_fresh))
        readings = [(other, field_ids.ids_by_name(own, other).ids) for other in others]
        recorded = next((r for r in readings if r[0].version.is_recorded_as(record.recorded)), None)
        if recorded is not None:
            return self.with_ids(own, recorded[1])
        if all(reading == ids for _, reading in readings):
            # Where nothing else tells its fields, the numbers of the lock are what it is held against.
            return self._table(replace(own, ids=ids), has_different_ids=False, unknown=unknown)
        labels = " or ".join(other.label for other in others)
        message = f"{self.path} matches no locked version: its ids may be those of the lock, or those of a table created at {labels}"
        help = f"if the table was created like that, confirm it: {state_version(self.path, others[0])}"
        report.add(UNUSABLE_TABLE, message, file=self.path, help=help)
        return None

    def _table(self, schema: LockedSchemaVersion, *, has_different_ids: bool, **more: Any) -> LanceTable:
        """Return the table with its schema as a version of the lock; `more` is what is known of few tables."""
        table = LanceTable(self.path, self.dataset, schema, self.fields, has_different_ids, **more)
        return replace(table, stale=self.stale, locked=self.locked, stated=self.stated)


def help_for_stranger(path: str, table: SchemaVersion, locked: LockedDataset) -> str:
    """Return what to do with a table that has fields of no version: the newest one that has all of them by name and type, else a lock of its own."""
    here = field_ids.places(table)
    for version in locked_schema_versions(locked):
        if here.keys() <= field_ids.places(version).keys():
            return f"if all of its fields are those of {version.label}, confirm it: {state_version(path, version)}"
    return f"start from the table as it is now: schemac import {shlex.quote(path)}"


def has_rows(table: LanceTable, report: Report) -> bool | None:
    """Whether a table has rows; None after reporting why they cannot be counted: in old tables they are counted in data files."""
    try:
        with lance_errors():
            return bool(table.row_count)
    except (ValueError, OSError, RuntimeError) as error:
        help = "restore its files, or go back to a version of the table that still has all of its files: lance.dataset(path).versions()"
        message = f"cannot read {table.name}: {reason_of(error)}"
        report.add(UNUSABLE_TABLE, message, file=table.name, help=help)
        return None


def can_store(new: SchemaVersion, report: Report) -> bool:
    """Whether Lance can hold a schema at all."""
    errors = limits_of(new, None)
    report.extend(errors)
    return not errors


def limits_of(new: SchemaVersion, version: str | None) -> tuple[Diagnostic, ...]:
    """Return why Lance cannot hold a schema in data files of a storage version, None for the one that the schema specifies; empty if it can."""
    report = Report()
    emission = Emission(new.dataset, "lance", LANCE_LOSS, report)
    LanceLimits(new.compilation, emission, of_table=version).is_supported()
    return report.errors
