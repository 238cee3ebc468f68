"""Settles records where they are read: those that the batch reader proves are packed, and the others are judged one by one.

Layer: pipeline.
Shape: the work of a task (see `cutting`). Good records leave it packed, whichever way they were read; each of the others is a
       row with its text, its file and every reason. Spark has nothing left to compute.
Rule: only where the judge covers every field, and where no text that Java would write becomes a value.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from schemac.judging.arrays import plain_array
from schemac.judging.forms import LONGEST_VALUE
from schemac.judging.judge import Judge, Judged, Reason
from schemac.judging.settings import Settings
from schemac.pipeline.batch_reading.batch_reader import Sieve
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.reading.csv_grammar import Dialect
from schemac.pipeline.reading.csv_records import QUOTES
from schemac.pipeline.reading.cutting import Found, sound
from schemac.pipeline.reading.json_records import BLANK
from schemac.pipeline.reading.pieces import File
from schemac.pipeline.reading.source import EXPLAINED, Records
from schemac.pipeline.reading.texts import BAD_ENCODING
from schemac.pipeline.spark.columns import ERRORS, RAW, REASONS, SOURCE
from schemac.pipeline.spark.packed import ARROW_TYPE, PACKED, packed
from schemac.pipeline.values.judges import judge_of

MALFORMED = "malformed"
ROW = pa.schema(
    [
        pa.field(RAW, pa.string()),
        pa.field(ERRORS, REASONS),
        pa.field(SOURCE, pa.string()),
        pa.field(PACKED, ARROW_TYPE),
    ]
)


class _Wrong(NamedTuple):
    """A record that does not fit."""

    text: str
    reasons: tuple[Reason, ...]


@dataclass(frozen=True)
class JsonJudging:
    """Judges the text of a record that is an object of JSON; one of a document may hold nothing but blanks."""

    is_line: bool

    def judged(self, judge: Judge, text: str) -> Judged | None:
        """Judge a record; None where a line only holds blanks, and is none."""
        return None if self.is_line and not text.strip(BLANK) else judge.json(text)


@dataclass(frozen=True)
class CsvJudging:
    """Judges the text of a record that is one of CSV."""

    columns: tuple[str, ...]
    dialect: Dialect

    def judged(self, judge: Judge, text: str) -> Judged | None:
        """Judge a record."""
        if not self.dialect.is_sound(text):
            return _broken(QUOTES, text)
        cells = self.dialect.values(text)
        if len(cells) != len(self.columns):
            return _broken(MALFORMED, text)
        return judge.csv(dict(zip(self.columns, cells, strict=True)))


@dataclass(frozen=True)
class Settling:
    """The work of a task that settles records."""

    sieve: Sieve
    judging: JsonJudging | CsvJudging
    stored_schema: bytes
    """As an IPC message: a type that is pickled loses what its children say."""
    settings: Settings

    @property
    def schema(self) -> StructType:
        """Columns of the rows."""
        return from_arrow_schema(ROW)

    @cached_property
    def judge(self) -> Judge:
        """Made in the process that judges."""
        return Judge(pa.ipc.read_schema(pa.py_buffer(self.stored_schema)), self.settings)

    def __call__(self, file: File, found: Found) -> Iterator[pa.RecordBatch]:
        """Settle some records of a file."""
        texts = sound(*found)
        proven, batch = self.sieve(texts)
        good, wrong = self._judged(found, texts, pc.invert(proven))
        yield from (_row(packed(one)) for one in (batch, good) if one.num_rows)
        if wrong:
            yield _rows(file, wrong)

    def _judged(self, found: Found, texts: pa.Array, rest: pa.Array) -> tuple[pa.RecordBatch, list[_Wrong]]:
        good, wrong = [], []
        held = found.texts.filter(rest).to_pylist()
        faults = [None] * len(held) if found.faults is None else found.faults.filter(rest).to_pylist()
        for text, own, fault in zip(texts.filter(rest).to_pylist(), held, faults, strict=True):
            if text is not None:
                judged = self.judging.judged(self.judge, text)
            elif fault is None:
                own = own.decode("iso-8859-1")
                judged = _broken(BAD_ENCODING, own)
            else:
                judged = _broken(fault, own)
            if judged is None:
                continue
            if judged.values is None:
                wrong.append(_Wrong(own if text is None else text, judged.reasons))
            else:
                good.append(judged.values)
        schema = self.judge.schema
        columns = [plain_array([values[part.name] for values in good], part) for part in schema]
        return pa.RecordBatch.from_arrays(columns, names=schema.names), wrong


def _broken(rule: str, text: str) -> Judged:
    return Judged(None, (Reason("", rule, EXPLAINED.get(rule, text)[:LONGEST_VALUE]),))


def _row(held: pa.Array) -> pa.RecordBatch:
    nothing = [pa.nulls(1, part.type) for part in list(ROW)[:-1]]
    return pa.RecordBatch.from_arrays([*nothing, held], schema=ROW)


def _rows(file: File, wrong: list[_Wrong]) -> pa.RecordBatch:
    columns = [
        pa.array([record.text for record in wrong], pa.string()),
        # A reason is a tuple, whose parts stand in the order of the type's.
        pa.array([record.reasons for record in wrong], ROW.field(ERRORS).type),
        pa.repeat(pa.scalar(file.uri), len(wrong)),
        pa.nulls(len(wrong), ARROW_TYPE),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=ROW)


def settling_of(records: Records, sieve: Sieve, schema: pa.Schema, job: Job) -> Settling | None:
    """How the records of a source are settled where they are read; None where some of them need Spark."""
    if records.worked is None or records.partitions or records.given or sieve.keeping is not None:
        return None
    judge = judge_of(job, schema)
    if judge is None or judge.shows_numbers:
        return None
    judging: JsonJudging | CsvJudging = JsonJudging(records.is_of_lines)
    if records.csv is not None:
        judging = CsvJudging(records.csv.columns or (), records.csv.dialect)
    return Settling(sieve, judging, schema.serialize().to_pybytes(), judge.settings)
