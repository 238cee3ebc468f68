"""Identifies the fields of a Lance table with those of the lock.

Layer: engines.
Shape: by what a run has noted in the table between two of its commits; else by the names and types of a locked version; else by
Lance's ids, which the lock remembers for ever.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.engines.lance.fields import lance_ids, nodes_in, words, words_of
from schemac.engines.lance.tables.steps import MARK
from schemac.language.attributes.builtin import TABLE_IDS, TABLE_VERSION
from schemac.language.logical.model import FieldPath, SchemaField, Segment, dotted, preorder
from schemac.versions.evolution.tables import Candidate, TableRecord, lock_ids
from schemac.versions.evolution.version_pair import (
    LockedSchemaVersion,
    SchemaVersion,
    in_order_of,
    locked_schema_version,
    locked_schema_versions,
)
from schemac.versions.identity.lock import LockedDataset, Numbers
from schemac.versions.identity.match import Ids
from schemac.versions.identity.opening import open_version

IDS_KEY = "schemac.ids"
"""Key under which the ids of fields stand while a table is between two commits of a run, and is not a locked version."""


class _NodeShape(NamedTuple):
    """What two schemas of Lance are compared by, for one node."""

    parent: int
    """The index of the node around it; negative for a column."""
    name: str
    """Empty for items, keys and values, whose names mean nothing."""
    type: str
    is_nullable: bool


def record_of(path: str, dataset: Any, fields: Sequence[pb.Field], stated: int | None = None) -> TableRecord:
    """Return what a table records about itself, in addition to its fields in pre-order."""
    metadata: Mapping[bytes, bytes] = dataset.schema.metadata or {}
    config: Mapping[str, str] = dataset.config()
    version, digest = (metadata.get(key.encode()) for key in (TABLE_VERSION, TABLE_IDS))
    ids = tuple([field.id for field in fields])
    is_replaced = False
    if version is None and TABLE_VERSION in config:
        # An overwrite with another schema may have left the configuration standing.
        import lance

        transactions = dataset.get_transactions(dataset.version)
        created = [
            one.read_version == 0
            for one in transactions
            if one is not None and isinstance(one.operation, lance.LanceOperation.Overwrite)
        ]
        is_replaced = created != [True] or None in transactions
    return TableRecord(
        path,
        # CREATE TABLE of Spark leaves properties in the configuration.
        config.get(TABLE_VERSION) if version is None else version.decode(errors="replace"),
        ids,
        is_fresh=ids == tuple(range(len(ids))),
        ids_then=digest.decode(errors="replace") if digest is not None else None,
        is_replaced=is_replaced,
        stated=stated,
    )


def candidates_of(fields: Sequence[pb.Field], locked: LockedDataset, recorded: str | None) -> list[Candidate]:
    """Return the versions that have exactly these fields, which are in pre-order, the newest first.

    If there is one, those that have the fields in another order are candidates too: the order that a writer gave to columns
    does not show which version they are of.

    A nullable field is accepted if some version has it so, but the version that the table records decides:
    anybody can change it, and a run that fills a new column leaves it optional.
    """
    here = _shape_of(fields)
    ids = [field.id for field in fields]
    names = {field.name for field in fields if field.parent_id < 0}

    def candidate_of(version: LockedSchemaVersion, *, is_part: bool = False) -> Candidate | None:
        """Return a version as a candidate; None if its fields are not those of the table."""
        if _without_nullability(here) != _without_nullability(version.view(_shape)):
            return None
        table_numbers = version.view(nodes_in).numbers(ids)
        has_ids = all(
            lance_ids(version.numbers[field]) == lance_ids(in_table)
            for field, in_table in table_numbers.items()
        )
        # A field whose type changed and changed back has the same name and type, other values, and other ids of Lance.
        field_ids = [lance_ids(version.numbers[field]) for field in preorder(version.dataset.columns)]
        return Candidate(version, has_ids, (*lock_ids(version), *field_ids), is_part)

    versions = [
        locked_schema_version(locked, version.number)
        for version in reversed(locked.versions)
        if {s.shape.segment for s in locked.states_of(version.number) if s.shape.parent is None} == names
    ]
    of_versions = [candidate_of(version) for version in versions]
    first = next((candidate.version for candidate in of_versions if candidate is not None), None)
    if first is None:
        return []
    for i, version in enumerate(versions):
        if of_versions[i] is None and (reordered := in_order_of(first, version)) is not None:
            of_versions[i] = candidate_of(reordered, is_part=True)
    candidates = [candidate for candidate in of_versions if candidate is not None]
    exact = [candidate for candidate in candidates if candidate.version.view(_shape) == here]
    is_exact = all(c in exact for c in candidates if c.version.version.is_recorded_as(recorded))
    return exact if exact and is_exact else candidates


def _shape(version: SchemaVersion) -> list[_NodeShape]:
    """Return what tables are compared by of each node of a version."""
    return _shape_of(version.view(nodes_in).messages)


def _shape_of(fields: Sequence[pb.Field]) -> list[_NodeShape]:
    """Return what tables are compared by of each field, in the same order."""
    places = {field.id: place for place, field in enumerate(fields)}
    shapes: list[_NodeShape] = []
    for field in fields:
        parent = places.get(field.parent_id, -1)
        above = shapes[parent] if parent >= 0 else None
        is_in_entries = above is not None and above.parent >= 0 and shapes[above.parent].type == "map"
        is_member = above is None or (above.type == "struct" and not is_in_entries)
        name = field.name if is_member else ""
        shapes.append(_NodeShape(parent, name, field.logical_type, field.nullable))
    return shapes


def _without_nullability(shape: Sequence[_NodeShape]) -> list[_NodeShape]:
    return [node._replace(is_nullable=True) for node in shape]


class IdentifiedFields(NamedTuple):
    """The fields of a table, as far as a lock knows them."""

    ids: Ids
    unknown: tuple[str, ...]
    """The paths of the others."""


def ids_by_name(table: SchemaVersion, version: LockedSchemaVersion) -> IdentifiedFields:
    """Return the ids of the fields that a version has under the same names and with the same types."""
    there, here = places(version), words(table)
    ids: Ids = {}
    unknown: list[str] = []
    for field in preorder(table.dataset.columns):
        locked_field = there.get((field.path, here[field]))
        if locked_field is not None:
            ids[field] = version.ids[locked_field]
        elif here[field]:
            unknown.append(field.path_text)
    return IdentifiedFields(ids, tuple(unknown))


def new_tables_of(table: LockedSchemaVersion, *, is_fresh: bool) -> Iterator[LockedSchemaVersion]:
    """Yield the versions of which a new table had the ids of this one; the newest first.

    Some of its fields may be gone. Where none is (`is_fresh`), its writer may have had the columns in any order.
    """
    here = places(table)
    for version in locked_schema_versions(table.locked):
        there = places(version)
        if here.keys() <= there.keys():
            fresh = version.view(nodes_in).by_field
            is_whole = is_fresh and len(here) == len(there)
            if is_whole or all(
                lance_ids(table.numbers[field]) == tuple(fresh[there[place]]) for place, field in here.items()
            ):
                yield version


def places(version: SchemaVersion) -> Mapping[tuple[FieldPath, tuple[str, ...]], SchemaField]:
    """Return the fields of a version by their paths and types."""
    there = words(version)
    return {(field.path, there[field]): field for field in preorder(version.dataset.columns)}


def ids_by_number(table: LockedSchemaVersion) -> IdentifiedFields:
    """Return the lock's ids of the fields that have numbers of the lock.

    An equal id alone may be a coincidence: the field must have the type of that id in the lock, and be called
    as that field was in some version.
    """
    known, here = _known(table.locked), words(table)
    parts: dict[tuple[int, object], int] = {
        (state.shape.parent, state.shape.segment): state.id
        for state in table.locked.states
        if state.shape.parent is not None and not lance_ids(state.numbers)
    }
    ids: Ids = {}
    unknown: list[str] = []
    for field in preorder(table.dataset.columns):
        lance = lance_ids(table.numbers[field])
        if not lance:
            id = parts.get((ids[field.parent], field.segment)) if field.parent in ids else None
        else:
            is_marked = field.is_member and str(field.segment).startswith(MARK)
            id = known.get((lance, here[field], None if is_marked else field.segment))
            if id is None:
                unknown.append(field.path_text)
        if id is not None:
            ids[field] = id
    return IdentifiedFields(ids, tuple(unknown))


def _known(locked: LockedDataset) -> dict[tuple[tuple[int, ...], tuple[str, ...], Segment | None], int]:
    """Return the lock id of every field by its table ids with their types, and each name that it had; None for any name."""
    names: dict[int, set[Segment]] = {}
    for state in locked.states:
        names.setdefault(state.id, set()).add(state.shape.segment)
    known: dict[tuple[tuple[int, ...], tuple[str, ...], Segment | None], int] = {}
    for version in locked.versions:
        opened = open_version(locked, version)
        words = words_of(opened.logical)
        for field, state in opened.states.items():
            for name in (*names[state.id], None):
                known[lance_ids(state.numbers), words[field], name] = state.id
    return known


def ids_as_noted(table: LockedSchemaVersion, config: Mapping[str, str], *, is_numbered: bool) -> Ids | None:
    """Return the ids that a run noted in the table's configuration, where these are the fields that it noted.

    If Lance's ids do not count (`is_numbered`), it is enough that they have the same names and types.
    """
    noted: dict[str, list[Any]] = json.loads(config.get(IDS_KEY) or "{}")
    here, fields = words(table), preorder(table.dataset.columns)
    for field in fields:
        _, words_then, *numbers_then = noted.get(field.path_text, (0, None))
        is_same = not is_numbered or numbers_then == [list(lance_ids(table.numbers[field]))]
        if words_then != list(here[field]) or not is_same:
            return None
    return {field: noted[field.path_text][0] for field in fields} if len(noted) == len(fields) else None


def note_ids(
    version: LockedSchemaVersion, names: Mapping[int, str], field_ids: Mapping[SchemaField, Numbers]
) -> str:
    """Return the lock's ids of fields, their types and Lance's ids, to be noted in a table in which they have these names for a while."""

    def name_of(field: SchemaField) -> Segment:
        ids = lance_ids(field_ids[field])
        return names[ids[0]] if field.is_member and ids else field.segment

    ids_by_path, here = {}, words(version)
    for field, id in version.ids.items():
        path = dotted(tuple(map(name_of, field.chain)))
        ids_by_path[path] = [id, list(here[field]), list(lance_ids(field_ids[field]))]
    return json.dumps(ids_by_path)
