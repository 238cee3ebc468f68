"""Named types of Avro: where they are declared, and who uses them.

Layer: engines.
Why by hand: `fastavro.parse_schema` 1.13 takes a record without fields and a name that is a number for sound, and refuses what the
specification has: a decimal that does not fit its bytes (which counts as bytes), `{"type": "Name"}`, a type that is later in a list;
a default of another type it refuses as well, which is a note here. Its errors name no field (`KeyError: 'items'`). So every check that
comes before a message would stay, and only the table of names would go. It judges the schemas that are written, in
`tests/engines/avro`.
Source: Avro 1.12, "Names". Tools that compile schemas take several files; a type that the file itself does not declare is looked for
        in the files next to it.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from schemac.logical.path import FieldPath, dotted
from schemac.source.json_object import Json

_NAMED = ("record", "error", "enum", "fixed")


class MalformedError(Exception):
    """Something that is not an Avro schema, and why."""


class NamedTypes:
    """The types that the schemas of a file may name."""

    def __init__(self, path: Path, tops: Sequence[Json]) -> None:
        self._path = path
        self._named: Json = {}
        """By their full names."""
        self._sibling_types: Json | None = None
        """Those of the other files of the folder, once one was looked for."""
        for top in tops:
            if top.get("type") in _NAMED:
                self.declare(top, "", ())

    def declare(self, type_: Json, namespace: str, path: FieldPath) -> tuple[str, str]:
        """Enter a type; return its full name and its namespace."""
        name, type_namespace = full_name(type_, namespace, path)
        self._named[f"{type_namespace}.{name}"] = type_
        return f"{type_namespace}.{name}", type_namespace

    def declare_all(self, type_: Any, namespace: str, path: FieldPath) -> None:
        """Enter all types that are declared in another one, which is not read itself."""
        for inner_type, around in _within(type_, namespace):
            if isinstance(inner_type, dict) and inner_type.get("type") in _NAMED:
                self.declare(inner_type, around, path)

    def find(self, full: str) -> Any | None:
        """Return the type of a full name; None if nobody declares it."""
        if full in self._named:
            return self._named[full]
        if self._sibling_types is None:
            self._sibling_types = dict(_declared(self._path))
        return self._sibling_types.get(full)

    def unused(self, records: Sequence[Json]) -> list[Json]:
        """Return the records that no other of them is made of; the last one where each is."""
        used = {name for one in records for name in _references(one, "", type_name=_full(one, ""))}
        return [one for one in records if _full(one, "") not in used] or list(records[-1:])


def _declared(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the types at the top of the files next to one."""
    for file in sorted(path.parent.glob("*.avsc")):
        try:
            document = json.loads(file.read_bytes()) if file != path and file.is_file() else None
        except (ValueError, OSError, RecursionError):
            continue
        for one in document if isinstance(document, list) else [document]:
            if isinstance(one, dict) and one.get("type") in _NAMED and isinstance(one.get("name"), str):
                yield _full(one, ""), one


def _references(type_: Any, namespace: str, type_name: str) -> Iterator[str]:
    """Yield the full names that a type uses, but for its own."""
    for inner_type, around in _within(type_, namespace):
        if (
            isinstance(inner_type, str)
            and (full := inner_type if "." in inner_type else f"{around}.{inner_type}") != type_name
        ):
            yield full


def _within(type_: Any, namespace: str) -> Iterator[tuple[Any, str]]:
    """Yield a type and all parts of it, each with the namespace around it."""
    stack = [(type_, namespace)]
    while stack:
        inner_type, around = stack.pop()
        yield inner_type, around
        if isinstance(inner_type, list):
            stack += [(one, around) for one in reversed(inner_type)]
        elif isinstance(inner_type, dict):
            inner = (
                _full(inner_type, around).rpartition(".")[0] if inner_type.get("type") in _NAMED else around
            )
            stack += [
                (inner_type[key], inner) for key in ("fields", "values", "items", "type") if key in inner_type
            ]


def _full(type_: Json, namespace: str) -> str:
    name, type_namespace = full_name(type_, namespace, ())
    return f"{type_namespace}.{name}"


def full_name(type_: Json, namespace: str, path: FieldPath) -> tuple[str, str]:
    """Name and namespace of a named type. Raises MalformedError."""
    name = type_.get("name")
    if not isinstance(name, str) or not isinstance(type_.get("namespace", ""), str):
        raise MalformedError(f"a {type_['type']} {of_path(path)}has no name")
    if "." in name:
        namespace, _, name = name.rpartition(".")
        return name, namespace
    return name, type_.get("namespace", namespace)


def members_of(type_: Json, path: FieldPath) -> list[Any]:
    """Return the fields of a record. Raises MalformedError."""
    members = type_.get("fields")
    if not isinstance(members, list):
        raise MalformedError(f"a record {of_path(path)}has no fields")
    return members


def of_path(path: FieldPath) -> str:
    """Return the place of a type, within a sentence."""
    return f"of {dotted(path)} " if path else ""
