"""Compiles the frame of Spark that computes the values of a backfill.

Layer: pipeline.
Shape: rows of some parts of one version of the table in; the address of each row that gets values, the columns of `conform` for the
       fields that are filled, and a flag for each join, out. Rows of one part follow each other, in the order of their addresses.
       Only columns that something names are read.
Rule: values are conformed as those of every run. `where` is decided first: nothing is computed for the other rows.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, functions
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import DataType

from schemac.pipeline.backfill.joins import Joined, check_exact, opened_join
from schemac.pipeline.conforming.gather import check_constants
from schemac.pipeline.conforming.given import Scope, with_computed_fields
from schemac.pipeline.conforming.validation import conform
from schemac.pipeline.declaration.job import FieldSource, Job
from schemac.pipeline.errors import PipelineError, did_you_mean
from schemac.pipeline.reading.inputs import parse_steps
from schemac.pipeline.reading.source import Records, records_of_frame
from schemac.pipeline.reading.table_source import TableSource
from schemac.pipeline.spark.columns import ADDRESS, ADDRESS_FIELD, ERRORS, RAW, ROW_ID, SOURCE
from schemac.pipeline.spark.python_functions import Computed, PythonFunction, type_of
from schemac.pipeline.spark.registration import register
from schemac.pipeline.spark.sqltext import name
from schemac.rows.runs.plain_types import plain_field
from schemac.rows.runs.tables import sink_engine, source_of
from schemac.source.catalogue import PYTHON_FUNCTION, UNKNOWN_SOURCE_COLUMN

FIRST_ROWS = 64
MOST_PARTITIONS = 200
PART_OF_ADDRESS = f"shiftright({ADDRESS}, 32)"


@dataclass(frozen=True)
class Frames:
    """The frames of one backfill."""

    spark: SparkSession
    job: Job
    schema: pa.Schema
    """Of the table."""
    new: tuple[str, ...]
    """Columns that are filled, and the table does not have yet; they read as null."""

    @property
    def filled(self) -> pa.Schema:
        """The fields that are filled."""
        return pa.schema([field for field in self.schema if field.name in self.job.fields])

    @cached_property
    def flags(self) -> dict[str, str]:
        """Names of the columns that tell which rows have no match in a join."""
        return {label: f"__unmatched_{number}" for number, label in enumerate(self.job.joins)}

    @cached_property
    def functions(self) -> dict[str, PythonFunction]:
        """The Python functions, by field."""
        python_functions = {
            label: origin.python for label, origin in self.job.fields.items() if origin is not None
        }
        return {
            label: PythonFunction.of(label, text)
            for label, text in python_functions.items()
            if text is not None
        }

    @cached_property
    def joins(self) -> dict[str, Joined]:
        """The sources that are joined; opening them looks for keys that exist twice."""
        types = self._types(self._newest())
        return {label: opened_join(self.spark, self.job, label, types) for label in self.job.joins}

    def _newest(self) -> int:
        source = source_of(self.job.source.format)
        assert source is not None
        return source.newest_version(self.job.target.path, self.job.storage_options) or 0

    def _types(self, version: int) -> dict[str, DataType]:
        return {field.name: field.dataType for field in self._rows(version, (), None).schema.fields}

    def of(self, version: int, parts: tuple[int, ...]) -> DataFrame:
        """Return the frame over these parts of a version."""
        check_constants(self.job, self.schema)
        self._check_exact(version)
        rows = self._rows(version, parts, self._needed(version))
        if self.job.where is not None:
            rows = rows.where(functions.expr(self.job.where))
        for label in self.functions:
            rows = self._computed(rows, label, version, parts)
        for label, joined in self.joins.items():
            rows = joined.to(rows, self.flags[label])
        frame = self._conformed(rows)
        if self.joins:
            count = min(len(parts), MOST_PARTITIONS)
            frame = frame.repartition(count, functions.expr(PART_OF_ADDRESS)).sortWithinPartitions(ADDRESS)
        return frame

    def _check_exact(self, version: int) -> None:
        """Refuse joins that have to fit the table exactly where a row or a record is left over."""
        for label, joined in self.joins.items():
            if self.job.joins[label].exact:
                parts = self._parts(version)
                keys = tuple(joined.keys)
                columns = tuple(one for one in self._needed(version) if one not in self.new)
                rows = self._rows(version, parts, columns)
                chosen = rows if self.job.where is None else rows.where(functions.expr(self.job.where))
                check_exact(joined, rows.select(*map(name, keys)), chosen.select(*map(name, keys)))

    def _parts(self, version: int) -> tuple[int, ...]:
        source = source_of(self.job.source.format)
        assert source is not None
        return tuple(source.parts(self.job.target.path, version, self.job.storage_options))

    def _rows(self, version: int, parts: tuple[int, ...], columns: tuple[str, ...] | None) -> DataFrame:
        """Read columns, or all, of parts; those that the table does not have yet are null."""
        register(self.spark, TableSource)
        target = self.job.target
        row_ids = any(ROW_ID in join.on for join in self.job.joins.values())
        reader = self.spark.read.format(TableSource.name()).options(
            row_ids=str(row_ids).lower(),
            engine=sink_engine(target.format).name,
            path=target.path,
            version=str(version),
            addresses="true",
            parts=json.dumps(parts),
            storage=self.job.storage_options.to_json(),
        )
        if columns is not None:
            reader = reader.option("columns", json.dumps([one for one in columns if one not in self.new]))
        frame = reader.load().drop(SOURCE)
        stored_fields = [plain_field(self.schema.field(one).with_nullable(True)) for one in self.new]
        nulls = from_arrow_schema(pa.schema(stored_fields))
        for field in nulls.fields:
            if columns is None or field.name in columns:
                frame = frame.withColumn(field.name, functions.lit(None).cast(field.dataType))
        return frame

    def _needed(self, version: int) -> tuple[str, ...]:
        """Name the columns of the table that something reads."""
        rows = self._rows(version, (), None)
        columns = [one for one in rows.columns if one not in (ADDRESS, ROW_ID)]
        needed: set[str] = set()
        if self.job.where is not None:
            needed |= self._members_of_where(rows.drop(ADDRESS))
        for label, origin in self.job.fields.items():
            if label in self.functions:
                needed |= {*self._arguments(label, columns)}
            elif origin is not None and origin.expr is None and origin.value is None:
                needed.add(str(parse_steps(origin.from_ or f"`{label}`")[0]))
        for joined in self.joins.values():
            needed |= {*joined.keys}
            rows = joined.to(rows, self.flags[joined.label])
        job = self.job.model_copy(update={"fields": self._expressions()})
        needed |= {*with_computed_fields(records_of_frame(rows), job).used}
        return tuple(one for one in columns if one in needed)

    def _expressions(self) -> dict[str, FieldSource]:
        origins = {label: origin for label, origin in self.job.fields.items() if origin is not None}
        return {label: origin for label, origin in origins.items() if origin.expr is not None}

    def _members_of_where(self, rows: DataFrame) -> set[str]:
        scope = Scope(records_of_frame(rows))
        try:
            scope.resolve("where", str(self.job.where))
        except PipelineError as error:
            raise error.at("where") from error
        return set(scope.members)

    def _arguments(self, label: str, columns: Iterable[str]) -> tuple[str, ...]:
        origin, known = self.job.fields[label], tuple(columns)
        assert origin is not None
        for one in origin.columns:
            if one not in known:
                message = f"`columns` of `{label}` names `{one}`, but the table has no such column"
                place = ("fields", label, "columns")
                raise PipelineError(UNKNOWN_SOURCE_COLUMN, message, did_you_mean(one, known), place=place)
        return origin.columns or tuple(one for one in known if one not in self.new)

    def _computed(self, rows: DataFrame, label: str, version: int, parts: tuple[int, ...]) -> DataFrame:
        """Add the values of a function; which type they have its first values tell."""
        table_columns = [one for one in rows.columns if one in self.schema.names]
        columns, function = self._arguments(label, table_columns), self.functions[label]
        result_type = type_of(
            function, self._first(rows, label, columns, version, parts), self.schema.field(label).type
        )
        return rows.withColumn(_column_of(label), Computed(function, columns, result_type).column())

    def _first(
        self, rows: DataFrame, label: str, columns: tuple[str, ...], version: int, parts: tuple[int, ...]
    ) -> pa.RecordBatch | None:
        """Return the first rows; where all rows get values, and no column is new, without Spark."""
        if self.job.where is None and not {*columns} & {*self.new}:
            source = source_of(self.job.source.format)
            assert source is not None
            path, storage = self.job.target.path, self.job.storage_options
            batches = (one for part in parts for one in source.read(path, version, part, columns, storage))
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

    def _conformed(self, rows: DataFrame) -> DataFrame:
        records, job = self._records(rows), self._read_job()
        extra = [ADDRESS_FIELD, *(ADDRESS_FIELD.with_name(flag) for flag in self.flags.values())]
        conformed = conform(with_computed_fields(records, job), pa.schema([*self.filled, *extra]), job)
        columns = [ADDRESS, *self.flags.values(), *self.filled.names, ERRORS, RAW]
        return conformed.select(*map(name, columns))

    def _records(self, rows: DataFrame) -> Records:
        columns = [one for one in rows.columns if one in self.schema.names]
        # An example of a value that does not fit; one without columns is a constant.
        record_json = f"to_json(struct({', '.join(map(name, columns))}))" if columns else "'{}'"
        return replace(records_of_frame(rows), raw=record_json)

    def _read_job(self) -> Job:
        """Return the job in which functions are columns."""
        fields = {
            label: origin.model_copy(update={"python": None, "columns": (), "from_": name(_column_of(label))})
            if origin is not None and origin.python is not None
            else origin
            for label, origin in self.job.fields.items()
        }
        return self.job.model_copy(update={"fields": fields})


def _column_of(label: str) -> str:
    return f"__python_{label}"
