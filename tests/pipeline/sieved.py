"""Records read by a task with its sieve, and without it: the same values and the same reasons, without Java."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from schemac.pipeline.batch_reading.record_task import TEXT, CsvForm, FieldInput, RecordTask
from schemac.pipeline.batch_reading.sieve import sieve_of
from schemac.pipeline.conforming.clocks import with_zones
from schemac.pipeline.conforming.validation import settings_of
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.reading.csv_grammar import Dialect
from schemac.pipeline.reading.csv_records import CsvRecords
from schemac.pipeline.reading.source import json_text_records
from schemac.pipeline.reading.texts import Texts
from schemac.pipeline.spark.columns import ERRORS


def no_frame() -> None:
    """What is read here is no frame of Spark."""


def job_of(path: Path, form: str, **told: Any) -> Job:
    source = {"path": str(path), "format": form, "options": {"multiLine": False}}
    return Job.model_validate({"source": source, "target": {"path": "-"}, **told})


def task_of(schema: pa.Schema, job: Job, columns: tuple[str, ...] = ()) -> RecordTask:
    """The task that reads texts of records; `columns` are those of CSV."""
    texts, zoned = Texts(no_frame, {}), with_zones(schema, job)
    records = json_text_records(texts)
    form = None
    if job.source.format == "csv":
        dialect = Dialect()
        records = replace(records, columns={}, csv=CsvRecords(texts, {}, {}, (), "", dialect, columns))
        form = CsvForm(columns, dialect)
    inputs = tuple(FieldInput(field.name, "record") for field in zoned)
    sieve = sieve_of(records, zoned, job)
    return RecordTask(
        zoned.serialize().to_pybytes(), settings_of(job), inputs, sieve, form, kept=(TEXT,), keeps_all=True
    )


def rows_by_text(task: RecordTask, lines: list[str]) -> list[str]:
    """Each record with its values and its reasons, in an order of their own."""
    batch = pa.record_batch([pa.array(lines, pa.string())], [TEXT])
    return sorted(shown(row) for found in task.rows(batch) for row in rows_of(found))


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
    return [{TEXT: row[TEXT], ERRORS: row[ERRORS]} if row[ERRORS] else row for row in rows]


def shown(row: dict[str, Any]) -> str:
    """As text, for NaN is not itself; the entries of a map have no order."""
    return repr(_sorted(row))


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list) and value and all(type(item) is tuple for item in value):
        return sorted(value, key=repr)
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def sieved_alike(
    schema: pa.Schema, lines: list[str], path: Path, form: str, columns: tuple[str, ...] = (), **told: Any
) -> int:
    """Hold records that are read with the sieve against the same without it; how many it proved."""
    task = task_of(schema, job_of(path, form, **told), columns)
    if task.sieve is None:
        return 0
    fast, slow = rows_by_text(task, lines), rows_by_text(replace(task, sieve=None), lines)
    assert [pair for pair in zip(fast, slow, strict=True) if pair[0] != pair[1]] == []
    return sum(task.sieve(pa.array(lines)).proven.to_pylist())
