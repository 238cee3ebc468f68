"""Judges the values of batches and of rows, column by column.

Layer: rows.
Shape: a `JudgedBatch` has every column in its loose type (see `judging.proofs`), also the values that do not fit, and the reasons by rows.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import pyarrow as pa

from schemac.rows.judging.forms import LONGEST_VALUE
from schemac.rows.judging.judge import Judge
from schemac.rows.judging.loose import loose_array
from schemac.rows.judging.objects import as_record_value, text_of_object
from schemac.rows.judging.parts import Reader, Reason, Run
from schemac.rows.judging.proofs import Proof, proof_of, with_columns
from schemac.rows.judging.settings import Settings
from schemac.rows.judging.tokens import NotJsonError, Number, parse
from schemac.rows.judging.typed_texts import raw_values
from schemac.rows.judging.typed_values import typed_reader
from schemac.rows.validation.sources import as_mapping

ROWS_AT_ONCE = 8192
"""Rows of Python that are put into one batch."""


@dataclass
class JudgedBatch:
    """Rows with their values and with the reasons found so far, by the number of the row in the batch."""

    rows: pa.RecordBatch
    reasons: dict[int, list[Reason]] = field(default_factory=dict)
    source: pa.RecordBatch | None = None
    """The rows as they came."""

    def object_to(self, row: int, reason: Reason) -> None:
        """Add a reason."""
        self.reasons.setdefault(row, []).append(reason)


@dataclass(frozen=True)
class TypedColumn:
    """Judges a column that came with a type."""

    member: pa.Field
    source: pa.Field
    place: int
    proof: Proof | None
    read: Reader

    @classmethod
    def of(cls, member: pa.Field, schema: pa.Schema, settings: Settings) -> "TypedColumn":
        """Compile. Raises what `typed_reader` raises."""
        place = schema.get_field_index(member.name)
        source = schema.field(place)
        read = typed_reader(member, source, settings)
        return cls(member, source, place, proof_of(member, source), read)

    def judged(self, array: pa.Array, found: JudgedBatch) -> tuple[pa.Array, dict[int, list[Reason]]]:
        """Return the values, and the reasons by row."""
        if self.proof is None:
            doubtful: Any = pa.repeat(pa.scalar(True), len(array))
        else:
            doubtful = self.proof.doubts(array)
        rows = [i for i, one in enumerate(doubtful.to_pylist()) if one] if doubtful.true_count else []
        if not rows and self.proof is not None:
            return self.proof.taken(array), {}
        reasons: dict[int, list[Reason]] = {}
        values = []
        for row, value in zip(rows, raw_values(array.filter(doubtful)), strict=True):
            run = Run()
            values.append(self.read(value, self.member.name, run))
            if run.reasons:
                reasons[row] = run.reasons
        read = loose_array(values, self.member, self.source)
        if len(rows) == len(array) or self.proof is None:
            return read, reasons
        certain = self.proof.taken(array.filter(_inverted(doubtful)))
        return with_columns([certain, read], _order(doubtful)), reasons


def _inverted(mask: pa.Array) -> pa.Array:
    import pyarrow.compute as pc  # for start-up time: Arrow's functions are loaded when values are looked at

    return pc.invert(mask)


def _order(doubtful: pa.Array) -> pa.Array:
    """Return where each row is behind each other: those that are certain, then those that were in doubt."""
    held = doubtful.to_pylist()
    certain, read, order = 0, len(held) - sum(held), []
    for one in held:
        order.append(read if one else certain)
        certain, read = certain + (not one), read + one
    return pa.array(order, pa.int64())


def judged_batch(columns: list[TypedColumn], batch: pa.RecordBatch) -> JudgedBatch:
    """Judge the columns of a batch."""
    arrays, judged_batch = [], JudgedBatch(batch, {}, batch)
    by_column = []
    for one in columns:
        array, reasons = one.judged(batch.column(one.place), judged_batch)
        arrays.append(array)
        by_column.append(reasons)
    judged_batch.rows = pa.RecordBatch.from_arrays(arrays, names=[one.member.name for one in columns])
    for reasons in by_column:
        for row, several in reasons.items():
            judged_batch.reasons.setdefault(row, []).extend(several)
    return judged_batch


@dataclass(frozen=True)
class RowJudge:
    """Judges rows of Python: objects with names and values, and texts of JSON, which have no objects in them."""

    of_texts: Judge
    of_objects: Judge

    @classmethod
    def of(cls, schema: pa.Schema, settings: Settings) -> "RowJudge":
        """Compile both."""
        return cls(Judge(schema, settings), Judge(schema, replace(settings, takes_objects=True)))

    @property
    def uncovered(self) -> tuple[str, ...]:
        """Names of the fields that neither can read."""
        return self.of_texts.uncovered

    def judged(self, row: Any) -> tuple[dict[str, Any], list[Reason]]:
        """Return the values of a row, and the reasons."""
        if isinstance(row, str):
            try:
                record = parse(row)
            except NotJsonError:
                record = None
            if type(record) is not dict:
                return {}, [Reason("", "malformed", row[:LONGEST_VALUE])]
            found, run = self.of_texts.read(record)
            return found, run.reasons
        mapping = as_mapping(row, self.of_objects.schema.names)
        try:
            record = None if mapping is None else as_record_value(mapping)
        except NotJsonError:
            record = None
        if record is None:
            shown = repr(row) if mapping is None else shown_row(row)
            return {}, [Reason("", "malformed", shown[:LONGEST_VALUE])]
        found, run = self.of_objects.read(record)
        return found, run.reasons


def judged_rows(judge: RowJudge, rows: Iterator[Any]) -> Iterator[JudgedBatch]:
    """Judge rows of Python, some thousands at a time."""
    schema = judge.of_texts.schema
    names = schema.names
    while True:
        held = list(islice(rows, ROWS_AT_ONCE))
        if not held:
            return
        values: dict[str, list[Any]] = {name: [] for name in names}
        reasons: dict[int, list[Reason]] = {}
        for i, row in enumerate(held):
            found, why = judge.judged(row)
            for name in names:
                values[name].append(found.get(name))
            if why:
                reasons[i] = why
        arrays = [loose_array(values[member.name], member) for member in schema]
        shown = pa.RecordBatch.from_arrays(
            [pa.array([shown_row(row) for row in held], pa.string())], ["_raw"]
        )
        yield JudgedBatch(pa.RecordBatch.from_arrays(arrays, names=names), reasons, shown)


def shown_row(row: Any) -> str:
    """Write a row as text, to be recognized."""
    if isinstance(row, str):
        return row
    try:
        return json.dumps(row, ensure_ascii=False, default=_shown)
    except (TypeError, ValueError, RecursionError):
        return text_of_object(row)


def _shown(value: Any) -> Any:
    found = as_record_value(value)
    return found if type(found) is not type(value) and not isinstance(found, Number) else str(value)
