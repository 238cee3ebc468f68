"""The shapes of documents that a schema may be in.

Layer: manifest.
Shape: each body found is the tree path of one schema mapping, with the name of its dataset. The events of the
standard that carry no schema pass through untouched.
Errors: SC105, SC202 to SC204, SC206 to SC208, SC213 to SC215, SC217.
Source: the standard's DatasetSnapshot, MetadataEvent and SetDataSchema; RFC-018 for `$schema` / `headers` / `spec`.
"""

import shlex
from itertools import islice
from typing import Any, Literal, NamedTuple

from schemac.attributes.attribute import spellings
from schemac.logical.system import SETTINGS, Naming, SystemColumns
from schemac.manifest.names import is_dataset_name, trouble_with
from schemac.source.catalogue import (
    EMPTY_DOCUMENT,
    FLOW_SKIPPED,
    FRIENDLY_FORM,
    INVALID_DATASET_NAME,
    LOOSE_SPELLING,
    MISSING_PROPERTY,
    UNKNOWN_DOCUMENT,
    UNKNOWN_EVENT,
    UNKNOWN_KEY,
    UNKNOWN_VALUE,
    UNSUPPORTED_VERSION,
    WRONG_TYPE,
)
from schemac.source.json_object import Json
from schemac.source.suggest import closest
from schemac.syntax.complaints import sort_of
from schemac.syntax.document import Document, TreePath
from schemac.syntax.remedies import Meant, Quote, Write
from schemac.syntax.remedies_around import Insert

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
SOURCE_EVENTS = ("SetPollingSource", "AddPushSource")
"""Events of what is read; its step `read` may have a schema."""
_EVENT_SPELLINGS = {spelling: event for event in EVENTS for spelling in spellings(event)}
_RESOURCES = ("Dataset", "Source")
OF_LIBRARIES = ("description", "imports", "groups")
_MOST_KEYS = 20
"""Keys of a mapping among which a misspelled one is looked for."""
DOCUMENT_KINDS = ("DatasetSnapshot", "MetadataEvent")
_BEGINNINGS = "start with `fields:`, `kind: SetDataSchema` or `kind: DatasetSnapshot`"


_MEANT = {"columns": "fields"}
"""Keys of other systems for ours."""


class Body(NamedTuple):
    """One schema mapping in a document, its dataset's name and where that is written, and what its events name."""

    name: str
    path: TreePath
    named_at: TreePath = ()
    naming: Naming = Naming()
    is_source: bool = False
    """Whether this is what a Source resource reads; it may have the name of a Dataset."""


class Documents:
    """Finds the schema bodies of one document."""

    def __init__(self, document: Document, stem: str, is_strict: bool, is_named: bool, say: Any) -> None:
        self._value = document.value
        self._file = document.source.name
        self._stem = stem
        self._is_strict = is_strict
        self._is_named = is_named
        self._say = say

    def bodies(self) -> list[Body]:
        """All bodies, in the order of the text."""
        bodies = self._bodies()
        for body in bodies:
            self._check_name(body)
        return bodies

    def _bodies(self) -> list[Body]:
        value = self._value
        if value is None:
            self._say(
                EMPTY_DOCUMENT,
                (),
                "the document is empty",
                help="write `fields:` with the columns of the dataset",
            )
            return []
        if value == [] and self._is_named:
            help = "write `fields:` with the columns of the dataset"
            self._say(EMPTY_DOCUMENT, (), "the document is a list without events", help=help)
            return []
        if isinstance(value, list):
            if not self._is_named and not any(isinstance(event, dict) and "kind" in event for event in value):
                self._say(UNKNOWN_DOCUMENT, (), "this list has no events")
                return []
            return self._events(value, (), Body(self._stem, ()))
        if not isinstance(value, dict):
            self._say(
                UNKNOWN_DOCUMENT, (), f"a manifest is a mapping, not {sort_of(value)}", help="write `fields:`"
            )
            return []
        if is_pipeline(value):
            # A pipeline lies beside its manifest; whoever checks a folder need not hear of it.
            if self._is_named:
                help = "check it with `schemac check`, and run it with `schemac run`"
                self._say(UNKNOWN_DOCUMENT, (), "this is a pipeline, not a manifest", help=help)
            return []
        if "$schema" in value:
            return self._resource(value)
        kind = value.get("kind")
        if "fields" in value and "kind" not in value:
            return self._bare(value)
        if is_library(value):
            self._library(value)
            return []
        if is_overlay(value):
            # An overlay may lie beside its manifests, as a pipeline may.
            if self._is_named:
                help = "name it with `--overlay`, beside the manifests"
                self._say(UNKNOWN_DOCUMENT, (), "this is an overlay, not a manifest", help=help)
            return []
        if kind == "DatasetSnapshot":
            return self._snapshot(value)
        if kind == "MetadataEvent":
            return self._metadata_event(value)
        if not isinstance(kind, str):
            self._unknown(value)
            return []
        near = closest(kind, (*DOCUMENT_KINDS, *EVENTS)) if "apiVersion" not in value else None
        if kind in _EVENT_SPELLINGS or near in EVENTS:
            return self._events([value], (), Body(self._stem, ()), steps=((),))
        self._say(
            UNKNOWN_DOCUMENT,
            ("kind",),
            f"there is no document kind '{kind}'",
            help=Meant.word(near, kind) if near else _BEGINNINGS,
        )
        return []

    def _unknown(self, value: Json) -> None:
        """Report a mapping without `kind` and `fields`; one of its keys may be meant to be one of these."""
        if not {"kind", "schema", "apiVersion"} & set(value):
            # A mapping of many keys is data, not a manifest with a slip in it.
            for key in islice(value, _MOST_KEYS):
                near = closest(key, ("fields", "kind", "$schema", "groups"), _MEANT)
                if near:
                    self._unknown_key((key,), near)
                    return
        help = _BEGINNINGS
        if isinstance(value.get("schema"), dict):
            help = Insert.pair("kind", "SetDataSchema", reason=" beside `schema:`")
        self._say(UNKNOWN_DOCUMENT, (), "this is not a document that contains a schema", help=help)

    def _library(self, value: Json) -> None:
        """Check the keys of a document that holds groups alone; `schemac.manifest.groups` reads what they have."""
        for key in value:
            if key not in OF_LIBRARIES:
                self._unknown_key((key,), closest(key, ("imports", "groups", "fields")), OF_LIBRARIES)
        if self._is_strict:
            help = "run `schemac expand` on the manifests that use them"
            self._say(FRIENDLY_FORM, ("groups",), "the standard has no groups", help=help, on_key=True)

    def _bare(self, value: Json) -> list[Body]:
        if self._is_strict and "name" in value:
            self._say(
                FRIENDLY_FORM,
                ("name",),
                "the standard has no `name` beside `fields`",
                on_key=True,
                help="use a DatasetSnapshot",
            )
        return [self._named(value, ("name",))]

    def _snapshot(self, value: Json) -> list[Body]:
        is_whole = self._has_shape(value, (), ("kind", "version", "content"), "a DatasetSnapshot")
        if not self._version_is_known(value) or not is_whole:
            return []
        content = value["content"]
        if not isinstance(content, dict):
            self._say(WRONG_TYPE, ("content",), f"`content` has to be a mapping, not {sort_of(content)}")
            return []
        self._has_shape(
            content, ("content",), ("name", "kind", "metadata"), "the content of a DatasetSnapshot"
        )
        self._dataset_kind(content.get("kind", "Root"), ("content", "kind"))
        named = self._named(content, ("content", "name"))
        return self._metadata(content.get("metadata", []), ("content", "metadata"), named)

    def _metadata_event(self, value: Json) -> list[Body]:
        is_whole = self._has_shape(value, (), ("kind", "version", "content"), "a MetadataEvent")
        if not self._version_is_known(value) or not is_whole:
            return []
        return self._events([value["content"]], (), Body(self._stem, ()), steps=(("content",),))

    def _resource(self, value: Json) -> list[Body]:
        resource = str(value["$schema"]).rstrip("/").rpartition("/")[2]
        if resource == "Flow":
            self._say(FLOW_SKIPPED, ("$schema",), "a Flow contains no schema and is ignored")
            return []
        if resource not in _RESOURCES:
            near = closest(resource, _RESOURCES)
            self._say(
                UNKNOWN_DOCUMENT,
                ("$schema",),
                f"the resource '{resource}' contains no schema",
                help=Meant.word(near, resource)
                if near
                else "the resources with a schema are Dataset and Source",
            )
            return []
        is_whole = self._has_shape(value, (), ("$schema", "headers", "spec"), f"a {resource}")
        headers, spec = value.get("headers"), value.get("spec")
        named = self._named(headers if isinstance(headers, dict) else {}, ("headers", "name"))
        if not is_whole:
            return []
        if not isinstance(spec, dict):
            self._say(WRONG_TYPE, ("spec",), f"`spec` has to be a mapping, not {sort_of(spec)}")
            return []
        if resource == "Source":
            return self._read_schema(spec, ("spec",), named._replace(is_source=True))
        self._dataset_kind(spec.get("kind", "Root"), ("spec", "kind"))
        return self._metadata(spec.get("metadata", []), ("spec", "metadata"), named)

    def _metadata(self, events: Any, at: TreePath, named: Body) -> list[Body]:
        if not isinstance(events, list):
            self._say(WRONG_TYPE, at, f"`metadata` has to be a list of events, not {sort_of(events)}")
            return []
        return self._events(events, at, named)

    def _events(
        self, events: list[Any], at: TreePath, named: Body, steps: tuple[TreePath, ...] | None = None
    ) -> list[Body]:
        """Bodies of events; of several SetDataSchema the last one is the schema, as in a chain of blocks."""
        schemas: list[Body] = []
        sources: list[Body] = []
        names: dict[str, str] = {}
        for i, event in enumerate(events):
            place = (*at, *steps[i]) if steps else (*at, i)
            kind = self._event_kind(event, place)
            if kind == "SetDataSchema":
                if not (_is_binary(event) and any(map(_has_schema, events[i + 1 :]))):
                    schemas += self._set_data_schema(event, place, named)
            elif kind == "SetVocab":
                names |= {key: event[key] for key in SETTINGS if isinstance(event.get(key), str)}
            elif kind in SOURCE_EVENTS:
                source = event.get("sourceName", "read")
                at_name = (*place, "sourceName") if "sourceName" in event else named.named_at
                sources += self._read_schema(event, place, Body(f"{named.name}.{source}", (), at_name))
        if not schemas and len(sources) == 1:
            sources = [sources[0]._replace(name=named.name, named_at=named.named_at)]
        naming = _naming(names) if names else named.naming
        # What a source reads may still be cast: of its columns the names are settled, the types are not.
        read = naming._replace(given=frozenset())
        return [
            *[body._replace(naming=naming) for body in schemas[-1:]],
            *[body._replace(naming=read) for body in sources],
        ]

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
        if "kind" not in event:
            near = next((key for key in event if closest(key, ("kind",))), None)
            if near is not None:
                self._unknown_key((*at, near), "kind")
            else:
                self._say(
                    MISSING_PROPERTY, at, "an event needs a `kind`", help=Insert.pair("kind", "SetDataSchema")
                )
            return None
        if not isinstance(written, str):
            self._say(
                WRONG_TYPE,
                (*at, "kind"),
                f"the `kind` of an event has to be a text, not {sort_of(written)}",
                help=Write.value("SetDataSchema", key="kind", is_safe=False),
            )
            return None
        kind = _EVENT_SPELLINGS.get(written)
        if kind is None:
            near = closest(written, EVENTS)
            help = Meant.word(near, written) if near else f"the events are {', '.join(EVENTS)}"
            self._say(UNKNOWN_EVENT, (*at, "kind"), f"there is no event '{written}'", help=help)
        elif kind != written and self._is_strict:
            self._say(
                LOOSE_SPELLING,
                (*at, "kind"),
                f"the standard spells '{written}' as {kind}",
                help=Write.value(kind),
            )
        return kind

    def _set_data_schema(self, event: Json, at: TreePath, named: Body) -> list[Body]:
        known = ("kind", "schema", "rawArrowSchema")
        if _is_binary(event):
            self._say(
                UNKNOWN_DOCUMENT,
                (*at, "rawArrowSchema"),
                "this event has its schema only in Arrow's binary form",
                help="write the columns under `schema:`, or write them with `schemac import`",
                on_key=True,
            )
            return []
        if not self._has_shape(event, at, known, "SetDataSchema", optional=("rawArrowSchema",)):
            return []
        return [named._replace(path=(*at, "schema"))]

    def _read_schema(self, holder: Json, at: TreePath, named: Body) -> list[Body]:
        read = holder.get("read")
        if not isinstance(read, dict):
            return []
        if "schema" not in read:
            near = next(
                (key for key, item in read.items() if isinstance(item, dict) and closest(key, ("schema",))),
                None,
            )
            if near is not None:
                self._unknown_key((*at, "read", near), "schema")
            return []
        place = (*at, "read", "schema")
        if isinstance(read["schema"], list):
            self._say(
                WRONG_TYPE,
                place,
                "`schema` of a read step is a mapping with `fields`, not a list",
                help=f"`schemac import {shlex.quote(self._file)} --out new.yaml` writes such fields for lines of DDL and "
                "keeps the rest of the file; or move the lines unchanged under `ddlSchema:`",
            )
            return []
        return [named._replace(path=place)]

    def _dataset_kind(self, kind: Any, at: TreePath) -> None:
        words = {spelling: word for word in ("Root", "Derivative") for spelling in spellings(word)}
        if not isinstance(kind, str) or kind not in words:
            near = closest(kind, ("Root", "Derivative")) if isinstance(kind, str) else None
            help = (
                Meant.word(near, kind)
                if near and isinstance(kind, str)
                else Write.value("Root", key="kind", is_safe=False)
            )
            message = f"the kind of a dataset is Root or Derivative, not {sort_of(kind)}"
            self._say(UNKNOWN_VALUE, at, message, help=help)
        elif self._is_strict and kind not in words.values():
            self._say(
                LOOSE_SPELLING,
                at,
                f"the standard spells '{kind}' as {words[kind]}",
                help=Write.value(words[kind]),
            )

    def _version_is_known(self, value: Json) -> bool:
        version = value.get("version", 1)
        if version == 1 and version is not True:
            return True
        self._say(
            UNSUPPORTED_VERSION,
            ("version",),
            f"version {sort_of(version).removeprefix('the number ')} of {value['kind']} is unknown",
            help=Write.value("1", key="version", is_safe=False),
        )
        return False

    def _has_shape(
        self,
        value: Json,
        at: TreePath,
        known: tuple[str, ...],
        noun: str,
        optional: tuple[str, ...] = ("headers",),
    ) -> bool:
        """Whether a mapping has the keys that it needs. A misspelled key is one finding, not two."""
        is_whole = True
        meant: set[str] = set()
        for key in value:
            if key not in known:
                near = closest(key, [word for word in known if word not in value])
                meant |= {near} if near else set()
                self._unknown_key((*at, key), near, known)
        for key in known:
            if key not in value and key not in optional:
                is_whole = False
                if key not in meant:
                    place = next(((*at, first) for first in ("kind", "$schema") if first in value), at)
                    self._say(MISSING_PROPERTY, place, f"{noun} needs `{key}`", help=f"add `{key}:`")
        return is_whole

    def _unknown_key(self, at: TreePath, near: str | None, known: tuple[str, ...] = ()) -> None:
        help = Meant.word(near, str(at[-1]), _MEANT) if near else f"allowed here: {', '.join(known)}"
        self._say(UNKNOWN_KEY, at, f"the key `{at[-1]}` does not belong here", help=help, on_key=True)

    def _named(self, holder: Json, at: TreePath) -> Body:
        """Return a body with the name that a mapping gives it, else with the stem of the file's name."""
        written = holder.get("name")
        if written is None:
            return Body(self._stem, ())
        if isinstance(written, str):
            return Body(written, (), at)
        message = f"{sort_of(written)} is not a valid dataset name"
        self._say(INVALID_DATASET_NAME, at, message, help=Quote.it())
        return Body(self._stem, (), at)

    def _check_name(self, body: Body) -> None:
        if is_dataset_name(body.name):
            return
        message = f"{sort_of(body.name)} is not a valid dataset name"
        help = "use letters, digits, dots, dashes and underscores; an account and one slash may come first"
        reason, way_out = trouble_with(body.name)
        if reason:
            message, help = f"{message}: {reason}", way_out
        if body.named_at:
            self._say(INVALID_DATASET_NAME, body.named_at, message, help=help)
        else:
            help = f"add a `name:`, or rename the file: {help}"
            self._say(INVALID_DATASET_NAME, (*body.path, "fields"), message, help=help, on_key=True)


def is_pipeline(value: Any) -> bool:
    """Whether a document is a pipeline: of a source, or several, the path of a manifest and a target, it has two.

    One of the three may be misspelled, or missing yet; and a backfill has no source.
    """
    if not isinstance(value, dict) or "kind" in value:
        return False
    has_source = bool({"source", "sources"} & value.keys())
    return has_source + isinstance(value.get("schema"), str) + ("target" in value) >= 2


def is_overlay(value: Any) -> bool:
    """Whether a document holds overlays."""
    others = {"fields", "kind", "$schema", "groups"}
    return isinstance(value, dict) and "datasets" in value and not others & value.keys()


def is_library(value: Any) -> bool:
    """Whether a document holds groups of fields and nothing else."""
    return isinstance(value, dict) and "groups" in value and not {"fields", "kind", "$schema"} & value.keys()


def _is_binary(event: Json) -> bool:
    """Whether an event holds its schema in the form that was used before the standard had one of its own."""
    return "rawArrowSchema" in event and set(event) <= {"kind", "rawArrowSchema"}


def _has_schema(event: Any) -> bool:
    return isinstance(event, dict) and "schema" in event


def _naming(names: dict[str, str]) -> Naming:
    """Return the system columns as SetVocab names them."""
    usual = zip(SETTINGS, SystemColumns(), strict=True)
    return Naming(SystemColumns(*[names.get(key, name) for key, name in usual]), frozenset(names.values()))
