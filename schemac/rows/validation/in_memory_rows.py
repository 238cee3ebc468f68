"""Rows that programs have in memory: Arrow, whatever hands Arrow over, and objects of Python.

Layer: rows.
Shape: `batches_of` gives the record batches of an object, with their schema. A `PythonRowReader` judges the rows of others: objects become
      columns, one for each field, of which Arrow proves what it can; texts of JSON go the way of records.
Source: the Arrow PyCapsule interface. A frame of pandas goes through `pyarrow.Table.from_pandas`, which reads its columns of objects.
"""

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import groupby, islice
from typing import Any, cast

import numpy as np
import pyarrow as pa
from pydantic_core import to_json

from schemac.rows.judging.arrays import is_laid_out, laid_out
from schemac.rows.judging.judge import Judge, Reader, Run, malformed, object_to_unexpected
from schemac.rows.judging.object_proofs import members_of, object_proof
from schemac.rows.judging.reasons import reason_array
from schemac.rows.judging.settings import Settings
from schemac.rows.judging.tokens import WHOLE_TYPES, NotJsonError, Number, as_record_value, text_of_object
from schemac.rows.validation.result import JudgedBatch
from schemac.rows.validation.validator import (
    NO_RECORD,
    TEXT,
    FieldReader,
    Validator,
    look_at_constraints,
    validated_fields,
)

ROWS_AT_ONCE = 8192
"""Rows of Python that are put into one batch."""

MOST_ROWS = 65_536
"""Rows of a batch that is judged at once."""


@dataclasses.dataclass(frozen=True)
class Batches:
    """Rows that Arrow holds."""

    schema: pa.Schema
    batches: Iterable[pa.RecordBatch]

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield batches of a size that is worked on at once, with what has a layout of its own in a plain one."""
        for batch in self.batches:
            if not all(is_laid_out(member.type) for member in self.schema):
                columns = [laid_out(column) for column in batch.columns]
                batch = pa.RecordBatch.from_arrays(columns, names=self.schema.names)
            for start in range(0, batch.num_rows, MOST_ROWS):
                yield batch.slice(start, MOST_ROWS)


class NoRowsError(Exception):
    """An object that holds no rows."""


def batches_of(source: Any) -> Batches | None:
    """Return the batches of what holds Arrow, or hands it over; None for rows of Python. Raises NoRowsError."""
    if isinstance(source, pa.RecordBatch):
        return Batches(source.schema, [source])
    if isinstance(source, pa.Table):
        return Batches(source.schema, source.to_batches())
    if isinstance(source, pa.RecordBatchReader):
        return Batches(source.schema, source)
    # The class is not looked up, for pandas need not be installed.
    is_of_pandas = any(one.__module__.partition(".")[0] == "pandas" for one in type(source).__mro__)
    if is_of_pandas and hasattr(source, "columns"):
        table = pa.Table.from_pandas(source, preserve_index=False)
        return Batches(table.schema.remove_metadata(), table.to_batches())
    if hasattr(source, "__arrow_c_stream__"):
        reader = pa.RecordBatchReader.from_stream(source)
        return Batches(reader.schema, reader)
    if isinstance(source, str | bytes | Mapping) or not isinstance(source, Iterable):
        raise NoRowsError(type(source).__name__)
    return None


Opener = Callable[[Any], dict[Any, Any] | None]


def opener_of(row_class: type, names: list[str]) -> Opener:
    """Return the function that makes a dict from a row of a class, or None. A plain tuple or list has the order of the fields."""
    if row_class is dict:
        return lambda row: cast("dict[Any, Any]", row)
    if issubclass(row_class, Mapping):
        return lambda row: dict(row.items())
    if hasattr(row_class, "model_dump"):
        return lambda row: cast("dict[Any, Any]", row.model_dump())
    if dataclasses.is_dataclass(row_class):
        labels = [field.name for field in dataclasses.fields(row_class)]
        return lambda row: {label: getattr(row, label) for label in labels}
    if hasattr(row_class, "_asdict"):
        return lambda row: dict(row._asdict())
    if issubclass(row_class, tuple | list):
        return lambda row: dict(zip(names, row, strict=True)) if len(row) == len(names) else None
    return lambda row: None


class PythonRowReader:
    """Reads rows of Python, some thousands at a time: objects with names and values, and texts of JSON, which have no objects in them."""

    def __init__(self, schema: pa.Schema, settings: Settings) -> None:
        self._judge = Judge(schema, replace(settings, takes_objects=True))
        self.uncovered = self._judge.uncovered
        """Names of the fields that no row of Python has."""
        if not self.uncovered:
            self._texts = Validator(self._judge.schema, settings)
        self.fields = [
            FieldReader(member, _of_objects(read), list, object_proof(member, settings))
            for member, (_, _, read) in zip(self._judge.schema, self._judge.json_readers, strict=False)
        ]
        self._openers: dict[type, Opener] = {}

    def validated(self, rows: Iterable[Any]) -> Iterator[JudgedBatch]:
        """Yield batches of rows."""
        for is_text, several in groupby(rows, lambda row: isinstance(row, str)):
            while chunk := list(islice(several, ROWS_AT_ONCE)):
                judged = self._of_texts(chunk) if is_text else self._of_objects(chunk)
                judged.source = partial(_texts_of_rows, chunk)
                yield judged

    def _of_texts(self, chunk: Sequence[str]) -> JudgedBatch:
        try:
            texts = pa.array(chunk, pa.string())
        except UnicodeEncodeError:
            # Half of a pair of surrogates becomes an escape that no record may have.
            texts = pa.array([_encodable(text) for text in chunk], pa.string())
        judged = self._texts.validate(pa.RecordBatch.from_arrays([texts], [TEXT]))
        if not self.fields:
            # Then no text is taken apart.
            for row, text in enumerate(chunk):
                several = self._judge.json(text).reasons
                judged.reasons.add(np.full(len(several), row), reason_array(several))
        judged.forget([*judged.reasons.whole])
        return judged

    def _of_objects(self, chunk: Sequence[Any]) -> JudgedBatch:
        names, broken = self._judge.schema.names, {}
        for one in set(map(type, chunk)) - self._openers.keys():
            self._openers[one] = opener_of(one, names)
        dicts = []
        for row, one in enumerate(chunk):
            values = self._openers[type(one)](one)
            dicts.append(values or {})
            if values is None:
                broken[row] = _encodable(repr(one))
        members = members_of(dicts, names)
        columns: Sequence[Any] = (
            [list(column) for column in members.columns] if members.odd else members.columns
        )
        for row in members.odd:
            try:
                dicts[row] = as_record_value(dicts[row])
            except NotJsonError:
                broken[row] = shown_row(chunk[row])
            for name, column in zip(names, columns, strict=True):
                column[row] = dicts[row].get(name)
        arrays, reasons = validated_fields(self.fields, columns)
        for row in members.others if self._judge.objects else ():
            run = Run()
            object_to_unexpected(dicts[row], frozenset(names), "", run)
            reasons.add(np.full(len(run.reasons), row), reason_array(run.reasons))
        judged = JudgedBatch(pa.RecordBatch.from_arrays(arrays, names=names), reasons)
        broken |= {row: shown_row(chunk[row]) for row in reasons.rows_with(NO_RECORD)}
        judged.forget([*broken])
        look_at_constraints(self._texts.constraints, judged)
        for row, text in broken.items():
            reasons.refuse(row, malformed(text))
        return judged


def _of_objects(read: Reader) -> Reader:
    """Return a reader that accepts Python objects."""

    def read_object(x: Any, path: Any, run: Run) -> Any:
        try:
            value = as_record_value(x, 1)
        except NotJsonError:
            run.reasons.append(NO_RECORD)
            return None
        return read(value, path, run)

    return read_object


def _texts_of_rows(rows: Sequence[Any], numbers: Any) -> pa.RecordBatch:
    """Return some rows as text."""
    texts = pa.array([shown_row(rows[number]) for number in numbers.tolist()], pa.string())
    return pa.RecordBatch.from_arrays([texts], ["_raw"])


def shown_row(row: Any) -> str:
    """Write a row as text, to be recognized."""
    if isinstance(row, str):
        return _encodable(row)
    try:
        return to_json(row, bytes_mode="base64", inf_nan_mode="constants", fallback=_value_text).decode()
    except (TypeError, ValueError, RecursionError):
        return _encodable(_text_with_odd_parts(row))


def _text_with_odd_parts(row: Any) -> str:
    """Write a row in which a text holds half of a pair of surrogates, a key is not a text, or the like."""
    try:
        return json.dumps(row, ensure_ascii=False, default=_value_text)
    except (TypeError, ValueError, RecursionError):
        return text_of_object(row)


def _encodable(text: str) -> str:
    """Write half of a pair of surrogates as an escape."""
    return text.encode(errors="backslashreplace").decode()


def _value_text(value: Any) -> Any:
    if type(value) in WHOLE_TYPES or type(value) is Decimal:
        return str(value)
    converted = as_record_value(value)
    return (
        converted if type(converted) is not type(value) and not isinstance(converted, Number) else str(value)
    )
