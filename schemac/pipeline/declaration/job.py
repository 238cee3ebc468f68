"""The pipeline file: where records come from, which schema they must fit, where they go.

Layer: pipeline.
Shape: frozen models with the names of the file in camelCase; the master of the file's grammar, of which editors get the JSON Schema.
Units: `maxQuarantined` is a share of all records when it is a fraction (0 <= x < 1 with a decimal point), else records.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, model_validator

from schemac.pipeline.declaration.parts import (
    AuthoredLimits,
    JobModel,
    Join,
    Limits,
    Options,
    Paths,
    ReferencedTable,
    Stores,
    TableName,
    TablePath,
    Zone,
    absolute_path,
    known_format,
)
from schemac.registry.engine import Engine
from schemac.rows.judging.settings import Coerce, EpochUnit, Unexpected
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.identity import IDENTIFIER, Mode
from schemac.rows.runs.storage import Storage
from schemac.rows.runs.tables import sink_engine, sink_names, source_names
from schemac.text.source.json_object import Json, TreePath


class Keys(StrEnum):
    """How a run treats records with the same primary key: ignore them, find them, or also refuse keys of the table.

    `check` costs a shuffle; `refuse` also reads the keys of the table.
    """

    TRUST = "trust"
    CHECK = "check"
    REFUSE = "refuse"


def _checked_function(text: str | None, info: ValidationInfo) -> str | None:
    """Return the text, with the path of a file as `absolute_path` has it, if it is None or names a file or module and a function. Raises ValueError."""
    module, colon, name = (text or "m:f").rpartition(":")
    if not (module and colon and name.isidentifier()):
        raise ValueError("expected a function such as `features.py:language` or `package.module:language`")
    return f"{absolute_path(module, info)}:{name}" if text is not None and module.endswith(".py") else text


class FieldSource(JobModel):
    """Where a field comes from, if not from the column with its name: one of `from`, `expr`, `value` and `python`."""

    from_: str | None = Field(
        default=None,
        alias="from",
        description="Path such as `properties.mag` or `xyz[2]`; `_metadata.file_name` and the like are of the record's file.",
    )
    expr: str | None = Field(
        default=None,
        min_length=1,
        description="Spark SQL expression over the columns of the source, such as `upper(name)`.",
    )
    value: Any = Field(default=None, description="The same value in every record, such as `EUR`.")
    python: Annotated[str | None, AfterValidator(_checked_function)] = Field(
        default=None,
        description="In a backfill: a function of Arrow batches, as `features.py:language` or `package.module:function`.",
    )
    columns: tuple[str, ...] = Field(
        default=(),
        description="With `python`: the columns that the function gets; by default all of the table.",
    )
    format: str | None = Field(default=None, description="Date or time pattern, such as `MMM dd yyyy`.")
    epoch: EpochUnit | None = Field(default=None, description="The number counts this unit since 1970-01-01.")
    zone: Zone = Field(
        default=None, description="Zone of this field's local times, if it differs from the source's."
    )


def _short_for(key: str) -> BeforeValidator:
    """Read a text as a mapping of one key."""
    return BeforeValidator(lambda value: {key: value} if isinstance(value, str) else value)


Fields = dict[str, Annotated[FieldSource | None, _short_for("from")]]


class SourceMode(StrEnum):
    """Which files of a source a run reads: all of them, or those that no earlier run has read."""

    ALL = "all"
    INCREMENTAL = "incremental"


class Changed(StrEnum):
    """What happens if a file that was read has changed."""

    REFUSE = "refuse"
    READ = "read"
    IGNORE = "ignore"


class Explode(JobModel):
    """A list in each record whose items become records."""

    path: str = Field(min_length=1, description="Path of the list, such as `lines` or `order.lines`.")
    keep_empty: bool = Field(
        default=False,
        description="Whether a record whose list is empty or missing is one record, without an item.",
    )
    allow_missing: bool = Field(
        default=False,
        description="Whether the list may be missing in every record of the source, which otherwise is an error.",
    )


FILE_FORMATS = ("parquet", "orc", "json", "csv", "avro", "xml")
"""Formats of Spark that are files in a folder."""


def _folded_sink(name: str | None) -> str | None:
    """Return a format in lower case if it is one of an engine or of files; others are Spark's."""
    known = (*sink_names(), *FILE_FORMATS)
    return name.lower() if isinstance(name, str) and name.lower() in known else name


FRAME = "dataframe"
"""What a run of a frame names as the format of its source."""


class Source(JobModel):
    """Where records come from. Each option is applied, or refused by name (see `source_options`)."""

    path: Paths = Field(default=(), description="File, folder or glob; or a list of them.")
    format: Annotated[str, BeforeValidator(known_format)] = Field(
        default="json",
        description=f"csv, json, geojson, parquet, orc, {', '.join(source_names())}, or any Spark format.",
    )
    timezone: Zone = Field(
        default=None, description="Zone of local times in the source that are written without one."
    )
    mode: SourceMode = Field(
        default=SourceMode.ALL,
        description="Whether a run reads all files, or only those that are new to the table.",
    )
    changed: Changed = Field(
        default=Changed.REFUSE,
        description="With `mode: incremental`: what happens if a known file has changed.",
    )
    explode: Annotated[Explode | None, _short_for("path")] = Field(
        default=None, description="List whose items become records; its path then names the one item."
    )
    fields: Fields = Field(
        default_factory=dict,
        description="`fields` for this source only; they take precedence over those of the pipeline.",
    )
    options: Options = Field(default_factory=dict, description="Options of the format.")

    @property
    def is_of_text(self) -> bool:
        """Whether the records are texts of files that we read."""
        return self.format in ("csv", "json", "geojson")


class DeleteMarker(JobModel):
    """Which records delete the row with their key."""

    from_: str = Field(alias="from", description="Path in the record, such as `op` or `meta.op`.")
    value: str = Field(description="The value that marks a record as a deletion.")


class Target(JobModel):
    """The table for rows that fit."""

    path: TableName
    format: Annotated[str | None, AfterValidator(_folded_sink)] = Field(
        default=None,
        min_length=1,
        description=f"{', '.join(sink_names())}; or parquet, orc, or any other format that Spark can write.",
    )
    connector: Annotated[str | None, AfterValidator(_folded_sink)] = Field(
        default=None,
        min_length=1,
        description=f"Connector of the session that writes the rows, such as {sink_names()[0]}; it replaces `format`.",
    )
    options: Options = Field(
        default_factory=dict, description="Options of a format of Spark, or of the connector."
    )
    mode: Mode = Mode.CREATE
    latest: str | None = Field(
        default=None,
        description="With `upsert`: the field whose greatest value wins among rows with one key.",
    )
    delete: DeleteMarker | None = Field(
        default=None, description="With `upsert`: records that delete the row of their key."
    )
    allow_empty: bool = Field(
        default=False,
        description="Whether `overwrite` may leave a table without rows, and a first run may create a table although no record fits.",
    )
    max_rows_per_file: int = Field(default=1 << 20, gt=0, description="Rows of one file of the table.")

    @model_validator(mode="before")
    @classmethod
    def _connector_names_format(cls, value: Any) -> Any:
        """Return the target with its connector as its format. Raises ValueError if it names another one."""
        connector = value.get("connector") if isinstance(value, dict) else None
        if connector is None:
            return value
        if value.get("format") not in (None, connector):
            raise ValueError(
                "a target has either `format` or `connector`: leave `format` out, `connector` names it too"
            )
        if connector in FILE_FORMATS:
            raise ValueError(f"Spark writes {connector} files by itself: write `format: {connector}`")
        return {**value, "format": connector}

    @property
    def is_through_connector(self) -> bool:
        """Whether the rows of a table of an engine of ours are written by its connector for Spark."""
        return self.connector is not None and not self.is_of_spark

    @property
    def is_of_spark(self) -> bool:
        """Whether Spark writes the rows in a format of its own, and not an engine of ours."""
        return self.format is not None and self.format not in sink_names()

    @property
    def is_of_files(self) -> bool:
        """Whether the rows become files in a folder, in a format of Spark."""
        return self.format in FILE_FORMATS

    @property
    def engine(self) -> Engine:
        """The engine of the table, and of its quarantine; for a format of Spark that of the quarantine alone."""
        return sink_engine(None if self.is_of_spark else self.format)


def _checked_run_id(id: str | None) -> str | None:
    """Return the id. Raises ValueError for one that is not valid."""
    if id is not None and not IDENTIFIER.match(id):
        raise ValueError("expected up to 64 letters, digits, `_` and `-`")
    return id


class Quarantine(JobModel):
    """The dataset for records that do not fit, each with its raw text and every reason."""

    path: TablePath


class RuleSeverity(StrEnum):
    """What happens to a record that breaks a rule: it goes to the quarantine, or to the table and is counted."""

    QUARANTINE = "quarantine"
    WARN = "warn"


AVAILABLE_NOW = "available-now"
INTERVAL = re.compile(r"[1-9][0-9]* (?:second|minute|hour)s?\Z")


def _known_trigger(trigger: str | None) -> str | None:
    """Return the trigger. Raises ValueError for one that is neither `available-now` nor an interval."""
    if trigger is not None and trigger != AVAILABLE_NOW and not INTERVAL.match(trigger):
        raise ValueError("expected `available-now`, or an interval such as `10 seconds` or `5 minutes`")
    return trigger


class Spark(JobModel):
    """How Spark is started."""

    master: str | None = Field(
        default=None,
        description="Spark master; without one, that of `spark-submit` or SPARK_REMOTE, or all cores of this machine.",
    )
    settings: Options = Field(default_factory=dict, description="Extra `spark.*` settings.")
    wait_for_executors: float | None = Field(
        default=None,
        gt=0,
        description="Seconds after which a run stops if no executor takes it up; by default it waits.",
    )


class Job(JobModel):
    """One pipeline: read, conform, quarantine what does not fit with its reasons, write."""

    source_: Source | None = Field(default=None, alias="source", description="Where the records come from.")
    sources: tuple[Source, ...] = Field(
        default=(),
        description="Several sources, in place of `source`: their records come into one table, in one commit.",
    )
    schema_: str | None = Field(default=None, alias="schema", description="Manifest, relative to this file.")
    dataset: str | None = Field(
        default=None, description="Name of the dataset, if the manifest holds several."
    )
    fields: Fields = Field(
        default_factory=dict,
        description="Where a field is read from; null for a field that is always null.",
    )
    joins: dict[str, Join] = Field(
        default_factory=dict,
        description="In a backfill: sources whose columns are read as `<name>.<column>`.",
    )
    references: dict[str, ReferencedTable | None] = Field(
        default_factory=dict,
        description="Tables of the datasets that `schemac.dev/references` names; null: not checked.",
    )
    where: str | None = Field(
        default=None,
        min_length=1,
        description="In a backfill: Spark SQL condition for the rows that get values; the others keep theirs.",
    )
    target: Target
    run: Annotated[str | None, AfterValidator(_checked_run_id)] = Field(
        default=None, description="Id of the run, such as that of a batch; a run is committed once."
    )
    quarantine: Quarantine | None = Field(
        default=None, description="Where records that do not fit are written; by default next to the target."
    )
    unexpected: Unexpected = Unexpected.IGNORE
    coerce: Coerce = Coerce.NONE
    keys: Keys = Keys.TRUST
    null_values: tuple[str, ...] = Field(default=(), description="Texts that mean null, as whole values.")
    max_quarantined: AuthoredLimits = Field(
        default=Limits(), description="A count or a share of records, or such limits for rules and fields."
    )
    rules: dict[str, RuleSeverity] = Field(
        default_factory=dict, description="`warn`: records that break the rule are counted and written."
    )
    trigger: Annotated[str | None, AfterValidator(_known_trigger)] = Field(
        default=None, description="As a stream: `available-now`, or an interval such as `10 seconds`."
    )
    checkpoint: Annotated[str, AfterValidator(absolute_path)] | None = Field(
        default=None,
        description="Folder in which a stream records its progress; by default next to the target.",
    )
    spark: Spark = Field(default_factory=Spark)
    storage: Stores = Field(
        default_factory=dict, description="How object stores are accessed, by address such as `s3://rides`."
    )
    version: Literal[1] = Field(default=1, description="Version of the grammar of this file.")

    @model_validator(mode="after")
    def _one_or_several(self) -> "Job":
        """Return the job. Raises ValueError unless it has one of `source` and `sources`, or is a backfill."""
        if self.is_backfill and (self.source_ is not None or self.sources):
            raise ValueError(
                "a backfill reads the rows of its target: leave `source` out, and name other sources under `joins`"
            )
        if not self.is_backfill and self.source_ is None and not self.sources:
            raise ValueError("a pipeline needs `source`, or a list of `sources`")
        if self.source_ is not None and self.sources:
            raise ValueError(
                "a pipeline has either `source` or `sources`: put the one into the list of the others"
            )
        return self

    @property
    def is_backfill(self) -> bool:
        """Whether rows of the target get values in some columns, in place of new rows."""
        return self.target.mode is Mode.BACKFILL

    @property
    def origins(self) -> dict[str, FieldSource]:
        """Where each field is read, but for those that are always null."""
        return {label: origin for label, origin in self.fields.items() if origin is not None}

    @property
    def source(self) -> Source:
        """The only source; that of a backfill is its target."""
        if self.is_backfill:
            return Source(path=(self.target.path,), format=self.target.engine.name)
        assert self.source_ is not None, "several sources: ask each of the parts"
        return self.source_

    @property
    def parts(self) -> "tuple[Job, ...]":
        """A job for each source, with the `fields` that hold for it."""
        if self.is_backfill or (self.source_ is not None and not self.source_.fields):
            return (self,)
        sources = self.sources or (self.source,)
        return tuple(
            self.model_copy(
                update={
                    "sources": (),
                    "source_": source.model_copy(update={"fields": {}}),
                    "fields": {**self.fields, **source.fields},
                }
            )
            for source in sources
        )

    def part_of_join(self, label: str) -> "Job":
        """Return the job that reads the source of a join."""
        join = self.joins[label]
        source = Source(path=join.path, format=join.format, timezone=join.timezone, options=join.options)
        target = self.target.model_copy(update={"mode": Mode.APPEND})
        update = {"source_": source, "target": target, "fields": {}, "joins": {}, "where": None}
        return self.model_copy(update=update)

    def part_of_reference(self, label: str) -> "Job":
        """Return the job that reads a table that is referred to."""
        table = self.references[label]
        assert table is not None
        format = table.format or self.target.engine.name
        source = Source(path=table.path, format=format, timezone=table.timezone, options=table.options)
        return self.model_copy(update={"source_": source, "sources": (), "fields": {}, "references": {}})

    def place_of(self, part: int, place: TreePath) -> TreePath:
        """Return the place in the file of a place (keys from the root) in one of the parts."""
        source_path = ("sources", part) if self.sources else ("source",)
        source = self.sources[part] if self.sources else self.source
        if place[:1] == ("source",):
            return (*source_path, *place[1:])
        is_of_source = place[:1] == ("fields",) and place[1:2] and place[1] in source.fields
        return (*source_path, *place) if is_of_source else place

    @contextmanager
    def located_in_part(self, part: int) -> Iterator[None]:
        """Add the place in the file to a mistake in one of the parts."""
        try:
            yield
        except PipelineError as error:
            error.place = self.place_of(part, error.place)
            raise

    @property
    def is_incremental(self) -> bool:
        """Whether some source takes new files only."""
        return any(part.source.mode is SourceMode.INCREMENTAL for part in self.parts)

    @property
    def checkpoint_path(self) -> str:
        """Where a stream records its progress: as set, or next to the target."""
        if self.checkpoint is not None:
            return self.checkpoint
        return f"{self.target.path.rstrip('/').removesuffix(self.target.engine.table_suffix)}.checkpoint"

    @property
    def compares_keys(self) -> bool:
        """Whether records with the same primary key are found out."""
        return self.keys is not Keys.TRUST or self.target.mode is Mode.UPSERT

    @property
    def storage_options(self) -> Storage:
        """How object stores are reached."""
        settings = {address: store.model_dump(by_alias=True) for address, store in self.storage.items()}
        return Storage.parse(settings)

    @property
    def warned(self) -> tuple[str, ...]:
        """The rules whose records are written all the same."""
        return tuple(rule for rule, severity in self.rules.items() if severity is RuleSeverity.WARN)

    @property
    def quarantine_path(self) -> str:
        """Where bad rows go: as set, or next to the target."""
        if self.quarantine is not None:
            return self.quarantine.path
        path, suffix = self.target.path.rstrip("/"), self.target.engine.table_suffix
        return f"{path.removesuffix(suffix)}.quarantine{suffix}"


def pipeline_schema() -> Json:
    """Return the pipeline file as JSON Schema, for editors."""
    from schemac.language.manifest.json_schema_conditions import json_schema  # for those who ask for it

    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {**dialect, **json_schema(Job), "title": "schemac pipeline"}
