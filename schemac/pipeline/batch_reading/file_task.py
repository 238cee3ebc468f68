"""The work of a task that reads the texts of records out of files, those of many small files together.

Layer: pipeline.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from schemac.pipeline.batch_reading.record_task import FAULT, SHOWN, RecordTask
from schemac.pipeline.reading.cutting import Found, gathered, sound
from schemac.pipeline.reading.pieces import File
from schemac.pipeline.reading.texts import BAD_ENCODING
from schemac.pipeline.spark.columns import RAW, SOURCE
from schemac.rows.judging.tokens import BLANK
from schemac.rows.validation.validator import TEXT


@dataclass(frozen=True)
class FileTask:
    """The work of a task that reads the texts of records out of files."""

    task: RecordTask
    is_of_lines: bool

    @property
    def schema(self) -> Any:
        """Columns of the rows."""
        from pyspark.sql.pandas.types import from_arrow_schema

        texts = [pa.field(name, pa.string()) for name in self.task.kept]
        return from_arrow_schema(pa.schema([*self.task.row_schema, *texts]))

    def __call__(self, records: Iterator[tuple[File, Found]]) -> Iterator[pa.RecordBatch]:
        """Read the records of files."""
        for together in gathered(records):
            batches = [self._texts(file, file_records) for file, file_records in together]
            for batch in batches if len(batches) == 1 else _joined(batches):
                yield from self.task.rows(batch)

    def _texts(self, file: File, records: Found) -> pa.RecordBatch:
        """Return the texts of some records of a file, and what is wrong with them as a whole."""
        texts = sound(*records)
        faults, raw = records.faults, records.texts
        if texts.null_count:
            known = [None] * len(texts) if faults is None else faults.to_pylist()
            decoded = [one.decode("iso-8859-1") if isinstance(one, bytes) and text is None else text if isinstance(one, bytes) else one
                     for one, text in zip(raw.to_pylist(), texts.to_pylist(), strict=True)]  # fmt: skip
            rules = [
                fault if text is not None or fault is not None else BAD_ENCODING
                for fault, text in zip(known, texts.to_pylist(), strict=True)
            ]
            faults = pa.array(rules, pa.string())
            columns = {
                TEXT: texts,
                FAULT: faults,
                SHOWN: pa.array(decoded, pa.string()),
                RAW: pa.array(decoded, pa.string()),
            }
        else:
            columns = {TEXT: texts, RAW: texts}
        if self.is_of_lines and self.task.csv is None:
            # Only a line that no pattern proves may be blank.
            columns = _without_blank(columns)
        columns[SOURCE] = pa.repeat(pa.scalar(file.uri, pa.string()), len(columns[TEXT]))
        return pa.record_batch(list(columns.values()), list(columns))


def _joined(batches: Sequence[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Join batches one after the other; a column that some of them lack is null there."""
    tables = [pa.Table.from_batches([batch]) for batch in batches]
    joined: list[pa.RecordBatch] = (
        pa.concat_tables(tables, promote_options="default").combine_chunks().to_batches()
    )
    return joined


def _without_blank(columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
    is_blank = pc.fill_null(pc.equal(pc.utf8_trim(columns[TEXT], BLANK), ""), False)
    if not pc.any(is_blank).as_py():
        return columns
    rest = pc.invert(is_blank)
    return {name: column.filter(rest) for name, column in columns.items()}
