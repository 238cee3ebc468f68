"""The options of a sink and its report, as texts that travel through Spark.

Layer: pipeline.
Shape: What the sink says of a write: a JSON file, because Spark commits in another process than the one that asked for it.
Errors: SC661 sink-option.
"""

import base64
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic import TypeAdapter

from schemac.pipeline.declaration.parts import AuthoredLimits, Limits, Passed
from schemac.rows.judging.settings import ReasonCount
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.history import DELETED, QUARANTINED, ROWS, SUPERSEDED, CommittedRun
from schemac.rows.runs.tables import TableForm
from schemac.text.source.catalogue import EMPTIED_TABLE, SINK_OPTION, TOO_MANY_QUARANTINED


@dataclass(frozen=True)
class SinkOptions:
    """The options of the sink; `path` and `schema` are needed. The schema is the path of an IPC file, or its bytes in base64."""

    path: str
    schema: str
    quarantine: str | None = None
    run: str = ""
    """The run's identity as JSON, or only its id."""
    report: str | None = None
    inputs: str | None = None
    """Path of what `paths.write_states` has written: files that have to be the same still at the commit."""
    must_create: bool = False
    keep_rows: bool = False
    """Whether an overwrite without any row is refused where the table has some."""
    max_quarantined: str | None = None
    """A number, or `Limits`, as JSON."""
    storage_version: str | None = None
    max_rows_per_file: int = 1 << 20
    storage_options: str = "{}"
    """Settings of object stores by address as JSON, with references in place of secrets."""
    merge: str | None = None
    """How rows meet rows with the same key (see `Merge`), as JSON."""
    replay: int = 0
    """The version of the quarantine that the records come from; 0 if they are new."""
    native: str = ""
    """The schema in the engine's own form (see `TableForm`)."""
    properties: str = "{}"
    """What the table's commit says of the run besides its identity and counts, as JSON of texts."""

    def form(self) -> TableForm:
        """Return the form of the table."""
        return TableForm(self.read_schema(), self.native, self.storage_version)

    def limits(self) -> Limits:
        """Return the limits of records that do not fit."""
        return TypeAdapter(AuthoredLimits).validate_json(self.max_quarantined or "null")

    def read_schema(self) -> pa.Schema:
        """Return the table's Arrow schema. Raises PipelineError."""
        try:
            is_path = len(self.schema) < 4096 and self.schema.endswith(".arrow")
            data = Path(self.schema).read_bytes() if is_path else base64.b64decode(self.schema, validate=True)
            return pa.ipc.read_schema(pa.BufferReader(data))
        except (OSError, ValueError) as error:
            help = "give the path of build/<dataset>/arrow/schema.arrow, or its bytes in base64"
            raise PipelineError(SINK_OPTION, f"option `schema` cannot be read: {error}", help) from error


def encode_schema(schema: pa.Schema) -> str:
    """Return a schema as the option `schema` has it."""
    return base64.b64encode(schema.serialize().to_pybytes()).decode()


def sink_options(options: Any, format: str) -> SinkOptions:
    """Read the options of a format out of Spark's, whose keys ignore case."""
    folded = {name.lower(): text for name, text in dict(options).items()}
    for name in ("path", "schema"):
        if name not in folded:
            raise PipelineError(SINK_OPTION, f"the sink `{format}` needs the option `{name}`")
    known = {name: folded.get(name.replace("_", "")) for name in SinkOptions.__dataclass_fields__}
    values = {name: text for name, text in known.items() if text is not None}
    return TypeAdapter(SinkOptions).validate_python(values)


def encode_options(options: SinkOptions) -> dict[str, Any]:
    """Return the options as Spark takes them, which makes texts of them."""
    return {name.replace("_", ""): value for name, value in asdict(options).items() if value is not None}


MOST_REASONS = 5


@dataclass(frozen=True)
class SinkReport:
    """What one write did, in numbers."""

    rows_written: int
    rows_quarantined: int
    reasons: tuple[ReasonCount, ...]
    """How often a field did not fit a rule, the most frequent first."""
    version: int = 0
    """That of the table; 0 if nothing was committed."""
    quarantine_version: int | None = None
    superseded: int = 0
    """Records that do not count, for a later one has their key."""
    deleted: int = 0
    """Records that deleted the row of their key."""
    is_repeat: bool = False
    """Whether another attempt of the run had been committed: its numbers, and nothing was written."""
    warnings: tuple[ReasonCount, ...] = ()
    """The same of rules that only warn, over the records that were written."""
    passed: Passed | None = None
    """The limit of quarantined records that was passed, where the write was given up for it."""

    def properties(self) -> dict[str, str]:
        """Return the numbers as the properties of a commit."""
        of_keys = {SUPERSEDED: self.superseded, DELETED: self.deleted}
        counts = {ROWS: self.rows_written, QUARANTINED: self.rows_quarantined}
        return {key: str(count) for key, count in (counts | of_keys).items() if count or key in counts}

    def write(self, path: str) -> None:
        """Write the file."""
        Path(path).write_text(json.dumps(asdict(self)))

    @classmethod
    def of_commit(cls, run: CommittedRun) -> "SinkReport":
        """Return the report in the commit of a run, without reasons."""
        rows, quarantined = run.rows, run.rows_quarantined
        return cls(rows, quarantined, (), run.version, superseded=run.superseded, deleted=run.deleted)

    @classmethod
    def read(cls, path: Path) -> "SinkReport":
        """Return the content of a file. Raises OSError."""
        return TypeAdapter(cls).validate_json(path.read_text())


def nothing_fits(report: SinkReport, path: str) -> PipelineError:
    """Return the error of a first run of whose records none fits: its table would have no row."""
    worst = report.reasons[:MOST_REASONS]
    reasons_text = ", ".join(f"`{one.path}` {one.rule} {one.count}".removeprefix("`` ") for one in worst)
    count = report.rows_quarantined
    no_record = "the only record does not fit" if count == 1 else f"none of the {count} records fits"
    message = f"{no_record}, so `{path}` was not created ({reasons_text})"
    help = "correct the schema or the mapping, or set `allowEmpty: true` under `target` if that is intended"
    return PipelineError(EMPTIED_TABLE, message, help, place=("target", "mode"))


def too_many_quarantined(passed: Passed, report: SinkReport) -> PipelineError:
    """Return the error of a limit that was passed, with the most frequent reasons."""
    worst = ", ".join(f"`{one.path}` {one.rule} {one.count}" for one in report.reasons[:MOST_REASONS])
    message = f"{passed.message}; nothing was written"
    help = f"most of them: {worst}"
    return PipelineError(TOO_MANY_QUARANTINED, message, help, place=("maxQuarantined", *passed.place))
