"""What a schema may be wrapped in, for the JSON Schemas of manifests.

Layer: manifest.
Source: the standard's DatasetSnapshot, MetadataEvent and SetDataSchema; RFC-018 for `$schema` / `headers` / `spec`.
"""

from typing import Annotated, Literal

from schemac.logical.model import Schema
from schemac.manifest.documents import OtherEventKind
from schemac.source.json_object import Json
from schemac.syntax.reading import Bounds
from schemac.syntax.record import OpenRecord, Record


class SetDataSchema(Record):
    """The event that gives a dataset its schema."""

    aliases = {"schema_": "schema"}
    kind: Literal["SetDataSchema"]
    schema_: Schema
    raw_arrow_schema: str = ""
    """The schema in the form of old, which the other one replaces."""


class OtherEvent(OpenRecord):
    """An event of the standard that is left as it is."""

    kind: OtherEventKind


class DatasetSpec(Record):
    """Nature and events of a dataset."""

    kind: Literal["Root", "Derivative"]
    metadata: list[SetDataSchema | OtherEvent]


class DatasetSnapshotContent(DatasetSpec):
    """Name, nature and events of a dataset."""

    name: str


class DatasetSnapshot(Record):
    """A dataset with all its events, in the standard's first envelope."""

    kind: Literal["DatasetSnapshot"]
    version: Literal[1]
    content: DatasetSnapshotContent


class MetadataEvent(Record):
    """One event in an envelope of its own."""

    kind: Literal["MetadataEvent"]
    version: Literal[1]
    content: SetDataSchema | OtherEvent


class Headers(OpenRecord):
    """What a resource is called, and what else is known of it."""

    name: str


class DatasetResource(Record):
    """A dataset in the standard's second envelope."""

    aliases = {"schema_": "$schema"}
    schema_: Annotated[str, Bounds(pattern="/Dataset/?$")]
    headers: Headers
    spec: DatasetSpec


class SourceResource(Record):
    """A source in the standard's second envelope; what it reads has a schema."""

    aliases = {"schema_": "$schema"}
    schema_: Annotated[str, Bounds(pattern="/Source/?$")]
    headers: Headers
    spec: Json


class BareSchema(Schema):
    """The short form: a schema with the dataset's name beside it."""

    name: str | None = None
