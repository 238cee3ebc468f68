"""The shapes of documents that a schema may be in.

Layer: language.
Shape: each body found is the tree path of one schema mapping, with the name of its dataset. The events of the
standard that carry no schema pass through untouched. A folder of manifests may hold any other YAML: resources of Kubernetes,
templates of Helm, workflows, contracts of an API. Of the files that were not named, only what has a sign of a manifest at its
head, or of a slip in writing one, is looked at; all else is passed over, also where it is not YAML.
Errors: SC105, SC202 to SC204, SC206 to SC208, SC213 to SC215, SC217.
Source: the standard's DatasetSnapshot, MetadataEvent and SetDataSchema; RFC-018 for `$schema` / `headers` / `spec`.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, get_args

from schemac.language.attributes.attribute import spellings
from schemac.language.logical.names import SETTINGS, Naming, SystemColumns
from schemac.language.manifest.standard import (
    DOCUMENT_KINDS,
    EVENTS,
    SOURCE_EVENTS,
    DatasetKind,
    is_dataset_name,
    trouble_with,
)
from schemac.text.source import catalogue as codes
from schemac.text.source.diagnostics import Code
from schemac.text.source.json_object import Json, TreePath
from schemac.text.source.phrases import Help, closest
from schemac.text.syntax.document import Document
from schemac.text.syntax.model import sort_of

_EVENT_SPELLINGS = {spelling: event for event in EVENTS for spelling in spellings(event)}
_RESOURCES = ("Dataset", "Source")
OF_LIBRARIES = ("description", "imports", "groups")
_MOST_KEYS = 20
"""Keys of a mapping among which a misspelled one is looked for."""
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


class Documents(NamedTuple):
    """Finds the schema bodies of one document; `add` reports what is wrong with it."""

    document: Document
    stem: str
    is_strict: bool
    is_named: bool
    add: Any

    def bodies(self) -> list[Body]:
        """Return all bodies, in the order of the text; names that are not valid are reported."""
        bodies = self._bodies()
        for body in bodies:
            if is_dataset_name(body.name):
                continue
            message = f"{sort_of(body.name)} is not a valid dataset name"
            help = (
                "use letters, digits, dots, dashes and underscores; an account and one slash may come first"
            )
            reason, way_out = trouble_with(body.name)
            if reason:
                message, help = f"{message}: {reason}", way_out
            if body.named_at:
                self.add(codes.INVALID_DATASET_NAME, body.named_at, message, help=help)
            else:
                help = f"add a `name:`, or rename the file: {help}"
                self.add(codes.INVALID_DATASET_NAME, (*body.path, "fields"), message, help=help, on_key=True)
        return bodies

    def _bodies(self) -> list[Body]:
        """Return the schema bodies, before their names are checked; none if the document is no manifest, most often after reporting that."""
        value = self.document.value
        if value is None or (value == [] and self.is_named):
            what = "empty" if value is None else "a list without events"
            help = "write `fields:` with the columns of the dataset"
            return self._refuse(codes.EMPTY_DOCUMENT, (), f"the document is {what}", help=help)
        if isinstance(value, list):
            if not self.is_named and not any(isinstance(event, dict) and "kind" in event for event in value):
                return self._refuse(codes.UNKNOWN_DOCUMENT, (), "this list has no events")
            return self._events({(i,): event for i, event in enumerate(value)}, Body(self.stem, ()))
        if not isinstance(value, dict):
            message = f"a manifest is a mapping, not {sort_of(value)}"
            return self._refuse(codes.UNKNOWN_DOCUMENT, (), message, help="write `fields:`")
        if is_pipeline(value):
            # A pipeline lies beside its manifest; whoever checks a folder need not hear of it.
            if self.is_named:
                help = "check it with `schemac check`, and run it with `schemac run`"
                self.add(codes.UNKNOWN_DOCUMENT, (), "this is a pipeline, not a manifest", help=help)
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
            if self.is_named:
                help = "name it with `--overlay`, in addition to the manifests"
                self.add(codes.UNKNOWN_DOCUMENT, (), "this is an overlay, not a manifest", help=help)
            return []
        if kind in DOCUMENT_KINDS:
            return self._envelope(value, kind)
        if not isinstance(kind, str):
            self._unknown(value)
            return []
        near = closest(kind, (*DOCUMENT_KINDS, *EVENTS)) if "apiVersion" not in value else None
        if kind in _EVENT_SPELLINGS or near in EVENTS:
            return self._events({(): value}, Body(self.stem, ()))
        help = Help.did_you_mean(near, kind) if near else _BEGINNINGS
        message = f"there is no document kind '{kind}'"
        return self._refuse(codes.UNKNOWN_DOCUMENT, ("kind",), message, help=help)

    def _refuse(self, code: Code, at: TreePath, message: str, **options: Any) -> list[Body]:
        """Report why there is no body, and return none."""
        self.add(code, at, message, **options)
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
            help = Help.add_key("kind", "SetDataSchema", reason=" beside `schema:`")
        self.add(codes.UNKNOWN_DOCUMENT, (), "this is not a document that contains a schema", help=help)

    def _library(self, value: Json) -> None:
        """Check the keys of a document that holds groups alone; `schemac.language.manifest.groups` reads what they have."""
        for key in value:
            if key not in OF_LIBRARIES:
                self._unknown_key((key,), closest(key, ("imports", "groups", "fields")), OF_LIBRARIES)
        if self.is_strict:
            help = "run `schemac expand` on the manifests that use them"
            self.add(codes.FRIENDLY_FORM, ("groups",), "the standard has no groups", help=help, on_key=True)

    def _bare(self, value: Json) -> list[Body]:
        """Return the body of a mapping with `fields`; strict mode reports its `name`."""
        if self.is_strict and "name" in value:
            message = "the standard has no `name` next to `fields`"
            self.add(codes.FRIENDLY_FORM, ("name",), message, help="use a DatasetSnapshot", on_key=True)
        return [self._named(value, ("name",))]

    def _envelope(self, value: Json, kind: str) -> list[Body]:
        """Return the bodies of a DatasetSnapshot or a MetadataEvent; none after reporting that it is not whole."""
        is_whole = self._has_shape(value, (), kind, f"a {kind}")
        version = value.get("version", 1)
        if version != 1 or version is True:
            message = f"version {sort_of(version).removeprefix('the number ')} of {kind} is unknown"
            help = Help.write("1", key="version", is_safe=False)
            return self._refuse(codes.UNSUPPORTED_VERSION, ("version",), message, help=help)
        if not is_whole:
            return []
        content = value["content"]
        if kind == "MetadataEvent":
            return self._events({("content",): content}, Body(self.stem, ()))
        if not isinstance(content, dict):
            message = f"`content` has to be a mapping, not {sort_of(content)}"
            return self._refuse(codes.WRONG_TYPE, ("content",), message)
        self._has_shape(content, ("content",), "DatasetSnapshotContent", "the content of a DatasetSnapshot")
        return self._dataset(content, ("content",), self._named(content, ("content", "name")))

    def _resource(self, value: Json) -> list[Body]:
        """Return the bodies of a Dataset or a Source; none after reporting any other resource."""
        resource = str(value["$schema"]).rstrip("/").rpartition("/")[2]
        if resource == "Flow":
            return self._refuse(codes.FLOW_SKIPPED, ("$schema",), "a Flow contains no schema and is ignored")
        if resource not in _RESOURCES:
            message = f"the resource '{resource}' contains no schema"
            help = Help.nearest(resource, _RESOURCES, "the resources with a schema are Dataset and Source")
            return self._refuse(codes.UNKNOWN_DOCUMENT, ("$schema",), message, help=help)
        is_whole = self._has_shape(value, (), f"{resource}Resource", f"a {resource}")
        headers, spec = value.get("headers"), value.get("spec")
        named = self._named(headers if isinstance(headers, dict) else {}, ("headers", "name"))
        if not is_whole:
            return []
        if not isinstance(spec, dict):
            message = f"`spec` has to be a mapping, not {sort_of(spec)}"
            return self._refuse(codes.WRONG_TYPE, ("spec",), message)
        if resource == "Source":
            return self._read_schema(spec, ("spec",), named._replace(is_source=True))
        return self._dataset(spec, ("spec",), named)

    def _dataset(self, spec: Json, at: TreePath, named: Body) -> list[Body]:
        """Return the bodies of a dataset by its nature and its events; none after reporting that these are no list.

        A nature that is not Root or Derivative is reported, in strict mode also another spelling.
        """
        kind, events = spec.get("kind", "Root"), spec.get("metadata", [])
        words = {spelling: word for word in get_args(DatasetKind) for spelling in spellings(word)}
        if not isinstance(kind, str) or kind not in words:
            root = Help.write("Root", key="kind", is_safe=False)
            help = Help.nearest(kind, get_args(DatasetKind), root) if isinstance(kind, str) else root
            message = f"the kind of a dataset is Root or Derivative, not {sort_of(kind)}"
            self.add(codes.UNKNOWN_VALUE, (*at, "kind"), message, help=help)
        elif self.is_strict and kind not in words.values():
            message = f"the standard spells '{kind}' as {words[kind]}"
            self.add(codes.LENIENT_SPELLING, (*at, "kind"), message, help=Help.write(words[kind]))
        if not isinstance(events, list):
            message = f"`metadata` has to be a list of events, not {sort_of(events)}"
            return self._refuse(codes.WRONG_TYPE, (*at, "metadata"), message)
        return self._events({(*at, "metadata", i): event for i, event in enumerate(events)}, named)

    def _events(self, events: dict[TreePath, Any], named: Body) -> list[Body]:
        """Return the bodies of events, by their paths; of several SetDataSchema the last one is the schema, as in a chain of blocks."""
        schemas: list[Body] = []
        sources: list[Body] = []
        names: dict[str, str] = {}
        for i, (place, event) in enumerate(events.items(), 1):
            kind = self._event_kind(event, place)
            if kind == "SetDataSchema":
                later = [*events.values()][i:] if _is_binary(event) else ()
                if not any(isinstance(other, dict) and "schema" in other for other in later):
                    schemas += self._set_data_schema(event, place, named)
            elif kind == "SetVocab":
                names |= {key: event[key] for key in SETTINGS if isinstance(event.get(key), str)}
            elif kind in SOURCE_EVENTS:
                source = event.get("sourceName", "read")
                at_name = (*place, "sourceName") if "sourceName" in event else named.named_at
                sources += self._read_schema(event, place, Body(f"{named.name}.{source}", (), at_name))
        if not schemas and len(sources) == 1:
            sources = [sources[0]._replace(name=named.name, named_at=named.named_at)]
        naming = named.naming
        if names:
            columns = [names.get(key, name) for key, name in zip(SETTINGS, SystemColumns(), strict=True)]
            naming = Naming(SystemColumns(*columns), frozenset(names.values()))
        # What a source reads may still be cast: of its columns the names are settled, the types are not.
        read = naming._replace(explicit=frozenset())
        return [
            *[body._replace(naming=naming) for body in schemas[-1:]],
            *[body._replace(naming=read) for body in sources],
        ]

    def _event_kind(self, event: Any, at: TreePath) -> str | None:
        """Return the kind of an event in the spelling of the standard; None after reporting that there is none."""
        written = event.get("kind") if isinstance(event, dict) else None
        kind = _EVENT_SPELLINGS.get(written) if isinstance(written, str) else None
        if not isinstance(event, dict):
            message = f"an event is a mapping, not {sort_of(event)}"
            self.add(codes.WRONG_TYPE, at, message, help="write `- kind: SetDataSchema`")
        elif "kind" not in event:
            near = next((key for key in event if closest(key, ("kind",))), None)
            if near is not None:
                self._unknown_key((*at, near), "kind")
            else:
                help = Help.add_key("kind", "SetDataSchema")
                self.add(codes.MISSING_PROPERTY, at, "an event needs a `kind`", help=help)
        elif not isinstance(written, str):
            message = f"the `kind` of an event has to be a text, not {sort_of(written)}"
            help = Help.write("SetDataSchema", key="kind", is_safe=False)
            self.add(codes.WRONG_TYPE, (*at, "kind"), message, help=help)
        elif kind is None:
            help = Help.nearest(written, EVENTS, f"the events are {', '.join(EVENTS)}")
            self.add(codes.UNKNOWN_EVENT, (*at, "kind"), f"there is no event '{written}'", help=help)
        elif kind != written and self.is_strict:
            message = f"the standard spells '{written}' as {kind}"
            self.add(codes.LENIENT_SPELLING, (*at, "kind"), message, help=Help.write(kind))
        return kind

    def _set_data_schema(self, event: Json, at: TreePath, named: Body) -> list[Body]:
        """Return the body of a SetDataSchema; none after reporting that it has no schema in YAML."""
        if _is_binary(event):
            message = "this event has its schema only in Arrow's binary form"
            help = "write the columns under `schema:`, or write them with `schemac import`"
            return self._refuse(
                codes.UNKNOWN_DOCUMENT, (*at, "rawArrowSchema"), message, help=help, on_key=True
            )
        if not self._has_shape(event, at, "SetDataSchema", "SetDataSchema"):
            return []
        return [named._replace(path=(*at, "schema"))]

    def _read_schema(self, holder: Json, at: TreePath, named: Body) -> list[Body]:
        """Return the body of what a source reads; none if its step `read` has no schema."""
        read = holder.get("read")
        if not isinstance(read, dict):
            return []
        if "schema" not in read:
            mappings = (key for key, item in read.items() if isinstance(item, dict))
            near = next((key for key in mappings if closest(key, ("schema",))), None)
            if near is not None:
                self._unknown_key((*at, "read", near), "schema")
            return []
        place = (*at, "read", "schema")
        if isinstance(read["schema"], list):
            message = "`schema` of a read step is a mapping with `fields`, not a list"
            help = (
                f"`schemac import {shlex.quote(self.document.source.name)} --out new.yaml` writes such fields for lines of DDL and "
                "keeps the rest of the file; or move the lines unchanged under `ddlSchema:`"
            )
            return self._refuse(codes.WRONG_TYPE, place, message, help=help)
        return [named._replace(path=place)]

    def _has_shape(self, value: Json, at: TreePath, envelope: str, noun: str) -> bool:
        """Whether a mapping has the keys that an envelope, by the name of its class, needs. A misspelled key is one finding, not two."""
        from schemac.language.manifest import envelopes

        fields = {f.alias or name: f for name, f in vars(envelopes)[envelope].model_fields.items()}
        known = tuple(fields)
        is_whole = True
        meant: set[str] = set()
        for key in value:
            if key not in known:
                near = closest(key, [word for word in known if word not in value])
                meant |= {near} if near else set()
                self._unknown_key((*at, key), near, known)
        for key in known:
            # A dataset without headers is called as its file.
            if key not in value and fields[key].is_required() and key != "headers":
                is_whole = False
                if key not in meant:
                    place = next(((*at, first) for first in ("kind", "$schema") if first in value), at)
                    self.add(codes.MISSING_PROPERTY, place, f"{noun} needs `{key}`", help=f"add `{key}:`")
        return is_whole

    def _unknown_key(self, at: TreePath, near: str | None, known: tuple[str, ...] = ()) -> None:
        """Report a key that does not belong there, with the near one that was meant or else all that are allowed."""
        help = Help.did_you_mean(near, str(at[-1]), _MEANT) if near else f"allowed here: {', '.join(known)}"
        self.add(codes.UNKNOWN_KEY, at, f"the key `{at[-1]}` does not belong here", help=help, on_key=True)

    def _named(self, holder: Json, at: TreePath) -> Body:
        """Return a body with the name that a mapping gives it, else with the stem of the file's name."""
        written = holder.get("name")
        if written is None:
            return Body(self.stem, ())
        if isinstance(written, str):
            return Body(written, (), at)
        message = f"{sort_of(written)} is not a valid dataset name"
        self.add(codes.INVALID_DATASET_NAME, at, message, help=Help.quote())
        return Body(self.stem, (), at)


def schemas_of(document: Document) -> list[TreePath]:
    """Return the paths of the schemas in a document, without reporting its mistakes; () for one of groups alone."""
    if is_library(document.value):
        return [()]
    bodies = Documents(document, "dataset", False, False, lambda *_, **__: None).bodies()
    return [body.path for body in bodies]


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


_KINDS = (*DOCUMENT_KINDS, *EVENTS)
_KEY = re.compile(r"""^(?:- )?(["']?)([$A-Za-z][\w $-]*)\1[ \t]*:(?:[ \t]+(.*))?$""", re.MULTILINE)
"""A key at the head of a text, or of an item of the list that it is."""


def is_meant(documents: Sequence[Document], content: str) -> bool:
    """Whether a text is meant to be a manifest; `documents` are those that could be read."""
    if any(_is_document(document.value) for document in documents):
        return True
    # What could not be read is known by what stands at the starts of lines, whatever ends them.
    content = content.replace("\r\n", "\n").replace("\r", "\n")
    for part in re.split(r"^---.*$", content, flags=re.MULTILINE):
        keys = {m[2]: (m[3] or "").partition(" #")[0].strip().strip("\"'") for m in _KEY.finditer(part)}
        is_of_kind = bool(keys.get("kind")) and closest(keys["kind"], _KINDS) is not None
        if "apiVersion" not in keys and ("fields" in keys or is_of_kind):
            return True
    return False


def _is_document(value: Any) -> bool:
    """Whether a value, such as a list of events, is meant to be a manifest."""
    if isinstance(value, list):
        return any(
            isinstance(event, dict)
            and (_is_ours(event) or (isinstance(event.get("schema"), dict) and "fields" in event["schema"]))
            for event in value
        )
    return isinstance(value, dict) and (_is_ours(value) or _has_columns(value))


def _is_ours(value: Mapping[str, Any]) -> bool:
    """Whether a mapping has a key that only we have, or a kind that is ours or nearly."""
    if "apiVersion" in value:
        return False
    kind, resource = value.get("kind"), value.get("$schema")
    if isinstance(kind, str):
        return closest(kind, _KINDS) is not None
    if isinstance(resource, str) and {"headers", "spec"} & value.keys():
        return True
    if isinstance(resource, str):
        return closest(resource.rstrip("/").rpartition("/")[2], (*_RESOURCES, "Flow")) is not None
    groups = value["groups"] if is_library(value) else None
    if isinstance(groups, dict) and value.keys() <= {*OF_LIBRARIES}:
        return True
    # Other programs have lists of rules under this key.
    items = groups.values() if isinstance(groups, dict) else groups if isinstance(groups, list) else ()
    return any(isinstance(item, dict) and _has_columns(item) for item in items)


def _has_columns(value: Mapping[str, Any]) -> bool:
    """Whether a mapping has `fields`, or under a key like it a list of mappings with names or types."""
    schema = value.get("schema")
    if isinstance(schema, dict) and _has_columns(schema):
        return True
    if "fields" in value:
        return "apiVersion" not in value
    return any(
        isinstance(item, dict) and "name" in item and bool({"type", "kind"} & item.keys())
        for key, items in value.items()
        if isinstance(items, list) and closest(str(key), ("fields",), _MEANT)
        for item in items
    )
