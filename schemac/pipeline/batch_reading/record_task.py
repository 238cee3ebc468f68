"""The work of a task: records in, values and reasons out, by the one judge of values.

Layer: pipeline.
Shape: batches with the texts of records, or with the columns of a source, and what is known of each record next to it. A field is read
       from the record (a text of JSON, or the cells of CSV), from a column with a type, from a column of JSON texts, or from nowhere.
       Good records leave the task packed where nobody looks at single ones; else each record is a row, and `_errors` says what is wrong.
Rule: most records of JSON and CSV are proven by Arrow, many at a time (`Sieve`); the others are read one by one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemac.arrow.constrained import SchemaConstraints, constraints_of
from schemac.pipeline.batch_reading.sieve import Sieve
from schemac.pipeline.reading.csv_grammar import Dialect
from schemac.pipeline.reading.csv_records import QUOTES
from schemac.pipeline.reading.json_records import BLANK
from schemac.pipeline.reading.source import EXPLAINED
from schemac.pipeline.spark.columns import ERRORS, REASONS
from schemac.pipeline.spark.packed import ARROW_TYPE, PACKED, packed
from schemac.pipeline.spark.value_columns import column_of, column_type
from schemac.rows.judging.arrays import plain_type
from schemac.rows.judging.clocks import zone_of
from schemac.rows.judging.exact_types import to_field
from schemac.rows.judging.forms import LONGEST_VALUE
from schemac.rows.judging.judge import Judge, value_at
from schemac.rows.judging.layouts import laid_out
from schemac.rows.judging.loose import loose_array, loose_type
from schemac.rows.judging.parts import Context, Reader, Reason, Run, absent_reader, json_reader
from schemac.rows.judging.proofs import proof_of
from schemac.rows.judging.record_paths import Step
from schemac.rows.judging.scalars import clock_of
from schemac.rows.judging.settings import Coerce, Settings
from schemac.rows.judging.shapes import opened, storage_type
from schemac.rows.judging.timestamps import of_pattern
from schemac.rows.judging.tokens import NotJsonError, parse, written
from schemac.rows.judging.typed_values import typed_reader
from schemac.rows.validation.broken_rows import object_to_conditions
from schemac.rows.validation.broken_values import broken_values
from schemac.rows.validation.judged import JudgedBatch, TypedColumn

TEXT, FAULT, SHOWN = "__text", "__broken", "__shown"
"""The texts of records; the rules that records break as a whole, null where they break none; and what is shown of these."""
MALFORMED = "malformed"
Form = Literal["record", "column", "json", "pattern", "nothing"]


@dataclass(frozen=True)
class FieldInput:
    """Where a field is read."""

    label: str
    form: Form
    column: str = ""
    """Of the task's batches; of a pattern it has structs of the text `t` and the microseconds `m` that the pattern reads out of it."""
    epoch: str | None = None
    """What a number counts since 1970-01-01."""
    counted: bytes = b""
    """An IPC schema with the type whose counts the column has; empty if it has its own."""
    has_zone: bool = False
    """Whether the pattern reads instants."""
    failed: str = ""
    """The column that says of which records the expression failed."""
    expression: str = ""


@dataclass(frozen=True)
class CsvForm:
    """Texts that are records of CSV."""

    columns: tuple[str, ...]
    dialect: Dialect


class _WholeError(Exception):
    """A text that is not a record: the rule that it breaks."""


@dataclass
class _Piece:
    """Some records: what is known of them, the values that were read from their texts, and reasons."""

    batch: pa.RecordBatch
    values: dict[str, pa.Array]
    places: pa.Array
    """Where each is in the batch that the task was given."""
    reasons: dict[int, list[Reason]] = field(default_factory=dict)
    broken: dict[int, Reason] = field(default_factory=dict)
    """Records that are none, with the one reason that they have."""


class _Judged(NamedTuple):
    """Some records that were read and looked at."""

    batch: pa.RecordBatch
    """What is known of them."""
    places: pa.Array
    """Where each is in the batch that the task was given."""
    fields: pa.RecordBatch
    errors: pa.Array
    """What is wrong with each; null where nothing is."""


@dataclass(frozen=True)
class RecordTask:
    """Reads batches of records."""

    schema_bytes: bytes
    """An IPC message: a type that is pickled loses what its children say."""
    settings: Settings
    inputs: tuple[FieldInput, ...]
    sieve: Sieve | None = None
    csv: CsvForm | None = None
    folders: tuple[tuple[tuple[Step, ...], str], ...] = ()
    """Columns from names of folders, with the place of a record that must not say another value."""
    kept: tuple[str, ...] = ()
    """Columns of the batches that leave the task in addition to the fields."""
    keeps_all: bool = False
    """Whether they do so for good records, too."""
    packs: bool = False

    def __getstate__(self) -> dict[str, Any]:
        """Return what travels to the tasks: nothing that was made here."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @cached_property
    def schema(self) -> pa.Schema:
        """The fields."""
        return pa.ipc.read_schema(pa.py_buffer(self.schema_bytes))

    @cached_property
    def _constraints(self) -> SchemaConstraints:
        return constraints_of(self.schema)

    @cached_property
    def _judge(self) -> Judge:
        labels = [one.label for one in self.inputs if one.form == "record"]
        judge = Judge(pa.schema([self.schema.field(label) for label in labels]), self.settings)
        assert not (judge.uncovered if self.csv is None else judge.uncovered_cells), judge.uncovered
        return judge

    @cached_property
    def _readers(self) -> dict[tuple[str, pa.DataType], "_Columns"]:
        return {}

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Read the batches of a partition."""
        for batch in batches:
            if batch.num_rows:
                yield from self.rows(batch)

    def rows(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Read a batch."""
        finished = [self._finished(piece) for piece in self._pieces(batch) if piece.batch.num_rows]
        yield from self._packed(finished) if self.packs else self._unpacked(finished)

    def _pieces(self, batch: pa.RecordBatch) -> Iterator[_Piece]:
        places = pa.array(np.arange(batch.num_rows))
        if TEXT not in batch.schema.names:
            yield _Piece(batch, {}, places)
            return
        texts = batch.column(TEXT)
        if self.sieve is not None:
            proven, found = self.sieve(texts)
            if found.num_rows:
                values = dict(zip(found.schema.names, found.columns, strict=True))
                is_whole = found.num_rows == batch.num_rows
                if not (self._is_packed_as_read and is_whole):
                    read = _plain if is_whole else _loose
                    values = {name: read(column, self.schema.field(name)) for name, column in values.items()}
                yield _Piece(batch.filter(proven), values, places.filter(proven))
                if is_whole:
                    return
                rest = pc.invert(proven)
                batch, places = batch.filter(rest), places.filter(rest)
        yield self._read(batch, places)

    @cached_property
    def _is_packed_as_read(self) -> bool:
        """Whether nobody looks at values that Arrow has read before they are written."""
        return self.packs and not self._constraints and all(one.form == "record" for one in self.inputs)

    def _read(self, batch: pa.RecordBatch, places: pa.Array) -> _Piece:
        """Read records one by one."""
        judge = self._judge
        values: dict[str, list[Any]] = {member.name: [] for member in judge.schema}
        piece = _Piece(batch, {}, places)
        folders = [(steps, batch.column(column).to_pylist()) for steps, column in self.folders]
        for row, text in enumerate(batch.column(TEXT).to_pylist()):
            found: dict[str, Any] = {}
            if text is not None:
                try:
                    found, run = (
                        self._of_cells(text) if self.csv is not None else self._of_json(text, row, folders)
                    )
                except _WholeError as error:
                    rule = str(error)
                    piece.broken[row] = Reason("", rule, EXPLAINED.get(rule, text)[:LONGEST_VALUE])
                else:
                    if run.reasons:
                        piece.reasons[row] = run.reasons
            for name, column in values.items():
                column.append(found.get(name))
        piece.values = {member.name: loose_array(values[member.name], member) for member in judge.schema}
        return piece

    def _of_json(
        self, text: str, row: int, folders: list[tuple[tuple[Step, ...], list[Any]]]
    ) -> tuple[dict[str, Any], Run]:
        try:
            record = parse(text)
        except NotJsonError:
            raise _WholeError(MALFORMED) from None
        # A record is an object: a number or a list where a record should be is as unreadable as a broken one.
        if type(record) is not dict or not text.lstrip(BLANK).startswith("{"):
            raise _WholeError(MALFORMED)
        for steps, told in folders:
            own = value_at(record, steps)
            if own is not None and (own if isinstance(own, str) else written(own)) != told[row]:
                raise _WholeError("partition")
        return self._judge.read(record)

    def _of_cells(self, text: str) -> tuple[dict[str, Any], Run]:
        assert self.csv is not None
        if not self.csv.dialect.is_sound(text):
            raise _WholeError(QUOTES)
        cells = self.csv.dialect.values(text)
        if len(cells) != len(self.csv.columns):
            raise _WholeError(MALFORMED)
        return self._judge.read_cells(dict(zip(self.csv.columns, cells, strict=True)))

    def _finished(self, piece: _Piece) -> _Judged:
        """Read the fields that are not in the text, and check constraints."""
        batch, reasons = piece.batch, piece.reasons
        if FAULT in batch.schema.names and (faults := batch.column(FAULT)).null_count < batch.num_rows:
            for row, rule, shown in zip(
                range(batch.num_rows), faults.to_pylist(), batch.column(SHOWN).to_pylist(), strict=True
            ):
                if rule is not None:
                    told = EXPLAINED.get(rule, shown)
                    piece.broken[row] = Reason("", rule, None if told is None else told[:LONGEST_VALUE])
        arrays = []
        for one in self.inputs:
            if one.form == "record":
                arrays.append(piece.values[one.label])
                continue
            array, found = self._columns(one, batch).judged(batch)
            arrays.append(array)
            for row, some in found.items():
                reasons.setdefault(row, []).extend(some)
            if one.failed:
                for row in pc.indices_nonzero(batch.column(one.failed)).to_pylist():
                    own = [why for why in reasons.get(row, ()) if why.path != one.label]
                    reasons[row] = [*own, Reason(one.label, "expression", one.expression)]
        names = [one.label for one in self.inputs]
        rows = pa.RecordBatch.from_arrays(arrays, names=names)
        judged = JudgedBatch(rows, reasons)
        for row, reason in broken_values(self._constraints.columns, rows):
            judged.object_to(row, reason)
        object_to_conditions(self._constraints.rows.checks, judged)
        reasons.update({row: [why] for row, why in piece.broken.items()})
        errors = (
            pa.array([reasons.get(row) for row in range(batch.num_rows)], REASONS)
            if reasons
            else pa.nulls(batch.num_rows, REASONS)
        )
        return _Judged(batch, piece.places, rows, errors)

    def _columns(self, one: FieldInput, batch: pa.RecordBatch) -> "_Columns":
        held = batch.schema.field(one.column).type if one.column else pa.null()
        if (one.label, held) not in self._readers:
            self._readers[one.label, held] = _reader_of(
                one, self.schema.field(one.label), held, self.settings
            )
        return self._readers[one.label, held]

    @property
    def row_schema(self) -> pa.Schema:
        """The columns that leave the task, but for those that are kept, which have the types that they came with."""
        columns = [
            pa.field(f"__v{i}", column_type(self.schema.field(one.label)))
            for i, one in enumerate(self.inputs)
        ]
        return pa.schema(
            [
                *([] if self.packs else columns),
                pa.field(ERRORS, REASONS),
                *([pa.field(PACKED, ARROW_TYPE)] if self.packs else []),
            ]
        )

    def _packed(self, judged: Sequence[_Judged]) -> Iterator[pa.RecordBatch]:
        """Pack good records, and give each of the others as a row."""
        good, bad = [], []
        for batch, places, rows, errors in judged:
            if errors.null_count == len(errors):
                good.append((rows, places))
                continue
            is_bad = errors.is_valid()
            if errors.null_count:
                good.append((rows.filter(errors.is_null()), places.filter(errors.is_null())))
            reasons, kept = errors.drop_null(), batch.filter(is_bad)
            columns = [reasons, pa.nulls(len(reasons), ARROW_TYPE)]
            bad.append(
                (self._batch(columns, [kept.column(name) for name in self.kept]), places.filter(is_bad))
            )
        nulls = [pa.nulls(1, judged[0].batch.schema.field(name).type) for name in self.kept] if judged else []
        for rows in _in_order(good):
            yield self._batch([pa.nulls(1, REASONS), packed(rows)], nulls)
        yield from _in_order(bad)

    def _unpacked(self, judged: Sequence[_Judged]) -> Iterator[pa.RecordBatch]:
        """Give each record as a row."""
        rows = []
        for one in judged:
            kept = [one.batch.column(name) for name in self.kept]
            if not self.keeps_all:
                has_errors = one.errors.null_count < len(one.errors)
                kept = [
                    _only(one.errors, column) if has_errors else pa.nulls(len(column), column.type)
                    for column in kept
                ]
            columns = [
                _in_spark(one.fields.column(i), self.schema.field(each.label))
                for i, each in enumerate(self.inputs)
            ]
            rows.append((self._batch([*columns, one.errors], kept), one.places))
        yield from _in_order(rows)

    def _batch(self, columns: list[pa.Array], kept: list[pa.Array]) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays([*columns, *kept], names=[*self.row_schema.names, *self.kept])


def _in_order(batches: Sequence[tuple[pa.RecordBatch, pa.Array]]) -> list[pa.RecordBatch]:
    """Join batches of records by the places of these; those of different types stay apart."""
    found = [batch for batch, _ in batches]
    if len(found) < 2 or any(not batch.schema.equals(found[0].schema) for batch in found):
        return found
    order = pc.sort_indices(pa.concat_arrays([places for _, places in batches]))
    joined: list[pa.RecordBatch] = pa.Table.from_batches(found).take(order).combine_chunks().to_batches()
    return joined


def _only(errors: pa.Array, column: pa.Array) -> pa.Array:
    """Return the values of a column where there are reasons, null elsewhere."""
    rows = pa.array(range(len(column)), pa.int64())
    return column.take(pc.if_else(errors.is_valid(), rows, pa.scalar(None, pa.int64())))


def _plain(values: pa.Array, member: pa.Field) -> pa.Array:
    """Bring proven values to the plain type of their field."""
    return to_field(values, member.with_type(plain_type(member)))


def _loose(values: pa.Array, member: pa.Field) -> pa.Array:
    """Bring proven values to the type that those of their field have which were read one by one."""
    return _plain(values, member).cast(loose_type(member))


def _in_spark(values: pa.Array, member: pa.Field) -> pa.Array:
    return column_of(values, member)


class _Columns:
    """Reads a field from a column of batches."""

    def __init__(
        self, one: FieldInput, member: pa.Field, read: Reader, texts: Callable[[pa.RecordBatch], list[Any]]
    ) -> None:
        self.label, self.member, self.read, self.texts = one.label, member, read, texts

    def judged(self, batch: pa.RecordBatch) -> tuple[pa.Array, dict[int, list[Reason]]]:
        """Return the values, and reasons by row."""
        values, reasons = [], {}
        for row, value in enumerate(self.texts(batch)):
            run = Run()
            values.append(self.read(value, self.label, run))
            if run.reasons:
                reasons[row] = run.reasons
        return loose_array(values, self.member), reasons


class _Typed(_Columns):
    """Reads a field from a column with a type."""

    def __init__(self, one: FieldInput, member: pa.Field, held: pa.DataType, settings: Settings) -> None:
        self.column = one.column
        self.counted = pa.ipc.read_schema(pa.py_buffer(one.counted)).field(0).type if one.counted else held
        source = opened(pa.field(one.label, laid_out(pa.nulls(0, self.counted)).type))
        # Of a text that means null no proof knows.
        proof = None if one.epoch or settings.null_values else proof_of(member, source)
        self.typed = TypedColumn(
            member, source, 0, proof, typed_reader(member, source, settings, epoch=one.epoch)
        )

    def judged(self, batch: pa.RecordBatch) -> tuple[pa.Array, dict[int, list[Reason]]]:
        """Return the values, and reasons by row."""
        column = batch.column(self.column)
        column = column if column.type.equals(self.counted) else column.cast(self.counted)
        return self.typed.judged(laid_out(column), JudgedBatch(batch))


class _Nothing(_Columns):
    """Gives no value to a field without a source."""

    def __init__(self, member: pa.Field) -> None:
        self.member = member

    def judged(self, batch: pa.RecordBatch) -> tuple[pa.Array, dict[int, list[Reason]]]:
        """Return nulls, which a required field objects to."""
        run = Run()
        absent_reader(self.member)(self.member.name, run)
        values = pa.nulls(batch.num_rows, loose_type(self.member))
        return values, {row: [*run.reasons] for row in range(batch.num_rows)} if run.reasons else {}


def _reader_of(one: FieldInput, member: pa.Field, held: pa.DataType, settings: Settings) -> _Columns:
    if one.form == "nothing":
        return _Nothing(member)
    if one.form == "column":
        return _Typed(one, member, held, settings)
    if one.form == "json":
        return _Columns(
            one,
            member,
            _json_texts(json_reader(member, Context(settings), one.epoch)),
            lambda batch: batch.column(one.column).to_pylist(),
        )
    return _Columns(
        one,
        member,
        _pattern_reader(one, member, settings),
        lambda batch: batch.column(one.column).to_pylist(),
    )


def _json_texts(read: Reader) -> Reader:
    def read_text(text: Any, path: Any, run: Run) -> Any:
        if text is None:
            return read(None, path, run)
        try:
            value = parse(text)
        except NotJsonError:
            return run.object_to(path, "cast", text)
        return read(value, path, run)

    return read_text


def _pattern_reader(one: FieldInput, member: pa.Field, settings: Settings) -> Reader:
    """Compile the reader of texts that Java's patterns read."""
    data_type = storage_type(member.type)
    clock = clock_of(data_type, zone_of(member)) if pa.types.is_timestamp(data_type) else None
    value_of, absent = of_pattern(data_type, clock, has_zone=one.has_zone), absent_reader(member)
    nulls = frozenset(("", *settings.null_values))

    def read(found: Any, path: Any, run: Run) -> Any:
        text = found["t"]
        if (
            text is None
            or (not found["j"] and text in nulls)
            or (found["j"] and text[1:-1] in settings.null_values)
        ):
            return absent(path, run)
        if found["j"]:
            if text == "null":
                return absent(path, run)
            if not text.startswith('"') and not (settings.coerce is Coerce.TEXT and text[0] not in "[{"):
                return run.object_to(path, "type", text)
            text = parse(text) if text.startswith('"') else text
        if found["m"] is None:
            return run.object_to(path, "cast", text)
        value, rule = value_of(found["m"])
        return value if rule is None else run.object_to(path, rule, text)

    return read
