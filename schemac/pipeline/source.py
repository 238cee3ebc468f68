"""Reads records so that every value is known exactly and no record is lost.

Shape: JSON records arrive as one text each (`_raw`), parsed once to a variant; CSV cells arrive as strings; other formats
       keep the types of their columns. `_source` is the file of a record. Blank lines are no records.
Errors: PipelineError, before Spark reads: no such file, unknown format, unreadable header.
Source: a string column of Spark's JSON reader is exact but forgets what was quoted; a variant remembers.
"""

import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType, StringType, StructField, StructType

from .documents import read_documents
from .errors import PipelineError
from .inputs import Input, Json, follow, parse_steps, typed_input, unknown_column
from .job import FieldSource, Job
from .sqltext import literal, name

RECORD = "_record"
CORRUPT = "_corrupt"
GEOJSON_TOP = ("id", "geometry", "bbox", "properties")
GEOJSON_ALWAYS = ("type", "id", "bbox", "geometry", "properties")
NO_CELL = "\ue000"
FILE = "_metadata.file_path as _source"


@dataclass(frozen=True)
class Records:
    """Records of a source, and how a field finds its value in them."""

    frame: DataFrame
    raw: str
    malformed: str | None
    columns: dict[str, DataType] | None = None
    is_geojson: bool = False

    def input_of(self, label: str, origin: FieldSource | None) -> Input | None:
        """Where a field is read; None where the job says that it comes from nowhere."""
        if origin is None:
            return None
        if self.columns is None:
            return follow(Json(RECORD), self.steps_of(label, origin))
        wanted = label if origin.from_ is None else origin.from_
        if wanted in self.columns:
            return typed_input(name(wanted), self.columns[wanted])
        first, *rest = parse_steps(wanted)
        if first not in self.columns:
            raise unknown_column(str(first), list(self.columns))
        return follow(typed_input(name(str(first)), self.columns[str(first)]), tuple(rest))

    def steps_of(self, label: str, origin: FieldSource) -> tuple[str | int, ...]:
        """Where a field stands in a JSON record."""
        if origin.from_ is not None:
            return parse_steps(origin.from_)
        if self.is_geojson and label not in GEOJSON_TOP:
            return ("properties", label)
        return (label,)

    def objects(self, schema: pa.Schema, job: Job) -> Iterator[tuple[Input, list[str], tuple[str, ...]]]:
        """Each JSON object that fields are taken from, with the keys that some field takes."""
        taken: dict[tuple[str | int, ...], set[str]] = {(): set()}
        if self.columns is not None:
            self._check_columns(schema, job)
            return
        if self.is_geojson:
            taken = {(): set(GEOJSON_ALWAYS)}
        for label in schema.names:
            origin = job.fields.get(label, FieldSource())
            if origin is None:
                continue
            steps = self.steps_of(label, origin)
            for depth, step in enumerate(steps):
                if isinstance(step, str):
                    taken.setdefault(steps[:depth], set()).add(step)
        for steps, keys in taken.items():
            if self.is_geojson and steps == ("geometry",):
                keys |= {"type", "coordinates"}
            path = ".".join(str(step) for step in steps)
            yield Json(RECORD, steps), sorted(keys), (f"'{path}'",) if path else ()

    def _check_columns(self, schema: pa.Schema, job: Job) -> None:
        taken = {(job.fields.get(label) or FieldSource()).from_ or label for label in schema.names}
        extra = sorted(set(self.columns or ()) - taken - {path.split(".")[0].split("[")[0] for path in taken})
        if extra:
            raise PipelineError(
                "unexpected-column",
                f"no field takes the column `{extra[0]}`"
                + (f" (and {len(extra) - 1} more)" if len(extra) > 1 else ""),
                "add the field, or set `unexpected: ignore`",
            )


def check_source(job: Job) -> list[str]:
    """The files of the source, checked without Spark: local paths must be there."""
    files: list[str] = []
    if not job.source.path and job.source.format in ("csv", "json", "geojson", "parquet", "lance"):
        raise PipelineError("missing-path", f"`source` has no `path`, a {job.source.format} source needs one")
    for path in job.source.path:
        if "://" in path and not path.startswith("file://"):
            files.append(path)
            continue
        found = glob.glob(path.removeprefix("file://"))
        if not found:
            raise PipelineError("input-not-found", f"there is no file `{path}`", _nearby(path))
        files.extend(sorted(found))
    return files


def _nearby(path: str) -> str | None:
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        return f"there is no folder `{folder}` either"
    names = sorted(os.listdir(folder))[:12]
    return (
        "that folder holds " + ", ".join(f"`{entry}`" for entry in names) if names else "that folder is empty"
    )


def open_records(spark: SparkSession, job: Job) -> Records:
    """The records of the job's source."""
    check_source(job)
    try:
        if job.source.format == "geojson":
            return _json_records(read_documents(spark, _documents(job), member="features"), is_geojson=True)
        if job.source.format == "json":
            return _json_records(_json_texts(spark, job))
        if job.source.format == "csv":
            return _csv_records(spark, job)
        if job.source.format == "lance":
            from .lance_source import read_lance

            return _typed_records(read_lance(spark, job.source))
        return _typed_records(_loaded(spark, job))
    except PySparkException as error:
        raise PipelineError(
            "unreadable-source", _first_line(error), f"format is `{job.source.format}`"
        ) from error


def _documents(job: Job) -> list[str]:
    """The files of the source, those of a folder one by one."""
    found: list[str] = []
    for path in check_source(job):
        if os.path.isdir(path):
            names = sorted(os.listdir(path))
            found += [os.path.join(path, entry) for entry in names if not entry.startswith((".", "_"))]
        else:
            found.append(path)
    return found


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


def _loaded(spark: SparkSession, job: Job) -> DataFrame:
    reader = spark.read.format(job.source.format).options(**job.source.options)
    return reader.load(list(job.source.path)) if job.source.path else reader.load()


def _json_texts(spark: SparkSession, job: Job) -> DataFrame:
    if _is_line_by_line(spark, job):
        lines = spark.read.text(list(job.source.path))
        return lines.where("length(trim(value)) > 0").selectExpr("value as _raw", FILE)
    return read_documents(spark, _documents(job), member=None)


def _is_line_by_line(spark: SparkSession, job: Job) -> bool:
    """Whether each line is a record: its first line then is an object from brace to brace."""
    told = job.source.options.get("multiLine", job.source.options.get("multiline"))
    if told is not None:
        return told.lower() != "true"
    lines = spark.read.text(list(job.source.path)).where("length(trim(value)) > 0").head(1)
    first = lines[0][0].strip() if lines else "{}"
    return not first.startswith("[") and not (first.startswith("{") and not first.endswith("}"))


def _json_records(texts: DataFrame, *, is_geojson: bool = False) -> Records:
    frame = texts.selectExpr("_raw", "_source", f"try_parse_json(_raw) as {RECORD}")
    # A record is an object: a number or a list where a record should be is as unreadable as a broken one.
    malformed = f"({RECORD} is null or not startswith(ltrim(_raw), '{{'))"
    return Records(frame, "_raw", malformed, is_geojson=is_geojson)


def _csv_records(spark: SparkSession, job: Job) -> Records:
    # A quote inside quotes is doubled, as RFC 4180 has it; Spark's own default is a backslash. An empty cell is null, and
    # `""` is an empty text: Spark takes both for null unless null is spelled in another way.
    options = {
        "header": "true",
        "mode": "PERMISSIVE",
        "escape": '"',
        "nullValue": NO_CELL,
        **job.source.options,
    }
    has_header = options["header"].lower() == "true"
    # Names come from the first file's header; every cell stays text.
    plain = spark.read.options(**{**options, "inferSchema": "false"}).csv(list(job.source.path))
    names = [field.name for field in plain.schema.fields]
    if not names:
        raise PipelineError("empty-source", f"`{job.source.path[0]}` is empty: it has no header, and no rows")
    if has_header:
        _check_header(spark, job, names, options)
    columns = StructType([StructField(label, StringType()) for label in [*names, CORRUPT]])
    options |= {"columnNameOfCorruptRecord": CORRUPT, "enforceSchema": "false" if has_header else "true"}
    frame = spark.read.schema(columns).options(**options).csv(list(job.source.path))
    cells = [name(label) for label in names]
    frame = frame.selectExpr(*cells, CORRUPT, FILE)
    delimiter = options.get("sep", options.get("delimiter", ","))
    writing = _options_map(
        {"sep": delimiter, "escape": options["escape"], "ignoreLeadingWhiteSpace": "false",
         "ignoreTrailingWhiteSpace": "false"}
    )  # fmt: skip
    raw = f"coalesce({CORRUPT}, to_csv(struct({', '.join(cells)}), {writing}))"
    types: dict[str, DataType] = {label: StringType() for label in names}
    return Records(frame, raw, f"{CORRUPT} is not null", types)


def _check_header(spark: SparkSession, job: Job, names: list[str], options: dict[str, str]) -> None:
    """Refuses two columns of one name; Spark numbers them, so a look at the header tells whether they were."""
    stems = [label.removesuffix(str(i)) for i, label in enumerate(names)]
    numbered = [stem for stem, label in zip(stems, names, strict=True) if stem != label]
    if len(set(numbered)) == len(numbered):
        return
    plain = spark.read.options(**{**options, "header": "false", "inferSchema": "false"})
    header = [cell for cell in plain.csv(list(job.source.path)).head(1)[0] if cell is not None]
    twice = sorted({cell for cell in header if header.count(cell) > 1})
    if twice:
        message = f"two columns of `{job.source.path[0]}` are called `{twice[0]}`"
        raise PipelineError("duplicate-column", message, "give each column of the header its own name")


def _options_map(options: dict[str, str]) -> str:
    return "map(" + ", ".join(literal(text) for pair in options.items() for text in pair) + ")"


def _typed_records(frame: DataFrame) -> Records:
    types = {field.name: field.dataType for field in frame.schema.fields}
    cells = ", ".join(name(label) for label in types)
    has_file = "_source" in frame.columns
    if not has_file:
        try:
            frame = frame.selectExpr("*", FILE)
        except PySparkException:
            frame = frame.selectExpr("*", "cast(null as string) as _source")
    types.pop("_source", None)
    return Records(frame, f"to_json(struct({cells}))", None, types)
