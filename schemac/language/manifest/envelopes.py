"""What a schema may be wrapped in: the keys of each envelope, and what it is for.

Layer: language.
Source: the standard's DatasetSnapshot, MetadataEvent and SetDataSchema; RFC-018 for `$schema` / `headers` / `spec`.
"""

from typing import Annotated, Literal

from pydantic import Field

from schemac.language.logical.model import Schema
from schemac.language.manifest.standard import NAME_RULE, DatasetKind, OtherEventKind
from schemac.text.source.json_object import Json
from schemac.text.syntax.model import AuthoredModel

DatasetName = Annotated[str, Field(json_schema_extra=NAME_RULE)]


class SetDataSchema(AuthoredModel):
    """The event that gives a dataset its schema."""

    kind: Literal["SetDataSchema"] = Field(
        description="The event of the standard that gives a dataset its schema."
    )
    schema_: Schema = Field(alias="schema", description="The columns and attributes.")
    raw_arrow_schema: str = Field(
        "", description="The schema in Arrow's binary form, which `schema` replaces."
    )


class OtherEvent(AuthoredModel, extra="allow"):
    """An event of the standard that schemac does not interpret."""

    kind: OtherEventKind = Field(description="Which event of the standard it is.")


class Named(AuthoredModel):
    """What has the name of a dataset."""

    name: DatasetName = Field(description="The name of the dataset.")


class DatasetSpec(AuthoredModel):
    """Nature and events of a dataset."""

    kind: DatasetKind = Field(
        description="Whether the dataset has data of its own, or derives them from others."
    )
    metadata: list[SetDataSchema | OtherEvent] = Field(
        description="The events of the dataset, in their order."
    )


class DatasetSnapshotContent(DatasetSpec, Named):
    """Name, nature and events of a dataset."""


class DatasetSnapshot(AuthoredModel):
    """A dataset with all its events, in the standard's first envelope."""

    kind: Literal["DatasetSnapshot"] = Field(description="The envelope.")
    version: Literal[1] = Field(description="The version of the envelope.")
    content: DatasetSnapshotContent = Field(description="The dataset.")


class MetadataEvent(AuthoredModel):
    """One event in an envelope of its own."""

    kind: Literal["MetadataEvent"] = Field(description="The envelope.")
    version: Literal[1] = Field(description="The version of the envelope.")
    content: SetDataSchema | OtherEvent = Field(description="The event.")


class Headers(Named, extra="allow"):
    """What a resource is called, and what else is known of it."""


class DatasetResource(AuthoredModel):
    """A dataset in the standard's second envelope."""

    schema_: str = Field(
        alias="$schema", pattern="/Dataset/?$", description="The URL of the schema of a Dataset."
    )
    headers: Headers = Field(description="The name, and what else is known of the resource.")
    spec: DatasetSpec = Field(description="The nature and the events of the dataset.")


class SourceResource(AuthoredModel):
    """A source in the standard's second envelope; what it reads has a schema."""

    schema_: str = Field(
        alias="$schema", pattern="/Source/?$", description="The URL of the schema of a Source."
    )
    headers: Headers = Field(description="The name, and what else is known of the resource.")
    spec: Json = Field(description="How the source is read.")


class BareSchema(Schema):
    """The short form: a schema with the dataset's name next to it."""

    name: DatasetName | None = Field(None, description="The dataset's name; by default that of the file.")
