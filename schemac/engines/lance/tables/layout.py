"""What a Lance table gets: which fields are written, which are added as nulls, and its schemas on the way.

Layer: engines.
Shape: two commits at the most. A `Merge` puts the new fields into the table; Lance refuses it if any row was written
since the version that they were made of. It can neither rename fields nor change whether they may be null, so a
`Project` does that afterwards.
Source: what pylance 14.0.2 takes and refuses (`tests/tables/test_interruptions.py`); since storage version 2.1 a struct has no data of its own: where none of
its members has any in a file, all its values there are null.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from schemac.engines.lance import attributes as lance
from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.engines.lance.fields import lance_ids
from schemac.engines.lance.judge import has_values
from schemac.engines.lance.tables.steps import MARK
from schemac.language.attributes.attribute import Family
from schemac.language.logical.schema_fields import SchemaField, preorder
from schemac.versions.evolution.version_pair import LockedVersionPair
from schemac.versions.identity.lock import Numbers


@dataclass(frozen=True)
class Layout:
    """Everything that a table has and is to have."""

    pair: LockedVersionPair
    fields: tuple[pb.Field, ...]
    """The table's fields as they are."""
    stale: frozenset[int]
    """Fields among them that hold nothing to rely on."""
    field_ids: Mapping[SchemaField, Numbers]
    """Of the new version."""
    target: pb.Schema

    @cached_property
    def there(self) -> frozenset[int]:
        """Ids of the fields that stay as they are."""
        return frozenset(field.id for field in self.fields) - self.stale

    @cached_property
    def new(self) -> tuple[SchemaField, ...]:
        """The outermost fields that the table does not have yet, by their ids."""
        fields: list[SchemaField] = []
        for field in preorder(self.pair.new.dataset.columns):
            ids = self.ids(field)
            above = self.ids(field.parent) if field.parent is not None else ()
            if ids and ids[0] not in self.there and (not above or above[0] in self.there):
                fields.append(field)
        return tuple(sorted(fields, key=lambda field: self.ids(field)[0]))

    @cached_property
    def written(self) -> tuple[SchemaField, ...]:
        """Those among them whose values come from elsewhere; everything below them is written."""
        return tuple(field for field in self.new if self._has_values(field))

    @cached_property
    def added(self) -> tuple[SchemaField, ...]:
        """Those that are null in all rows."""
        return tuple(field for field in self.new if not self._has_values(field))

    def ids(self, field: SchemaField) -> tuple[int, ...]:
        """Lance's ids of a field's own nodes."""
        return lance_ids(self.field_ids[field])

    def ids_below(self, field: SchemaField) -> tuple[int, ...]:
        """Its ids, and those of all below it."""
        return tuple(id for inner in preorder([field]) for id in self.ids(inner))

    def roots(self, data: Collection[int]) -> tuple[SchemaField, ...]:
        """Return what has to be written for a fragment whose files hold data of these fields."""
        chosen: list[SchemaField] = []
        for column in self.pair.new.dataset.columns:
            self._carry(column, data, chosen)
        return (*self.written, *chosen)

    @cached_property
    def middle(self) -> list[pb.Field]:
        """The schema of the first commit: old fields as they are, new ones as they will be, in their new order."""
        now = {field.id: field for field in self.fields}
        remaining_names = {(f.parent_id, now[f.id].name) for f in self.target.fields if f.id in now}
        # Lance gives the name of a field that goes only to one that all files have data of.
        there = {(f.parent_id, f.name) for f in self.fields}
        empty = {self.ids(schema_field)[0] for schema_field in self.added}
        middle_fields = []
        for field in self.target.fields:
            copy = pb.Field()
            copy.CopyFrom(now.get(field.id, field))
            if field.id in self.stale:
                # The values come anew, but Lance lets a field keep nothing but its name.
                copy.CopyFrom(field)
                copy.name = now[field.id].name
            elif field.id not in now and (field.parent_id, field.name) in (
                there if field.id in empty else remaining_names
            ):
                copy.name = f"{MARK}{field.id}"
            middle_fields.append(copy)
        return middle_fields

    def _has_values(self, field: SchemaField) -> bool:
        return has_values(field, self.pair) or any(id in self.stale for id in self.ids_below(field))

    def _carry(self, field: SchemaField, data: Collection[int], chosen: list[SchemaField]) -> bool:
        """Return whether files will store where a field is null; choose a field below it if none does."""
        ids = self.ids(field)
        if field in self.written:
            return True
        if not self._is_hollow(field):
            return any(id in data for id in self.ids_below(field))
        carried = [self._carry(child, data, chosen) for child in field.children if self.ids(child)]
        if any(carried) or not ids or ids[0] not in self.there:
            return any(carried)
        below = {ids[0]}
        for now in self.fields:
            if now.parent_id in below:
                below.add(now.id)
        if not any(id in data for id in below - {ids[0]}):
            return False
        chosen.append(self._first_below(field))
        return True

    def _is_hollow(self, field: SchemaField) -> bool:
        """Whether a field has no data of its own: a struct, or a list of variable length."""
        encoding = lance.ENCODING.read(field.extra)
        is_packed = encoding is not None and bool(encoding.packed)
        return (
            field.type.family in (Family.STRUCT, Family.LIST)
            and not is_packed
            and any(map(self.ids, field.children))
        )

    def _first_below(self, field: SchemaField) -> SchemaField:
        """Return the first field below a field that can be written by itself."""
        children = [child for child in field.children if self.ids(child)]
        child = children[0]
        is_in_table = self.ids(child)[0] in self.there
        return self._first_below(child) if is_in_table and self._is_hollow(child) else child
