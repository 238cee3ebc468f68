"""Conforms a DataFrame to a dataset: typed columns, and the reasons for each row that does not fit.

Layer: pipeline.
Shape: `conform` has batches of the frame validated in tasks, as a run does with its source, and gives a `Conformed`. Nothing is
       computed before an action of Spark asks for rows.
Rule: values do not depend on the settings of the session. Most settings count when Spark analyses an expression, which
      happens here, under the settings of a run; those that count later have to be right already, or the frame is refused.
Errors: PipelineError; SC691 for settings of the session, SC639 for two columns of one name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypedDict, Unpack

from pydantic import ValidationError
from pyspark.sql import DataFrame

from schemac.artifacts.dataset import CheckedDataset
from schemac.pipeline.codes import SESSION_SETTING
from schemac.pipeline.conforming.gather import with_computed_fields
from schemac.pipeline.conforming.mapping import mapping_mistakes
from schemac.pipeline.conforming.row_constraints import reference_mistakes, rows_checked, with_warnings
from schemac.pipeline.conforming.validation import ValidationPlan
from schemac.pipeline.declaration.job import FRAME, Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading.records import Records
from schemac.pipeline.reading.source import records_in_column, records_of_frame
from schemac.pipeline.reports.run_html import fragment
from schemac.pipeline.session import DEFAULT_SETTINGS, RUN_SETTINGS, settings_of_a_run
from schemac.pipeline.spark.executors import active, ship
from schemac.pipeline.spark.failures import spark_errors_reported
from schemac.pipeline.spark.packed import ERRORS, RAW, SOURCE
from schemac.pipeline.spark.sql import name
from schemac.pipeline.writing.batches import count_reasons
from schemac.rows.judging.settings import ReasonCount
from schemac.text.source.catalogue import DUPLICATE_COLUMN, PIPELINE_FILE, UNKNOWN_SOURCE_COLUMN
from schemac.text.syntax.model import model_errors

LATE_SETTINGS = (
    "spark.sql.mapKeyDedupPolicy",
    "spark.sql.legacy.timeParserPolicy",
    "spark.sql.optimizer.collapseProjectAlwaysInline",
)
"""Settings that Spark looks at when rows are computed, not when an expression is analysed; with the last one it never comes to that."""


class Rules(TypedDict, total=False):
    """How values are read and checked: the settings of a pipeline file, in snake_case."""

    fields: Mapping[str, str | Mapping[str, Any] | None]
    """Where a field is read, if not from the column with its name: `{"fare": "trip.fare"}`, `{"day": {"from": "d",
    "format": "dd.MM.yyyy"}}`; None: it is always null."""
    timezone: str | None
    """Zone of timestamps that have none."""
    coerce: Literal["none", "text"]
    """Whether text and numbers may be converted into each other if that is exact; applies to JSON values."""
    unexpected: Literal["ignore", "reject"]
    """What to do with a column or key that no field reads."""
    keys: Literal["trust", "check"]
    """Whether to find rows with the same primary key, which costs a shuffle."""
    rules: Mapping[str, Literal["quarantine", "warn"]]
    """Rules that only warn: `{"unexpected": "warn"}`; the row fits, and the reasons are in a column `_warnings`."""
    references: Mapping[str, Mapping[str, Any] | None]
    """Tables of the datasets that the schema refers to: `{"drivers": {"path": "drivers.lance"}}`; None leaves them unchecked."""
    null_values: Sequence[str]
    """Texts that mean null, as whole values."""
    json_column: str | None
    """The column whose text is the record, one JSON object in each row, as in a topic of Kafka."""


@dataclass(frozen=True)
class ConformReport:
    """How many rows of a frame fit, and why the others do not."""

    rows_in: int
    rows_fit: int
    reasons: tuple[ReasonCount, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the counts as JSON."""
        return {
            "records": {"in": self.rows_in, "fit": self.rows_fit, "rejected": self.rows_in - self.rows_fit},
            "reasons": [asdict(one) for one in self.reasons],
        }

    def __str__(self) -> str:
        lines = [f"{self.rows_fit:,} of {self.rows_in:,} rows fit"]
        lines += [f"{one.count:>12,} × {one.path or 'the record'}: {one.rule}" for one in self.reasons]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return fragment("conform", self)


@dataclass(frozen=True)
class Conformed:
    """A frame that was conformed to a dataset."""

    frame: DataFrame
    """The dataset's fields with their types, then `_errors`, `_raw`, `_source`. `_errors` is null for a row that fits, and
    else an array of structs of `path`, `rule` and `value`; `_raw` is the row as text, where it does not fit."""
    good: DataFrame
    """The rows that fit, with the dataset's fields alone."""
    rejected: DataFrame
    """The other rows, as a quarantine has them: `_source`, `_raw`, `_errors`."""
    dataset: CheckedDataset

    def report(self) -> ConformReport:
        """Count the rows and the reasons with one Spark job over the whole frame."""
        with spark_errors_reported():
            rows, fitting, reasons = count_reasons(self.frame, ERRORS)
        return ConformReport(rows, fitting, ReasonCount.sorted(reasons))

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """Names and Arrow types of the fields."""
        return tuple((field.name, str(field.type)) for field in self.dataset.to_arrow())

    def __str__(self) -> str:
        width = max((len(label) for label, _ in self.columns), default=0)
        lines = [f"a frame that was conformed to {self.dataset.name}; `report()` counts its rows"]
        lines += [f"  {label:<{width}}  {column_type}" for label, column_type in self.columns]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return fragment("conformed", self)


def conform(frame: DataFrame, dataset: CheckedDataset, **rules: Unpack[Rules]) -> Conformed:
    """Return the frame with the dataset's columns and types, and with reasons for each row that does not fit.

    Each field is read from the column with its name unless `fields` names another: typed columns are checked and converted exactly,
    text columns are read as text, variants as JSON. Nothing is computed before a Spark action. Raises PipelineError for rules that the frame or the dataset does not support.

    >>> conform(spark.table("raw.trips"), trips, fields={"fare": "trip.fare"}).good  # doctest: +SKIP
    """
    # What the project leaves out of the metadata of its artifacts holds all the same.
    job, schema = job_of_frame("memory", rules), dataset.to_arrow(metadata=True)
    for mistake in mapping_mistakes(job, schema):
        # There is no file whose setting could be named.
        raise mistake.at()
    for error in reference_mistakes(job, schema):
        raise error
    spark = frame.sparkSession
    # Settings of the session that would change values when they are computed.
    needed = DEFAULT_SETTINGS | RUN_SETTINGS
    for key in LATE_SETTINGS:
        current = spark.conf.get(key, needed[key])
        if str(current).upper() != needed[key].upper():
            message = f"the session has `{key}` = `{current}`, which would change values"
            way_out = (
                f'`spark.conf.set("{key}", "{needed[key]}")`, or use `write`, which sets it while it runs'
            )
            raise PipelineError(SESSION_SETTING, message, way_out)
    # Its tasks run in Python, also on machines that do not have this package.
    ship(spark)
    with spark_errors_reported(), active(spark), settings_of_a_run(spark, job):
        records = with_computed_fields(open_frame(frame, rules.get("json_column")), job)
        rows = ValidationPlan.of(records, schema, job).frame()
        conformed = with_warnings(rows_checked(rows, schema, job), job)
        good = conformed.where(f"{ERRORS} is null").selectExpr(*map(name, schema.names))
        rejected = conformed.where(f"{ERRORS} is not null").select(SOURCE, RAW, ERRORS)
    return Conformed(conformed, good, rejected, dataset)


def open_frame(frame: DataFrame, json_column: str | None) -> Records:
    """Return the rows of a frame as records; with `json_column` the texts in that column."""
    duplicates = {label for label in frame.columns if frame.columns.count(label) > 1}
    if duplicates:
        message = f"the frame has two columns `{min(duplicates)}`"
        raise PipelineError(DUPLICATE_COLUMN, message, "rename or drop one of them")
    if json_column is None:
        return records_of_frame(frame)
    if json_column not in frame.columns:
        known = ", ".join(f"`{label}`" for label in frame.columns)
        message = f"`json_column` names `{json_column}`, but the frame has no such column"
        raise PipelineError(UNKNOWN_SOURCE_COLUMN, message, f"its columns are {known}")
    return records_in_column(frame, json_column)


def job_of_frame(table: str, rules: Mapping[str, Any], **settings: Any) -> Job:
    """Make the job that writes a frame, from rules and settings in Python; None means the default."""
    settings_by_name = {**rules, **settings}
    source = {"format": FRAME, "timezone": settings_by_name.pop("timezone", None)}
    target = {"path": table, **settings_by_name.pop("target", {})}
    settings_by_name.pop("json_column", None)
    value = {key: item for key, item in settings_by_name.items() if item is not None or key == "fields"}
    value |= {"source": source, "target": {key: item for key, item in target.items() if item is not None}}
    return checked_job(value)


def checked_job(value: Mapping[str, Any]) -> Job:
    """Return a job of values in the words of a pipeline file. Raises PipelineError for the first mistake."""
    try:
        return Job.model_validate(value)
    except ValidationError as error:
        mistake = model_errors(error, Job, value)[0]
        place = ".".join(str(part) for part in mistake.path)
        raise PipelineError(PIPELINE_FILE, f"{place}: {mistake.message}", mistake.help or None) from error
