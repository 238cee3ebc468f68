"""Puts the judgement of a table together.

Layer: rows.
Errors: SC351 no-rows, SC639 duplicate-column, SC641 unknown-source-column, SC642 unexpected-column, SC643 source-type-mismatch, SC697
        reference, all of them raised as SchemaError.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from schemac.arrow.constraints import SchemaConstraints, constraints_of
from schemac.artifacts.dataset import CheckedDataset
from schemac.language.constraints.evaluation import Target
from schemac.language.constraints.expressions import FieldNode
from schemac.language.constraints.rows import DUPLICATE_RULE, UNIQUE_RULE
from schemac.language.logical.dataset import primary_key
from schemac.rows.judging.arrays import MissingMemberError, opened, to_batches
from schemac.rows.judging.reasons import REASONS
from schemac.rows.judging.settings import Settings, Unexpected
from schemac.rows.judging.timestamps import with_zones
from schemac.rows.judging.typed_values import UnreadableTypeError
from schemac.rows.validation.constraints import (
    UnusableTargetError,
    object_to_references,
    report_duplicates,
    target_of,
)
from schemac.rows.validation.in_memory_rows import Batches, NoRowsError, PythonRowReader, batches_of
from schemac.rows.validation.result import ERRORS, ROW, JudgedBatch, Validation
from schemac.rows.validation.validator import FieldReader, look_at_constraints, validated_columns
from schemac.text.source.catalogue import (
    DUPLICATE_COLUMN,
    NO_ROWS,
    REFERENCE,
    SOURCE_TYPE_MISMATCH,
    UNEXPECTED_COLUMN,
    UNKNOWN_SOURCE_COLUMN,
)
from schemac.text.source.diagnostic import Code, Diagnostic, SchemaError
from schemac.text.source.phrases import closest


@dataclass(frozen=True)
class Rules:
    """How rows are judged, in the words of a pipeline file."""

    references: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Rows of the datasets that the schema refers to, by name."""
    keys: Literal["check", "trust"] = "check"
    unexpected: Unexpected = Unexpected.IGNORE
    timezone: str | None = None


def validated(dataset: CheckedDataset, source: Any, rules: Rules) -> Validation:
    """Judge rows. Raises SchemaError if they cannot be judged at all."""
    schema = dataset.to_arrow(metadata=True)
    constraints = constraints_of(schema)
    targets, unchecked = _targets(dataset, constraints, rules, schema)
    settings = Settings(rules.unexpected, timezone=rules.timezone)
    judged_batches = []
    for batch in _judged(dataset, source, schema, settings, constraints):
        object_to_references(targets, batch)
        judged_batches.append(batch)
    for unique in constraints.rows.unique:
        report_duplicates(unique.fields, judged_batches, UNIQUE_RULE)
    key = [FieldNode.of(field) for field in primary_key(dataset._logical.columns) if field.parent is None]
    if key and rules.keys == "check":
        report_duplicates(key, judged_batches, DUPLICATE_RULE)
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
            columns = [*bad_rows.columns, pa.array(start + numbers), batch.reasons.array()]
            names = [*bad_rows.schema.names, ROW, ERRORS]
            bad.append(pa.RecordBatch.from_arrays(columns, names=names))
        good += to_batches(rows, exact)
        start += batch.rows.num_rows
    rejected = (
        pa.Table.from_batches(bad)
        if bad
        else pa.table({ROW: pa.array([], pa.int64()), ERRORS: pa.array([], REASONS)})
    )
    return Validation(dataset.name, pa.Table.from_batches(good, exact), rejected, unchecked)


def _judged(
    dataset: CheckedDataset,
    source: Any,
    schema: pa.Schema,
    settings: Settings,
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
        columns = _columns(dataset, batches, schema, settings)
        for batch in batches.record_batches():
            judged = validated_columns(columns, batch)
            look_at_constraints(constraints, judged)
            yield judged
        return
    reader = PythonRowReader(pa.schema([opened(member) for member in schema], schema.metadata), settings)
    if reader.uncovered:
        message = f"{', '.join(reader.uncovered)}: rows of Python cannot have such a field"
        raise _error(dataset, NO_ROWS, message, "pass an Arrow table")
    yield from reader.validated(source)


def _columns(
    dataset: CheckedDataset, batches: Batches, schema: pa.Schema, settings: Settings
) -> list[FieldReader]:
    """Compile the columns of a table."""
    names = batches.schema.names
    for name in schema.names:
        if name not in names:
            near = closest(name, names)
            help = f"did you mean `{near}`?" if near else f"its columns are {', '.join(names)}"
            raise _error(dataset, UNKNOWN_SOURCE_COLUMN, f"the table has no column `{name}`", help)
        if names.count(name) > 1:
            message = f"the table has two columns `{name}`"
            raise _error(dataset, DUPLICATE_COLUMN, message, "rename or drop one of them")
    others = [name for name in names if name not in schema.names]
    if others and settings.unexpected is Unexpected.REJECT:
        message = f"the table has a column `{others[0]}`, which the schema does not have"
        raise _error(dataset, UNEXPECTED_COLUMN, message, "drop it, or add a field")
    try:
        zoned = with_zones(pa.schema(map(opened, schema)), lambda _: None, settings.timezone)
        source = pa.schema(map(opened, batches.schema))
        return [FieldReader.of_column(member, source.field(member.name), settings) for member in zoned]
    except UnreadableTypeError as error:
        raise _error(dataset, SOURCE_TYPE_MISMATCH, str(error), "convert the column") from error
    except MissingMemberError as error:
        message = f"a struct of the table has no member `{error}`"
        raise _error(
            dataset, UNKNOWN_SOURCE_COLUMN, message, "add it, with nulls if it has no values"
        ) from error


def _error(dataset: CheckedDataset, code: Code, message: str, help: str) -> SchemaError:
    """Return an error with one finding, on the dataset as a whole."""
    return SchemaError((Diagnostic(code.id, code.slug, code.severity, message, dataset.name, help=help),))


def _targets(
    dataset: CheckedDataset, constraints: SchemaConstraints, rules: Rules, schema: pa.Schema
) -> tuple[list[Target], tuple[str, ...]]:
    """Return the tables of references, and the datasets whose rows are missing."""
    referenced = {one.dataset for one in constraints.rows.references}
    for name in rules.references:
        if name not in referenced:
            near = closest(name, referenced)
            help = f"did you mean `{near}`?" if near else "leave it out"
            message = f"`references` names `{name}`, but the schema does not refer to such a dataset"
            raise _error(dataset, REFERENCE, message, help)
    targets, tables = [], {}
    for one in constraints.rows.references:
        source = rules.references.get(one.dataset)
        if source is None:
            continue
        try:
            if one.dataset not in tables:
                tables[one.dataset] = _table(source, one.dataset)
            targets.append(target_of(one, tables[one.dataset], schema))
        except UnusableTargetError as error:
            raise _error(dataset, REFERENCE, str(error), error.help) from error
    return targets, tuple(sorted(name for name in referenced if rules.references.get(name) is None))


def _table(source: Any, name: str) -> pa.Table:
    """Return the rows of a dataset that is referred to as a table. Raises UnusableTargetError."""
    help = "pass an Arrow table, a pandas or polars frame, or a DuckDB relation"
    try:
        batches = batches_of(source)
    except NoRowsError as error:
        raise UnusableTargetError(f"the rows of `{name}` are a {error}", help) from error
    if batches is None:
        raise UnusableTargetError(f"the rows of `{name}` are a {type(source).__name__}", help)
    return pa.Table.from_batches(batches.batches, batches.schema)
