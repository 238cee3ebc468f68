"""Records judged by Spark's expressions and by the judge in Python, and what they do not agree on."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
from pyspark.sql import SparkSession

from schemac.judging import forms
from schemac.judging.arrays import plain_array
from schemac.judging.exact_types import to_field
from schemac.judging.judge import Judge, Judged, _shows_numbers
from schemac.judging.parts import Reason, Run
from schemac.judging.shapes import is_scalar
from schemac.judging.tokens import NotJsonError, parse
from schemac.pipeline.conforming import projection
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.reading.source import open_records
from schemac.pipeline.session import settings_of_a_run
from schemac.pipeline.values.judges import judge_of

MAY_BE_LONG = re.compile(forms.MAY_BE_LONG)
Triple = tuple[str, str, str | None] | Reason


@dataclass(frozen=True)
class OfSpark:
    """What Spark says of each record: the values of its fields as they are written, as text, and the reasons."""

    columns: dict[str, list[str]]
    reasons: list[list[Triple]]


def job_of(path: Path, form: str, options: dict[str, Any] | None = None, **told: Any) -> Job:
    source = {"path": str(path), "format": form, "options": options or {}, **told.pop("source", {})}
    return Job.model_validate({"source": source, "target": {"path": "-"}, **told})


def of_spark(spark: SparkSession, schema: pa.Schema, job: Job) -> OfSpark:
    """Item by item, without the reader of batches."""
    with settings_of_a_run(spark, job), mock.patch.object(projection, "batch_reader", return_value=None):
        found = projection.conform(open_records(spark, job), schema, job).drop("_raw", "_source").toArrow()
    columns = {}
    for member in schema:
        # Where another field of a record is wrong, a required one may have a value as well as not, and a list may be too long.
        nullable = _of_any_length(member).with_nullable(True)
        chunks = [told(to_field(chunk, nullable)) for chunk in found.column(member.name).chunks]
        columns[member.name] = [text for chunk in chunks for text in chunk]
    reasons = [
        [(e["path"], e["rule"], e["value"]) for e in row or []] for row in found.column("_errors").to_pylist()
    ]
    return OfSpark(columns, reasons)


def _of_any_length(member: pa.Field) -> pa.Field:
    """A field with lists in the place of those of a fixed size."""
    data_type = member.type
    if pa.types.is_fixed_size_list(data_type) or pa.types.is_list(data_type):
        return member.with_type(pa.list_(_of_any_length(data_type.value_field)))
    if pa.types.is_struct(data_type):
        return member.with_type(pa.struct([_of_any_length(part) for part in data_type]))
    if pa.types.is_map(data_type):
        return member.with_type(pa.map_(data_type.key_field, _of_any_length(data_type.item_field)))
    return member


def told(array: pa.Array) -> list[str]:
    """Each value as text: NaN is not itself, and zero has a sign."""
    return [repr(_shown(value)) for value in array]


def _shown(value: pa.Scalar) -> Any:
    if not value.is_valid:
        return None
    is_ = pa.types
    if isinstance(value, pa.ExtensionScalar) or is_.is_dictionary(value.type):
        return _shown(value.value)
    if is_.is_map(value.type):
        return (
            [(_shown(entry[0]), _shown(entry[1])) for entry in value.values]
            if value.values is not None
            else []
        )
    if is_.is_struct(value.type):
        return {label: _shown(value[i]) for i, label in enumerate(f.name for f in value.type)}
    if is_.is_nested(value.type):
        return [_shown(item) for item in value.values]
    return value.value if hasattr(value, "value") and is_.is_temporal(value.type) else value.as_py()


def compared(
    spark: SparkSession,
    schema: pa.Schema,
    records: Sequence[str],
    job: Job,
    judge: Judge,
    judgements: list[Judged],
) -> Iterator[Any]:
    """Yield each difference: reasons that are others, in their order; values that are others, also beside wrong ones."""
    spoken = of_spark(spark, schema, job)
    assert len(spoken.reasons) == len(records) == len(judgements)
    for text, theirs, ours in zip(records, spoken.reasons, judgements, strict=True):
        if not same_reasons(theirs, list(ours.reasons), is_certain=ours.is_certain):
            yield text, theirs, list(ours.reasons)
    for member in schema:
        is_sure, values = values_of(judge, member.name, records)
        if _shows_numbers(member, judge.settings):
            is_sure = [
                sure and MAY_BE_LONG.search(text) is None for sure, text in zip(is_sure, records, strict=True)
            ]
        expected, found = spoken.columns[member.name], told(as_written(values, member))
        for text, is_right, read, judged in zip(records, is_sure, expected, found, strict=True):
            if is_right and read != judged:
                yield member.name, text, read, judged


DOUBLE = re.compile(r"-?[0-9]+\.[0-9]+(?:E-?[0-9]+)?")


def same_reasons(theirs: Sequence[Triple], ours: Sequence[Triple], *, is_certain: bool) -> bool:
    """Whether they are the same; of a double that Java writes the value counts, where the judge is not certain of its digits."""
    if theirs == ours or is_certain:
        return theirs == ours

    def plain(reasons: Sequence[Triple]) -> list[Triple]:
        return [
            (path, rule, value and DOUBLE.sub(lambda m: repr(float(m[0])), value))
            for path, rule, value in reasons
        ]

    return plain(theirs) == plain(ours)


def as_written(values: list[Any], member: pa.Field) -> pa.Array:
    nullable = member.with_nullable(True)
    return to_field(plain_array(values, nullable), nullable)


def values_of(judge: Judge, label: str, records: Sequence[str]) -> tuple[list[bool], list[Any]]:
    """The value of one field of each record, and whether it is one: also of records that other fields break."""
    ((steps, read),) = [(steps, read) for name, steps, read in judge._of_json.readers if name == label]
    is_sure, values = [], []
    for text in records:
        run, value = Run(), None
        try:
            record = parse(text)
        except NotJsonError:
            record = None
        if isinstance(record, dict):
            for step in steps:
                record = _step(record, step)
            value = read(record, label, run)
            is_sure.append(run.is_certain and not run.reasons)
        else:
            is_sure.append(False)
        values.append(None if run.reasons else value)
    return is_sure, values


def _step(value: Any, step: str | int) -> Any:
    if isinstance(step, str):
        return value.get(step) if isinstance(value, dict) else None
    return value[step] if isinstance(value, list) and step < len(value) else None


def json_differences(
    spark: SparkSession, folder: Path, schema: pa.Schema, records: Sequence[str], **told: Any
) -> tuple[list[Any], int]:
    """All differences over the records, and how many the judge was certain of."""
    records = [text for text in records if text.strip(" \t")]
    form = told.pop("form", "json")
    lines = "".join(text + "\n" for text in records)
    if form == "geojson":
        lines = '{"type": "FeatureCollection", "features": [' + ",".join(records) + "]}"
    (folder / "in").write_text(lines, newline="")
    job = job_of(folder / "in", form, {"multiLine": False} if form == "json" else {}, **told)
    judge = judge_of(job, schema)
    assert judge is not None
    judgements = [judge.json(text) for text in records]
    differences = list(compared(spark, schema, records, job, judge, judgements))
    return differences, sum(judged.is_certain for judged in judgements)


Cell = str | None


def csv_differences(
    spark: SparkSession, folder: Path, schema: pa.Schema, rows: Sequence[Sequence[Cell]], **told: Any
) -> tuple[list[Any], int]:
    """The same over rows of cells; all cells that are there are quoted."""
    rows = [row for row in rows if any(cell is not None for cell in row)]
    lines = [
        ",".join("" if cell is None else '"' + cell.replace('"', '""') + '"' for cell in row) for row in rows
    ]
    text = "".join(f"{line}\n" for line in [",".join(schema.names), *lines])
    (folder / "in.csv").write_text(text, newline="")
    job = job_of(folder / "in.csv", "csv", {"multiLine": True}, **told)
    judge = judge_of(job, schema)
    assert judge is not None
    records = [dict(zip(schema.names, row, strict=True)) for row in rows]
    judgements = [judge.csv(cells) for cells in records]
    spoken = of_spark(spark, schema, job)
    assert len(spoken.reasons) == len(records)
    differences: list[Any] = []
    for cells, theirs, ours in zip(records, spoken.reasons, judgements, strict=True):
        if not same_reasons(theirs, list(ours.reasons), is_certain=ours.is_certain):
            differences.append((str(cells), theirs, ours.reasons))
    for (label, steps, read), member in zip(judge._of_csv.readers, schema, strict=True):
        values, is_right = [], []
        for cells in records:
            run = Run()
            values.append(read(cells[str(steps[0])] if steps else None, label, run))
            is_right.append(not run.reasons)
        if _shows_numbers(member, judge.settings) and not is_scalar(member):
            is_right = [
                right and MAY_BE_LONG.search(cells[label] or "") is None
                for right, cells in zip(is_right, records, strict=True)
            ]
        values = [value if right else None for value, right in zip(values, is_right, strict=True)]
        found = told_of(values, member)
        triples = zip(records, is_right, spoken.columns[label], found, strict=True)
        differences += [
            (label, cells[label], theirs, ours)
            for cells, right, theirs, ours in triples
            if right and theirs != ours
        ]
    return differences, sum(judged.is_certain for judged in judgements)


def told_of(values: list[Any], member: pa.Field) -> list[str]:
    return told(as_written(values, member))
