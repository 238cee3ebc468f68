"""Numbers for fields, as Paimon gives them, and for the versions of a schema.

Layer: engines.
Shape: a column and a member of a row have one number each. Of a version the lock remembers `schemaId`, the N of Paimon's
`schema-N`, and `timeMillis`, when its file was made, where it was imported.
Source: `SchemaChange.addColumn` and `Schema.Builder` take the column's number first, then those of the members inside
its type, children before their parent.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from schemac.engines.paimon import attributes as paimon
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.schema_fields import SchemaField
from schemac.versions.identity.lock import Numbers, Version
from schemac.versions.identity.numbering import Former, Numbered, Numbering

NAME = "paimon"


def ids_of(locked_ids: Mapping[SchemaField, Numbers]) -> dict[SchemaField, int]:
    """Return the ids that a lock gives to columns and members."""
    ids_by_field = {field: field_ids.of(NAME) for field, field_ids in locked_ids.items()}
    return {field: ids[0] for field, ids in ids_by_field.items() if ids}


def highest_of(version: Version) -> int:
    """Return the highest id that a field ever had, -1 for none."""
    return version.highest.of(NAME)


def schema_id_of(version: Version) -> int:
    """Return the N of `schema-N`."""
    return int(version.data.of(NAME)["schemaId"])


def time_millis_of(version: Version) -> int:
    """When the file was made, as its importer found it; 0 for one that was made here."""
    return int(version.data.of(NAME).get("timeMillis", 0))


def data_of(schema_id: int, time_millis: int) -> dict[str, int]:
    """Return what a lock remembers of a version."""
    return {"schemaId": schema_id, **({"timeMillis": time_millis} if time_millis else {})}


def _next_data(data: Mapping[str, Any]) -> dict[str, int]:
    return data_of(data.get("schemaId", -1) + 1, 0)


def number_fields(
    columns: Sequence[SchemaField], known_ids: Mapping[SchemaField, int] | None = None, highest: int = -1
) -> tuple[dict[SchemaField, int], int]:
    """Return the ids of all columns and members, and the highest one: kept ids stay, others count on."""
    counter = _Counter(known_ids or {}, highest)
    for field in columns:
        counter.added(field)
    return counter.ids, counter.highest


def _number(dataset: LogicalDataset, former: Former | None, highest: int) -> Numbered:
    # Paimon reads by its ids whatever was between: a field that is back has the id that it had.
    known_ids = _known_ids(dataset.columns, former) if former is not None else {}
    ids, highest = number_fields(dataset.columns, known_ids, highest)
    return {field: (id,) for field, id in ids.items()}, highest


def _known_ids(columns: Sequence[SchemaField], former: Former) -> dict[SchemaField, int]:
    """Return the ids that fields keep: those at their old place, with a type that Paimon can cast to."""
    ids: dict[SchemaField, int] = {}
    stack = list(columns)
    while stack:
        field = stack.pop()
        before = former.fields.get(field)
        if before is None or not former.is_in_its_place(field):
            continue
        # Paimon casts plain values under the same id, but makes no row of a number.
        if field.type.kind != before.field.type.kind and (field.children or before.field.children):
            continue
        if before.numbers:
            ids[field] = before.numbers[0]
        stack.extend(field.children)
    return ids


class _Counter:
    """Goes through the columns in the order of Paimon's Java."""

    def __init__(self, known_ids: Mapping[SchemaField, int], highest: int) -> None:
        self._known_ids = known_ids
        self.highest = highest
        self.ids: dict[SchemaField, int] = {}

    def added(self, field: SchemaField) -> None:
        """Enter the number of a column, or of a member of a row that was there before."""
        self._take(field)
        self._below(field, is_new=field not in self._known_ids)

    def _below(self, field: SchemaField, *, is_new: bool) -> None:
        """Assign ids to the fields below a field; `is_new` says whether that field is new."""
        if not field.children or (field.extra and field.extra.get(paimon.TYPE.key) == "VARIANT"):
            return
        for child in field.children:
            if not child.is_member:
                self._below(child, is_new=is_new)
            elif is_new:
                self._below(child, is_new=True)
                self._take(child)
            else:
                self.added(child)

    def _take(self, field: SchemaField) -> None:
        id = self._known_ids.get(field)
        if id is None:
            self.highest += 1
            id = self.highest
        self.ids[field] = id


NUMBERING = Numbering(_number, next_data=_next_data, data_of_form_1=data_of)
