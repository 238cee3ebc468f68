"""Schema files of Paimon, whoever wrote them.

Layer: engines.
Shape: raises UnreadableError with the place inside the file; what old versions left unsaid is filled in.
Source: `SchemaSerializer` and `TableSchema.fromJson` of github.com/apache/paimon, pypaimon 0.2 to 2.1, paimon-cpp. Java
reads a null as the text "null"; pypaimon writes one where there is no comment, so that here it is an absent key.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from schemac.engines.paimon.table_schema import TableSchema
from schemac.engines.paimon.types import (
    Array,
    DataField,
    Map,
    PaimonType,
    Row,
    UnreadableError,
    Vector,
    parse_field,
)
from schemac.logical.path import FieldPath, Part, dotted

_NEEDED = ("id", "fields", "highestFieldId", "partitionKeys", "primaryKeys", "options")
_LEGACY_OPTIONS = ((1, "bucket", "1"), (2, "file.format", "orc"))
"""What the defaults were up to a version."""


def read_table_schema(document: Any) -> TableSchema:
    """Return the schema that the values of a schema file say. Raises UnreadableError."""
    if not isinstance(document, dict):
        raise UnreadableError("", "it is not an object")
    missing = [key for key in _NEEDED if document.get(key) is None]
    if missing:
        raise UnreadableError("", f"it has no `{missing[0]}`")
    version = _number(document.get("version", 1), "version")
    if not isinstance(document["fields"], list):
        raise UnreadableError("fields", "the fields have to be a list")
    fields = tuple([parse_field(field, f"fields[{i}]") for i, field in enumerate(document["fields"])])
    paths = member_ids(fields)
    _refuse_collisions(paths)
    comment = document.get("comment")
    if comment is not None and not isinstance(comment, str):
        raise UnreadableError("comment", "the comment has to be a text")
    return TableSchema(
        _number(document["id"], "id"),
        fields,
        # pypaimon up to 1.4.2 counted the columns alone.
        max([_number(document["highestFieldId"], "highestFieldId"), *(id for _, id in paths)]),
        _names(document["partitionKeys"], "partitionKeys"),
        _names(document["primaryKeys"], "primaryKeys"),
        _options(document["options"], version),
        comment,
        _number(document.get("timeMillis") or 0, "timeMillis"),
        version,
    )


def member_ids(fields: Iterable[DataField]) -> list[tuple[FieldPath, int]]:
    """Return the ids of columns and of the members of ROWs, by the paths that a manifest gives them."""
    return [(path, field.id) for path, field in members(fields)]


def members(fields: Iterable[DataField], above: FieldPath = ()) -> Iterator[tuple[FieldPath, DataField]]:
    """Yield columns and members of ROWs in pre-order, with the paths that a manifest gives them."""
    for field in fields:
        path = (*above, field.name)
        yield path, field
        yield from _members_below(field.type, path)


def _members_below(type_: PaimonType, path: FieldPath) -> Iterator[tuple[FieldPath, DataField]]:
    if isinstance(type_, Row):
        yield from members(type_.fields, path)
    for part, inner in parts(type_):
        yield from _members_below(inner, (*path, part))


def parts(type_: PaimonType) -> tuple[tuple[Part, PaimonType], ...]:
    """Return the nameless parts of a type, as a manifest calls them; a multiset is a map of elements to counts."""
    if isinstance(type_, Map):
        return ((Part.KEY, type_.key), (Part.VALUE, type_.value))
    if isinstance(type_, Array):
        return ((Part.KEY if type_.root == "MULTISET" else Part.ITEM, type_.element),)
    return ((Part.ITEM, type_.element),) if isinstance(type_, Vector) else ()


def _refuse_collisions(paths: Iterable[tuple[FieldPath, int]]) -> None:
    paths_by_id: dict[int, FieldPath] = {}
    for path, id in paths:
        first = paths_by_id.setdefault(id, path)
        if first is not path:
            raise UnreadableError(
                "",
                f"{dotted(first)} and {dotted(path)} have the same id {id}; pypaimon before 2.0 numbers the"
                " members of a ROW from 0 again, and readers cannot tell such fields apart: create a new"
                " table with pypaimon 2 or with Java, and copy the rows",
            )


def _number(value: Any, location: str) -> int:
    if type(value) is not int:
        raise UnreadableError(location, "it is not a whole number")
    return value


def _names(value: Any, location: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise UnreadableError(location, "it is not a list of names")
    return tuple(value)


def _options(value: Any, version: int) -> Mapping[str, str]:
    """Return the options as text, which is how Java reads numbers as well."""
    if not isinstance(value, dict):
        raise UnreadableError("options", "the options have to be an object")
    options: dict[str, str] = {}
    for key, item in value.items():
        if isinstance(item, dict | list) or item is None:
            raise UnreadableError(f"options.{key}", "an option has to be a text")
        options[key] = str(item).lower() if isinstance(item, bool) else str(item)
    for last, key, default in _LEGACY_OPTIONS:
        if version <= last:
            options.setdefault(key, default)
    return options
