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
    """The event of the standard that gives a dataset its schema."""
    schema_: Schema
    """The columns and attributes."""
    raw_arrow_schema: str = ""
    """The schema in the form of old, which the other one replaces."""


class OtherEvent(OpenRecord):
    """An event of the standard that is left as it is."""

    kind: OtherEventKind
    """Which event of the standard it is."""


class DatasetSpec(Record):
    """Nature and events of a dataset."""

    kind: Literal["Root", "Derivative"]
    """Whether the dataset has data of its own, or derives them from others."""
    metadata: list[SetDataSchema | OtherEvent]
    """The events of the dataset, in their order."""


class DatasetSnapshotContent(DatasetSpec):
    """Name, nature and events of a dataset."""

    name: str
    """The name of the dataset."""


class DatasetSnapshot(Record):
    """A dataset with all its events, in the standard's first envelope."""

    kind: Literal["DatasetSnapshot"]
    """The envelope."""
    version: Literal[1]
    """The version of the envelope."""
    content: DatasetSnapshotContent
    """The dataset."""


class MetadataEvent(Record):
    """One event in an envelope of its own."""

    kind: Literal["MetadataEvent"]
    """The envelope."""
    version: Literal[1]
    """The version of the envelope."""
    content: SetDataSchema | OtherEvent
    """The event."""


class Headers(OpenRecord):
    """What a resource is called, and what else is known of it."""

    name: str
    """The name of the dataset."""


class DatasetResource(Record):
    """A dataset in the standard's second envelope."""

    aliases = {"schema_": "$schema"}
    schema_: Annotated[str, Bounds(pattern="/Dataset/?$")]
    """The URL of the schema of a Dataset."""
    headers: Headers
    """The name, and what else is known of the resource."""
    spec: DatasetSpec
    """The nature and the events of the dataset."""


class SourceResource(Record):
    """A source in the standard's second envelope; what it reads has a schema."""

    aliases = {"schema_": "$schema"}
    schema_: Annotated[str, Bounds(pattern="/Source/?$")]
    """The URL of the schema of a Source."""
    headers: Headers
    """The name, and what else is known of the resource."""
    spec: Json
    """How the source is read."""


class BareSchema(Schema):
    """The short form: a schema with the dataset's name beside it."""

    name: str | None = None
    """The dataset's name; by default that of the file."""
