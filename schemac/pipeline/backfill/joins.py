"""Other sources whose columns a backfill reads by the key of a row.

Layer: pipeline.
Shape: a source in any form that a pipeline reads in; a frame with a column for each part of the key, and one called after the join that
       has the columns of the source: a struct, or for records of JSON the record itself as a variant.
Rule: a row has one value, so no key may be twice in the source. A key that is null meets nothing; a row whose key the source does not
      have gets null, which a required column refuses. Both sides of a key have one type: nothing is converted to compare it.
Errors: SC669 join, and what opening a source may raise, at the join's place in the file.
"""

from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession, functions
from pyspark.sql.types import DataType, IntegralType, StringType, VariantType

from schemac.pipeline.conforming.given import Scope
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError, did_you_mean
from schemac.pipeline.reading.inputs import Input, Json, Typed
from schemac.pipeline.reading.source import IN_RECORD, RECORD, Records, open_records
from schemac.pipeline.spark.sqltext import name
from schemac.source.catalogue import JOIN

MOST_KEYS = 3


@dataclass(frozen=True)
class Joined:
    """The source of one join."""

    label: str
    frame: DataFrame
    keys: dict[str, str]
    """Columns of the table, and of the frame."""

    def to(self, rows: DataFrame, flag: str) -> DataFrame:
        """Add the source's column to rows, and a flag: 1 if the source does not have the key, else 0."""
        conditions: list[Column] = [
            rows[name(left)] == self.frame[right] for left, right in self.keys.items()
        ]
        joined = rows.join(self.frame, reduce(Column.__and__, conditions), "left").drop(*self.keys.values())
        return joined.withColumn(flag, functions.isnull(name(self.label)).cast("bigint"))


def opened_join(spark: SparkSession, job: Job, label: str, types: dict[str, DataType]) -> Joined:
    """Open the source of a join; `types` are those of the table's columns."""
    part, place = job.part_of_join(label), ("joins", label)
    try:
        records = open_records(spark, part).parsed()
    except PipelineError as error:
        rest = error.place[1:] if error.place[:1] == ("source",) else ()
        raise error.at(*place, *rest) from error
    scope = Scope(records)
    keys: dict[str, str] = {}
    key_types: list[tuple[str, str, str]] = []
    for left, right in job.joins[label].on.items():
        try:
            value, failed = scope.add(left, right)
        except PipelineError as error:
            raise error.at(*place, "on", left) from error
        if isinstance(value, Json):
            raise _mismatch(label, left, types, "a variant", right)
        _check_types(label, left, types, value.type if isinstance(value, Typed) else StringType(), right)
        keys[left] = f"__{label}_{len(keys)}"
        key_types.append((_column(value), keys[left], failed))
    whole = scope.added()
    columns = [f"{text} as {name(column)}" for text, column, _ in key_types]
    failures = [condition for _, _, condition in key_types]
    broken = " or ".join(["false", *failures, *([records.malformed] if records.malformed else [])])
    frame = whole.frame.selectExpr(
        *columns, f"{_value_of(records)} as {name(label)}", f"{broken} as __broken"
    )
    _check_rows(label, frame, list(keys.values()))
    return Joined(label, frame.drop("__broken"), keys)


def check_exact(joined: Joined, rows: DataFrame, chosen: DataFrame) -> None:
    """Refuse records whose key no row of the table has, and rows that are to get values and have no record; `rows` are keys."""
    place = ("joins", joined.label)
    match = [rows[name(left)] == joined.frame[right] for left, right in joined.keys.items()]
    records = joined.frame.join(rows, reduce(Column.__and__, match), "left_anti")
    examples = _keys_of(records, list(joined.keys.values()))
    if examples:
        message = f"`{joined.label}` has records for rows that the table does not have: {examples}"
        help = "leave them out; or leave out `exact` of the join, so that they are ignored"
        raise PipelineError(JOIN, message, help, place=place)
    match = [chosen[name(left)] == joined.frame[right] for left, right in joined.keys.items()]
    examples = _keys_of(
        chosen.join(joined.frame, reduce(Column.__and__, match), "left_anti"), list(joined.keys)
    )
    if examples:
        message = f"`{joined.label}` has no record for rows of the table: {examples}"
        help = "add them, leave these rows out with `where`, or leave `exact` out of the join: they then get null"
        raise PipelineError(JOIN, message, help, place=place)


def _keys_of(frame: DataFrame, keys: list[str]) -> str:
    """Show a few keys of a frame; nothing for one without rows."""
    rows = frame.select(*map(name, keys)).orderBy(*map(name, keys)).limit(MOST_KEYS + 1).collect()
    keys_text = ", ".join(" and ".join(str(value) for value in row) for row in rows[:MOST_KEYS])
    return f"{keys_text}, …" if len(rows) > MOST_KEYS else keys_text


def _value_of(records: Records) -> str:
    """Write the source's columns as one value that is never null."""
    if records.columns is None:
        return Json(RECORD, IN_RECORD).variant
    members = [f"{_column(input_)} as {name(column)}" for column, input_ in records.columns.items()] + [
        f"{text} as {name(column)}"
        for column, text in records.partitions.items()
        if column not in records.columns
    ]
    return f"struct({', '.join(members)})"


def _column(input_: Input) -> str:
    if isinstance(input_, Typed):
        return input_.column
    return input_.variant if isinstance(input_, Json) else input_.text


def _check_types(label: str, left: str, types: dict[str, DataType], right_type: DataType, right: str) -> None:
    if left not in types:
        message = f"`on` of `{label}` names `{left}`, but the table has no such column"
        raise PipelineError(JOIN, message, did_you_mean(left, types), place=("joins", label, "on", left))
    left_type = types[left]
    if left_type != right_type and not (
        isinstance(left_type, IntegralType) and isinstance(right_type, IntegralType)
    ):
        raise _mismatch(label, left, types, right_type.simpleString(), right)


def _mismatch(
    label: str, left: str, types: dict[str, DataType], right_type: str, right: str
) -> PipelineError:
    left_type = types[left].simpleString() if left in types else "no column"
    cast = (
        f"{right}::{left_type}"
        if right_type in ("a variant", VariantType().simpleString())
        else f"try_cast({right} as {left_type})"
    )
    message = f"`{left}` is {left_type} in the table, and `{right}` is {right_type} in `{label}`"
    return PipelineError(
        JOIN, message, f'write `on: {{{left}: "{cast}"}}`', place=("joins", label, "on", left)
    )


def _check_rows(label: str, frame: DataFrame, keys: list[str]) -> None:
    """Refuse a source with records that cannot be read, or with a key that exists twice; one job of Spark finds both."""
    broken = functions.count_if(functions.col("__broken")).alias("__broken")
    counts = frame.groupBy(*keys).agg(functions.count(functions.lit(1)).alias("__count"), broken)
    is_key = " and ".join(f"{name(key)} is not null" for key in keys)
    wrong = counts.where(f"__broken > 0 or (__count > 1 and {is_key})").orderBy(
        functions.desc("__broken"), *keys
    )
    rows = wrong.limit(MOST_KEYS + 1).collect()
    unread = sum(row["__broken"] for row in rows)
    if unread:
        message = (
            f"at least {unread:,} records of `{label}` cannot be read, or have no key that can be computed"
        )
        raise PipelineError(
            JOIN, message, "correct them, or name a source without them", place=("joins", label)
        )
    if rows:
        keys_text = ", ".join(" and ".join(str(row[key]) for key in keys) for row in rows[:MOST_KEYS])
        keys_text += ", …" if len(rows) > MOST_KEYS else ""
        message = f"`{label}` has several records with one key: {keys_text}"
        help = "name a source with one record for each key, or add the column that tells them apart to `on`"
        raise PipelineError(JOIN, message, help, place=("joins", label, "on"))
