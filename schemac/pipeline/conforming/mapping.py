"""The mistakes in `fields` of a pipeline file, in its date patterns, time zones and backfills, found before Spark starts.

Layer: pipeline.
Shape: a job and its Arrow schema in; each mistake with its place in the file (keys from the root) out. `with_zones` writes the zone
       of the clock of what is read next to each timestamp: `zone` of the field, else `schemac.dev/clockZone` of the schema, else
       `timezone` of the source; whatever reads a value finds it there.
Source: Spark's DateTimeFormatterHelper and java.time's DateTimeFormatterBuilder: letters, how often they may be in a row, and which of
        them only serve to write.
"""

from collections.abc import Iterator
from itertools import groupby

import pyarrow as pa
from pydantic.alias_generators import to_camel

from schemac.language.constraints.field_constraints import CONSTRAINTS
from schemac.language.constraints.rows import CHECK_RULE, REFERENCE_RULE, UNIQUE_RULE
from schemac.pipeline.declaration.job import FieldSource, Job, SourceMode
from schemac.pipeline.declaration.source_options import FORMS
from schemac.pipeline.errors import PipelineError, did_you_mean, leave_out
from schemac.pipeline.reading.inputs import file_part, leaves, no_file, parse_steps
from schemac.pipeline.record_tasks import column_type
from schemac.pipeline.spark.packed import ADDRESS, DELETE, ERRORS, RAW, SOURCE, WARNINGS
from schemac.rows.judging.arrays import is_scalar, storage_type
from schemac.rows.judging.scalars import clock_zone
from schemac.rows.judging.scalars import with_zones as with_zones_of
from schemac.rows.runs.columns import COLUMN_SINK
from schemac.rows.runs.identity import Mode
from schemac.rows.runs.storage import is_local
from schemac.rows.runs.tables import sink_names, source_names
from schemac.text.source.catalogue import (
    BACKFILL_SETTING,
    CANNOT_WARN,
    CONFLICTING_ORIGIN,
    CONNECTOR,
    INVALID_PATTERN,
    MISPLACED_FORMAT,
    MISPLACED_MODE,
    MISPLACED_ZONE,
    NO_LIST,
    RESERVED_NAME,
    SINK_OPTION,
    UNKNOWN_FIELD,
    UNKNOWN_RULE,
)
from schemac.text.source.json_object import TreePath
from schemac.text.source.pages import rule_pages
from schemac.text.source.phrases import Help

LONGEST = {
    "G": 4, "y": 6, "M": 4, "L": 4, "d": 2, "D": 3, "a": 1, "h": 2, "H": 2, "k": 2, "K": 2, "m": 2, "s": 2, "S": 9,
    "z": 4, "X": 5, "x": 5, "Z": 5,
}  # fmt: skip
EXACT = {"V": (2,), "O": (1, 4)}
ONLY_WRITTEN = "EFQq"
WEEK_BASED = "YWwu"
ZONES = "VzOXxZ"
RESERVED_LETTERS = "#{}"
LOOK_ALIKES = {"Y": "`yyyy` is the year", "u": "`yyyy` is the year", "e": "leave the day of the week out"}


def pattern_mistake(pattern: str) -> str | None:
    """Return what is wrong with a pattern.

    >>> pattern_mistake("dd.MM.yyyy HH:mm")
    >>> pattern_mistake("YYYY-MM-dd")
    "the letter 'Y' cannot be read: `yyyy` is the year"
    """
    if not pattern.strip():
        return "it is empty"
    plain = _without_quoted(pattern)
    if plain is None:
        return "a quote is not closed"
    depth = 0
    for letter, group in groupby(plain):
        count = len(list(group))
        depth += count * ((letter == "[") - (letter == "]"))
        if depth < 0:
            return "a `]` closes nothing"
        mistake = _letter_mistake(letter, count)
        if mistake is not None:
            return mistake
    if not any(letter in LONGEST for letter in plain):
        return "it has no letter for a part of a date or a time"
    return None


def has_zone(pattern: str) -> bool:
    """Whether a pattern reads a zone.

    >>> has_zone("yyyy-MM-dd'T'HH:mm:ssXXX"), has_zone("dd.MM.yyyy 'Zeit' HH:mm")
    (True, False)
    """
    return any(letter in ZONES for letter in _without_quoted(pattern) or "")


def has_optional_zone(pattern: str) -> bool:
    """Whether a pattern reads a zone only where there is one.

    >>> has_optional_zone("HH:mm[XXX]"), has_optional_zone("HH:mm[:ss]XXX")
    (True, False)
    """
    depth = 0
    for letter in _without_quoted(pattern) or "":
        depth += (letter == "[") - (letter == "]")
        if depth and letter in ZONES:
            return True
    return False


def _without_quoted(pattern: str) -> str | None:
    """Return a pattern without its quoted texts; None if a quote is open at the end."""
    parts = pattern.split("'")
    return "\0".join(parts[::2]) if len(parts) % 2 else None


def _letter_mistake(letter: str, count: int) -> str | None:
    """Return what is wrong with a letter that stands so many times in a row in a pattern; None if nothing is."""
    if letter in RESERVED_LETTERS:
        return f"'{letter}' is reserved: put it in single quotes"
    if not (letter.isascii() and letter.isalpha()):
        return None
    if letter in ONLY_WRITTEN:
        return f"the letter '{letter}' can only be written, not read"
    if letter in WEEK_BASED or letter not in {*LONGEST, *EXACT}:
        known = LOOK_ALIKES.get(letter, "put literal text in single quotes")
        return f"the letter '{letter}' cannot be read: {known}"
    if letter in EXACT:
        if count in EXACT[letter]:
            return None
        return f"'{letter * count}' is not one of the lengths that '{letter}' has"
    if count <= LONGEST[letter]:
        return None
    return f"'{letter * count}' is longer than '{letter * LONGEST[letter]}'"


def with_zones(schema: pa.Schema, job: Job) -> pa.Schema:
    """Return a schema in which each timestamp has the zone of its clocks in its metadata, as the job sets it."""
    zones = {label: origin.zone for label, origin in job.origins.items()}
    return with_zones_of(schema, zones.get, job.source.timezone)


RESERVED_COLUMNS = (ERRORS, WARNINGS, RAW, SOURCE, DELETE, ADDRESS)
CAN_WARN = (
    "unexpected",
    "duplicate",
    *(kind.attribute.name for kind in CONSTRAINTS),
    UNIQUE_RULE,
    REFERENCE_RULE,
    CHECK_RULE,
)
"""Rules whose records have a value in every field all the same."""


def mapping_mistakes(job: Job, schema: pa.Schema) -> Iterator[PipelineError]:
    """Yield the mistakes in how a job's fields, rules and target go together with its schema."""
    for label in RESERVED_COLUMNS:
        if label in schema.names:
            yield PipelineError(
                RESERVED_NAME, f"a field cannot be called `{label}` in a pipeline", place=("schema",)
            )
    for member in schema:
        try:
            column_type(member)
        except PipelineError as caught:
            yield caught.at("schema")
    yield from (*_mode_mistakes(job), *_target_mistakes(job), *_rule_mistakes(job, schema))
    reported = set()
    for i, part in enumerate(job.parts):
        for mistake in _part_mistakes(part, with_zones(schema, part)):
            place = job.place_of(i, mistake.place)
            if place not in reported:
                reported.add(place)
                yield mistake.at(*place)


def _part_mistakes(job: Job, schema: pa.Schema) -> Iterator[PipelineError]:
    """Yield all mistakes of one source and its fields."""
    explode, place = job.source.explode, ("source", "explode")
    if explode is not None and job.source.format == "csv":
        message = "a csv source has no lists to explode: each of its values is a text"
        yield PipelineError(NO_LIST, message, leave_out("explode"), place=place)
    elif explode is not None:
        try:
            steps = parse_steps(explode.path)
        except PipelineError as caught:
            yield caught.at(*place)
        else:
            if any(isinstance(step, int) for step in steps):
                message = f"`explode` names `{explode.path}`, which is one item of a list"
                yield PipelineError(
                    NO_LIST, message, "name the list, without a position in brackets", place=place
                )
    for label, origin in job.fields.items():
        if label not in schema.names:
            message = f"`fields` names `{label}`, but the schema has no such field"
            help = did_you_mean(label, schema.names)
            yield PipelineError(UNKNOWN_FIELD, message, help, place=("fields", label), on_key=True)
        elif origin is not None:
            origins = ("from_", "expr", "value", "python")
            conflicting = [key.rstrip("_") for key in origins if getattr(origin, key) is not None]
            if len(conflicting) > 1:
                message = f"`{label}` has both `{conflicting[0]}` and `{conflicting[1]}`"
                help = "leave one of the two out; an expression names columns itself"
                yield PipelineError(
                    CONFLICTING_ORIGIN, message, help, place=("fields", label, conflicting[1])
                )
            if job.source.format in source_names() and file_part(origin.from_) is not None:
                yield no_file(label, job.source.format).at("fields", label, "from")
            yield from _origin_mistakes(label, origin, schema.field(label))


def _mode_mistakes(job: Job) -> Iterator[PipelineError]:
    """Find sources that cannot be read bit by bit, and targets that cannot be written so."""
    for i, part in enumerate(job.parts):
        if part.source.mode is SourceMode.INCREMENTAL and part.source.format not in FORMS:
            message = (
                f"a {part.source.format} source has no files, so `mode: incremental` cannot find new ones"
            )
            yield PipelineError(
                MISPLACED_MODE, message, leave_out("mode"), place=job.place_of(i, ("source", "mode"))
            )
    if job.trigger is not None and len(job.parts) > 1:
        message = "a stream has one source"
        yield PipelineError(
            MISPLACED_MODE, message, "write a pipeline for each of the sources", place=("sources",)
        )
    elif job.trigger is not None and len(job.source.path) > 1:
        message = "a stream has one path"
        yield PipelineError(MISPLACED_MODE, message, "name a folder, or a glob", place=("source", "path"))
    if job.trigger is not None and job.is_incremental:
        message = "a stream finds new files by its checkpoint, an incremental source by the table"
        yield PipelineError(MISPLACED_MODE, message, "leave `trigger` or `mode` out", place=("trigger",))
    adds = job.target.mode in (Mode.APPEND, Mode.UPSERT)
    if (job.trigger is not None or job.is_incremental) and not adds:
        message = f"new records are added to a table, but `mode: {job.target.mode}` does not add to one"
        help = Help.add_keys(
            "write `mode: append`, or `mode: upsert` for a schema with a primary key: both create the table if it does not exist",
            ("mode", "append"),
        )
        yield PipelineError(MISPLACED_MODE, message, help, place=("target", "mode"))


def _target_mistakes(job: Job) -> Iterator[PipelineError]:
    """Find what a target of an engine has, and one in a format of Spark has not, and the other way round."""
    target = job.target
    if target.is_through_connector:
        without = leave_out("connector", " of `target`")
        if not is_local(target.path):
            message = (
                f"a run cannot publish what the connector `{target.connector}` writes to an object store"
            )
            help = f"name a path on a disk that all machines share, or {without}"
            yield PipelineError(CONNECTOR, message, help, place=("target", "path"))
        if "max_rows_per_file" in target.model_fields_set:
            message = "`maxRowsPerFile` is for schemac's own writer"
            help = "set the connector's own option under `options` of `target`"
            yield PipelineError(CONNECTOR, message, help, place=("target", "maxRowsPerFile"))
        if target.delete is not None:
            message = "records that delete rows cannot be told apart where a connector writes the rows"
            help = leave_out("delete", f", or {without}")
            yield PipelineError(CONNECTOR, message, help, place=("target", "delete"))
        if target.mode is Mode.BACKFILL:
            message = "a backfill adds columns to existing files, which a connector does not do"
            yield PipelineError(CONNECTOR, message, without, place=("target", "connector"))
    elif not target.is_of_spark and target.options:
        message = "`options` of a target are for formats of Spark"
        help = leave_out("options", "; `storage` of the pipeline configures object stores")
        yield PipelineError(SINK_OPTION, message, help, place=("target", "options"))
    if target.is_of_spark and (job.trigger is not None or job.is_incremental):
        message = f"incremental sources and streams look up in the table what was read before, which a {target.format} target does not record"
        help = "leave `format` out of `target`, or read all files in each run"
        yield PipelineError(MISPLACED_MODE, message, help, place=("target", "format"))


def _rule_mistakes(job: Job, schema: pa.Schema) -> Iterator[PipelineError]:
    """Find rules and fields that are not there, and rules that cannot only warn."""
    limits = ("maxQuarantined", "rules")
    known = rule_pages()
    for place in [
        *((*limits, rule) for rule in job.max_quarantined.rules),
        *(("rules", rule) for rule in job.rules),
    ]:
        if place[-1] not in known:
            message = f"there is no rule `{place[-1]}`"
            help = did_you_mean(place[-1], known)
            yield PipelineError(UNKNOWN_RULE, message, help, place=place, on_key=True)
    for rule in job.warned:
        if rule in known and rule not in CAN_WARN:
            message = f"the rule `{rule}` cannot only warn: a record that breaks it has no value to write"
            others = f"{', '.join(f'`{one}`' for one in CAN_WARN[:2])} and the rules of constraints"
            limit = f"`maxQuarantined: {{rules: {{{rule}: 0.05}}}}` sets a limit"
            help = leave_out("", f"; {others} can warn, and {limit}")
            yield PipelineError(CANNOT_WARN, message, help, place=("rules", rule))
    for label in job.max_quarantined.fields:
        if not any(label == top or label.startswith((f"{top}.", f"{top}[")) for top in schema.names):
            place = ("maxQuarantined", "fields", label)
            message = f"`maxQuarantined` names the field `{label}`, but the schema has no such field"
            near = did_you_mean(label, schema.names)
            yield PipelineError(UNKNOWN_FIELD, message, near, place=place, on_key=True)


def _origin_mistakes(label: str, origin: FieldSource, member: pa.Field) -> Iterator[PipelineError]:
    """Yield the mistakes in where and how one field is read."""
    place = ("fields", label)
    if origin.from_ is not None:
        try:
            parse_steps(origin.from_)
        except PipelineError as caught:
            yield caught.at(*place, "from")
    stored_type, is_ = storage_type(member.type), pa.types
    is_temporal = is_scalar(member) and bool(is_.is_date(stored_type) or is_.is_timestamp(stored_type))
    origin_settings = [key for key in ("format", "epoch") if getattr(origin, key) is not None]
    if origin_settings and not is_temporal:
        message = f"`{label}` is {member.type}: `{origin_settings[0]}` is for dates and timestamps"
        without = leave_out(origin_settings[0], ", or give the field a Date or Timestamp type")
        yield PipelineError(MISPLACED_FORMAT, message, without, place=(*place, origin_settings[0]))
    elif len(origin_settings) == 2:
        message = f"`{label}` has both `format` and `epoch`"
        help = "use `format` for text, and `epoch` for numbers"
        yield PipelineError(MISPLACED_FORMAT, message, help, place=(*place, "epoch"))
    elif (
        origin.format is not None
        and is_.is_timestamp(stored_type)
        and not (member.type.tz is None or clock_zone(member) == "UTC")
        and has_optional_zone(origin.format)
    ):
        message = (
            f"the pattern `{origin.format}` reads a zone only sometimes, and Spark would assume UTC otherwise"
        )
        help = "move the zone out of the brackets, or remove it from the pattern"
        yield PipelineError(MISPLACED_FORMAT, message, help, place=(*place, "format"))
    elif origin.format is not None and (mistake := pattern_mistake(origin.format)) is not None:
        message = f"the pattern `{origin.format}` cannot be used: {mistake}"
        help = "see https://spark.apache.org/docs/latest/sql-ref-datetime-pattern.html"
        yield PipelineError(INVALID_PATTERN, message, help, place=(*place, "format"))
    has_clocks = any(is_.is_timestamp(storage_type(leaf)) for leaf in leaves(member.type))
    if origin.zone is not None and not has_clocks:
        message = f"`{label}` is {member.type}: `zone` is for timestamps"
        yield PipelineError(MISPLACED_ZONE, message, leave_out("zone"), place=(*place, "zone"))


NO_QUARANTINE = (
    "rows of a backfill stay in their table: a value that does not fit stops the run, with all reasons"
)
WITHOUT = {
    "quarantine": NO_QUARANTINE,
    "max_quarantined": NO_QUARANTINE,
    "rules": NO_QUARANTINE,
    "trigger": "a backfill cannot be a stream: let a schedule run it again, with `where` for the rows that have no value yet",
    "checkpoint": "a backfill is no stream",
    "keys": "a backfill adds no rows",
    "unexpected": "a backfill reads the columns that its fields name",
}
"""Settings that a backfill does not have, and why."""
WITHOUT_IN_TARGET = ("latest", "delete", "allow_empty", "max_rows_per_file", "options")


def backfill_mistakes(job: Job, schema: pa.Schema) -> Iterator[PipelineError]:
    """Yield the settings that only a backfill has, or does not have."""
    if not job.is_backfill:
        help = Help.remove(help="set `mode: backfill` under `target`, or leave it out", is_safe=False)
        for label in ("joins", "where"):
            if getattr(job, label):
                yield _backfill_mistake((label,), f"`{label}` is for a backfill", help)
        for i, part in enumerate(job.parts):
            for label, origin in part.origins.items():
                if origin.python is not None:
                    place = job.place_of(i, ("fields", label, "python"))
                    yield _backfill_mistake(place, "`python` is for a backfill", help)
        return
    unused = {(to_camel(one),): f": {why}" for one, why in WITHOUT.items() if one in job.model_fields_set}
    settings = job.target.model_fields_set
    of_target = {("target", to_camel(one)): "" for one in WITHOUT_IN_TARGET if one in settings}
    for place, why in (*unused.items(), *of_target.items()):
        yield _backfill_mistake(place, f"a backfill has no `{place[-1]}`", leave_out("", why))
    if job.target.is_of_spark or not COLUMN_SINK.is_of(job.target.engine):
        able = ", ".join(f"`{label}`" for label in sink_names())
        message = f"columns of a {job.target.format} table cannot be filled"
        yield _backfill_mistake(
            ("target", "format"), message, f"backfills fill tables of {able}", is_key=False
        )
    if not job.fields:
        message = "the backfill names no field to fill"
        yield _backfill_mistake(("target", "mode"), message, "name the columns under `fields`", is_key=False)
    for label, origin in job.origins.items():
        if origin.columns and origin.python is None:
            message = "`columns` is for functions only: an expression names its columns itself"
            yield _backfill_mistake(("fields", label, "columns"), message, leave_out())
    for label in job.joins:
        if label in schema.names:
            message = f"`{label}` is the name of both a join and a column of the table"
            yield _backfill_mistake(("joins", label), message, "give the join another name")


def _backfill_mistake(place: TreePath, message: str, help: str, *, is_key: bool = True) -> PipelineError:
    """Return a mistake of the backfill's settings at a place; `is_key` marks the key there, not its value."""
    return PipelineError(BACKFILL_SETTING, message, help, place=place, on_key=is_key)
