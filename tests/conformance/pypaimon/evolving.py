"""Two versions of a schema in one lock, a real table of the first, and what its rows are in the second."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

import schemac
from schemac.engines.paimon.changes import SchemaChange, changes_between
from schemac.engines.paimon.live_table import differences, errors_of, open_paimon_table, table_schema
from schemac.engines.paimon.reader import read_table_schema
from schemac.engines.paimon.table_schema import TableSchema
from schemac.engines.paimon.tables import apply_paimon, plan_paimon
from schemac.language.attributes.builtin import TABLE_VERSION
from schemac.language.logical.model import SchemaField
from schemac.text.source.diagnostics import Report
from schemac.versions.evolution.changes import Change, Judgement, Outcome
from schemac.versions.evolution.diff import diff_of
from schemac.versions.evolution.judge import judge_change
from schemac.versions.evolution.version_pair import (
    LockedSchemaVersion,
    VersionPair,
    locked_schema_version,
    pair_versions,
)
from schemac.versions.identity.freeze import freeze, identify
from schemac.versions.identity.lock import LockedDataset
from tests.conformance.arrow_values import table as some_rows
from tests.conformance.pypaimon.client import Paimon

Tree = dict[str, Any]
Rows = list[dict[str, Any]]


@dataclass
class Evolution:
    """A locked dataset of two versions."""

    locked: LockedDataset
    old: LockedSchemaVersion
    new: LockedSchemaVersion

    @classmethod
    def of(cls, old: Tree, new: Tree) -> "Evolution":
        """Both manifests as versions of one dataset."""
        locked = LockedDataset("t")
        for tree in (old, new):
            (dataset,) = schemac.compile_text(json.dumps({"name": "t", **tree}))
            logical = dataset._logical
            locked = freeze(identify(logical, locked))
        return cls(
            locked,
            *(locked_schema_version(locked, v.number) for v in (locked.versions[0], locked.versions[-1])),
        )

    @property
    def pair(self) -> VersionPair:
        return pair_versions(self.old, self.new)

    @property
    def judged(self) -> list[tuple[Change, Judgement]]:
        pair = self.pair
        return [(change, judge_change("paimon", change, pair)) for change in diff_of(pair)]

    @property
    def is_refused(self) -> bool:
        return bool(errors_of(self.new)) or self.worst is Outcome.REFUSED

    @property
    def worst(self) -> Outcome:
        outcomes = [said.outcome for _, said in self.judged]
        return max(outcomes, key=lambda outcome: outcome.rank, default=Outcome.SAFE)

    @property
    def changes(self) -> tuple[SchemaChange, ...]:
        return changes_between(table_schema(self.old), table_schema(self.new))

    @property
    def is_asked(self) -> bool:
        """Whether there is an operation beside the one that says which version the table has."""
        return any((c.action, c.arguments.get("key")) != ("setOption", TABLE_VERSION) for c in self.changes)

    def place(self, warehouse: Path, table: str = "t") -> Path:
        """The empty table of the first version."""
        folder = warehouse / "db.db" / table
        (folder / "schema").mkdir(parents=True)
        (folder / "schema/schema-0").write_text(table_schema(self.old).to_text(), encoding="utf-8")
        return folder

    def rows(self, paimon: Paimon, warehouse: Path) -> pa.Table:
        """Write rows to the table."""
        schema = paimon.describe(warehouse, "t")
        rows = pa.Table.from_pylist(
            _distinct(some_rows(schema).to_pylist(), table_schema(self.old)), schema=schema
        )
        paimon.write(warehouse, "t", rows)
        return rows

    def apply(self, folder: Path) -> None:
        """What `schemac apply --unchecked` does."""
        report = Report()
        table = open_paimon_table(str(folder), self.locked, report)
        assert table is not None, report.diagnostics
        made = plan_paimon(table, self.locked, self.new, report)
        assert made is not None, report.diagnostics
        assert apply_paimon(made, self.locked, self.new, report, is_unchecked=True, now=lambda: 7)

    def alter(self, paimon: Paimon, warehouse: Path, table: str) -> TableSchema:
        """The schema file that pypaimon makes of our operations. Raises PaimonError."""
        changes = [change.to_json() for change in self.changes]
        paimon.ask("alter", warehouse=str(warehouse), table=table, changes=changes)
        return newest(warehouse / "db.db" / table)

    def expected(self, rows: pa.Table, schema: pa.Schema) -> Rows:
        """The old rows as the new schema should show them, by what the lock says is the same field."""
        old, new = pa.struct(list(rows.schema)), pa.struct(list(schema))
        before = self.pair.before
        return [_struct(self.new.dataset.columns, row, before, old, new) for row in rows.to_pylist()]


def _distinct(rows: Rows, schema: TableSchema) -> Rows:
    """Rows with different primary keys."""
    for number, row in enumerate(rows):
        for name in schema.primary_keys:
            row[name] = number
    return rows


def _struct(
    fields: Sequence[SchemaField], row: Tree, before: Mapping[SchemaField, SchemaField], old: Any, new: Any
) -> Tree:
    found: Tree = {}
    for field in fields:
        name, was = str(field.segment), before.get(field)
        if was is None:
            found[name] = None
        else:
            old_name = str(was.segment)
            found[name] = _value(field, row[old_name], before, old.field(old_name).type, new.field(name).type)
    return found


def _value(
    field: SchemaField, value: Any, before: Mapping[SchemaField, SchemaField], old: Any, new: Any
) -> Any:
    if value is None:
        return None
    match field.type.kind:
        case "Struct":
            return _struct(field.children, value, before, old, new)
        case "List":
            (item,) = field.children
            return [_value(item, part, before, old.value_type, new.value_type) for part in value]
        case "Map":
            _, part = field.children
            return [(key, _value(part, item, before, old.item_type, new.item_type)) for key, item in value]
    return pa.scalar(value, old).cast(new).as_py()


def copy(folder: Path, table: str) -> Path:
    """A table beside another, with all its data."""
    there = folder.with_name(table)
    shutil.copytree(folder, there)
    return there


def newest(folder: Path) -> TableSchema:
    """What the newest schema file says."""
    files = sorted((folder / "schema").glob("schema-*"), key=lambda file: int(file.name[7:]))
    return read_table_schema(json.loads(files[-1].read_bytes()))


def apart(ours: TableSchema, theirs: TableSchema) -> list[str]:
    """How two schema files differ."""
    return list(differences(ours, theirs))
