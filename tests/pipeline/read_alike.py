"""Records read by a task many values at a time, and one by one: the same values and the same reasons, without Java."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa

from schemac.pipeline.conforming.mapping import with_zones
from schemac.pipeline.conforming.validation import settings_of
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.reading.csv_grammar import CsvDialect, CsvForm, CsvForms
from schemac.pipeline.reading.cutting import RecordTexts, TextBatches
from schemac.pipeline.reading.files import FileSplit, SourceFile
from schemac.pipeline.record_tasks import RecordTask
from schemac.pipeline.spark.packed import ERRORS, RAW
from schemac.rows.judging.json_proofs import RecordTokens
from schemac.rows.judging.reasons import Reasons
from schemac.rows.judging.settings import Step
from schemac.rows.validation import validator
from schemac.rows.validation.validator import FieldInput, FieldReader


def job_of(path: Path, form: str, **told: Any) -> Job:
    source = {"path": str(path), "format": form, "options": {"multiLine": False}}
    return Job.model_validate({"source": source, "target": {"path": "-"}, **told})


def task_of(schema: pa.Schema, job: Job) -> RecordTask:
    """The task that validates texts of records, or their cells."""
    zoned, is_csv = with_zones(schema, job), job.source.format == "csv"
    inputs = [
        FieldInput(one.name, "column" if is_csv else "record", one.name if is_csv else "") for one in zoned
    ]
    return RecordTask(zoned.serialize().to_pybytes(), settings_of(job), tuple(inputs), keeps_all=True)


def reader_of(lines: Sequence[str | bytes], schema: pa.Schema, columns: tuple[str, ...] = ()) -> TextBatches:
    """The reader that finds these records in any file; `columns` are those of CSV."""
    texts = pa.array(lines, pa.string() if all(isinstance(line, str) for line in lines) else pa.binary())
    forms = CsvForms((CsvForm(columns, CsvDialect(), tuple(schema.names)),)) if columns else None
    return TextBatches(lambda _: iter([RecordTexts(texts)]), forms=forms)


@contextmanager
def one_by_one() -> Iterator[None]:
    """No value is proven, and no record taken apart with others."""
    known = FieldReader.validated

    def validated(self: FieldReader, array: pa.Array) -> tuple[pa.Array, Reasons]:
        return known(replace(self, proof=None), array)

    tokens = mock.patch.object(validator, "_record_tokens", return_value=None)
    with mock.patch.object(FieldReader, "validated", validated), tokens:
        yield


@contextmanager
def doubts_counted() -> Iterator[set[int]]:
    """The numbers of the records of a batch that have a value which is read by itself."""
    known, rows = FieldReader.validated, set[int]()

    def validated(self: FieldReader, array: pa.Array) -> tuple[pa.Array, Reasons]:
        if self.proof is None:
            rows.update(range(len(array)))
        else:
            rows.update(np.flatnonzero(self.proof(array).doubtful).tolist())
        return known(self, array)

    split = RecordTokens.__call__

    def read(self: RecordTokens, texts: pa.Array) -> tuple[dict[tuple[Step, ...], pa.Array], Any]:
        columns, odd = split(self, texts)
        rows.update(np.flatnonzero(odd).tolist())
        return columns, odd

    with (
        mock.patch.object(FieldReader, "validated", validated),
        mock.patch.object(RecordTokens, "__call__", read),
    ):
        yield rows


def rows_by_text(task: RecordTask, reader: TextBatches) -> list[str]:
    """Each record with its values and its reasons, in an order of their own."""
    batches = reader(iter([FileSplit(SourceFile("", "", 0))]))
    return sorted(shown(row) for found in task(batches) for row in rows_of(found))


def rows_of(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """Rows of Python, with counts for timestamps, of which Python has not all; of a wrong record only the reasons."""
    columns = {
        name: column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    }
    rows = [
        dict(zip(columns, row, strict=True))
        for row in zip(*(c.to_pylist() for c in columns.values()), strict=True)
    ]
    return [{RAW: row[RAW], ERRORS: row[ERRORS]} if row[ERRORS] else row for row in rows]


def shown(row: dict[str, Any]) -> str:
    """As text, for NaN is not itself; the entries of a map have no order."""
    return repr(_sorted(row))


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list) and value and all(type(item) is tuple for item in value):
        return sorted(value, key=repr)
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def read_alike(
    schema: pa.Schema, lines: list[str], path: Path, form: str, columns: tuple[str, ...] = (), **told: Any
) -> int:
    """Hold records that are read many at a time against the same one by one; how many had no value in doubt."""
    task = task_of(schema, job_of(path, form, **told))
    reader = reader_of(lines, schema, columns)
    with doubts_counted() as doubtful:
        fast = rows_by_text(task, reader)
    with one_by_one():
        slow = rows_by_text(replace(task), reader)
    assert [pair for pair in zip(fast, slow, strict=True) if pair[0] != pair[1]] == []
    return len(lines) - len(doubtful)
