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
    return any(_is_text(part) for part in re.split(r"^---.*$", content, flags=re.MULTILINE))


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
    return is_library(value) and _are_groups(value["groups"], is_alone=value.keys() <= {*OF_LIBRARIES})


def _are_groups(groups: Any, *, is_alone: bool) -> bool:
    """Whether groups are groups of fields; other programs have lists of rules under this key."""
    if isinstance(groups, dict):
        return is_alone or any(map(_is_group, groups.values()))
    return isinstance(groups, list) and any(map(_is_group, groups))


def _is_group(value: Any) -> bool:
    return isinstance(value, dict) and _has_columns(value)


def _has_columns(value: Mapping[str, Any]) -> bool:
    """Whether a mapping has `fields`, or under a key like it a list of mappings with names or types."""
    schema = value.get("schema")
    if isinstance(schema, dict) and _has_columns(schema):
        return True
    if "fields" in value:
        return "apiVersion" not in value
    return any(
        (
            isinstance(item, list)
            and any(
                isinstance(item, dict) and "name" in item and {"type", "kind"} & item.keys() for item in item
            )
        )
        for key, item in value.items()
        if closest(str(key), ("fields",), _SYNONYMS)
    )


_SYNONYMS = {"columns": "fields"}


def _is_text(part: str) -> bool:
    keys = {m[2]: (m[3] or "").partition(" #")[0].strip().strip("\"'") for m in _KEY.finditer(part)}
    if "apiVersion" in keys:
        return False
    kind = keys.get("kind", "")
    return "fields" in keys or (bool(kind) and closest(kind, _KINDS) is not None)
