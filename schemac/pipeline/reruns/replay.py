"""Records of the quarantine once more, through the present schema and mapping.

Layer: pipeline.
Shape: a `Replay` says which; the rows come from one version of the quarantine, each with its address. Records that fit move
       to the table, and leave the quarantine in the same run; the others stay as they are, with the reasons they had.
Rule: only rows that count, of runs whose rows the table has. A text that was not valid in its encoding stays: the quarantine
      has its bytes, not its characters.
Errors: SC666 replay.
"""

from collections.abc import Iterator
from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession, functions

from schemac.pipeline.declaration.job import FRAME, Job, Source
from schemac.pipeline.errors import PipelineError, did_you_mean
from schemac.pipeline.reading.cutting import FAULT
from schemac.pipeline.reading.files import BAD_ENCODING
from schemac.pipeline.reading.inputs import FILE, METADATA, Json, file_name, file_part, parse_steps
from schemac.pipeline.reading.json_records import NO_LIST
from schemac.pipeline.reading.records import IN_RECORD, JsonTexts, Records
from schemac.pipeline.reading.row_texts import TYPES, UnreadableRowError, types_of_text
from schemac.pipeline.reading.source import records_of_row_texts
from schemac.pipeline.reading.table_source import TableReader, TableVersion, table_frame
from schemac.pipeline.spark.packed import ADDRESS, RAW, SOURCE
from schemac.pipeline.spark.sql import literal, parse_json_sql
from schemac.rows.judging.settings import POSITIONS
from schemac.rows.runs.history import CommittedRun
from schemac.rows.runs.identity import Mode, Replay
from schemac.rows.runs.storage import is_local
from schemac.rows.runs.tables import Projection, runs_of, sink_of
from schemac.text.source.catalogue import REPLAY
from schemac.text.source.phrases import closest

IN_FOLDER = r"/[^/=]+=[^/]*/"
COLUMNS_OF_FILE = ("file_path", "file_name")
OF_SOURCE = (
    f"""named_struct('file_path', source, 'file_name', {file_name("substring_index(source, '/', -1)")})"""
)
"""What the quarantine tells of the file of a record; Spark's own name of it has `%20` for a space, too."""


AT_THE_SOURCE = "correct the records at their source, and run the pipeline over them"


def as_replayed(job: Job) -> Job:
    """Return the job that appends; where it merges rows by key, it does so here too."""
    mode = Mode.UPSERT if job.target.mode is Mode.UPSERT else Mode.APPEND
    return job.model_copy(update={"target": job.target.model_copy(update={"mode": mode})})


def check_replay(job: Job, replay: Replay) -> int:
    """Return the version of the quarantine to read; 0 if there is none. Raises PipelineError if it cannot be replayed."""
    if job.target.is_of_spark:
        message = f"records of a quarantine cannot be moved into a {job.target.format} target in one commit"
        raise PipelineError(REPLAY, message, AT_THE_SOURCE, place=("target", "format"))
    if job.target.is_through_connector:
        message = "records of a quarantine cannot be replayed through a connector"
        help = "leave `connector` out of `target`"
        raise PipelineError(REPLAY, message, help, place=("target", "connector"))
    if job.is_backfill:
        message = "a backfill has no quarantine that could be replayed"
        raise PipelineError(REPLAY, message, "leave `--replay` out", place=("target", "mode"))
    if len(job.parts) > 1:
        message = "a quarantine of several sources cannot be replayed"
        raise PipelineError(REPLAY, message, "correct the records at their sources", place=("sources",))
    format = job.parts[0].source.format
    if format == "csv":
        message = "a quarantine of a csv source cannot be replayed"
        raise PipelineError(REPLAY, message, AT_THE_SOURCE, place=job.place_of(0, ("source", "format")))
    for label, origin in job.parts[0].origins.items():
        part = file_part(origin.from_)
        if part is not None and part not in COLUMNS_OF_FILE:
            message = f"`{label}` is read from `{METADATA}.{part}`, which the quarantine does not keep"
            place = job.place_of(0, ("fields", label, "from"))
            raise PipelineError(REPLAY, message, AT_THE_SOURCE, place=place)
    if not (is_local(job.target.path) and is_local(job.quarantine_path)):
        message = "a table on an object store cannot be replayed to"
        raise PipelineError(REPLAY, message, "replay where table and quarantine are local", place=("target",))
    if sink_of(job.target.format).find(job.target.path, job.storage_options) is None:
        message = f"there is no table `{job.target.path}`, so no run has quarantined records of it"
        help = "name the table that a run has written"
        raise PipelineError(REPLAY, message, help, place=("target", "path"))
    runs = [run.id for run in _current_runs(job)]
    if replay.run and replay.run not in runs:
        message = f"the table has no rows of a run `{replay.run}`"
        raise PipelineError(REPLAY, message, did_you_mean(replay.run, runs))
    quarantine = sink_of(job.target.format).find(job.quarantine_path, job.storage_options)
    return 0 if quarantine is None else quarantine.version


def _current_runs(job: Job) -> tuple[CommittedRun, ...]:
    """Return the runs whose rows the table still has, the last one first."""
    return runs_of(job.target.path, current=True, format=job.target.format)


def open_quarantine(spark: SparkSession, job: Job, replay: Replay, version: int) -> list[Records]:
    """Return the records of the quarantine as records of the source; those with other columns are apart."""
    engine, storage = job.target.engine.name, job.storage_options
    quarantine = TableVersion(engine, job.quarantine_path, version, storage.resolved())
    reader = TableReader(quarantine, Projection(address=ADDRESS))
    rows = _selected_rows(table_frame(spark, reader), job, replay)
    source = job.parts[0].source
    opened = [] if source.format in ("json", "geojson") else [*_typed_records(rows, source)]
    opened = opened or [_text_records(rows, source)]
    return [replace(records, partitions={ADDRESS: ADDRESS}) for records in opened]


_BOOKKEEPING = (f"source as {SOURCE}", f"{OF_SOURCE} as {FILE}", f"cast({ADDRESS} as string) as {ADDRESS}")


def _text_records(rows: DataFrame, source: Source) -> Records:
    """Return rows of the quarantine as records that are texts of JSON. Raises PipelineError for records of folders."""
    if not rows.where(functions.expr(f"source rlike {literal(IN_FOLDER)}")).isEmpty():
        message = (
            "records of folders such as `day=2024-01-01/` cannot be replayed: the names are not in their text"
        )
        help = "select others with --run, --rule or --path"
        raise PipelineError(REPLAY, message, help, place=("source", "path"))
    fault = f"if(exists(errors, e -> e.rule = {literal(BAD_ENCODING)}), {literal(BAD_ENCODING)}, null)"
    if source.explode is not None:
        # What is no list has not become items; it may well look like one.
        is_whole = f"exists(errors, e -> e.path = '' and e.rule = {literal(NO_LIST)})"
        # One that is a list in its place was quarantined before the pipeline had `explode`: it is not one item, and it stays.
        place = Json(parse_json_sql("raw"), (*IN_RECORD, *parse_steps(source.explode.path)))
        is_list = f"try_variant_get({place.variant}, '$', 'array<variant>') is not null"
        fault = (
            f"case when {is_whole} then {literal(NO_LIST)} when {is_list} then 'malformed' else {fault} end"
        )
    frame = rows.selectExpr(f"raw as {RAW}", f"{fault} as {FAULT}", *_BOOKKEEPING)
    return Records(lambda: frame, JsonTexts(source.format == "geojson"))


def _typed_records(rows: DataFrame, source: Source) -> Iterator[Records]:
    """Return the rows of the quarantine with the columns that are in their texts; of frames of JSON texts the texts."""
    types = f"get_json_object(raw, '$.{TYPES}')"
    for (types_json,) in rows.selectExpr(f"coalesce({types}, '')").distinct().collect():
        if source.format == FRAME and not types_json:
            yield _text_records(rows.where(f"{types} is null"), source)
            continue
        try:
            known = types_of_text(types_json)
        except UnreadableRowError as error:
            if types_json:
                what = f"have a column of the type {error}"
            else:
                what = "do not record the types of their columns"
            message = f"some rows of the quarantine {what}, and cannot be replayed"
            help = "select others with --run, --rule or --path"
            raise PipelineError(REPLAY, message, help, place=("source", "path")) from error
        typed_rows = rows.where(f"{types} = {literal(types_json)}")
        yield records_of_row_texts(typed_rows.selectExpr(f"raw as {RAW}", *_BOOKKEEPING), known)


def _selected_rows(rows: DataFrame, job: Job, replay: Replay) -> DataFrame:
    """Return the rows of the quarantine of the requested run, rule and path. Raises PipelineError for misspelt ones."""
    runs = [replay.run] if replay.run else [run.id for run in _current_runs(job)]
    rows = rows.where(functions.col("run").isin(runs))
    requested = {option: word for option in ("rule", "path") if (word := getattr(replay, option))}
    if not requested:
        return rows
    path = f"regexp_replace(e.path, {literal(POSITIONS)}, '[]')"
    reasons = f"transform(errors, e -> named_struct('rule', e.rule, 'path', {path}))"
    condition = " and ".join(f"e.{option} = {literal(word)}" for option, word in requested.items())
    selected = rows.where(functions.expr(f"exists({reasons}, e -> {condition})"))
    if selected.isEmpty():
        each = rows.select(functions.explode(functions.expr(reasons)).alias("e"))
        present = each.select("e.rule", "e.path").distinct().collect()
        for option, word in requested.items():
            words = {reason[option] for reason in present}
            # What is like none of the quarantine's has been replayed, or never occurred.
            if word not in words and closest(word, sorted(words)) is not None:
                message = f"no record of the quarantine has a reason with the {option} `{word}`"
                raise PipelineError(REPLAY, message, did_you_mean(word, words))
    return selected
