"""Recognizes manifests among YAML files that were not named, by the keys at their head.

Layer: language.
Shape: a folder of manifests may hold any other YAML: resources of Kubernetes, templates of Helm, workflows, contracts of an API. Only what
has a sign of a manifest, or of a slip in writing one, is looked at; all else is passed over, also where it is not YAML.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from schemac.language.manifest.documents import OF_LIBRARIES, is_library
from schemac.language.manifest.standard import DOCUMENT_KINDS, EVENTS
from schemac.text.source.phrases import closest
from schemac.text.syntax.document import Document

_KINDS = (*DOCUMENT_KINDS, *EVENTS)
_RESOURCES = ("Dataset", "Source", "Flow")
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
        return closest(resource.rstrip("/").rpartition("/")[2], _RESOURCES) is not None
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
    lists = [
        items
        for key, items in value.items()
        if isinstance(items, list) and closest(str(key), ("fields",), {"columns": "fields"})
    ]
    return any(
        isinstance(item, dict) and "name" in item and bool({"type", "kind"} & item.keys())
        for items in lists
        for item in items
    )
