"""What an engine does for runs that fill columns of a table: its rows stay, and get values in these columns.

Layer: rows.
Shape: the driver opens a `Filling` and looks which parts of the table have no values yet; tasks write the values of one part each,
       in the order of its rows, where no reader sees them; the driver commits all of them as one version. What was written for
       a part is kept until then, also if the run dies, and counts for as long as the part is what it was.
Errors: PipelineError for what the author of the pipeline can mend.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from schemac.registry.engine import Capability
from schemac.rows.runs.identity import RunIdentity
from schemac.rows.runs.storage import Storage
from schemac.rows.runs.tables import TableForm, WriteTarget

ADDRESSES = "_address"
"""The first column of what tasks write: the addresses of rows, as `Source.read` gives them (int64), ascending."""


@dataclass(frozen=True)
class FilledColumns:
    """The names of the columns that a run fills, and what their values are made of."""

    names: tuple[str, ...]
    key: str
    """What their values are made of, as a digest: those of another key do not count."""
    keeps: bool
    """Whether rows that are not written keep the value that they have."""


@dataclass(frozen=True)
class Filling:
    """What a run fills in a table: everything that its tasks need to know."""

    place: WriteTarget
    columns: FilledColumns
    ids: tuple[tuple[int, ...], ...]
    """The engine's ids of each column and of what is below it."""
    schema: bytes
    """The Arrow schema of the columns as a message of IPC: pickling a pyarrow type drops what its child fields say."""
    form: bytes
    """That of all columns of the table."""
    native: str
    version: str | None
    """The locked version of the schema, as tables keep it; None if it has no lock."""

    def read_schema(self) -> pa.Schema:
        """Return the Arrow schema of the columns."""
        return pa.ipc.read_schema(pa.BufferReader(self.schema))

    def table_form(self) -> TableForm:
        """Return the form of the table."""
        schema = pa.ipc.read_schema(pa.BufferReader(self.form))
        return TableForm(schema, self.native, version=self.version)


@dataclass(frozen=True)
class Look:
    """A version of the table, with the parts that have no values yet."""

    version: int
    missing: tuple[int, ...]
    """The parts that have no values yet; one for each task."""
    reused: int
    """Parts whose values an earlier attempt, or an earlier look, has written."""
    numbers: Mapping[str, int]
    """What was told of these parts, added up."""


class ColumnSink(ABC):
    """The capability of an engine to fill columns of a table that exists."""

    @abstractmethod
    def new_columns(
        self, path: str, form: TableForm, columns: tuple[str, ...], storage: Storage
    ) -> tuple[str, ...]:
        """Return those of the columns that the table does not have yet.

        Raises PipelineError if there is no table, or if its other columns do not have this form.
        """

    @abstractmethod
    def open(
        self, path: str, form: TableForm, columns: FilledColumns, *, storage: Storage, run: RunIdentity
    ) -> Filling:
        """Begin to fill columns, or go on where an attempt of the same run has died."""

    @abstractmethod
    def look(self, filling: Filling) -> Look:
        """Look which parts of the newest version have no values yet. Raises PipelineError if its columns have changed."""

    @abstractmethod
    def prepare(self, filling: Filling, version: int) -> str:
        """Make the folder that tasks write to."""

    @abstractmethod
    def write(
        self, filling: Filling, version: int, folder: str, part: int, batches: Iterator[pa.RecordBatch]
    ) -> str:
        """Write the values of a part; the piece that `keep` takes. The batches have `ADDRESSES`, then the columns."""

    @abstractmethod
    def keep(self, filling: Filling, fragment: str, numbers: Mapping[str, int]) -> None:
        """Count a piece as the values of its part, from now on; `numbers` come back, added up, with a `Look`."""

    @abstractmethod
    def leave(self, filling: Filling, version: int, parts: tuple[int, ...]) -> None:
        """Note that nothing is to be written for these parts. Raises PipelineError if they need values."""

    @abstractmethod
    def commit(self, filling: Filling, look: Look, commit_properties: Mapping[str, str]) -> int | None:
        """Commit the values to the version that was read; return the new version, None if the table has changed since."""

    @abstractmethod
    def pause(self, filling: Filling) -> None:
        """Leave what is kept to the next attempt of the run."""

    @abstractmethod
    def close(self, filling: Filling) -> None:
        """Remove everything that was written and is not in the table."""


COLUMN_SINK: Capability[ColumnSink] = Capability("column_sink", ColumnSink)  # type: ignore[type-abstract]
