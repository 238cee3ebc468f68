"""Validates records: typed columns, and the reasons why a record does not fit.

Layer: rows.
Shape: a `Validator` takes batches with the texts of records of JSON, or with columns: texts such as the cells of CSV, or values with a type.
       A record is taken apart into one column of tokens for each field; a field is then read from its column: many values at once
       where a proof takes them, the others of this one field one by one. Constraints are evaluated over the columns. A `JudgedBatch` has
       every column in its nullable type (see `judging.arrays`), also the values that do not fit, and the reasons by rows.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemac.arrow.constraints import SchemaConstraints, constraints_of
from schemac.rows.judging.arrays import is_string, plain_layout, storage_field, storage_schema
from schemac.rows.judging.column_proofs import column_proof
from schemac.rows.judging.judge import (
    MALFORMED,
    Reader,
    RecordReader,
    RecordReasons,
    absent_reader,
    json_reader,
    malformed_reason,
    parse_record,
    parsed_reader,
    value_at,
)
from schemac.rows.judging.proofs import Proven
from schemac.rows.judging.reasons import Reason, Reasons, reason_array
from schemac.rows.judging.scalars import pattern_value_reader, with_zones
from schemac.rows.judging.settings import Coerce, Step, ValidationSettings
from schemac.rows.judging.tokens import parse, token_text
from schemac.rows.judging.typed_values import nullable_array, raw_values, typed_reader
from schemac.rows.judging.values import BrokenRuleError
from schemac.rows.validation.constraints import add_broken_values, object_texts
from schemac.rows.validation.result import JudgedBatch

WORTH_A_LOOK = 20
"""Texts that are read one by one, of which it is worth to know whether they are alike."""
TEXT = "__text"
"""The texts of records of JSON; null for a record that has none."""
CONFLICT = "partition"
Form = Literal["record", "column", "json", "pattern", "nothing"]


@dataclass(frozen=True)
class FieldInput:
    """Where a task reads a field: in the text of the record, in a column with a type, in a column of JSON texts, or nowhere."""

    label: str
    form: Form
    column: str = ""
    """Of the batches; of a pattern it has structs of the text `t` and the microseconds `m` that the pattern reads out of it."""
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
class FieldReader:
    """Reads a field from a column: `proof` many values at a time, `read` every other one, as `values` gives it to Python."""

    member: pa.Field
    read: Reader
    values: Callable[[Any], Sequence[Any]] = pa.Array.to_pylist
    proof: Callable[[Any], Proven] | None = None
    source: pa.Field | None = None
    """The field that the column is, where its values have a type."""

    @classmethod
    def of_column(
        cls, member: pa.Field, source: pa.Field, settings: ValidationSettings, epoch: str | None = None
    ) -> "FieldReader":
        """Compile the reader of a column with a type. Raises UnreadableTypeError, MissingMemberError."""
        read = typed_reader(member, source, settings, epoch=epoch)
        proof = None if epoch is not None else column_proof(member, source, settings.null_values)
        return cls(member, read, raw_values, proof, source)

    def validated(self, array: Any) -> tuple[pa.Array, Reasons]:
        """Return the values, and the reasons by row."""
        count, certain, reasons = len(array), None, Reasons()
        if self.proof is None:
            rows = np.arange(count)
        else:
            certain, doubtful = self.proof(array)
            if not doubtful.any():
                return certain, reasons
            rows = np.flatnonzero(doubtful)
            if isinstance(array, pa.Array):
                array = array.filter(pa.array(doubtful))
            else:
                array = [*compress(array, doubtful)]
        array, numbers = _distinct(array)
        read_values: list[Any] = []
        record_reasons, ends = RecordReasons(), [0]
        for value in self.values(array):
            read_values.append(self.read(value, self.member.name, record_reasons))
            ends.append(len(record_reasons))
        exact = nullable_array(read_values, self.member, self.source)
        if numbers is not None:
            exact = exact.take(pa.array(numbers))
        if record_reasons:
            several = pa.ListArray.from_arrays(pa.array(ends, pa.int32()), reason_array(record_reasons))
            several = several if numbers is None else several.take(pa.array(numbers))
            reasons.add(rows[pc.list_parent_indices(several).to_numpy()], several.flatten())
        if certain is None or len(rows) == count:
            return exact, reasons
        order = np.arange(count)
        order[rows] = np.arange(count, count + len(rows))
        return pa.concat_arrays([certain, exact]).take(pa.array(order)), reasons


def _distinct(array: Any) -> tuple[Any, Any]:
    """Return the distinct texts of a column with the index of each row; None if most differ, or if the column is not text."""
    if (
        not isinstance(array, pa.Array)
        or not is_string(array.type)
        or array.null_count
        or len(array) < WORTH_A_LOOK
    ):
        return array, None
    encoded = array.dictionary_encode()
    if len(encoded.dictionary) > len(array) // 2:
        return array, None
    return encoded.dictionary, encoded.indices.to_numpy()


class Validator:
    """Validates batches of records; `inputs` say where each field is read, by default in the text of the record.

    `folders` are columns from names of folders, with the place in a record that must not have another value.
    """

    def __init__(
        self,
        schema: pa.Schema,
        settings: ValidationSettings,
        inputs: Sequence[FieldInput] | None = None,
        folders: Sequence[tuple[tuple[Step, ...], str]] = (),
    ) -> None:
        self.schema, self.settings, self.folders = schema, settings, folders
        reads_all = inputs is None
        if inputs is None:
            origins = {label: settings.origin_of(label) for label in schema.names}
            inputs = [
                FieldInput(label, "nothing")
                if origin is None
                else FieldInput(label, "record", epoch=origin.epoch)
                for label, origin in origins.items()
            ]
        self.inputs = tuple(inputs)
        self.constraints = constraints_of(schema)
        labels = [one.label for one in self.inputs if one.form == "record"]
        self._judge = RecordReader(pa.schema([schema.field(label) for label in labels]), settings)
        assert not self._judge.uncovered, self._judge.uncovered
        self._reads_records = bool(reads_all or labels or folders)
        self._places = {label: steps for label, steps, _ in self._judge.json_readers}
        self._tokens = _record_tokens(self._judge, [steps for steps, _ in folders]) if labels else None
        self._readers: dict[tuple[str, pa.DataType], FieldReader] = {}

    def validate(self, batch: pa.RecordBatch) -> JudgedBatch:
        """Return the values of each record, and the reasons of those that do not fit."""
        reasons = Reasons()
        columns, unexpected = self._split_records(batch, reasons) if self._reads_records else ({}, {})
        arrays = []
        for one in self.inputs:
            if one.form == "record":
                column = columns[one.label]
            elif one.form == "nothing":
                column = pa.nulls(batch.num_rows)
            else:
                column = batch.column(one.column)
            if one.counted:
                counted_type = pa.ipc.read_schema(pa.py_buffer(one.counted)).field(0).type
                column = column if column.type.equals(counted_type) else column.cast(counted_type)
            if one.form == "column":
                column = plain_layout(column)
            key = one.label, column.type
            if key not in self._readers:
                self._readers[key] = self._field_reader(one, column.type)
            values, field_reasons = self._readers[key].validated(column)
            arrays.append(values)
            failed = pc.indices_nonzero(batch.column(one.failed)).to_numpy() if one.failed else ()
            reasons.add_all(field_reasons.without(failed, one.label) if len(failed) else field_reasons)
            reasons.add_rule(failed, one.label, "expression", pa.repeat(one.expression, len(failed)))
        for row, several in unexpected.items():
            reasons.add(np.full(len(several), row), reason_array(several))
        names = [one.label for one in self.inputs]
        judged = JudgedBatch(pa.RecordBatch.from_arrays(arrays, names=names), reasons)
        add_broken_constraints(self.constraints, judged)
        for row in reasons.rows_with(MALFORMED):
            reasons.refuse(row, malformed_reason(batch.column(TEXT)[row].as_py()))
        return judged

    def _field_reader(self, one: FieldInput, column_type: pa.DataType) -> FieldReader:
        """Return the reader of a field by the form of its input: a column, JSON, a whole record, a pattern or nothing."""
        member, settings = self.schema.field(one.label), self.settings
        if one.form in ("column", "nothing"):
            source = storage_field(pa.field(one.label, column_type))
            return FieldReader.of_column(member, source, settings, one.epoch)
        if one.form == "pattern":
            return FieldReader(member, _pattern_reader(one, member, settings))
        read = json_reader(member, settings, one.epoch)
        if one.form == "json":
            return FieldReader(member, parsed_reader(read, parse))
        proof = None
        if self._tokens is not None and one.epoch is None:
            from schemac.rows.judging.json_proofs import json_proof  # likewise

            proof = json_proof(member, settings)
        read_token = parsed_reader(read, parse, of_record=True)
        return FieldReader(
            member, read_token, lambda tokens: [token or None for token in tokens.to_pylist()], proof
        )

    def _split_records(
        self, batch: pa.RecordBatch, reasons: Reasons
    ) -> tuple[dict[str, pa.Array], dict[int, list[Reason]]]:
        """Take the texts of records apart, and refuse those that are none.

        Return the tokens of each field, and the reasons for unexpected keys in records that were read alone, by row.
        """
        texts = batch.column(TEXT)
        folders = {steps: batch.column(column) for steps, column in self.folders}
        if self._tokens is None:
            columns = dict.fromkeys([*self._places.values(), *folders], pa.repeat("", len(texts)))
            odd = np.ones(len(texts), bool)
        else:
            columns, odd = self._tokens(texts)
        rows, mask = np.flatnonzero(odd), pa.array(odd)
        unexpected: dict[int, list[Reason]] = {}
        if len(rows):
            tokens: dict[tuple[Step, ...], list[str]] = {steps: [] for steps in columns}
            for row, text in zip(rows.tolist(), texts.filter(mask).to_pylist(), strict=True):
                # One that is not there has no values.
                record, unexpected_keys = parse_record("{}" if text is None else text), RecordReasons()
                if record is None:
                    record = {}
                    reasons.refuse(row, malformed_reason(text))
                self._judge.add_unexpected(record, unexpected_keys)
                if unexpected_keys:
                    unexpected[row] = unexpected_keys
                for steps, column in tokens.items():
                    value = value_at(record, steps)
                    column.append("" if value is None else token_text(value))
            for steps, texts_of in tokens.items():
                exact = pa.array(texts_of, pa.string())
                columns[steps] = pc.replace_with_mask(columns[steps], mask, exact)
        for steps, names in folders.items():
            for row in pc.indices_nonzero(pc.greater(pc.binary_length(columns[steps]), 0)).to_pylist():
                value = parse(columns[steps][row].as_py())
                value_text = value if type(value) is str else token_text(value)
                if value is not None and value_text != names[row].as_py() and row not in reasons.whole:
                    reasons.refuse(row, Reason("", CONFLICT, None))
        return {label: columns[steps] for label, steps in self._places.items()}, unexpected


def _record_tokens(judge: RecordReader, places: list[tuple[Step, ...]]) -> Any:
    """Return what takes texts of records apart; None where msgspec is not installed, and each is read alone."""
    try:
        from schemac.rows.judging.json_proofs import RecordTokens  # with msgspec, which only pipelines need
    except ModuleNotFoundError:
        # An executor may lack it: every record is read one by one there.
        return None
    known = {steps: keys for steps, keys, _ in judge.objects} or None
    return RecordTokens([*(steps for _, steps, _ in judge.json_readers), *places], known)


def add_broken_constraints(constraints: SchemaConstraints, judged: JudgedBatch) -> None:
    """Add reasons for values, and for whole rows, that break constraints."""
    add_broken_values(constraints.columns, judged.rows, judged.reasons)
    for check in constraints.rows.checks:
        rows = pc.indices_nonzero(check.violations(judged.rows))
        if len(rows):
            names = dict.fromkeys(node.path[0] for node in check.condition.fields())
            texts = object_texts((name, judged.rows.column(name).take(rows)) for name in names)
            judged.reasons.add_rule(rows.to_numpy(), check.path, check.rule, texts)


def column_readers(schema: pa.Schema, source: pa.Schema, settings: ValidationSettings) -> list[FieldReader]:
    """Compile the readers of columns with the names of fields. Raises UnreadableTypeError, MissingMemberError."""
    zoned = with_zones(storage_schema(schema), lambda _: None, settings.timezone)
    columns = pa.schema(map(storage_field, source))
    return [FieldReader.of_column(member, columns.field(member.name), settings) for member in zoned]


def validated_columns(readers: Sequence[FieldReader], columns: Iterable[Any]) -> JudgedBatch:
    """Return the values of fields that were read from columns, and the reasons by row."""
    arrays, reasons = [], Reasons()
    for one, column in zip(readers, columns, strict=True):
        array, field_reasons = one.validated(column)
        arrays.append(array)
        reasons.add_all(field_reasons)
    names = [one.member.name for one in readers]
    return JudgedBatch(pa.RecordBatch.from_arrays(arrays, names=names), reasons)


def _pattern_reader(one: FieldInput, member: pa.Field, settings: ValidationSettings) -> Reader:
    """Compile the reader of texts that Java's patterns read."""
    value_of, absent = pattern_value_reader(member, has_zone=one.has_zone), absent_reader(member)
    nulls = frozenset(("", *settings.null_values))

    def read(found: Any, path: Any, reasons: RecordReasons) -> Any:
        text = found["t"]
        if (
            text is None
            or (not found["j"] and text in nulls)
            or (found["j"] and text.startswith('"') and text[1:-1] in settings.null_values)
        ):
            return absent(path, reasons)
        if found["j"]:
            if text == "null":
                return absent(path, reasons)
            if not text.startswith('"') and not (settings.coerce is Coerce.TEXT and text[0] not in "[{"):
                return reasons.add(path, "type", text)
            text = parse(text) if text.startswith('"') else text
        if found["m"] is None:
            return reasons.add(path, "cast", text)
        try:
            return value_of(found["m"])
        except BrokenRuleError as error:
            return reasons.add_broken(path, error, text)

    return read
