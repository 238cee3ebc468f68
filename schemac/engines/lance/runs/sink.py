"""Lance as the engine that runs write to, also through a program that writes whole datasets.

Layer: engines.
Shape: A dataset of its own for a program that writes whole datasets, whose fragments a run takes over: the dataset is in the staging
      folder of the run, so that no reader sees it, and it leaves with that folder. Its files are moved to where tasks of ours write
      theirs.
Source: pylance 14 and lance-spark 0.4.0: what is appended to a dataset takes its types, metadata and field ids.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from schemac.engines.lance import transactions
from schemac.engines.lance.artifact import to_message
from schemac.engines.lance.attributes import storage_version
from schemac.engines.lance.dataset import find_dataset, lance_errors, open_dataset
from schemac.engines.lance.runs import merge as merging
from schemac.engines.lance.runs import recovery, writing
from schemac.engines.lance.runs.recovery import committed_runs, find_run, holds_only_leftovers, recover
from schemac.engines.lance.runs.writing import as_lance_reads, decode, encode
from schemac.engines.lance.tables.fields import differences, lance_fields_of
from schemac.engines.lance.transactions import (
    DATA,
    SEED,
    Commit,
    Stage,
    file_names,
    fragment_text,
    make_version,
    move_data,
)
from schemac.language.attributes.attribute import Extra
from schemac.language.logical.schema_fields import SchemaField
from schemac.language.physical import LoweredSchema
from schemac.rows.runs import staging
from schemac.rows.runs.history import CommittedRun
from schemac.rows.runs.identity import RunIdentity
from schemac.rows.runs.storage import NO_STORAGE, absolute, is_local
from schemac.rows.runs.tables import (
    ExistingTable,
    Merge,
    Merged,
    Sink,
    StagedRows,
    StorageOptions,
    TableForm,
    WriteTarget,
)
from schemac.versions.identity.lock import Numbers

NAME = "aside.lance"


class LanceSink(Sink):
    """Lance tables in folders and object stores."""

    def form(
        self, lowered: LoweredSchema, numbers: Mapping[SchemaField, Numbers] | None, extra: Extra
    ) -> TableForm:
        """Return the form of the table for a compiled schema, with the ids of its fields."""
        return TableForm(lowered.to_arrow(), encode(to_message(lowered, numbers)), storage_version(extra))

    def written_schema(self, schema: pa.Schema) -> pa.Schema:
        """Spell an Arrow schema as Lance gives it back."""
        return as_lance_reads(schema)

    def find(self, path: str, storage_options: StorageOptions) -> ExistingTable | None:
        """Look at the table at a path."""
        table = find_dataset(path, storage_options)
        return None if table is None else ExistingTable(int(table.version), tuple(table.schema.names))

    def count_rows(self, path: str, storage_options: StorageOptions) -> int:
        """Count the rows of a table."""
        table = find_dataset(path, storage_options)
        return 0 if table is None else int(table.count_rows())

    def is_free(self, path: str) -> bool:
        """Whether a folder without a table holds nothing but what runs left there."""
        return holds_only_leftovers(Path(path))

    def differences(
        self, path: str, form: TableForm, storage_options: StorageOptions, *, ids: bool = True
    ) -> tuple[str, ...]:
        """How a table differs from its form; that of plain Arrow may have any metadata."""
        table = open_dataset(path, storage_options=storage_options)
        if not form.native:
            return differences(lance_fields_of(form.schema), table.lance_schema, ids=ids)
        message = decode(form.native)
        fields = [field.SerializeToString(deterministic=True) for field in message.fields]
        metadata = dict(message.metadata) if ids else None
        return differences(fields, table.lance_schema, metadata=metadata, ids=ids)

    def runs(self, table: str | Any, storage_options: StorageOptions | None = None) -> Iterator[CommittedRun]:
        """List the runs of a path or a `LanceDataset`. Raises Lance's error if there is no table."""
        opened = open_dataset(table, storage_options=storage_options) if isinstance(table, str) else table
        return committed_runs(opened)

    def find_run(self, run: RunIdentity, table: str, storage_options: StorageOptions) -> CommittedRun | None:
        """Find the commit of a run in the table."""
        return find_run(run, table, storage_options)

    def recover(self, table: str, quarantine: str | None, storage_options: StorageOptions) -> None:
        """Clean up after runs that died."""
        recover(table, quarantine, storage_options)

    def fence(self, run: RunIdentity, paths: Iterable[str]) -> None:
        """Keep earlier attempts of a run from committing, by their staging folders."""
        for path in filter(is_local, paths):
            staging.fence(absolute(path), run)

    def claim(self, place: WriteTarget, fragments: list[str]) -> None:
        """Begin the commit, unless another attempt of the run has begun one."""
        Commit(place, list(file_names(fragments))).advance(Stage.CLAIMED)

    def give_up(self, place: WriteTarget, fragments: list[str]) -> None:
        """Remove the fragments' files."""
        recovery.give_up(place, fragments)

    def prepare(
        self,
        path: str,
        mode: str,
        *,
        storage_options: StorageOptions,
        storage_version: str | None,
        max_rows_per_file: int,
        run: RunIdentity,
    ) -> WriteTarget:
        """Choose the place for a run."""
        import lance  # noqa: F401  registers Lance's extension types before a schema is read

        return writing.prepare(
            path,
            mode,
            storage_options=storage_options,
            storage_version=storage_version,
            max_rows_per_file=max_rows_per_file,
            run=run,
        )

    def open_staging(self, place: WriteTarget) -> None:
        """Make the folder that tasks write to."""
        writing.open_staging(place)

    def write(self, place: WriteTarget, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> list[str]:
        """Write fragments; a piece is one of them as JSON."""
        return writing.write_fragments(place, schema, batches)

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
            seed = lance.write_dataset(SEED, path, data_storage_version=table.data_storage_version)
            operation = lance.LanceOperation.Merge([], table.lance_schema)
            make_version(path, operation, seed.version, {}, NO_STORAGE)
        return path

    def collect_staging_table(self, place: WriteTarget) -> StagedRows:
        """Take its fragments, numbered as if a task of ours had written them, and move their files."""
        path = os.path.join(place.staging, NAME)
        written = open_dataset(path)
        fragments = [fragment_text(f.metadata, is_numbered=False) for f in written.get_fragments()]
        move_data(os.path.join(path, DATA), os.path.join(place.staging, DATA), file_names(fragments))
        return StagedRows(fragments, written.count_rows())

    def judge(
        self, place: WriteTarget, form: TableForm, fragments: list[str], deletes: pa.Table, merge: Merge
    ) -> Merged:
        """Decide which records count."""
        return merging.judge(place, form.schema, fragments, deletes, merge)

    def merge(self, place: WriteTarget, merged: Merged) -> int:
        """Commit the fragments, and remove the rows that they replace."""
        return writing.commit_merged(place, merging.operation_of(merged), merged)

    def move_out(self, place: WriteTarget, schema: pa.Schema, version: int, addresses: list[int]) -> int:
        """Replace the fragments that have the rows."""
        return recovery.move_out(place, schema, version, addresses)

    def commit(
        self, place: WriteTarget, form: TableForm, fragments: list[str], *, may_join: bool = False
    ) -> int:
        """Commit the fragments."""
        message = decode(form.native) if form.native else None
        if message is not None and [f.id for f in message.fields] == list(range(len(message.fields))):
            message = None  # Lance gives a new table the same ids
        return writing.commit(place, form.schema, fragments, may_join=may_join, lance_message=message)

    def close_staging(self, place: WriteTarget) -> None:
        """Remove the folder that tasks wrote to."""
        transactions.close_staging(place)

    def discard(self, place: WriteTarget, fragments: list[str]) -> None:
        """Remove the fragments' files."""
        recovery.discard(place, fragments)

    def take_back(self, place: WriteTarget, version: int) -> None:
        """Undo a commit of this run."""
        try:
            recovery.take_back_at(place.path, version, place.run.id, place.storage_options)
        except (OSError, RuntimeError):
            # Where there is no room to write the version that takes the rows back, the next run does it.
            if place.is_staged:
                staging.give_up(place.staging)


SINK = LanceSink()
