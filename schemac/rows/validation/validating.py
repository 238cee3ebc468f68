"""Puts the judgement of a table together.

Layer: rows.
Errors: SC351 no-rows, SC639 duplicate-column, SC641 unknown-source-column, SC642 unexpected-column, SC643 source-type-mismatch, SC697
        reference, all of them raised as SchemaError.
"""

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from itertools import groupby, islice
from typing import Any, Literal, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic_core import to_json

from schemac.arrow.constraints import SchemaConstraints, constraints_of
from schemac.artifacts.dataset import CheckedDataset
from schemac.language.constraints.evaluation import ReferenceValues
from schemac.language.constraints.expressions import FieldNode
from schemac.language.constraints.rows import DUPLICATE_RULE, UNIQUE_RULE
from schemac.language.logical.dataset import primary_key
from schemac.rows.judging.arrays import (
    MissingMemberError,
    has_plain_layout,
    plain_layout,
    storage_schema,
    to_batches,
)
from schemac.rows.judging.judge import (
    MALFORMED,
    RecordReader,
    RecordReasons,
    add_unexpected,
    malformed_reason,
    parsed_reader,
)
from schemac.rows.judging.object_proofs import members_of, object_proof
from schemac.rows.judging.reasons import REASONS, reason_array
from schemac.rows.judging.settings import Unexpected, ValidationSettings
from schemac.rows.judging.tokens import WHOLE_TYPES, NotJsonError, NumberText, as_record_value, text_of_object
from schemac.rows.judging.typed_values import UnreadableTypeError
from schemac.rows.validation.constraints import (
    UnusableTargetError,
    add_duplicates,
    add_missing_references,
    reference_values,
)
from schemac.rows.validation.result import ERRORS, ROW, JudgedBatch, Validation
from schemac.rows.validation.validator import (
    TEXT,
    FieldReader,
    Validator,
    add_broken_constraints,
    column_readers,
    validated_columns,
)
from schemac.text.source.catalogue import (
    DUPLICATE_COLUMN,
    NO_ROWS,
    REFERENCE,
    SOURCE_TYPE_MISMATCH,
    UNEXPECTED_COLUMN,
    UNKNOWN_SOURCE_COLUMN,
)
from schemac.text.source.diagnostics import Code, Diagnostic, SchemaError
from schemac.text.source.phrases import Help


@dataclass(frozen=True)
class ValidationRules:
    """How rows are judged; the names are those of a pipeline file."""

    references: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Rows of the datasets that the schema refers to, by name."""
    keys: Literal["check", "trust"] = "check"
    unexpected: Unexpected = Unexpected.IGNORE
    timezone: str | None = None


def validated(dataset: CheckedDataset, source: Any, rules: ValidationRules) -> Validation:
    """Return which rows fit a dataset, and why others do not. Raises SchemaError if they cannot be judged at all."""
    schema = dataset.to_arrow(metadata=True)
    constraints = constraints_of(schema)
    targets, unchecked = _reference_targets(dataset, constraints, rules, schema)
    settings = ValidationSettings(rules.unexpected, timezone=rules.timezone)
    judged_batches = []
    for batch in _judged_batches(dataset, source, schema, settings, constraints):
        add_missing_references(targets, batch)
        judged_batches.append(batch)
    for unique in constraints.rows.unique:
        add_duplicates(unique.fields, judged_batches, UNIQUE_RULE)
    key = [FieldNode.of(field) for field in primary_key(dataset._logical.columns)]
    if key and rules.keys == "check":
        add_duplicates(key, judged_batches, DUPLICATE_RULE)
    exact = dataset.to_arrow()
    good: list[pa.RecordBatch] = []
    bad: list[pa.RecordBatch] = []
    start = 0
    for batch in judged_batches:
        rows = batch.rows
        if batch.reasons:
            assert batch.source is not None
            rows, numbers = rows.filter(pc.invert(batch.is_bad)), batch.reasons.rows
            bad_rows = batch.source(numbers)
            # Rows that were found bad before have new numbers and reasons.
            names = [
                name for name in bad_rows.schema.names if name not in (ROW, ERRORS) or name in schema.names
            ]
            columns = [*map(bad_rows.column, names), pa.array(start + numbers), batch.reasons.array()]
            names += [ROW, ERRORS]
            bad.append(pa.RecordBatch.from_arrays(columns, names=names))
        good += to_batches(rows, exact)
        start += batch.rows.num_rows
    if bad:
        rejected = pa.Table.from_batches(bad)
    else:
        rejected = pa.table({ROW: pa.array([], pa.int64()), ERRORS: pa.array([], REASONS)})
    return Validation(dataset.name, pa.Table.from_batches(good, exact), rejected, unchecked)


def _judged_batches(
    dataset: CheckedDataset,
    source: Any,
    schema: pa.Schema,
    settings: ValidationSettings,
    constraints: SchemaConstraints,
) -> Iterator[JudgedBatch]:
    """Yield the batches of a table, a frame or a list of rows, judged. Raises SchemaError for any other source."""
    try:
        batches = batches_of(source)
    except NoRowsError as error:
        message = f"{error} does not hold rows"
        help = "pass an Arrow table, a pandas or polars frame, a DuckDB relation, or a list of rows"
        raise _error(dataset, NO_ROWS, message, help) from error
    if batches is not None:
        columns = _column_readers(dataset, batches, schema, settings)
        for batch in plain_batches(batches):
            judged = validated_columns(columns, [batch.column(one.member.name) for one in columns])
            judged.source = partial(pa.RecordBatch.take, batch)
            add_broken_constraints(constraints, judged)
            yield judged
        return
    reader = PythonRowReader(storage_schema(schema), settings)
    if reader.uncovered:
        message = f"{', '.join(reader.uncovered)}: rows of Python cannot have such a field"
        raise _error(dataset, NO_ROWS, message, "pass an Arrow table")
    yield from reader.validated(source)


def _column_readers(
    dataset: CheckedDataset, batches: pa.RecordBatchReader, schema: pa.Schema, settings: ValidationSettings
) -> list[FieldReader]:
    """Compile the columns of a table."""
    names = batches.schema.names
    for name in schema.names:
        if name not in names:
            help = Help.nearest(name, names, f"its columns are {', '.join(names)}")
            raise _error(dataset, UNKNOWN_SOURCE_COLUMN, f"the table has no column `{name}`", help)
        if names.count(name) > 1:
            message = f"the table has two columns `{name}`"
            raise _error(dataset, DUPLICATE_COLUMN, message, "rename or drop one of them")
    others = [name for name in names if name not in schema.names]
    if others and settings.unexpected is Unexpected.REJECT:
        message = f"the table has a column `{others[0]}`, which the schema does not have"
        raise _error(dataset, UNEXPECTED_COLUMN, message, "drop it, or add a field")
    try:
        return column_readers(schema, batches.schema, settings)
    except UnreadableTypeError as error:
        raise _error(dataset, SOURCE_TYPE_MISMATCH, str(error), "convert the column") from error
    except MissingMemberError as error:
        message = f"a struct of the table has no member `{error}`"
        help = "add it, with nulls if it has no values"
        raise _error(dataset, UNKNOWN_SOURCE_COLUMN, message, help) from error


def _error(dataset: CheckedDataset, code: Code, message: str, help: str) -> SchemaError:
    """Return an error with one finding, on the dataset as a whole."""
    return SchemaError(
        (Diagnostic(code.id, code.slug, code.severity, message, dataset.name, help=str(help)),)
    )


def _reference_targets(
    dataset: CheckedDataset, constraints: SchemaConstraints, rules: ValidationRules, schema: pa.Schema
) -> tuple[list[ReferenceValues], tuple[str, ...]]:
    """Return the tables of references, and the datasets whose rows are missing."""
    referenced = {one.dataset for one in constraints.rows.references}
    for name in rules.references:
        if name not in referenced:
            help = Help.nearest(name, referenced, "leave it out")
            message = f"`references` names `{name}`, but the schema does not refer to such a dataset"
            raise _error(dataset, REFERENCE, message, help)
    targets, tables = [], {}
    for one in constraints.rows.references:
        source = rules.references.get(one.dataset)
        if source is None:
            continue
        try:
            if one.dataset not in tables:
                tables[one.dataset] = _referenced_table(source, one.dataset)
            targets.append(reference_values(one, tables[one.dataset], schema))
        except UnusableTargetError as error:
            raise _error(dataset, REFERENCE, str(error), error.help) from error
    return targets, tuple(sorted(name for name in referenced if rules.references.get(name) is None))


def _referenced_table(source: Any, name: str) -> pa.Table:
    """Return the rows of a dataset that is referred to as a table. Raises UnusableTargetError."""
    help = "pass an Arrow table, a pandas or polars frame, or a DuckDB relation"
    try:
        batches = batches_of(source)
    except NoRowsError as error:
        raise UnusableTargetError(f"the rows of `{name}` are a {error}", help) from error
    if batches is None:
        raise UnusableTargetError(f"the rows of `{name}` are a {type(source).__name__}", help)
    return batches.read_all()


ROWS_AT_ONCE = 8192
"""Rows of Python that are put into one batch."""

MOST_ROWS = 65_536
"""Rows of a batch that is judged at once."""


def plain_batches(source: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    """Yield batches of a size that is worked on at once, with what has a layout of its own in a plain one."""
    is_plain = all(has_plain_layout(member.type) for member in source.schema)
    for batch in source:
        if not is_plain:
            columns = [plain_layout(column) for column in batch.columns]
            batch = pa.RecordBatch.from_arrays(columns, names=source.schema.names)
        for start in range(0, batch.num_rows, MOST_ROWS):
            yield batch.slice(start, MOST_ROWS)


class NoRowsError(Exception):
    """An object holds no rows; the message is its class."""


def batches_of(source: Any) -> pa.RecordBatchReader | None:
    """Return the batches of what holds Arrow, or hands it over; None for rows of Python. Raises NoRowsError."""
    if isinstance(source, pa.RecordBatch):
        return pa.RecordBatchReader.from_batches(source.schema, [source])
    if isinstance(source, pa.Table):
        return source.to_reader()
    if isinstance(source, pa.RecordBatchReader):
        return source
    # The class is not looked up, for pandas need not be installed.
    is_of_pandas = any(one.__module__.partition(".")[0] == "pandas" for one in type(source).__mro__)
    if is_of_pandas and hasattr(source, "columns"):
        return pa.Table.from_pandas(source, preserve_index=False).replace_schema_metadata().to_reader()
    if hasattr(source, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(source)
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
    """Reads rows that are Python objects or texts of JSON, some thousands at a time."""

    def __init__(self, schema: pa.Schema, settings: ValidationSettings) -> None:
        self._judge = RecordReader(schema, replace(settings, takes_objects=True))
        self.uncovered = self._judge.uncovered
        """Names of the fields that no row of Python has."""
        if not self.uncovered:
            self._texts = Validator(self._judge.schema, settings)
        self.fields = [
            FieldReader(
                member,
                parsed_reader(read, lambda x: as_record_value(x, 1), of_record=True),
                list,
                object_proof(member, settings),
            )
            for member, (_, _, read) in zip(self._judge.schema, self._judge.json_readers, strict=False)
        ]

    def validated(self, rows: Iterable[Any]) -> Iterator[JudgedBatch]:
        """Yield batches of rows."""
        for is_text, several in groupby(rows, lambda row: isinstance(row, str)):
            while chunk := list(islice(several, ROWS_AT_ONCE)):
                judged = self._of_texts(chunk) if is_text else self._of_objects(chunk)
                judged.source = partial(_raw_rows, chunk)
                yield judged

    def _of_texts(self, chunk: Sequence[str]) -> JudgedBatch:
        """Validate texts of JSON."""
        try:
            texts = pa.array(chunk, pa.string())
        except UnicodeEncodeError:
            # Half of a pair of surrogates becomes an escape that no record may have.
            texts = pa.array([_encodable(text) for text in chunk], pa.string())
        return self._texts.validate(pa.RecordBatch.from_arrays([texts], [TEXT]))

    def _of_objects(self, chunk: Sequence[Any]) -> JudgedBatch:
        """Validate rows that are objects: dicts, models, dataclasses, tuples."""
        names, broken = self._judge.schema.names, {}
        openers = {row_class: opener_of(row_class, names) for row_class in set(map(type, chunk))}
        dicts = []
        for row, one in enumerate(chunk):
            values = openers[type(one)](one)
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
                broken[row] = row_text(chunk[row])
            for name, column in zip(names, columns, strict=True):
                column[row] = dicts[row].get(name)
        judged = validated_columns(self.fields, columns)
        reasons = judged.reasons
        for row in members.others if self._judge.objects else ():
            unexpected = RecordReasons()
            add_unexpected(dicts[row], frozenset(names), "", unexpected)
            reasons.add(np.full(len(unexpected), row), reason_array(unexpected))
        broken |= {row: row_text(chunk[row]) for row in reasons.rows_with(MALFORMED)}
        add_broken_constraints(self._texts.constraints, judged)
        for row, text in broken.items():
            reasons.refuse(row, malformed_reason(text))
        return judged


def _raw_rows(rows: Sequence[Any], numbers: Any) -> pa.RecordBatch:
    """Return the rows with some numbers as texts, in a column `_raw`."""
    texts = pa.array([row_text(rows[number]) for number in numbers.tolist()], pa.string())
    return pa.RecordBatch.from_arrays([texts], ["_raw"])


def row_text(row: Any) -> str:
    """Return a text by which a person recognizes a row: a text as it is, an object as JSON, or else as Python shows it."""
    if isinstance(row, str):
        return _encodable(row)
    try:
        return to_json(row, bytes_mode="base64", inf_nan_mode="constants", fallback=_value_text).decode()
    except _NOT_JSON:
        # A text holds half of a pair of surrogates, a key is not a text, or the like.
        with suppress(*_NOT_JSON):
            return _encodable(json.dumps(row, ensure_ascii=False, default=_value_text))
    return _encodable(text_of_object(row))


_NOT_JSON = (TypeError, ValueError, RecursionError)
"""What writers of JSON raise."""


def _encodable(text: str) -> str:
    """Write half of a pair of surrogates as an escape."""
    return text.encode(errors="backslashreplace").decode()


def _value_text(value: Any) -> Any:
    """Return what stands in JSON for an object that it does not have: a value of a record, or a text."""
    if type(value) in WHOLE_TYPES or type(value) is Decimal:
        return str(value)
    converted = as_record_value(value)
    is_other = type(converted) is not type(value) and not isinstance(converted, NumberText)
    return converted if is_other else str(value)
