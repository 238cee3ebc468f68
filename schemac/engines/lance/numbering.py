"""Numbers for fields, as Lance gives them.

Layer: engines.
Shape: a field's numbers are the ids of all nodes that belong to it, parents first: a map has two (itself and its entries),
the item of a vector of plain values none.
Source: Lance numbers every node in pre-order, and a column that is cast gets a new id with all below it; what it can
add and cast was tried at every place with pylance 14.0.2.
"""

from schemac.engines.lance.fields import LazyWords, is_cast
from schemac.language.attributes.attribute import Family
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import SchemaField, is_in_structs, preorder
from schemac.versions.identity.lock import Former, Numbered, Numbering


def number_fields(dataset: LogicalDataset, former: Former | None, highest: int) -> Numbered:
    """Return the ids of the nodes of all fields, and the highest one after that."""
    nodes = _Nodes(dataset, former)
    node_ids: dict[SchemaField, tuple[int, ...]] = {}
    fields = preorder(dataset.columns)
    new = {field for field in fields if nodes.is_new(field)}
    renewed = {nodes.root(field) for field in new if field.parent not in new}
    for field in fields:
        # All nodes below a renewed one are new.
        if field in renewed or field.parent in renewed:
            renewed.add(field)
            count = len(nodes.words[field])
            node_ids[field] = tuple(range(highest + 1, highest + 1 + count))
            highest += count
        else:
            node_ids[field] = nodes.olds[field].numbers
    return node_ids, highest


class _Nodes:
    """Says which nodes of a former schema stay, and what has to be written anew for a new one."""

    def __init__(self, dataset: LogicalDataset, former: Former | None) -> None:
        before = former.dataset if former is not None else dataset
        self.words = LazyWords(dataset)
        self._words_before = LazyWords(before)
        self._former = former
        self.olds = former.fields if former is not None else {}
        self._has_same_extra = dataset.schema.extra == before.schema.extra

    def words_before(self, field: SchemaField) -> tuple[str, ...]:
        """Return the words of what the field was. Nothing is kept of a field that is back: Lance gives no number twice."""
        old = self.olds[field]
        return () if old.is_back else self._words_before[old.field]

    def is_same(self, field: SchemaField) -> bool:
        """Whether a field was there with the same nodes."""
        old = self.olds.get(field)
        if old is None:
            return False
        # A field in an unchanged column is the same, which is known without Lance's form of it.
        before, column = old.field.column, field.column
        is_untouched = (
            self._has_same_extra
            and not old.is_back
            and old.field.path[1:] == field.path[1:]
            and (before.extra, before.type) == (column.extra, column.type)
        )
        return is_untouched or self.words_before(field) == self.words[field]

    def is_new(self, field: SchemaField) -> bool:
        """Whether the nodes of a field cannot stay."""
        return not (self.is_same(field) and self.is_in_its_place(field))

    def is_in_its_place(self, field: SchemaField) -> bool:
        return self._former is not None and self._former.is_in_its_place(field)

    def root(self, field: SchemaField) -> SchemaField:
        """Return what has to be written anew for a new node: itself where Lance can do that, else the whole column.

        It adds nothing inside maps and vectors, and inside lists it makes no more than its own casts.
        """
        families = {
            "vector" if getattr(above.type, "fixed_length", None) is not None else above.type.family
            for above in field.ancestors
        }
        is_possible = families <= {Family.STRUCT}
        if not is_possible and families <= {Family.STRUCT, Family.LIST}:
            if field in self.olds:
                before, after = self.words_before(field), self.words[field]
                is_possible = len(before) == len(after) == 1 and is_cast(before[0], after[0])
            else:
                is_possible = field.is_member
        return field if is_possible else field.column


def _takes(dataset: LogicalDataset, other: Former) -> set[SchemaField]:
    """Return the fields that may keep the numbers of the other branch: those with equal nodes; in lists and maps only if the whole column is equal."""
    nodes = _Nodes(dataset, other)

    def is_as_there(field: SchemaField) -> bool:
        is_same = nodes.is_same(field) and nodes.is_in_its_place(field)
        return is_same and len(other.fields[field].field.children) == len(field.children)

    whole = {column for column in dataset.columns if all(is_as_there(field) for field in preorder([column]))}
    return {
        field
        for field in other.fields
        if nodes.is_same(field) and (field.column in whole or is_in_structs(field))
    }


NUMBERING = Numbering(number_fields, _takes)
