"""The frame of Spark that computes the values of a backfill, with the sources that it joins.

Layer: pipeline.
Shape: rows of some parts of one version of the table in; their addresses, the columns of `conform` for the fields that are filled, and a
       flag for each join out, in the order of addresses. Only columns that something names are read. A join gives its source as one
       column that is called as the join: a struct, or for JSON a variant.
Rule: `where` is decided first: nothing is computed for other rows. No key may be twice in a source, a null key meets nothing, and both
      sides of a key have one type. A row whose key the source lacks gets null.
Errors: SC669 join, and what opening a source may raise, at the join's place in the file.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from itertools import chain
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Row, SparkSession, functions
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import DataType, IntegralType, StringType, VariantType

from schemac.pipeline.conforming.gather import ExpressionScope, check_constants, with_computed_fields
from schemac.pipeline.conforming.validation import ValidationPlan
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError, did_you_mean, located
from schemac.pipeline.reading.inputs import Json, TypedInput, parse_steps, value_sql
from schemac.pipeline.reading.records import IN_RECORD, RECORD, Records, TypedColumns
from schemac.pipeline.reading.source import open_records, records_of_frame
from schemac.pipeline.reading.table_source import TableReader, TableVersion, table_frame
from schemac.pipeline.spark.packed import ADDRESS, ADDRESS_FIELD, ERRORS, RAW, ROW_ID, SOURCE
from schemac.pipeline.spark.python_functions import PythonFunction, computed_column, type_of
from schemac.pipeline.spark.sql import name, struct
from schemac.rows.runs.plain_types import plain_field
from schemac.rows.runs.storage import absolute
from schemac.rows.runs.tables import SOURCE as SOURCE_FORMAT
from schemac.rows.runs.tables import Projection, SourceFormat
from schemac.text.source.catalogue import JOIN, PYTHON_FUNCTION, UNKNOWN_SOURCE_COLUMN

MOST_KEYS = 3


@dataclass(frozen=True)
class Joined:
    """The rows of a join's source, with the columns that have to be equal."""

    label: str
    frame: DataFrame
    keys: dict[str, str]
    """Columns of the table, and of the frame."""

    def matches(self, rows: DataFrame) -> Column:
        """Return the condition that a row has the key of a record."""
        equal: list[Column] = [rows[name(left)] == self.frame[right] for left, right in self.keys.items()]
        return reduce(Column.__and__, equal)

    def to(self, rows: DataFrame, flag: str) -> DataFrame:
        """Add the source's column to rows, and a flag: 1 if the source does not have the key, else 0."""
        joined = rows.join(self.frame, self.matches(rows), "left").drop(*self.keys.values())
        return joined.withColumn(flag, functions.isnull(name(self.label)).cast("bigint"))


def open_join(spark: SparkSession, job: Job, label: str, types: dict[str, DataType]) -> Joined:
    """Read the source of a join; `types` are those of the table's columns. Raises PipelineError for a key that is there twice, or of another type."""
    part, place = job.part_of_join(label), ("joins", label)
    with located(*place):
        records = open_records(spark, part).parsed()
    scope = ExpressionScope(records)
    keys: dict[str, str] = {}
    columns, failures = list[str](), list[str]()
    for left, right in job.joins[label].on.items():
        with located(*place, "on", left):
            value, failed = scope.add(left, right)
        if left not in types:
            message = f"`on` of `{label}` names `{left}`, but the table has no such column"
            raise PipelineError(JOIN, message, did_you_mean(left, types), place=(*place, "on", left))
        if isinstance(value, Json):
            raise _type_mismatch(label, left, types, "a variant", right)
        right_type = value.type if isinstance(value, TypedInput) else StringType()
        are_integers = isinstance(types[left], IntegralType) and isinstance(right_type, IntegralType)
        if types[left] != right_type and not are_integers:
            raise _type_mismatch(label, left, types, right_type.simpleString(), right)
        keys[left] = f"__{label}_{len(keys)}"
        columns.append(f"{value_sql(value)} as {name(keys[left])}")
        failures.append(failed)
    broken = " or ".join([records.is_broken, *failures])
    columns += [f"{_record_sql(records)} as {name(label)}", f"{broken} as __broken"]
    frame = scope.added().frame.selectExpr(*columns)
    _check_rows(label, frame, list(keys.values()))
    return Joined(label, frame.drop("__broken"), keys)


def check_exact(joined: Joined, rows: DataFrame, chosen: DataFrame) -> None:
    """Refuse records whose key no row of the table has, and rows that are to get values and have no record; `rows` are keys."""
    place = ("joins", joined.label)
    records = joined.frame.join(rows, joined.matches(rows), "left_anti")
    examples = _some_keys(records, list(joined.keys.values()))
    if examples:
        message = f"`{joined.label}` has records for rows that the table does not have: {examples}"
        help = "leave them out; or leave out `exact` of the join, so that they are ignored"
        raise PipelineError(JOIN, message, help, place=place)
    without = chosen.join(joined.frame, joined.matches(chosen), "left_anti")
    examples = _some_keys(without, list(joined.keys))
    if examples:
        message = f"`{joined.label}` has no record for rows of the table: {examples}"
        help = "add them, leave these rows out with `where`, or leave `exact` out of the join: they then get null"
        raise PipelineError(JOIN, message, help, place=place)


def _some_keys(frame: DataFrame, keys: list[str]) -> str:
    """Return the text of the first keys of a frame; empty for one without rows."""
    columns = [name(key) for key in keys]
    return _keys_text(frame.select(*columns).orderBy(*columns).limit(MOST_KEYS + 1).collect(), keys)


def _keys_text(rows: list[Row], keys: list[str]) -> str:
    """Return the text of the keys of rows, of which at most `MOST_KEYS` are shown."""
    keys_text = ", ".join(" and ".join(str(row[key]) for key in keys) for row in rows[:MOST_KEYS])
    return f"{keys_text}, …" if len(rows) > MOST_KEYS else keys_text


def _record_sql(records: Records) -> str:
    """Write the source's columns as one value that is never null."""
    if records.columns is None:
        return Json(RECORD, IN_RECORD).variant
    texts = {column: value_sql(input_) for column, input_ in records.columns.items()}
    for column, text in records.partitions.items():
        texts.setdefault(column, text)
    return f"struct({', '.join(f'{text} as {name(column)}' for column, text in texts.items())})"


def _type_mismatch(
    label: str, left: str, types: dict[str, DataType], right_type: str, right: str
) -> PipelineError:
    """Return the error of a join whose two sides differ in type; its help is a cast to the table's type."""
    left_type = types[left].simpleString()
    if right_type in ("a variant", VariantType().simpleString()):
        cast = f"{right}::{left_type}"
    else:
        cast = f"try_cast({right} as {left_type})"
    message = f"`{left}` is {left_type} in the table, and `{right}` is {right_type} in `{label}`"
    help = f'write `on: {{{left}: "{cast}"}}`'
    return PipelineError(JOIN, message, help, place=("joins", label, "on", left))


def _check_rows(label: str, frame: DataFrame, keys: list[str]) -> None:
    """Refuse a source with records that cannot be read, or with a key that exists twice; one job of Spark finds both."""
    broken = functions.count_if(functions.col("__broken")).alias("__broken")
    counts = frame.groupBy(*keys).agg(functions.count(functions.lit(1)).alias("__count"), broken)
    is_key = " and ".join(f"{name(key)} is not null" for key in keys)
    wrong = counts.where(f"__broken > 0 or (__count > 1 and {is_key})")
    rows = wrong.orderBy(functions.desc("__broken"), *keys).limit(MOST_KEYS + 1).collect()
    unread = sum(row["__broken"] for row in rows)
    if unread:
        message = f"records of `{label}` that cannot be read, or have no key that can be computed: at least {unread:,}"
        help = "correct them, or name a source without them"
        raise PipelineError(JOIN, message, help, place=("joins", label))
    if rows:
        message = f"`{label}` has several records with one key: {_keys_text(rows, keys)}"
        help = "name a source with one record for each key, or add the column that tells them apart to `on`"
        raise PipelineError(JOIN, message, help, place=("joins", label, "on"))


FIRST_ROWS = 64
MOST_PARTITIONS = 200
PART_OF_ADDRESS = f"shiftright({ADDRESS}, 32)"


@dataclass(frozen=True)
class BackfillFrames:
    """Makes the frames that compute the values of a backfill."""

    spark: SparkSession
    job: Job
    schema: pa.Schema
    """Of the table."""
    new: tuple[str, ...]
    """Columns that are filled, and the table does not have yet; they read as null."""

    @property
    def filled(self) -> pa.Schema:
        """The schema of the columns that are filled."""
        return pa.schema([field for field in self.schema if field.name in self.job.fields])

    @cached_property
    def flags(self) -> dict[str, str]:
        """The column of each join that is 1 for rows without a match in it."""
        return {label: f"__unmatched_{number}" for number, label in enumerate(self.job.joins)}

    @cached_property
    def functions(self) -> dict[str, PythonFunction]:
        """The Python functions, by the fields that they compute."""
        return {
            label: PythonFunction.of(label, origin.python)
            for label, origin in self.job.origins.items()
            if origin.python is not None
        }

    @property
    def _source(self) -> SourceFormat:
        """Return the engine that reads the table, which is known to have a reader."""
        return SOURCE_FORMAT.of(self.job.target.engine)

    @cached_property
    def joins(self) -> dict[str, Joined]:
        """The sources that are joined, by name; they are read when they are first asked for."""
        version = self._source.newest_version(self.job.target.path, self.job.storage_options) or 0
        types = {field.name: field.dataType for field in self._rows(version, (), None).schema.fields}
        return {label: open_join(self.spark, self.job, label, types) for label in self.job.joins}

    def of(self, version: int, parts: tuple[int, ...]) -> DataFrame:
        """Return the frame over these parts of a version."""
        check_constants(self.job, self.schema)
        for label, joined in self.joins.items():
            if self.job.joins[label].exact:
                # Neither a row nor a record may be left over.
                keys = tuple(joined.keys)
                all_parts = self._source.parts(self.job.target.path, version, self.job.storage_options)
                columns = tuple(one for one in self._needed_columns(version) if one not in self.new)
                rows = self._rows(version, tuple(all_parts), columns)
                chosen = rows.where(functions.expr(self.job.where or "true"))
                check_exact(joined, rows.select(*map(name, keys)), chosen.select(*map(name, keys)))
        rows = self._rows(version, parts, self._needed_columns(version))
        rows = rows.where(functions.expr(self.job.where or "true"))
        for label in self.functions:
            table_columns = [one for one in rows.columns if one in self.schema.names]
            columns, function = self._arguments(label, table_columns), self.functions[label]
            first = self._first_rows(rows, label, columns, version, parts)
            result_type = type_of(function, first, self.schema.field(label).type)
            rows = rows.withColumn(_column_of(label), computed_column(function, columns, result_type))
        for label, joined in self.joins.items():
            rows = joined.to(rows, self.flags[label])
        frame = self._conformed_rows(rows)
        if self.joins:
            count = min(len(parts), MOST_PARTITIONS)
            frame = frame.repartition(count, functions.expr(PART_OF_ADDRESS)).sortWithinPartitions(ADDRESS)
        return frame

    def _rows(self, version: int, parts: tuple[int, ...], columns: tuple[str, ...] | None) -> DataFrame:
        """Read columns, or all, of parts; those that the table does not have yet are null."""
        target, storage = self.job.target, self.job.storage_options.resolved()
        row_id = ROW_ID if any(ROW_ID in join.on for join in self.job.joins.values()) else None
        table = TableVersion(target.engine.name, absolute(target.path), version, storage)
        read = None if columns is None else tuple(one for one in columns if one not in self.new)
        reader = TableReader(table, Projection(read, row_id=row_id, address=ADDRESS), parts=parts)
        frame = table_frame(self.spark, reader).drop(SOURCE)
        stored_fields = [plain_field(self.schema.field(one).with_nullable(True)) for one in self.new]
        nulls = from_arrow_schema(pa.schema(stored_fields))
        for field in nulls.fields:
            if columns is None or field.name in columns:
                frame = frame.withColumn(field.name, functions.lit(None).cast(field.dataType))
        return frame

    def _needed_columns(self, version: int) -> tuple[str, ...]:
        """Return the columns of the table that an expression, a function, a join or `where` reads."""
        rows = self._rows(version, (), None)
        columns = [one for one in rows.columns if one not in (ADDRESS, ROW_ID)]
        needed: set[str] = set()
        if self.job.where is not None:
            scope = ExpressionScope(records_of_frame(rows.drop(ADDRESS)))
            with located("where"):
                scope.resolve("where", str(self.job.where))
            needed |= set(scope.members)
        for label, origin in self.job.origins.items():
            if label in self.functions:
                needed |= {*self._arguments(label, columns)}
            elif origin.expr is None and origin.value is None:
                needed.add(str(parse_steps(origin.from_ or f"`{label}`")[0]))
        for joined in self.joins.values():
            needed |= {*joined.keys}
            rows = joined.to(rows, self.flags[joined.label])
        fields = {label: origin for label, origin in self.job.origins.items() if origin.expr is not None}
        job = self.job.model_copy(update={"fields": fields})
        needed |= {*with_computed_fields(records_of_frame(rows), job).computed.used}
        return tuple(one for one in columns if one in needed)

    def _arguments(self, label: str, columns: Iterable[str]) -> tuple[str, ...]:
        """Return the columns that a function gets, by default all that are not new. Raises PipelineError for an unknown one."""
        origin, known = self.job.origins[label], tuple(columns)
        for one in origin.columns:
            if one not in known:
                message = f"`columns` of `{label}` names `{one}`, but the table has no such column"
                place = ("fields", label, "columns")
                raise PipelineError(UNKNOWN_SOURCE_COLUMN, message, did_you_mean(one, known), place=place)
        return origin.columns or tuple(one for one in known if one not in self.new)

    def _first_rows(
        self, rows: DataFrame, label: str, columns: tuple[str, ...], version: int, parts: tuple[int, ...]
    ) -> pa.RecordBatch | None:
        """Return the first rows; where all rows get values, and no column is new, without Spark."""
        if self.job.where is None and not {*columns} & {*self.new}:
            read = partial(self._source.read, self.job.target.path, version)
            options = Projection(columns), self.job.storage_options
            batches = chain.from_iterable(read(part, *options) for part in parts)
            try:
                first_batch = next((one for one in batches if one.num_rows), None)
            except pa.ArrowInvalid as error:
                message = f"the function of `{label}` gets a column that Spark cannot hold exactly: {error}"
                help = "name the columns that it needs as `columns`"
                place = ("fields", label, "columns")
                raise PipelineError(PYTHON_FUNCTION, message, help, place=place) from error
            return None if first_batch is None else first_batch.slice(0, FIRST_ROWS)
        table = rows.select(*map(name, columns)).limit(FIRST_ROWS).toArrow().combine_chunks()
        return next(iter(table.to_batches()), None)

    def _conformed_rows(self, rows: DataFrame) -> DataFrame:
        """Return a frame of addresses, flags of joins, filled values, errors and raw records."""
        change: dict[str, Any] = {"python": None, "columns": ()}
        columns_of = {
            label: self.job.origins[label].model_copy(update={**change, "from_": name(_column_of(label))})
            for label in self.functions
        }
        read = records_of_frame(rows)
        assert isinstance(read.values, TypedColumns)
        shown = tuple(one for one in rows.columns if one in self.schema.names)

        def row_text(place: Callable[[str], str]) -> str:
            # An example of a value that does not fit; one without columns is a constant.
            return f"to_json({struct((one, place(one)) for one in shown)})" if shown else "'{}'"

        records = replace(read, values=replace(read.values, raw_columns=shown, row_text=row_text))
        job = self.job.model_copy(update={"fields": {**self.job.fields, **columns_of}})
        extra = [ADDRESS_FIELD, *(ADDRESS_FIELD.with_name(flag) for flag in self.flags.values())]
        schema = pa.schema([*self.filled, *extra])
        validation = ValidationPlan.of(with_computed_fields(records, job), schema, job)
        columns = [ADDRESS, *self.flags.values(), *self.filled.names, ERRORS, RAW]
        return validation.frame().select(*map(name, columns))


def _column_of(label: str) -> str:
    """Return the column that holds what a field's Python function computes."""
    return f"__python_{label}"
