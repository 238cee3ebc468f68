"""The sink for columns of a Lance table that a run fills, and what the run has computed and not committed yet.

Layer: engines.
Shape: a task writes the values of one fragment into a shallow clone of the table, with the ids that the columns have in the table. The
      data file moves to `filled/` in the run's staging folder, with a record of what it was made for; on an object store the files are
      among those of the table, and the records in a folder of the run next to them. The folder outlives a run that dies: the next
      attempt of the same run takes it over, and everybody else leaves it alone for `staging.RETENTION_SECONDS`. The commit is a
      `Merge`, which Lance refuses if any row was written since the version that was looked at; the run then looks again, and only
      fragments that have changed are computed once more.
Rule: a record counts for a fragment that has the same data files and no row that was deleted then, in a table of the same columns.
Source: pylance 14.0.2: a Merge takes the rewritten fragments out of indices of the columns, and leaves all other indices, row ids and
      versions as they are (`tests/engines/lance/test_filling.py`).
"""

import contextlib
import hashlib
import json
import os
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.fs

from schemac.engines.lance import transactions
from schemac.engines.lance.dataset import data_files, find_dataset, open_dataset
from schemac.engines.lance.runs.column_files import (
    FillingTable,
    check_required,
    check_retainable,
    checked_columns,
    write_column_file,
)
from schemac.engines.lance.runs.sink import SINK, as_lance_reads
from schemac.engines.lance.tables.new_columns import fragment_files, has_no_restored_rows, has_same_deletions
from schemac.engines.lance.transactions import DATA, file_name, fragments_of, move_data
from schemac.rows.runs.columns import ColumnSink, FilledColumns, Filling, Look
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.identity import RunIdentity
from schemac.rows.runs.staging import FILLED, StagingState, overtaken, table_area
from schemac.rows.runs.storage import Storage
from schemac.rows.runs.tables import TableForm, WriteTarget
from schemac.text.source.catalogue import SCHEMA_MISMATCH

REMOTE = "_backfill-"


@dataclass(frozen=True)
class ColumnFileRecord:
    """A record of a data file that a run has computed: for which fragment of which version, and what it holds."""

    key: str
    columns: str
    """A digest of the table's columns."""
    version: int
    fragment: str
    """Metadata of the fragment at that version, as JSON."""
    file: str | None
    """The data file as Lance describes it, as JSON; None if the fragment stays as it is."""
    numbers: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> str:
        """Write the record as `parse` reads it."""
        return json.dumps(asdict(self))

    @classmethod
    def parse(cls, text: str) -> "ColumnFileRecord":
        """Read a record."""
        return cls(**json.loads(text))

    @cached_property
    def metadata(self) -> Any:
        """Metadata of the fragment."""
        return fragments_of([self.fragment])[0]

    def counts_for(self, fragment: Any, place: WriteTarget) -> bool:
        """Whether a fragment has the files that it had, and no row that was deleted when the record was made."""
        if fragment_files(fragment.metadata) != fragment_files(self.metadata):
            return False
        if has_same_deletions(fragment.metadata, self.metadata):
            return True
        try:
            then = open_dataset(place.path, self.version, place.storage_options)
        except (OSError, ValueError, RuntimeError):
            return False  # the version has been cleaned up
        return has_no_restored_rows(fragment, then.get_fragment(fragment.fragment_id))


@dataclass(frozen=True)
class ColumnFileRecords:
    """The records of the data files that a run has computed and not committed yet."""

    place: WriteTarget

    @property
    def folder(self) -> str:
        """Where the records of a staged run are, and its data files."""
        return os.path.join(self.place.staging, FILLED)

    @cached_property
    def _table(self) -> tuple[Any, str]:
        """The file system of the table, and the table's folder in it."""
        return self.place.storage_options.open_arrow(self.place.path)

    @property
    def _records_folder(self) -> str:
        return self.folder if self.place.is_staged else f"{self._table[1]}/{REMOTE}{self.place.run.id}"

    def put(self, record: ColumnFileRecord) -> None:
        """Write a record, whole or not at all."""
        files, folder = self._table[0], self._records_folder
        name = f"{record.metadata.id}-{uuid.uuid4().hex[:8]}.json"
        # In an object store a file is not there before it is whole.
        making = f"{folder}/.{name}" if self.place.is_staged else f"{folder}/{name}"
        with files.open_output_stream(making) as stream:
            stream.write(record.to_json().encode())
        if self.place.is_staged:
            files.move(making, f"{folder}/{name}")

    def records(self) -> list[ColumnFileRecord]:
        """Read all records whose files are there."""
        files, records = self._table[0], []
        infos = files.get_file_info(pa.fs.FileSelector(self._records_folder, allow_not_found=True))
        for info in sorted(infos, key=lambda info: info.base_name):
            if info.extension == "json" and not info.base_name.startswith("."):
                with contextlib.suppress(ValueError, TypeError, FileNotFoundError):
                    with files.open_input_stream(info.path) as stream:
                        record = ColumnFileRecord.parse(stream.read().decode())
                    if record.file is None or self._has_file(file_name(record.file)):
                        records.append(record)
        return records

    def _has_file(self, name: str) -> bool:
        """Whether a data file waits, or was moved by a commit that did not come to its end."""
        files, root = self._table
        folders = (self.folder, f"{root}/{DATA}") if self.place.is_staged else (f"{root}/{DATA}",)
        infos = files.get_file_info([f"{folder}/{name}" for folder in folders])
        return any(info.type is not pa.fs.FileType.NotFound for info in infos)

    def remove(self) -> None:
        """Remove the records from an object store."""
        with contextlib.suppress(OSError, pa.ArrowException):
            self._table[0].delete_dir(self._records_folder)


def adopt_filled(place: WriteTarget) -> None:
    """Move what dead attempts of this run have computed into the run's own folder."""
    mine = os.path.join(place.staging, FILLED)
    os.makedirs(mine, exist_ok=True)
    for folder in table_area(place.path).folders(place.run.id):
        if folder == place.folder or not folder.is_retained() or not folder.claim_if_dead():
            continue
        place.folder.note_moved(sorted({*place.folder.moved_files(), *folder.moved_files()}))
        # Records come last: one whose file is not there would be passed by.
        theirs = folder.file(FILLED)
        entries = sorted(os.listdir(theirs), key=lambda name: name.endswith(".json"))
        for name in entries:
            with contextlib.suppress(FileNotFoundError):
                os.replace(os.path.join(theirs, name), os.path.join(mine, name))
        folder.remove()


class LanceColumnSink(ColumnSink):
    """Columns of Lance tables in folders and object stores."""

    def new_columns(
        self, path: str, form: TableForm, columns: tuple[str, ...], storage: Storage
    ) -> tuple[str, ...]:
        """Return the columns that the table does not have yet."""
        return checked_columns(path, _newest(path, storage), form, columns).new

    def open(
        self, path: str, form: TableForm, columns: FilledColumns, *, storage: Storage, run: RunIdentity
    ) -> Filling:
        """Make the run's staging folder, and take over what attempts that died have kept."""
        import lance  # noqa: F401  registers Lance's extension types before a schema is read

        table = _newest(path, storage)
        column_schema = checked_columns(path, table, form, columns.names)
        if columns.keeps:
            check_retainable(table, columns.names)
        place = SINK.prepare(
            path, "append", storage_options=storage, storage_version=None, max_rows_per_file=0, run=run
        )
        if place.is_staged:
            place.folder.open(run)
            adopt_filled(place)
        schema = as_lance_reads(pa.schema([form.schema.field(name) for name in columns.names]))
        return Filling(
            place=place,
            columns=columns,
            ids=column_schema.ids,
            schema=schema.serialize().to_pybytes(),
            form=form.schema.serialize().to_pybytes(),
            native=form.native,
            version=form.version,
        )

    def look(self, filling: Filling) -> Look:
        """Return which fragments of the newest version have no valid record, and the numbers of the others."""
        table = _newest(filling.place.path, filling.place.storage_options)
        self._columns(filling, table)
        records = _records(filling, table)
        ids = tuple(fragment.fragment_id for fragment in table.get_fragments())
        missing = tuple(id for id in ids if id not in records)
        numbers = sum((Counter(record.numbers) for record in records.values()), Counter[str]())
        return Look(int(table.version), missing, len(ids) - len(missing), numbers)

    def prepare(self, filling: Filling, version: int) -> str:
        """Return the folder that tasks write data files of a version into: a clone in the staging folder, or on an object store the table itself."""
        place = filling.place
        if not place.is_staged:
            return place.path
        folder = os.path.join(place.staging, f"v{version}-{uuid.uuid4().hex[:8]}")
        open_dataset(place.path, version).shallow_clone(folder, version)
        return folder

    def write(
        self, filling: Filling, version: int, folder: str, part: int, batches: Iterator[pa.RecordBatch]
    ) -> str:
        """Write the data file of a fragment."""
        place = filling.place
        table = open_dataset(place.path, version, place.storage_options)
        written_to = open_dataset(folder) if place.is_staged else table
        file = write_column_file(filling, written_to, part, batches)
        if place.is_staged:
            # Out of the clone that it was written to, with what is next to it.
            move_data(os.path.join(folder, DATA), ColumnFileRecords(place).folder, [file_name(file)])
        return _record(filling, table, part, file).to_json()

    def keep(self, filling: Filling, fragment: str, numbers: Mapping[str, int]) -> None:
        """Write the record."""
        ColumnFileRecords(filling.place).put(replace(ColumnFileRecord.parse(fragment), numbers=dict(numbers)))

    def leave(self, filling: Filling, version: int, parts: tuple[int, ...]) -> None:
        """Write records without a file."""
        table = open_dataset(filling.place.path, version, filling.place.storage_options)
        for part in parts:
            check_required(filling, table, table.get_fragment(part).count_rows())
            ColumnFileRecords(filling.place).put(_record(filling, table, part, None))

    def commit(self, filling: Filling, look: Look, commit_properties: Mapping[str, str]) -> int | None:
        """Move the files to where the table's are, and add them with one commit."""
        import lance

        place = filling.place
        table = _newest(place.path, place.storage_options)
        columns = self._columns(filling, table)
        records = _records(filling, table)
        fragments = table.get_fragments()
        if int(table.version) != look.version or len(records) < len(fragments):
            return None
        files = {id: record.file for id, record in records.items() if record.file is not None}
        if not files and not columns.new:
            return look.version
        replaced_ids = frozenset(id for ids in filling.ids for id in ids)
        fragment_metadata = [
            transactions.with_data_file(metadata, files[metadata.id], replaced_ids)
            if metadata.id in files
            else metadata
            for metadata in (fragment.metadata for fragment in fragments)
        ]
        operation = lance.LanceOperation.Merge(
            fragment_metadata, transactions.lance_schema(columns.fields, columns.metadata)
        )
        names, folder = list(map(file_name, files.values())), ColumnFileRecords(filling.place).folder
        try:
            return transactions.commit_operation(
                place, names, operation, look.version, source=folder, **commit_properties
            )
        except PipelineError as error:
            if not transactions.is_conflict(error.__cause__):
                raise
            if place.is_staged:
                place.folder.advance(StagingState.COMMITTING, StagingState.OPEN)
            return None

    def pause(self, filling: Filling) -> None:
        """Leave the staging folder to the next attempt; remove it if it holds no record."""
        if not ColumnFileRecords(filling.place).records():
            self.close(filling)
        elif filling.place.is_staged:
            filling.place.folder.give_up()

    def close(self, filling: Filling) -> None:
        """Remove the staging folder, those of other runs whose records no longer count, and files that no version names."""
        place = filling.place
        table = find_dataset(place.path, place.storage_options)
        named = set() if table is None else data_files(table)
        if place.is_staged:
            others = [folder for folder in table_area(place.path).folders() if folder != place.folder]
            # After a commit of new files, the values that runs which died have kept count no more.
            dead = [folder for folder in others if folder.is_retained() and folder.claim_if_dead()]
            for folder in (place.folder, *dead):
                moved = [name for name in folder.moved_files() if name not in named]
                transactions.remove_data(place.path, moved)
                folder.remove()
            return
        filled = ColumnFileRecords(place)
        names = [file_name(record.file) for record in filled.records() if record.file is not None]
        transactions.remove_remote_data(place, (name for name in names if name not in named))
        filled.remove()

    def _columns(self, filling: Filling, table: Any) -> FillingTable:
        """Check again: other programs may have changed columns since the run began."""
        path = filling.place.path
        message = f"another program has changed the columns of `{path}` in the meantime"
        try:
            columns = checked_columns(path, table, filling.table_form(), filling.columns.names)
        except PipelineError as error:
            raise overtaken(f"{message}: {error.message}") from error
        if columns.ids != filling.ids:
            raise overtaken(message)
        return columns


COLUMN_SINK = LanceColumnSink()


def _newest(path: str, storage: Storage) -> Any:
    """Return the newest version of the table. Raises PipelineError if there is no table."""
    dataset = find_dataset(path, storage)
    if dataset is None:
        message = f"there is no Lance table at `{path}` to fill columns of"
        help = "`mode: create` creates a table from a source"
        raise PipelineError(SCHEMA_MISMATCH, message, help, place=("target", "path"))
    return dataset


def columns_digest(table: Any) -> str:
    """Return a digest of the columns of a version: their ids, names and types."""
    fields = transactions.schema_parts(table.lance_schema)[1]
    descriptors = [[f.id, f.parent_id, f.name, f.logical_type, f.nullable] for f in fields]
    return hashlib.sha256(json.dumps(descriptors).encode()).hexdigest()


def _record(filling: Filling, table: Any, part: int, file: str | None) -> ColumnFileRecord:
    """Return a record of the fragment as it is; `file` is its new data file as JSON, None if it gets no file."""
    fragment = transactions.fragment_text(table.get_fragment(part).metadata)
    return ColumnFileRecord(filling.columns.key, columns_digest(table), int(table.version), fragment, file)


def _records(filling: Filling, table: Any) -> dict[int, ColumnFileRecord]:
    """Return the valid record of each fragment of a version; any record for fragments without rows."""
    digest = columns_digest(table)
    known: dict[int, list[ColumnFileRecord]] = {}
    for one in ColumnFileRecords(filling.place).records():
        if one.key == filling.columns.key and one.columns == digest:
            known.setdefault(one.metadata.id, []).append(one)
    records: dict[int, ColumnFileRecord] = {}
    for fragment in table.get_fragments():
        id = fragment.fragment_id
        of_it = (one for one in known.get(id, ()) if one.counts_for(fragment, filling.place))
        record = next(of_it, None)
        if record is None and not fragment.count_rows():
            record = _record(filling, table, id, None)
        if record is not None:
            records[id] = record
    return records
