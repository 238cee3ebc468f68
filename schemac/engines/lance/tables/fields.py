"""The fields of a Lance table as messages, and how they differ from those that were compiled, in the words of the manifest.

Layer: engines.
Shape: `lance.file.Field` messages of both schemas, in pre-order; differences as sentences, none when equal.
Source: `reference` of the Lance format: ids, types, nullability, encodings and metadata count; `dictionary` only says whether data was
      written, and the order of metadata entries is random.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pyarrow as pa

import schemac.language.kinds.registry  # noqa: F401 — without it no kind is known
from schemac.arrow.from_arrow import from_arrow
from schemac.arrow.metadata import compact, forms, without_empty_metadata
from schemac.engines.lance import attributes as lance
from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.engines.lance.artifact import UnreadableMessageError, to_arrow
from schemac.engines.lance.fields import lance_ids
from schemac.engines.lance.tables.steps import MARK
from schemac.engines.lance.transactions import schema_parts
from schemac.language.attributes import builtin
from schemac.language.attributes.builtin import DESCRIPTION
from schemac.language.logical.model import Schema, columns
from schemac.text.source.diagnostics import Report
from schemac.versions.identity.lock import LockedDataset


def stale_fields(fields: Sequence[pb.Field], locked: LockedDataset) -> frozenset[int]:
    """Return the ids of marked fields that the lock does not know, or whose field is also there without a mark; with all ids below them."""
    of_number = {number: state.id for state in locked.states for number in lance_ids(state.numbers)}
    marked = {field.id for field in fields if field.name.startswith(MARK)}
    others = {of_number.get(field.id) for field in fields if field.id not in marked}
    stale: set[int] = set()
    for field in in_preorder(fields):
        is_unknown = of_number.get(field.id) is None or of_number[field.id] in others
        if field.parent_id in stale or (field.id in marked and is_unknown):
            stale.add(field.id)
    return frozenset(stale)


def in_preorder(fields: Sequence[pb.Field]) -> list[pb.Field]:
    """Return the same fields, each parent right before its children."""
    children: dict[int, list[pb.Field]] = {}
    for field in fields:
        children.setdefault(field.parent_id, []).append(field)
    ordered: list[pb.Field] = []
    stack = list(reversed(children.get(-1, [])))
    while stack:
        field = stack.pop()
        ordered.append(field)
        stack.extend(reversed(children.get(field.id, []) if field.id != field.parent_id else []))
    return ordered


def ids_in_files(fragment: Any) -> frozenset[int]:
    """Return the ids of the fields that the files of a fragment have data of; negative ids are of data that was replaced."""
    return frozenset(id for file in fragment.files for id in file.fields if id >= 0)


_NESTED = {"struct": "Struct", "list": "List", "large_list": "List", "map": "Map"}
_NAMES = {
    DESCRIPTION.key: "description",
    lance.PRIMARY_KEY_MARK: "primary key",
    lance.PRIMARY_KEY_POSITION: "position in the primary key",
    lance.CLUSTERING_KEY_POSITION: "position in the clustering key",
}


def manifest_type(logical_type: str) -> str:
    """Return the type in a manifest of a logical type of Lance, such as Timestamp for `timestamp:us:UTC`; itself if there is none."""
    plain = logical_type.removesuffix(".struct")
    if plain in _NESTED:
        return _NESTED[plain]
    message = pb.Schema(fields=[pb.Field(name="x", parent_id=-1, logical_type=logical_type, nullable=True)])
    try:
        tree = from_arrow(to_arrow(message), "", Report())
    except (UnreadableMessageError, ValueError):
        return logical_type
    (field,) = columns(Schema.model_validate(tree)) or (None,)
    return logical_type if field is None else field.type.type_text()


def _entry_text(value: bytes | None) -> str:
    """Return the value of an entry of metadata as messages quote it; a JSON text without its quotes."""
    if value is None:
        return "missing"
    text = value.decode("utf-8", "replace")
    try:
        parsed = json.loads(text)
    except ValueError:
        parsed = text
    return f"`{parsed}`" if isinstance(parsed, str) else f"`{text}`"


_REPEATED_IN_METADATA = (
    "extension_name",
    "unenforced_primary_key",
    "unenforced_primary_key_position",
    "unenforced_clustering_key",
    "unenforced_clustering_key_position",
)
"""Fields of a message that repeat entries of its metadata."""
STEERING = builtin.TABLE_RECORD | {
    builtin.TARGETS_OF.key,
    builtin.RENAMED_FROM.key,
    lance.STORAGE_VERSION.key,
}
"""Entries that are no part of a table: they steer the build, say what the table's files say themselves, or which version it has."""


def lance_fields_of(schema: pa.Schema) -> list[pb.Field]:
    """Return the fields that Lance makes of an Arrow schema."""
    from lance.schema import LanceSchema

    return schema_parts(LanceSchema.from_pyarrow(schema))[1]


def differences(
    expected: Iterable[pb.Field],
    actual: Any,
    *,
    metadata: Mapping[str, bytes] | None = None,
    ids: bool = True,
    same: Mapping[int, int] = MappingProxyType({}),
) -> tuple[str, ...]:
    """Return one sentence for each difference of a table's Lance schema from what is expected; none if they are equal.

    With `ids=False` fields are compared by their paths alone. Without `metadata` that of the schema is not compared. `same` has the
    table's ids by the ids of expected fields, as far as they are known.
    """
    actual_metadata, actual_fields = schema_parts(actual)
    expected_by_path, actual_by_path = _by_path(expected), _by_path(actual_fields)
    here = _matched_paths(expected_by_path, actual_by_path, same, by_id=ids)
    lines = [f"`{path}` is missing" for path in _outermost(expected_by_path, here)]
    lines += [f"`{path}` is not expected" for path in _outermost(actual_by_path, here.values())]
    moved: set[str] = set()
    for path, place in here.items():
        above = _parent_path(path, expected_by_path[path])
        if here.get(above, above) != _parent_path(place, actual_by_path[place]) or (
            above and above not in here
        ):
            lines.append(f"a field moved from `{place}` in the table to `{path}` in the schema")
            moved.add(path)
        elif expected_by_path[path].name != actual_by_path[place].name:
            lines.append(f"`{path}` has the name `{place}` in the table")
        if above in moved:
            moved.add(path)
        # What is moved is written anew, under other ids.
        lines += _field_differences(
            path, expected_by_path[path], actual_by_path[place], ids=ids and path not in moved
        )
    if not lines and [here[path] for path in expected_by_path] != list(actual_by_path):
        lines.append(f"fields are in a different order: {', '.join(actual_by_path)}")
    if metadata is not None:
        theirs = {key: value for key, value in actual_metadata.items() if key not in STEERING}
        ours = {key: value for key, value in metadata.items() if key not in STEERING}
        lines += [f"the schema: {line}" for line in _entry_differences(ours, theirs)]
    return tuple(lines)


def _outermost(fields: Mapping[str, pb.Field], known: Collection[str]) -> Iterator[str]:
    """Yield the unknown fields, without the fields inside them."""
    for path, message in fields.items():
        above = _parent_path(path, message)
        if path not in known and (not above or above in known):
            yield path


def _parent_path(path: str, message: pb.Field) -> str:
    """Return the path of what a field is in; empty for a column."""
    return path[: -len(message.name) - 1]


def _matched_paths(
    expected_by_path: Mapping[str, pb.Field],
    actual_by_path: Mapping[str, pb.Field],
    same: Mapping[int, int],
    *,
    by_id: bool,
) -> dict[str, str]:
    """Return the path in the table of each expected field that it has; one that has another name there is matched by its id."""
    by_number = {message.id: path for path, message in actual_by_path.items()}
    here: dict[str, str] = {}

    def match(place_of: Callable[[str, pb.Field], str | None]) -> None:
        """Match those fields that have no place yet with places that no field has."""
        matched = set(here.values())
        for path, message in expected_by_path.items():
            place = place_of(path, message)
            if place is not None and place in actual_by_path and not (path in here or place in matched):
                here[path] = place

    match(lambda _, message: by_number.get(same[message.id]) if message.id in same else None)
    match(lambda path, _: path)
    if by_id:
        # A number alone may be a coincidence.
        by_type = {(message.id, message.logical_type): path for path, message in actual_by_path.items()}
        match(lambda _, message: by_type.get((message.id, message.logical_type)))
    return {path: here[path] for path in expected_by_path if path in here}


def _field_differences(path: str, expected: pb.Field, actual: pb.Field, *, ids: bool) -> Iterator[str]:
    """Yield one sentence for each difference between two fields, with the types of the manifest."""
    if expected.logical_type != actual.logical_type:
        here, there = manifest_type(actual.logical_type), manifest_type(expected.logical_type)
        if here == there:
            # The manifest has one word for both.
            here, there = f"{here} ({actual.logical_type})", f"{there} ({expected.logical_type})"
        yield f"`{path}` is {here} in the table, and {there} in the schema"
    elif expected.encoding != actual.encoding:
        yield f"`{path}` is stored with a different encoding than the schema specifies"
    if expected.nullable != actual.nullable:
        may = "may be null" if actual.nullable else "may not be null"
        yield f"`{path}` {may} in the table, and {'may not' if actual.nullable else 'may'} in the schema"
    if ids and expected.id != actual.id:
        yield f"`{path}` has the id {actual.id} in the table, and {expected.id} in the schema"
    elif ids and expected.parent_id != actual.parent_id:
        yield f"`{path}` is inside a different field in the table"
    # What steers the build does not count, nor do the marks that other engines leave next to the type.
    left_out = STEERING.union(*(form.repeated for form in forms().values()))
    ours, theirs = (
        {key: value for key, value in without_empty_metadata(message.metadata).items() if key not in left_out}
        for message in (expected, actual)
    )
    for word in filter(None, (form.description for form in forms().values())):
        if word in theirs and word not in ours:
            # Another engine made the column, and has its description under its own key.
            text = compact(theirs.pop(word).decode("utf-8", "replace")).encode()
            theirs = {DESCRIPTION.key: text, **theirs}
            break
    metadata_lines = tuple(_entry_differences(ours, theirs))
    yield from (f"`{path}`: {line}" for line in metadata_lines)
    if not metadata_lines and any(
        getattr(expected, name) != getattr(actual, name) for name in _REPEATED_IN_METADATA
    ):
        yield f"`{path}`: its flags for keys and extension types do not match its metadata"


def _entry_differences(expected: Mapping[str, bytes], actual: Mapping[str, bytes]) -> Iterator[str]:
    """Yield one clause for each entry of metadata that differs."""
    for key in sorted(expected.keys() | actual.keys()):
        if expected.get(key) == actual.get(key):
            continue
        if key not in expected:
            yield f"{_NAMES.get(key, key)} {_entry_text(actual[key])} is not in the schema"
        else:
            here, there = _entry_text(actual.get(key)), _entry_text(expected[key])
            yield f"{_NAMES.get(key, key)} is {here} in the table, and {there} in the schema"


def _by_path(fields: Iterable[pb.Field]) -> dict[str, pb.Field]:
    """Return the fields by their paths without quotes, in their order; fields come after their parents."""
    by_path: dict[str, pb.Field] = {}
    paths: dict[int, str] = {-1: ""}
    for field in fields:
        parent = paths.get(field.parent_id, "?")
        path = f"{parent}.{field.name}" if parent else field.name
        paths[field.id] = path
        by_path[path] = field
    return by_path
