"""Lance as the engine that runs write to, also through a program that writes whole datasets.

Layer: engines.
Shape: tasks write fragments next to the table, in a folder that no reader looks into; the commit moves their files in and adds one
      version. What is not committed never was in the table, and leaves with its folder.
      A program that writes whole datasets gets one of its own in that folder; its files are moved to where tasks of ours write theirs.
Errors: PipelineError if the table is there, is not there, or has another schema than expected.
Source: pylance 14 and lance-spark 0.4.0: a fragment of an existing table takes its types, metadata and field ids from it, so the folder
      holds a shallow clone; the items of vectors are compared letter by letter when it writes.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from schemac.engines.lance import transactions
from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.engines.lance.artifact import decode, encode, to_message
from schemac.engines.lance.attributes import BRAIN_FLOAT, storage_version
from schemac.engines.lance.dataset import find_dataset, lance_errors, open_dataset, options_for
from schemac.engines.lance.fields import NAME_KEY
from schemac.engines.lance.runs import merge as merging
from schemac.engines.lance.runs import recovery
from schemac.engines.lance.tables.fields import differences, lance_fields_of
from schemac.engines.lance.transactions import DATA, Commit, CommitStage, file_names
from schemac.language.attributes.attribute import Extra
from schemac.language.logical.model import SchemaField
from schemac.language.physical import LoweredSchema, with_parts
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.history import MOVED_OUT, UNFINISHED, CommittedRun
from schemac.rows.runs.identity import RunIdentity
from schemac.rows.runs.staging import JOIN, PREFIX, overtaken, table_area
from schemac.rows.runs.storage import NO_STORAGE, Storage, absolute, is_local
from schemac.rows.runs.tables import (
    ExistingTable,
    Merge,
    MergedRows,
    Sink,
    StagedRows,
    TableForm,
    WriteTarget,
)
from schemac.versions.identity.lock import Numbers

NAME = "aside.lance"
BATCH_ROWS = 8192
IN_FRAGMENT = 32
"""Bits of an address that count the rows of a fragment; those above them are its id."""


class LanceSink(Sink):
    """Lance tables in folders and object stores, as runs write to them."""

    def form(
        self, lowered: LoweredSchema, numbers: Mapping[SchemaField, Numbers] | None, extra: Extra
    ) -> TableForm:
        """Return the form of the table for a compiled schema, with the ids of its fields."""
        return TableForm(lowered.to_arrow(), encode(to_message(lowered, numbers)), storage_version(extra))

    def written_schema(self, schema: pa.Schema) -> pa.Schema:
        """Return an Arrow schema as Lance gives it back."""
        return as_lance_reads(schema)

    def find(self, path: str, storage_options: Storage) -> ExistingTable | None:
        """Return the version and columns of the table at a path; None if there is none."""
        table = find_dataset(path, storage_options)
        return None if table is None else ExistingTable(int(table.version), tuple(table.schema.names))

    def count_rows(self, path: str, storage_options: Storage) -> int:
        """Count the rows of a table."""
        table = find_dataset(path, storage_options)
        return 0 if table is None else int(table.count_rows())

    def is_free(self, path: str) -> bool:
        """Return whether a folder without a table holds nothing but what runs left there."""
        names = set(os.listdir(path))
        others = {name for name in names if not name.startswith(PREFIX)}
        if others == names or not others.issubset(transactions.TABLE_FOLDERS):
            return False
        moved = [name for staged in table_area(path).folders() for name in staged.moved_files()]
        known = {entry for name in moved for entry in transactions.data_entries(name)}
        return DATA not in others or known.issuperset(os.listdir(os.path.join(path, DATA)))

    def differences(
        self, path: str, form: TableForm, storage_options: Storage, *, ids: bool = True
    ) -> tuple[str, ...]:
        """Return how a table differs from its form, one sentence each; that of plain Arrow may have any metadata."""
        table = open_dataset(path, storage_options=storage_options)
        message = decode(form.native)
        fields = message.fields if form.native else lance_fields_of(form.schema)
        metadata = message.metadata if form.native and ids else None
        return differences(fields, table.lance_schema, metadata=metadata, ids=ids)

    def runs(self, table: str | Any, storage_options: Storage | None = None) -> Iterator[CommittedRun]:
        """List the runs of a path or a `LanceDataset`. Raises Lance's error if there is no table."""
        opened = open_dataset(table, storage_options=storage_options) if isinstance(table, str) else table
        return recovery.committed_runs(opened)

    def find_run(self, run: RunIdentity, table: str, storage_options: Storage) -> CommittedRun | None:
        """Find the commit of a run in the table."""
        return recovery.find_run(run, table, storage_options)

    def recover(self, table: str, quarantine: str | None, storage_options: Storage) -> None:
        """Remove what runs that died have left in a table and its quarantine."""
        recovery.recover(table, quarantine, storage_options)

    def fence(self, run: RunIdentity, paths: Iterable[str]) -> None:
        """Keep earlier attempts of a run from committing, by their staging folders."""
        for path in filter(is_local, paths):
            table_area(absolute(path)).fence(run)

    def claim(self, place: WriteTarget, fragments: list[str]) -> None:
        """Begin the commit of fragments. Raises PipelineError if another attempt of the run has begun one."""
        Commit(place, file_names(fragments)).advance(CommitStage.CLAIMED)

    def give_up(self, place: WriteTarget, fragments: list[str]) -> None:
        """Remove what an attempt wrote whose run another attempt has committed: no version names it, and none will."""
        if place.is_staged:
            transactions.close_staging(place)
        else:
            transactions.remove_remote_data(place, file_names(fragments))

    def prepare(
        self,
        path: str,
        mode: str,
        *,
        storage_options: Storage,
        storage_version: str | None,
        max_rows_per_file: int,
        run: RunIdentity,
    ) -> WriteTarget:
        """Return where and how a run writes: its staging folder, and the version that it starts from."""
        import lance  # noqa: F401  registers Lance's extension types before a schema is read

        table = find_dataset(path, storage_options)
        folder = path
        if is_local(path):
            path = absolute(path)
            folder = table_area(path).new_folder(run).path
        effective, version = ("create", 0) if table is None else (mode, table.version)
        return WriteTarget(
            path, folder, effective, version, storage_options, storage_version, max_rows_per_file, run
        )

    def open_staging(self, place: WriteTarget) -> None:
        """Make the folder that tasks write to; that of an existing table holds a shallow clone."""
        if not place.is_staged:
            return
        # The mark comes first: whatever is interrupted from here on is known to be a run's.
        place.folder.open(place.run, place.table)
        if place.mode == "append":
            table = find_dataset(place.path, place.storage_options)
            assert table is not None
            table.shallow_clone(place.staging, place.read_version)
            transactions.check_is_open(place)

    def write(self, place: WriteTarget, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> list[str]:
        """Write fragments; a piece is one of them as JSON."""
        fragments = transactions.write_files(place, schema, batches)
        transactions.check_is_open(place)
        return fragments

    def open_staging_table(self, place: WriteTarget, form: TableForm) -> str:
        """Make an empty dataset: with the ids of the table where rows are added to it, else with those that Lance counts."""
        import lance

        path = os.path.join(place.staging, NAME)
        with lance_errors():
            if place.mode != "append":
                empty = form.schema.empty_table()
                lance.write_dataset(empty, path, data_storage_version=place.storage_version)
                return path
            table = open_dataset(place.path, place.read_version, place.storage_options)
            seed = lance.write_dataset(
                transactions.SEED, path, data_storage_version=table.data_storage_version
            )
            operation = lance.LanceOperation.Merge([], table.lance_schema)
            transactions.make_version(path, operation, seed.version, {}, NO_STORAGE)
        return path

    def collect_staging_table(self, place: WriteTarget) -> StagedRows:
        """Return the fragments of the staging table, numbered as those of our own tasks, and move their files to where these write."""
        path = os.path.join(place.staging, NAME)
        written = open_dataset(path)
        fragments = [
            transactions.fragment_text(f.metadata, is_numbered=False) for f in written.get_fragments()
        ]
        source, destination = (os.path.join(folder, DATA) for folder in (path, place.staging))
        transactions.move_data(source, destination, file_names(fragments))
        return StagedRows(fragments, written.count_rows())

    def judge(
        self, place: WriteTarget, form: TableForm, fragments: list[str], deletes: pa.Table, merge: Merge
    ) -> MergedRows:
        """Return which records count, and which rows of the table they replace."""
        return merging.judge(place, form.schema, fragments, deletes, merge)

    def merge(self, place: WriteTarget, merged: MergedRows) -> int:
        """Commit the fragments, and remove the rows that they replace; another run may have added rows with their keys since."""
        newest = find_dataset(place.path, place.storage_options)
        if newest is None or newest.version != merged.version:
            raise overtaken(f"another run has changed `{place.path}` in the meantime")
        _refuse_dropped(newest, place, merged.fragments)
        operation = merging.operation_of(merged)
        return transactions.commit_operation(place, file_names(merged.fragments), operation, merged.version)

    def move_out(self, place: WriteTarget, schema: pa.Schema, version: int, addresses: list[int]) -> int:
        """Commit a version without some rows: the fragments that have them are replaced by new ones with their other rows."""
        import lance

        table = open_dataset(place.path, version, place.storage_options)
        gone = pa.array(addresses, pa.uint64())
        touched = {address >> IN_FRAGMENT for address in addresses}
        rest: list[str] = []
        for fragment in table.get_fragments():
            if fragment.fragment_id in touched:
                scanner = fragment.scanner(with_row_address=True, batch_size=BATCH_ROWS)
                remaining = (
                    batch.filter(pc.invert(pc.is_in(batch["_rowaddr"], gone))).select(schema.names)
                    for batch in scanner.to_batches()
                )
                rest += transactions.write_rest(place, schema, remaining)
        operation = lance.LanceOperation.Update(
            removed_fragment_ids=sorted(touched), new_fragments=transactions.fragments_of(rest)
        )
        moved_out = {MOVED_OUT: str(len(set(addresses)))}
        return transactions.commit_operation(place, file_names(rest), operation, version, **moved_out)

    def commit(
        self, place: WriteTarget, form: TableForm, fragments: list[str], *, may_join: bool = False
    ) -> int:
        """Commit the fragments."""
        is_new = place.mode == "overwrite"
        newest = None if is_new else find_dataset(place.path, place.storage_options)
        if newest is not None:
            if place.mode == "create":
                if not may_join:
                    raise _created_meanwhile(place)
                place = replace(place, mode="append", read_version=newest.version)
            _refuse_dropped(newest, place, fragments)
        make = partial(_commit, place, form.schema, fragments)
        message = decode(form.native)
        # Lance itself gives a new table the ids from 0 on.
        if place.mode != "append" and any(f.id != i for i, f in enumerate(message.fields)):
            make = partial(_commit_with_ids, place, fragments, message)
        return Commit(place, file_names(fragments), make).advance(CommitStage.COMMITTED)

    def close_staging(self, place: WriteTarget) -> None:
        """Remove the folder that tasks wrote to."""
        transactions.close_staging(place)

    def discard(self, place: WriteTarget, fragments: list[str]) -> None:
        """Remove what a run wrote and did not commit; what a version of the table names stays."""
        table = find_dataset(place.path, place.storage_options)
        if table is not None:
            named = recovery.named_files(table, place.run)
            happened = recovery.find_run(place.run, place.path, place.storage_options) is not None
            fragments = [f for f in fragments if not happened and named.isdisjoint(file_names([f]))]
        if place.is_staged:
            transactions.remove_data(place.path, file_names(fragments))
        self.give_up(place, fragments)

    def take_back(self, place: WriteTarget, version: int) -> None:
        """Undo a commit of this run; where that fails, the next run does it."""
        try:
            recovery.undo_commit(place.path, version, place.run.id, place.storage_options)
        except (OSError, RuntimeError):
            # Where there is no room to write the version that takes the rows back, the next run does it.
            if place.is_staged:
                place.folder.give_up()


SINK = LanceSink()


def _created_meanwhile(place: WriteTarget) -> PipelineError:
    return overtaken(f"another run has created a table at `{place.path}` in the meantime", JOIN)


def _refuse_dropped(table: Any, place: WriteTarget, fragments: list[str]) -> None:
    """Refuse rows with a column that the table has no more: Lance would take them, and drop its values without a word."""
    if not transactions.field_ids_in(fragments) <= transactions.field_ids(table):
        raise overtaken(f"another program has changed the columns of `{place.path}` in the meantime")


def _commit(place: WriteTarget, schema: pa.Schema, fragments: list[str]) -> int:
    """Make the version that appends or overwrites rows, and return its number."""
    import lance

    if place.mode != "append" and not fragments:
        return _write_table(place, place.path, schema.empty_table(), place.commit_properties())
    new_fragments = transactions.fragments_of(fragments)
    operation = (
        lance.LanceOperation.Append(new_fragments)
        if place.mode == "append"
        else lance.LanceOperation.Overwrite(schema, new_fragments)
    )
    return transactions.commit_version(place, operation, place.read_version)


def _commit_with_ids(place: WriteTarget, fragments: list[str], message: pb.Schema) -> int:
    """Create the table from the fragments, or replace its rows by them, with the field ids of the message; return the new version.

    Lance numbers what it makes; so a table without columns comes first, and its schema with the rows. The rows of a
    table that has the schema already are replaced by one commit. A new table on this machine is made where no reader
    looks, and appears with its second version.
    """
    import lance

    field_ids = [field.id for field in message.fields]
    new_fragments = [transactions.with_field_ids(text, field_ids) for text in fragments]
    if place.mode == "overwrite":
        table = open_dataset(place.path, place.read_version, place.storage_options)
        if not differences(message.fields, table.lance_schema):
            old = [fragment.fragment_id for fragment in table.get_fragments()]
            replaced = lance.LanceOperation.Update(removed_fragment_ids=old, new_fragments=new_fragments)
            return transactions.commit_version(place, replaced, table.version)
    is_hidden = place.is_staged and place.mode == "create"
    path = place.staging if is_hidden else place.path
    seed = _write_table(place, path, transactions.SEED, place.commit_properties(**{UNFINISHED: "true"}))
    merged = lance.LanceOperation.Merge(
        new_fragments, transactions.lance_schema(message.fields, message.metadata)
    )
    version = transactions.make_version(path, merged, seed, place.commit_properties(), place.storage_options)
    if is_hidden:
        if transactions.has_version(place.path):
            raise _created_meanwhile(place)
        transactions.publish(place.staging, place.path)
    return version


def _write_table(place: WriteTarget, path: str, rows: pa.Table, properties: Mapping[str, str]) -> int:
    """Create a table of some rows, or replace the rows that it has; return the version."""
    import lance

    with lance_errors():
        table = lance.write_dataset(
            rows,
            path,
            mode="overwrite" if place.mode == "overwrite" else "create",
            data_storage_version=place.storage_version,
            storage_options=options_for(place.path, place.storage_options),
            transaction_properties=dict(properties),
        )
    return int(table.version)


def as_lance_reads(schema: pa.Schema) -> pa.Schema:
    """Return a schema whose vector items are as Lance gives them back, for its writer compares them exactly."""
    return pa.schema([_as_lance_reads(field) for field in schema], metadata=schema.metadata)


def _as_lance_reads(field: pa.Field) -> pa.Field:
    """Return a field whose vector items, also those inside of it, are as Lance gives them back."""
    if pa.types.is_fixed_size_list(field.type):
        item = field.type.value_field
        named = (item.metadata or {}).get(NAME_KEY) == BRAIN_FLOAT.encode()
        if named and not isinstance(item.type, pa.BaseExtensionType):
            item = pa.field("item", item.type, metadata={**item.metadata, b"ARROW:extension:metadata": b""})
            return field.with_type(pa.list_(item, field.type.list_size))
    return field.with_type(with_parts(field.type, _as_lance_reads))
