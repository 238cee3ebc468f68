"""The shapes of documents that a schema may stand in.

Floor: 5 (manifest).
Shape: each body found is the tree path of one schema mapping, with the name of its dataset. The events of the
standard that carry no schema pass through untouched.
Errors: SC105, SC204, SC207, SC208, SC213 to SC215, SC217.
Source: the standard's DatasetSnapshot, MetadataEvent and SetDataSchema; RFC-018 for `$schema` / `headers` / `spec`.
"""

import re
from typing import Any, Literal, NamedTuple

from pydantic import ConfigDict
from pydantic import Field as Alias

from schemac.attributes.attribute import spellings
from schemac.logical.model import Model, Schema
from schemac.source.catalogue import (
    EMPTY_DOCUMENT,
    FRIENDLY_FORM,
    INVALID_DATASET_NAME,
    LOOSE_SPELLING,
    MISSING_PROPERTY,
    UNKNOWN_DOCUMENT,
    UNKNOWN_EVENT,
    UNKNOWN_KEY,
    UNSUPPORTED_VERSION,
    WRONG_TYPE,
)
from schemac.source.suggest import closest
from schemac.syntax.complaints import sort_of
from schemac.syntax.document import Document, TreePath

OtherEventKind = Literal[
    "AddData",
    "ExecuteTransform",
    "Seed",
    "SetPollingSource",
    "SetTransform",
    "SetVocab",
    "SetAttachments",
    "SetInfo",
    "SetLicense",
    "AddPushSource",
    "DisablePushSource",
    "DisablePollingSource",
]
EVENTS = ("SetDataSchema", *OtherEventKind.__args__)  # type: ignore[attr-defined]
_EVENT_SPELLINGS = {spelling: event for event in EVENTS for spelling in spellings(event)}
_RESOURCES = ("Dataset", "Source")
_NAME = re.compile(r"(?:\w[\w.\- ]*/)?\w[\w.\- ]*")


class SetDataSchema(Model):
    """The event that gives a dataset its schema."""

    kind: Literal["SetDataSchema"]
    schema_: Schema = Alias(alias="schema")


class OtherEvent(Model):
    """An event of the standard that is left as it is."""

    model_config = ConfigDict(extra="allow")
    kind: OtherEventKind


class DatasetSnapshotContent(Model):
    """Name, nature and events of a dataset."""

    name: str
    kind: Literal["Root", "Derivative"]
    metadata: list[SetDataSchema | OtherEvent]


class DatasetSnapshot(Model):
    """A dataset with all its events, in the standard's first envelope."""

    kind: Literal["DatasetSnapshot"]
    version: Literal[1]
    content: DatasetSnapshotContent


class MetadataEvent(Model):
    """One event in an envelope of its own."""

    kind: Literal["MetadataEvent"]
    version: Literal[1]
    content: SetDataSchema | OtherEvent


class BareSchema(Schema):
    """The short form: a schema with the dataset's name beside it."""

    name: str | None = None


class Body(NamedTuple):
    """One schema mapping in a document, and the name of its dataset."""

    name: str
    path: TreePath


class Documents:
    """Finds the schema bodies of one document."""

    def __init__(self, document: Document, stem: str, is_strict: bool, is_named: bool, say: Any) -> None:
        self._value = document.value
        self._stem = stem
        self._is_strict = is_strict
        self._is_named = is_named
        self._say = say

    def bodies(self) -> list[Body]:
        """All bodies, in the order of the text."""
        value = self._value
        if value is None:
            self._say(
                EMPTY_DOCUMENT,
                (),
                "the document is empty",
                help="write `fields:` with the columns of the dataset",
            )
            return []
        if isinstance(value, list):
            return self._events(value, (), self._stem)
        if not isinstance(value, dict):
            self._say(
                UNKNOWN_DOCUMENT, (), f"a manifest is a mapping, not {sort_of(value)}", help="write `fields:`"
            )
            return []
        if {"source", "target"} <= value.keys():
            if self._is_named:
                self._say(
                    UNKNOWN_DOCUMENT,
                    (),
                    "this is a pipeline, not a manifest",
                    help="check it with `schemac run --dry-run`",
                )
            return []
        if "$schema" in value:
            return self._resource(value)
        if "fields" in value and "kind" not in value:
            return self._bare(value)
        kind = value.get("kind")
        if kind == "DatasetSnapshot":
            return self._snapshot(value)
        if kind == "MetadataEvent":
            if self._version_is_known(value) and "content" in value:
                self._only(value, (), ("kind", "version", "content"))
                return self._events([value["content"]], (), self._stem, steps=(("content",),))
            return []
        if isinstance(kind, str) and (kind in _EVENT_SPELLINGS or closest(kind, EVENTS)):
            return self._events([value], (), self._stem, steps=((),))
        near = closest(kind, ("DatasetSnapshot", "MetadataEvent")) if isinstance(kind, str) else None
        self._say(
            UNKNOWN_DOCUMENT,
            ("kind",) if isinstance(kind, str) else (),
            f"there is no document kind '{kind}'"
            if isinstance(kind, str)
            else "this is none of the documents that hold a schema",
            help=f"did you mean `{near}`?"
            if near
            else "start with `fields:`, `kind: SetDataSchema` or `kind: DatasetSnapshot`",
        )
        return []

    def _bare(self, value: dict[str, Any]) -> list[Body]:
        name = value.get("name")
        if self._is_strict and "name" in value:
            self._say(
                FRIENDLY_FORM,
                ("name",),
                "the standard has no `name` beside `fields`",
                on_key=True,
                help="use a DatasetSnapshot",
            )
        return [Body(self._name(name, ("name",)), ())]

    def _snapshot(self, value: dict[str, Any]) -> list[Body]:
        if not self._version_is_known(value):
            return []
        self._only(value, (), ("kind", "version", "content"))
        content = value.get("content")
        if not isinstance(content, dict):
            self._say(MISSING_PROPERTY, ("kind",), "a DatasetSnapshot needs `content`", help="add `content:`")
            return []
        self._only(content, ("content",), ("name", "kind", "metadata"))
        for key in ("name", "kind", "metadata"):
            if key not in content:
                self._say(
                    MISSING_PROPERTY,
                    ("content",),
                    f"the content of a DatasetSnapshot needs `{key}`",
                    help=f"add `{key}:`",
                )
        self._dataset_kind(content.get("kind", "Root"), ("content", "kind"))
        name = self._name(content.get("name"), ("content", "name"))
        return self._metadata(content.get("metadata", []), ("content", "metadata"), name)

    def _resource(self, value: dict[str, Any]) -> list[Body]:
        resource = str(value["$schema"]).rstrip("/").rpartition("/")[2]
        if resource not in _RESOURCES:
            near = closest(resource, _RESOURCES)
            self._say(
                UNKNOWN_DOCUMENT,
                ("$schema",),
                f"the resource '{resource}' holds no schema",
                help=f"did you mean `{near}`?"
                if near
                else "the resources with a schema are Dataset and Source",
            )
            return []
        self._only(value, (), ("$schema", "headers", "spec"))
        headers, spec = value.get("headers"), value.get("spec")
        name = self._name(headers.get("name") if isinstance(headers, dict) else None, ("headers", "name"))
        if not isinstance(spec, dict):
            self._say(MISSING_PROPERTY, ("$schema",), f"a {resource} needs `spec`", help="add `spec:`")
            return []
        if resource == "Source":
            return self._read_schema(spec, ("spec",), name)
        self._dataset_kind(spec.get("kind", "Root"), ("spec", "kind"))
        return self._metadata(spec.get("metadata", []), ("spec", "metadata"), name)

    def _metadata(self, events: Any, at: TreePath, name: str) -> list[Body]:
        if not isinstance(events, list):
            self._say(WRONG_TYPE, at, f"`metadata` has to be a list of events, not {sort_of(events)}")
            return []
        return self._events(events, at, name)

    def _events(
        self, events: list[Any], at: TreePath, name: str, steps: tuple[TreePath, ...] | None = None
    ) -> list[Body]:
        """Bodies of events; of several SetDataSchema the last one is the schema, as in a chain of blocks."""
        schemas: list[Body] = []
        sources: list[Body] = []
        for i, event in enumerate(events):
            place = (*at, *steps[i]) if steps else (*at, i)
            kind = self._event_kind(event, place)
            if kind == "SetDataSchema":
                schemas += self._set_data_schema(event, place, name)
            elif kind in ("SetPollingSource", "AddPushSource"):
                suffix = event.get("sourceName", "read")
                sources += self._read_schema(event, place, f"{name}.{suffix}")
        if not schemas and len(sources) == 1:
            return [Body(name, sources[0].path)]
        return [*schemas[-1:], *sources]

    def _event_kind(self, event: Any, at: TreePath) -> str | None:
        if not isinstance(event, dict):
            self._say(
                WRONG_TYPE,
                at,
                f"an event is a mapping, not {sort_of(event)}",
                help="write `- kind: SetDataSchema`",
            )
            return None
        written = event.get("kind")
        if not isinstance(written, str):
            self._say(MISSING_PROPERTY, at, "an event needs a `kind`", help="write `kind: SetDataSchema`")
            return None
        kind = _EVENT_SPELLINGS.get(written)
        if kind is None:
            near = closest(written, EVENTS)
            help = f"did you mean `{near}`?" if near else f"the events are {', '.join(EVENTS)}"
            self._say(UNKNOWN_EVENT, (*at, "kind"), f"there is no event '{written}'", help=help)
        elif kind != written and self._is_strict:
            self._say(
                LOOSE_SPELLING,
                (*at, "kind"),
                f"the standard spells '{written}' as {kind}",
                help=f"write `{kind}`",
            )
        return kind

    def _set_data_schema(self, event: dict[str, Any], at: TreePath, name: str) -> list[Body]:
        if "rawArrowSchema" in event and "schema" not in event:
            self._say(
                UNKNOWN_DOCUMENT,
                (*at, "rawArrowSchema"),
                "this event holds its schema in Arrow's binary form only",
                help="write the columns under `schema:`",
                on_key=True,
            )
            return []
        self._only(event, at, ("kind", "schema", "rawArrowSchema"))
        if "schema" not in event:
            self._say(
                MISSING_PROPERTY,
                (*at, "kind"),
                "SetDataSchema needs `schema`",
                help="add `schema:` with `fields:`",
            )
            return []
        return [Body(name, (*at, "schema"))]

    def _read_schema(self, holder: dict[str, Any], at: TreePath, name: str) -> list[Body]:
        read = holder.get("read")
        if not isinstance(read, dict) or "schema" not in read:
            return []
        place = (*at, "read", "schema")
        if isinstance(read["schema"], list):
            self._say(
                WRONG_TYPE,
                place,
                "`schema` of a read step is a mapping with `fields`",
                help="DDL lines go under `ddlSchema:`",
            )
            return []
        return [Body(name, place)]

    def _dataset_kind(self, kind: Any, at: TreePath) -> None:
        words = {spelling: word for word in ("Root", "Derivative") for spelling in spellings(word)}
        if words.get(kind) is None if isinstance(kind, str) else True:
            self._say(
                WRONG_TYPE,
                at,
                f"a dataset is Root or Derivative, not {sort_of(kind)}",
                help="write `kind: Root`",
            )
        elif self._is_strict and kind not in words.values():
            self._say(
                LOOSE_SPELLING,
                at,
                f"the standard spells '{kind}' as {words[kind]}",
                help=f"write `{words[kind]}`",
            )

    def _version_is_known(self, value: dict[str, Any]) -> bool:
        if "version" in value and value["version"] == 1 and value["version"] is not True:
            return True
        if "version" not in value:
            self._say(
                MISSING_PROPERTY, ("kind",), f"a {value['kind']} needs `version`", help="add `version: 1`"
            )
        else:
            self._say(
                UNSUPPORTED_VERSION,
                ("version",),
                f"version {value['version']} is not known",
                help="write `version: 1`",
            )
        return False

    def _only(self, value: dict[str, Any], at: TreePath, known: tuple[str, ...]) -> None:
        for key in value:
            if key not in known:
                near = closest(key, [word for word in known if word not in value])
                help = f"did you mean `{near}`?" if near else f"known here: {', '.join(known)}"
                self._say(
                    UNKNOWN_KEY, (*at, key), f"the key `{key}` does not belong here", help=help, on_key=True
                )

    def _name(self, written: Any, at: TreePath) -> str:
        if written is None:
            return self._stem
        if isinstance(written, str) and _NAME.fullmatch(written):
            return written
        self._say(
            INVALID_DATASET_NAME,
            at,
            f"{sort_of(written)} cannot name a dataset",
            help="use letters, digits, dots, dashes and underscores; an account may stand before one slash",
        )
        return self._stem
