"""Writes rows that do not fit to the quarantine, where Spark itself writes the rows that fit.

Layer: pipeline.
Shape: a data source with the columns of a quarantine. Its tasks write pieces that no reader of the quarantine sees yet; its "commit" lists
them in a file, because Spark calls it in another process. The caller of `stage` commits them.
"""

import dataclasses
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.datasource import DataSource, DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from schemac.pipeline.declaration.parts import Key, Limits
from schemac.pipeline.spark.executors import register
from schemac.pipeline.writing.batches import QuarantineBuffer
from schemac.rows.judging.reasons import QUARANTINE_SCHEMA
from schemac.rows.runs.identity import random_id
from schemac.rows.runs.staging import temporary_folder
from schemac.rows.runs.tables import WriteTarget, sink_of

FORMAT = "schemac-quarantine-staging-"


@dataclass
class StagedRows(WriterCommitMessage):  # type: ignore[misc]  # PySpark is not followed
    """What one task wrote, or all of them."""

    pieces: list[str] = dataclasses.field(default_factory=list)
    rows: int = 0
    reasons: Counter[tuple[str, str]] = dataclasses.field(default_factory=Counter)
    broken: Counter[Key] = dataclasses.field(default_factory=Counter)

    def add(self, other: "StagedRows") -> None:
        """Add what another task wrote."""
        self.pieces += other.pieces
        self.rows += other.rows
        self.reasons.update(other.reasons)
        self.broken.update(other.broken)

    def write(self, path: Path) -> None:
        """Write a file of it."""
        counts = {name: list(getattr(self, name).items()) for name in ("reasons", "broken")}
        path.write_text(json.dumps({"pieces": self.pieces, "rows": self.rows, **counts}))

    @classmethod
    def read(cls, path: Path) -> "StagedRows":
        """Return the content of a file. Raises OSError."""
        document = json.loads(path.read_text())
        reasons = Counter({(path, rule): count for (path, rule), count in document["reasons"]})
        broken: Counter[Key] = Counter({tuple(key): count for key, count in document["broken"]})
        return cls(document["pieces"], document["rows"], reasons, broken)


@dataclass(frozen=True)
class StagingWriter(DataSourceArrowWriter):  # type: ignore[misc]  # PySpark is not followed
    """Writes the rows of one run; made on the driver, copied to the tasks."""

    place: WriteTarget
    run: str
    limits: Limits
    notes: Path
    """The file that says what was written; only the driver has it."""

    def write(self, iterator: Iterator[pa.RecordBatch]) -> StagedRows:
        """Write the rows of one task."""
        with TemporaryFile() as file:
            bad = QuarantineBuffer(file, self.run, self.limits)
            for batch in iterator:
                bad.take_from(batch)
            if not bad.rows:
                return StagedRows()
            staged_files = sink_of(None).write(self.place, QUARANTINE_SCHEMA, bad.read())
            return StagedRows(staged_files, bad.rows, bad.reasons, bad.broken.counts)

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Note what all tasks wrote."""
        total = StagedRows()
        for message in messages:
            if isinstance(message, StagedRows):
                total.add(message)
        total.write(self.notes)

    def abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Do nothing: the caller that opened the place removes the pieces."""


class StagingSource(DataSource):  # type: ignore[misc]  # PySpark is not followed
    """Spark's way in; `stage` makes the class of one run."""

    made: StagingWriter
    word = ""

    @classmethod
    def name(cls) -> str:
        """Return the word for `format`."""
        return cls.word

    def writer(self, schema: StructType, overwrite: bool) -> StagingWriter:
        """Give the writer of the run."""
        return self.made


def stage(rows: DataFrame, place: WriteTarget, run: str, limits: Limits) -> StagedRows:
    """Write the rows of a frame, none of which fits, to the quarantine, without a commit."""
    with temporary_folder() as folder:
        made = StagingWriter(place, run, limits, folder / "staged.json")
        # Made here, and not found by its name: Spark's workers get the class itself. A session may keep the first of two
        # with one name, and two runs may have one id.
        word = f"{FORMAT}{random_id()}"
        source = type("RunStagingSource", (StagingSource,), {"made": made, "word": word})
        register(rows.sparkSession, source)
        rows.write.format(word).mode("append").save()
        return StagedRows.read(made.notes)
