"""The options of a sink, as texts that travel through Spark.

Layer: pipeline.
Errors: SC661 sink-option.
"""

import base64
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
from pydantic import TypeAdapter

from schemac.pipeline.declaration.limits import AuthoredLimits, Limits
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.tables import TableForm
from schemac.source.catalogue import SINK_OPTION


@dataclass(frozen=True)
class SinkOptions:
    """Options of the sink: `path` and `schema` are needed, the schema as a path of IPC bytes, or these in base64."""

    path: str
    schema: str
    quarantine: str | None = None
    run: str = ""
    """The run's identity as JSON, or only its id."""
    report: str | None = None
    inputs: str | None = None
    """Path of what `unchanged.note` has written: files that have to be the same still at the commit."""
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
        """Say what the table is to be."""
        return TableForm(self.read_schema(), self.native, self.storage_version)

    def limits(self) -> Limits:
        """Decode the limits of records that do not fit."""
        return TypeAdapter(AuthoredLimits).validate_json(self.max_quarantined or "null")

    def read_schema(self) -> pa.Schema:
        """Decode the table's Arrow schema."""
        try:
            if len(self.schema) < 4096 and self.schema.endswith(".arrow"):
                with open(self.schema, "rb") as file:
                    return pa.ipc.read_schema(pa.BufferReader(file.read()))
            return pa.ipc.read_schema(pa.BufferReader(base64.b64decode(self.schema, validate=True)))
        except (OSError, ValueError) as error:
            raise PipelineError(
                SINK_OPTION,
                f"option `schema` cannot be read: {error}",
                "give the path of build/<dataset>/arrow/schema.arrow, or its bytes in base64",
            ) from error


def encode_schema(schema: pa.Schema) -> str:
    """Encode the schema as the option `schema` takes it."""
    return base64.b64encode(schema.serialize().to_pybytes()).decode()


def sink_options(options: Any, format: str) -> SinkOptions:
    """Read the options of a format out of Spark's, whose keys ignore case."""
    folded = {name.lower(): text for name, text in dict(options).items()}
    values: dict[str, Any] = {}
    for name in SinkOptions.__dataclass_fields__:
        text = folded.get(name.replace("_", ""))
        if text is not None:
            values[name] = text
    for name in ("path", "schema"):
        if name not in values:
            raise PipelineError(SINK_OPTION, f"the sink `{format}` needs the option `{name}`")
    for name in ("must_create", "keep_rows"):
        if name in values:
            values[name] = values[name].lower() == "true"
    for name in ("max_rows_per_file", "replay"):
        if name in values:
            values[name] = int(values[name])
    return SinkOptions(**values)


def encode_options(options: SinkOptions) -> dict[str, str]:
    """Encode the options as Spark takes them."""
    texts = {}
    for name, value in asdict(options).items():
        if value is not None:
            texts[name.replace("_", "")] = str(value).lower() if isinstance(value, bool) else str(value)
    return texts
