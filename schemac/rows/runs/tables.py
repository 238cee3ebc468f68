"""The capabilities of engines that write, read and fill tables of runs.

The runs of whatever is at a path: a folder of files, or a table of an engine.

Layer: rows.
Shape: a run prepares a `WriteTarget` on the driver, its tasks write Arrow batches to it and get back what they wrote as texts (pieces), and
      the driver commits all pieces as one version. What is not committed never was in the table.
      Refuses rows whose schema is not that of the table that they are for: asked before a run starts, and again by the sink, in a
      process that knows nothing of pipelines.
Rule: How the rows of a run meet rows of a table that have the same key: of several records with one key the one with the greatest value
      of `latest` counts, also against the row that the table has; where they are equal the record counts, so that a run can be
      repeated. A null is older than any value. A record that deletes counts like any other: the row of its key goes, and a later record
      may bring it back.
      The runs of a table, and which rows of a quarantine count (see `runs.history`): with `current=True` only the runs since the last
      `mode: overwrite` are told, whose rows the table still has; the quarantine keeps the others, as the table keeps its old versions.
Errors: PipelineError for what the author of the pipeline can mend; SC653 schema-mismatch.
"""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from schemac.language.attributes.attribute import Extra
from schemac.language.logical.model import SchemaField
from schemac.language.physical import LoweredSchema
from schemac.registry.engine import Capability, Engine, engine, engines
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.file_systems import LocalFiles
from schemac.rows.runs.history import CommittedRun, records_in
from schemac.rows.runs.identity import Mode, RunIdentity
from schemac.rows.runs.staging import StagingFolder
from schemac.rows.runs.storage import NO_STORAGE, Storage, is_local
from schemac.text.source.catalogue import SCHEMA_MISMATCH
from schemac.versions.identity.lock import Numbers


@dataclass(frozen=True)
class Merge:
    """How rows of a run meet rows of the table with the same key."""

    keys: tuple[str, ...]
    """Columns of the primary key, in its order."""
    latest: str | None = None
    """The column whose greatest value wins; None: the record wins."""
    is_refused: bool = False
    """Whether the rows are refused, all of them, where the table has the key of one."""
    deletes: str | None = None
    """Value of the column `_delete` with which a record deletes the row of its key."""
    unique: tuple[tuple[tuple[str, ...], ...], ...] = ()
    """Sets of fields, each by its path, whose values no two rows of the table may have together."""

    @property
    def columns(self) -> list[str]:
        """The columns that decide which row counts: the key, and the one for the latest."""
        return [*self.keys, *([self.latest] if self.latest is not None else [])]

    def to_json(self) -> str:
        """Write the merge as `parse` reads it."""
        return json.dumps(asdict(self))

    @classmethod
    def parse(cls, text: str) -> "Merge":
        """Read a merge."""
        data = json.loads(text)
        unique = tuple(tuple(tuple(path) for path in fields) for fields in data["unique"])
        return cls(**{**data, "keys": tuple(data["keys"]), "unique": unique})


@dataclass(frozen=True)
class MergedRows:
    """What a commit adds and takes away, as it was decided for one version of the table."""

    fragments: list[str]
    version: int
    """The version that was judged; 0 if there is no table."""
    deletion: Any | None = None
    """The engine's own operation that takes rows away, not committed yet; None if none go."""
    superseded: int = 0
    """Records that do not count, for a later one has their key."""
    deleted: int = 0
    """Records that count, and delete the row of their key, if there is one."""


@dataclass(frozen=True)
class TableForm:
    """The schema of a table, with all that its engine needs to make it."""

    schema: pa.Schema
    native: str = ""
    """The same in the engine's own form, with its ids; empty for what the engine makes of the Arrow schema itself."""
    storage_version: str | None = None
    version: str | None = None
    """The locked version of the schema, as tables keep it; None if it has no lock."""

    @property
    def version_name(self) -> str:
        """The locked version of the schema, or else a digest of it."""
        if self.version is not None:
            return self.version
        digest = hashlib.sha256(self.schema.serialize().to_pybytes() + self.native.encode())
        return f"sha256:{digest.hexdigest()[:16]}"


@dataclass(frozen=True)
class WriteTarget:
    """Where the rows of one run go, and the version that they are added to."""

    path: str
    staging: str
    mode: str
    read_version: int
    storage_options: Storage
    storage_version: str | None
    max_rows_per_file: int
    run: RunIdentity
    table: str = ""
    """In a quarantine: the table of the run, seen from here."""
    properties: tuple[tuple[str, str], ...] = ()
    """What the commit that adds the rows says of them, besides the run's identity."""

    def commit_properties(self, **more: str) -> dict[str, str]:
        """Return the properties of the run's commits."""
        return {**self.run.properties(), **dict(self.properties), **more}

    @property
    def is_staged(self) -> bool:
        """Whether rows wait outside the table."""
        return self.staging != self.path

    @property
    def folder(self) -> StagingFolder:
        """The staging folder of rows that wait outside the table."""
        return StagingFolder(LocalFiles(), self.staging)


@dataclass(frozen=True)
class ExistingTable:
    """The version and the columns of a table that exists."""

    version: int
    names: tuple[str, ...]
    """Of its columns."""


class StagedRows(NamedTuple):
    """The pieces that another program has written for a run, and how many rows they have."""

    fragments: list[str]
    rows: int


class Sink(ABC):
    """The capability of an engine to write tables for runs."""

    @abstractmethod
    def form(
        self, lowered: LoweredSchema, numbers: Mapping[SchemaField, Numbers] | None, extra: Extra
    ) -> TableForm:
        """Return the form of the table for a compiled schema with these attributes."""

    @abstractmethod
    def written_schema(self, schema: pa.Schema) -> pa.Schema:
        """Return the schema that batches have to have to be written."""

    @abstractmethod
    def find(self, path: str, storage_options: Storage) -> ExistingTable | None:
        """Return the table at a path; None if there is none. Raises PipelineError if it cannot be opened."""

    @abstractmethod
    def count_rows(self, path: str, storage_options: Storage) -> int:
        """Count the rows of a table; 0 if there is none."""

    @abstractmethod
    def is_free(self, path: str) -> bool:
        """Whether a folder without a table may become one: nothing is in it but what runs left there."""

    @abstractmethod
    def differences(
        self, path: str, form: TableForm, storage_options: Storage, *, ids: bool = True
    ) -> tuple[str, ...]:
        """Return how a table differs from its form, as sentences; `ids=False` compares by path only."""

    @abstractmethod
    def runs(self, table: str | Any, storage_options: Storage | None = None) -> Iterator[CommittedRun]:
        """List the runs that a table has the commits of, the last one first. `table` is a path or an open table of the engine."""

    @abstractmethod
    def find_run(self, run: RunIdentity, table: str, storage_options: Storage) -> CommittedRun | None:
        """Find the commit of a run in the table; one that was made before this attempt of the run started is not looked for."""

    @abstractmethod
    def recover(self, table: str, quarantine: str | None, storage_options: Storage) -> None:
        """Undo, or finish, what runs that died have left in a table and its quarantine."""

    @abstractmethod
    def fence(self, run: RunIdentity, paths: Iterable[str]) -> None:
        """Keep earlier attempts of a run, whose driver may be gone, from committing to these tables from now on.

        It does so with this attempt too if its driver has given it up: Spark's processes may still be running.
        Waits for one that is committing. Raises PipelineError if another attempt is at work.
        """

    @abstractmethod
    def claim(self, place: WriteTarget, fragments: list[str]) -> None:
        """Begin the commit: from here on no other attempt of the same run can begin one.

        Raises PipelineError if another attempt has begun, or where this one was fenced.
        """

    @abstractmethod
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
        """Choose the place for a run that appends to a table, or replaces its rows; either makes the table where it is missing."""

    @abstractmethod
    def open_staging(self, place: WriteTarget) -> None:
        """Make the folder that tasks write to."""

    @abstractmethod
    def write(self, place: WriteTarget, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> list[str]:
        """Write batches where no reader sees them; the pieces that a commit takes."""

    @abstractmethod
    def open_staging_table(self, place: WriteTarget, form: TableForm) -> str:
        """Make a table without rows in the open staging of a place, for a program that only writes whole tables; its path.

        What is appended to it has the numbers that the fields have in the run's table.
        """

    @abstractmethod
    def collect_staging_table(self, place: WriteTarget) -> StagedRows:
        """Return the rows of that table as pieces of the run."""

    @abstractmethod
    def judge(
        self, place: WriteTarget, form: TableForm, fragments: list[str], deletes: pa.Table, merge: Merge
    ) -> MergedRows:
        """Decide which records of the pieces, and which deleting ones, count against the rows of the table.

        Raises PipelineError if the merge refuses keys that the table has.
        """

    @abstractmethod
    def merge(self, place: WriteTarget, merged: MergedRows) -> int:
        """Commit what was judged to a table that exists; the new version."""

    @abstractmethod
    def move_out(self, place: WriteTarget, schema: pa.Schema, version: int, addresses: list[int]) -> int:
        """Take rows out of a dataset, by their addresses in a version (see `Source.read`); the new version.

        `take_back` brings them back. Raises PipelineError if others have changed these rows since.
        """

    @abstractmethod
    def commit(
        self, place: WriteTarget, form: TableForm, fragments: list[str], *, may_join: bool = False
    ) -> int:
        """Add the pieces to the table, or make it of them; the new version.

        A table that another run has created in the meantime is joined if it may be: its schema is known to be the same.
        """

    @abstractmethod
    def close_staging(self, place: WriteTarget) -> None:
        """Remove the folder that tasks wrote to, with everything that is still in it."""

    @abstractmethod
    def give_up(self, place: WriteTarget, fragments: list[str]) -> None:
        """Remove what an attempt wrote whose run another attempt has committed."""

    @abstractmethod
    def discard(self, place: WriteTarget, fragments: list[str]) -> None:
        """Remove what a run wrote and did not commit."""

    @abstractmethod
    def take_back(self, place: WriteTarget, version: int) -> None:
        """Undo a commit of this run; what others have written since stays."""


@dataclass(frozen=True)
class Projection:
    """Which columns and rows of a table are read, and what is read besides."""

    columns: Sequence[str] | None = None
    """Columns of the source's `schema`; None for all."""
    filter: str | None = None
    """A condition in the engine's own language that the rows have to meet."""
    row_id: str | None = None
    """The name of a last column (int64) for the ids of the rows, which stay; None if there is to be none."""
    address: str | None = None
    """Likewise, for their addresses, behind the ids."""
    is_exact: bool = False
    """Whether types are read that some readers do not have: see `Source.schema`."""


WHOLE_ROWS = Projection()


class SourceFormat(ABC):
    """The capability of an engine to read tables for runs; the name of the engine is the format of the source."""

    options: tuple[str, ...] = ()
    """Names of the options that a source takes; `version` pins the version of a table."""

    @abstractmethod
    def newest_version(self, path: str, storage_options: Storage = NO_STORAGE) -> int | None:
        """Return the newest version of the table at a path; None if there is none."""

    @abstractmethod
    def schema(
        self, path: str, version: int, storage_options: Storage = NO_STORAGE, *, is_exact: bool = False
    ) -> pa.Schema:
        """Columns that can be read, of types that are in every reader's vocabulary: no extensions, no unsigned integers.

        With `is_exact` also nanoseconds, times of day and durations of any unit, which some readers do not have.
        """

    @abstractmethod
    def parts(self, path: str, version: int, storage_options: Storage = NO_STORAGE) -> list[int]:
        """Return the numbers of the parts that can be read side by side."""

    def added(self, path: str, after: int, version: int, storage_options: Storage = NO_STORAGE) -> list[int]:
        """Return the parts that a version has, and an earlier one (0: none) did not. PipelineError where rows changed in between."""
        raise NotImplementedError

    @abstractmethod
    def read(
        self,
        path: str,
        version: int,
        part: int,
        projection: Projection = WHOLE_ROWS,
        storage_options: Storage = NO_STORAGE,
    ) -> Iterator[pa.RecordBatch]:
        """Read the rows of one part."""

    @abstractmethod
    def check_filter(
        self, path: str, version: int, filter: str, storage_options: Storage = NO_STORAGE
    ) -> None:
        """Raise PipelineError if a version of a table cannot be filtered so."""


SINK: Capability[Sink] = Capability("sink", Sink)  # type: ignore[type-abstract]
SOURCE: Capability[SourceFormat] = Capability("source", SourceFormat)  # type: ignore[type-abstract]


def sink_names() -> tuple[str, ...]:
    """Names of the engines whose tables runs write; the first one is the default."""
    return SINK.names(engines())


def sink_engine(name: str | None) -> Engine:
    """Return the engine that writes a format; without one, the first that writes tables."""
    return engine(sink_names()[0] if name is None else name)


def sink_of(name: str | None) -> Sink:
    """Return what writes a format."""
    return SINK.of(sink_engine(name))


def source_names() -> tuple[str, ...]:
    """Names of the engines whose tables runs read."""
    return SOURCE.names(engines())


def source_of(name: str) -> SourceFormat | None:
    """Return what reads a format; None if no engine does."""
    return SOURCE.of(engine(name)) if name in source_names() else None


def check_same_schema(sink: Sink, path: str, form: TableForm, storage_options: Storage) -> None:
    """Refuse rows that a table cannot take as they are. Raises PipelineError."""
    differences = sink.differences(path, form, storage_options, ids=False)
    if differences:
        message = f"the table `{path}` has a different schema: {'; '.join(differences[:5])}"
        help = "`schemac plan` shows how to change the table to the schema; `mode: overwrite` replaces it"
        raise PipelineError(SCHEMA_MISMATCH, message, help, place=("target", "path"))


def table_runs(
    table: str | Any, sink: Sink | None, storage: Storage | None = None
) -> Iterable[CommittedRun] | None:
    """Return the runs, the last one first; None if the path is not a folder of files and no engine is given.

    `table` is a path or an open table of the engine. Raises the engine's error if there is none.
    """
    if isinstance(table, str) and (is_local(table) or sink is None):
        try:
            records = records_in(table, storage or NO_STORAGE)
        except (OSError, ValueError):
            if is_local(table):
                raise
            return None
        if records is not None:
            return [record.run for record in records]
    return None if sink is None else sink.runs(table, storage)


def runs_of(
    table: str | Any,
    *,
    current: bool = False,
    storage_options: Storage | None = None,
    format: str | None = None,
) -> tuple[CommittedRun, ...]:
    """List the runs that a table has the commits of, the last one first; `current`: only those whose rows it still has.

    `table` is a path or an open table of the engine, such as a `LanceDataset`, or a folder of files on this machine. Raises what the
    engine raises where there is none.
    """
    committed_runs = []
    for run in table_runs(table, sink_of(format), storage_options) or ():
        committed_runs.append(run)
        if current and run.identity.mode == Mode.OVERWRITE:
            break
    return tuple(committed_runs)
