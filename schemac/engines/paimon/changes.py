"""The operations that lead from one schema of a Paimon table to the next.

Layer: engines. Values only.
Shape: fields are told apart by their ids. A step compares what a table has with what it is to have, and yields its operations; `paimon.judge`
      says which steps a change needs. In the order of the steps each operation is legal when its turn comes: drops under the old
      names, renames, additions in the order of their new ids, then types, nullability, texts and places.
Source: `SchemaChange` of github.com/apache/paimon, in the form of its REST catalog, whose keys are those of the arguments.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple

from schemac.engines.paimon.options import BEFORE_PARTITION, after_renames, is_true
from schemac.engines.paimon.table_schema import TableSchema
from schemac.engines.paimon.types import DataField, PaimonType
from schemac.text.source.json_object import Json
from schemac.versions.evolution.renames import rename_order
from schemac.versions.identity.lock import longest_rise

Path = tuple[str, ...]
"""Names from a column down to a member; `element` and `value` stand for the parts of arrays and maps."""


@dataclass(frozen=True, slots=True)
class Move:
    """Where a column goes: to the front, or behind another one."""

    name: str
    after: str | None

    def __str__(self) -> str:
        return f"{self.name} FIRST" if self.after is None else f"{self.name} AFTER {self.after}"

    def to_json(self) -> Json:
        """Return the move as the REST catalog takes it."""
        type_ = "FIRST" if self.after is None else "AFTER"
        return {"fieldName": self.name, "referenceFieldName": self.after, "type": type_}


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """One operation on a table's schema, with its arguments, as Paimon's REST catalog names them."""

    action: str
    path: Path = ()
    """The column or member; empty for what is about the table as a whole."""
    arguments: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def describe(self) -> str:
        """Return what it does, for people."""
        description = ", ".join(
            f"{key} {_formatted(value)}"
            for key, value in self.arguments.items()
            if value is not None and key != _KEEPS_NULLABILITY
        )
        return ": ".join(filter(None, (".".join(self.path), description)))

    def to_json(self) -> Json:
        """Return the operation as the REST catalog takes it."""
        arguments = {
            key: value.to_json() if isinstance(value, PaimonType | Move) else value
            for key, value in self.arguments.items()
        }
        names = {"fieldNames": list(self.path)} if self.path else {}
        return {"action": self.action, **names, **arguments}


_KEEPS_NULLABILITY = "keepNullability"
"""The argument of a new type that the nullability stays, which goes without saying."""


def _formatted(value: Any) -> str:
    """Return an argument for people; of a type with parts its root."""
    if isinstance(value, PaimonType):
        written = value.to_json()
        return str(written["type"] if isinstance(written, Mapping) else written)
    return str(value).lower() if isinstance(value, bool) else str(value)


class Alteration(NamedTuple):
    """The present schema of a table, the one that it gets, and their fields by the groups in which names are unique."""

    old: TableSchema
    new: TableSchema
    groups: "tuple[_Group, ...]"
    """The columns, and the members of each ROW that stays."""


Step = Callable[[Alteration], Iterator[SchemaChange]]
"""What an alteration does of one sort; nothing where the two schemas are the same in this."""


def changes_between(old: TableSchema, new: TableSchema) -> tuple[SchemaChange, ...]:
    """Return the operations of one alteration."""
    alteration = alteration_between(old, new)
    return tuple([change for step in STEPS for change in step(alteration)])


def alteration_between(old: TableSchema, new: TableSchema) -> Alteration:
    """Return both schemas, with their fields by the groups in which names are told apart."""
    is_before_partition = is_true(old.options, BEFORE_PARTITION) and bool(old.partition_keys)
    columns = _Group((), (), old.fields, new.fields, is_before_partition)
    return Alteration(old, new, tuple(_with_inner(columns)))


@dataclass(frozen=True)
class _Group:
    """The columns, or the members of one ROW, before and after an alteration."""

    old_path: Path
    path: Path
    old: Sequence[DataField]
    new: Sequence[DataField]
    is_before_partition: bool = False
    """Whether columns are added in front of those that the table is partitioned by, and not at the end."""

    @cached_property
    def old_fields(self) -> Mapping[int, DataField]:
        """The former fields by their ids."""
        return {field.id: field for field in self.old}

    @cached_property
    def remaining_fields(self) -> Sequence[tuple[DataField, DataField]]:
        """Fields that stay, with what they were."""
        return [(self.old_fields[field.id], field) for field in self.new if field.id in self.old_fields]

    @cached_property
    def additions(self) -> tuple[list[tuple[int, SchemaChange]], list[str]]:
        """Additions with their ids, and the names in their order after them."""
        new_names = {field.id: field.name for field in self.new}
        standing = [new_names[field.id] for field in self.old if field.id in new_names]
        names = [field.name for field in self.new]
        additions: list[tuple[int, SchemaChange]] = []
        added = [field for field in self.new if field.id not in self.old_fields]
        for field in sorted(added, key=lambda field: field.id):
            before = [name for name in names[: names.index(field.name)] if name in standing]
            index = standing.index(before[-1]) + 1 if before else 0
            is_moved = index < len(standing) or self.is_before_partition
            move = Move(field.name, before[-1] if before else None) if is_moved else None
            standing.insert(index, field.name)
            arguments = {"dataType": field.type, "comment": field.description, "move": move}
            column = SchemaChange("addColumn", (*self.path, field.name), arguments)
            additions.append((field.id, column))
        return additions, standing


def _with_inner(group: _Group) -> Iterator[_Group]:
    """Yield this group, and those below its fields."""
    yield group
    for was, is_ in group.remaining_fields:
        for steps, before, after in _levels(was.type, is_.type):
            if before.root == after.root == "ROW":
                paths = (*group.old_path, was.name, *steps), (*group.path, is_.name, *steps)
                yield from _with_inner(_Group(*paths, before.fields, after.fields))


def _levels(
    old: PaimonType, new: PaimonType, steps: Path = ()
) -> Iterator[tuple[Path, PaimonType, PaimonType]]:
    """Yield a type and the elements and values inside it that a path reaches; members of ROWs have paths of their own."""
    yield steps, old, new
    step = {"ARRAY": "element", "MAP": "value"}.get(old.root)
    if old.root == new.root and step is not None:
        yield from _levels(old.parts[-1], new.parts[-1], (*steps, step))


def drop(alteration: Alteration) -> Iterator[SchemaChange]:
    """Yield the drops of columns and members, under their old names."""
    for group in alteration.groups:
        stay = {field.id for field in group.new}
        for field in group.old:
            if field.id not in stay:
                yield SchemaChange("dropColumn", (*group.old_path, field.name))


def rename(alteration: Alteration) -> Iterator[SchemaChange]:
    """Yield the renames of columns and members."""
    for group in alteration.groups:
        new_names = {was.name: is_.name for was, is_ in group.remaining_fields if was.name != is_.name}
        every = {field.name for fields in (group.old, group.new) for field in fields}
        for name, to in rename_order(new_names, every):
            yield SchemaChange("renameColumn", (*group.path, name), {"newName": to})


def add(alteration: Alteration) -> Iterator[SchemaChange]:
    """Yield the additions of columns and members, in the order of their ids."""
    additions = [addition for group in alteration.groups for addition in group.additions[0]]
    yield from [column for _, column in sorted(additions, key=itemgetter(0))]


def alter(alteration: Alteration) -> Iterator[SchemaChange]:
    """Yield changes of types, nullability, descriptions and default values, and what an addition cannot have."""
    for group in alteration.groups:
        for field in group.new:
            yield from _altered(group.old_fields.get(field.id), field, (*group.path, field.name))


def _altered(was: DataField | None, field: DataField, path: Path) -> Iterator[SchemaChange]:
    """Yield the changes of one field; `was` is None for a field that was just added."""
    default = was.default_value if was is not None else None
    if was is not None:
        types: list[SchemaChange] = []
        for steps, before, after in _levels(was.type, field.type):
            inner = (*path, *steps)
            if not before.children and before.type_text() != after.type_text():
                arguments = {"newDataType": after.required(False), _KEEPS_NULLABILITY: True}
                types.append(SchemaChange("updateColumnType", inner, arguments))
            if before.is_nullable != after.is_nullable:
                arguments = {"newNullability": after.is_nullable}
                types.append(SchemaChange("updateColumnNullability", inner, arguments))
        if default is not None and default != field.default_value and types:
            # The old value may have no meaning in the new type.
            yield _default_value(path, None)
            default = None
        yield from types
        if was.description != field.description:
            yield SchemaChange("updateColumnComment", path, {"newComment": field.description})
    if default != field.default_value:
        yield _default_value(path, field.default_value)


def _default_value(path: Path, value: str | None) -> SchemaChange:
    return SchemaChange("updateColumnDefaultValue", path, {"newDefaultValue": value})


def move(alteration: Alteration) -> Iterator[SchemaChange]:
    """Yield the fewest moves that bring columns into their order."""
    columns = alteration.groups[0]
    names, (_, standing) = [field.name for field in columns.new], columns.additions
    steady = longest_rise([Decimal(standing.index(name)) for name in names])
    for index, name in enumerate(names):
        if index not in steady:
            after = names[index - 1] if index else None
            yield SchemaChange("updateColumnPosition", (), {"move": Move(name, after)})


def set_options(alteration: Alteration) -> Iterator[SchemaChange]:
    """Yield the options that are set and removed, as they are after the columns that they name were renamed."""
    old, new = alteration.old, alteration.new
    renamed = {was.name: is_.name for was, is_ in alteration.groups[0].remaining_fields}
    before = after_renames(old.options, renamed)
    for key in sorted({*before, *new.options}):
        if key not in new.options:
            yield SchemaChange("removeOption", (), {"key": key})
        elif before.get(key) != new.options[key]:
            yield SchemaChange("setOption", (), {"key": key, "value": new.options[key]})


def set_comment(alteration: Alteration) -> Iterator[SchemaChange]:
    """Yield the change of the table's comment."""
    if alteration.old.comment != alteration.new.comment:
        yield SchemaChange("updateComment", (), {"comment": alteration.new.comment})


STEPS: tuple[Step, ...] = (drop, rename, add, alter, move, set_options, set_comment)
"""In the order of an alteration."""
