"""The operations that lead from one schema of a Paimon table to the next.

Layer: engines. Values only.
Shape: fields are told apart by their ids. A step compares what a table has with what it is to have, and yields its operations; `paimon.judge`
      says which steps a change needs. In the order of the steps each operation is legal when its turn comes: drops under the old
      names, renames, additions in the order of their new ids, then types, nullability, texts and places.
Source: `SchemaChange` of github.com/apache/paimon, in the form of its REST catalog, whose keys are those of the arguments.
"""

import dataclasses
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple

from schemac.engines.paimon.options import BEFORE_PARTITION, after_renames, is_true
from schemac.engines.paimon.table_schema import TableSchema
from schemac.engines.paimon.types import Array, DataField, Map, Multiset, PaimonType, Row
from schemac.text.source.json_object import Json
from schemac.versions.evolution.renames import in_turn

Path = tuple[str, ...]
"""Names from a column down to a member; `element` and `value` stand for the parts of arrays and maps."""


def _argument(key: str) -> Any:
    """Declare an argument by its key in the REST catalog."""
    return dataclasses.field(metadata={"key": key})


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
    """One operation; the subclasses are all that there are."""

    action: ClassVar[str]
    """As the REST catalog calls it."""

    def describe(self) -> str:
        """Return what it does, for people."""
        arguments = [(f.metadata["key"], getattr(self, f.name)) for f in fields(self) if f.name != "path"]
        description = ", ".join(f"{key} {_formatted(value)}" for key, value in arguments if value is not None)
        name = ".".join(getattr(self, "path", ()))
        return f"{name}: {description}" if name and description else name or description

    def to_json(self) -> Json:
        """Return the operation as the REST catalog takes it."""
        document: Json = {"action": self.action}
        for field in fields(self):
            value = getattr(self, field.name)
            value = value.to_json() if isinstance(value, PaimonType | Move) else value
            document[field.metadata["key"]] = list(value) if isinstance(value, tuple) else value
        return document


@dataclass(frozen=True, slots=True)
class AddColumn(SchemaChange):
    """Add a column or a member."""

    action = "addColumn"
    path: Path = _argument("fieldNames")
    type: PaimonType = _argument("dataType")
    comment: str | None = _argument("comment")
    move: Move | None = _argument("move")


@dataclass(frozen=True, slots=True)
class DropColumn(SchemaChange):
    """Drop a column or a member."""

    action = "dropColumn"
    path: Path = _argument("fieldNames")


@dataclass(frozen=True, slots=True)
class RenameColumn(SchemaChange):
    """Give a column or a member another name."""

    action = "renameColumn"
    path: Path = _argument("fieldNames")
    name: str = _argument("newName")


@dataclass(frozen=True, slots=True)
class UpdateColumnType(SchemaChange):
    """Change a type, and keep its nullability."""

    action = "updateColumnType"
    path: Path = _argument("fieldNames")
    type: PaimonType = _argument("newDataType")

    def to_json(self) -> Json:
        """Return the operation as the REST catalog takes it."""
        return {**SchemaChange.to_json(self), "keepNullability": True}


@dataclass(frozen=True, slots=True)
class UpdateColumnNullability(SchemaChange):
    """Make a field optional or required."""

    action = "updateColumnNullability"
    path: Path = _argument("fieldNames")
    is_nullable: bool = _argument("newNullability")


@dataclass(frozen=True, slots=True)
class UpdateColumnComment(SchemaChange):
    """Change the description of a field; None removes it."""

    action = "updateColumnComment"
    path: Path = _argument("fieldNames")
    comment: str | None = _argument("newComment")


@dataclass(frozen=True, slots=True)
class UpdateColumnDefaultValue(SchemaChange):
    """Change the default value of a field; None removes it."""

    action = "updateColumnDefaultValue"
    path: Path = _argument("fieldNames")
    value: str | None = _argument("newDefaultValue")


@dataclass(frozen=True, slots=True)
class UpdateColumnPosition(SchemaChange):
    """Move a column."""

    action = "updateColumnPosition"
    move: Move = _argument("move")


@dataclass(frozen=True, slots=True)
class SetOption(SchemaChange):
    """Set an option of the table."""

    action = "setOption"
    key: str = _argument("key")
    value: str = _argument("value")


@dataclass(frozen=True, slots=True)
class RemoveOption(SchemaChange):
    """Remove an option of the table."""

    action = "removeOption"
    key: str = _argument("key")


@dataclass(frozen=True, slots=True)
class UpdateComment(SchemaChange):
    """Change the comment of the table; None removes it."""

    action = "updateComment"
    comment: str | None = _argument("comment")


def _formatted(value: Any) -> str:
    """Return an argument for people; of a type with parts its root."""
    if isinstance(value, PaimonType):
        written = value.to_json()
        return str(written["type"] if isinstance(written, Mapping) else written)
    return str(value).lower() if isinstance(value, bool) else str(value)


class Alteration(NamedTuple):
    """A schema of a table, and the one that it gets."""

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
    groups = _groups((), (), old.fields, new.fields, is_before_partition=is_before_partition)
    return Alteration(old, new, tuple(groups))


@dataclass(frozen=True)
class _Group:
    """The columns, or the members of one ROW, before and after."""

    old_path: Path
    path: Path
    old: Sequence[DataField]
    new: Sequence[DataField]
    is_before_partition: bool
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
    def additions(self) -> tuple[list[tuple[int, AddColumn]], list[str]]:
        """Additions with their ids, and the names in their order after them."""
        new_names = {field.id: field.name for field in self.new}
        standing = [new_names[field.id] for field in self.old if field.id in new_names]
        names = [field.name for field in self.new]
        additions: list[tuple[int, AddColumn]] = []
        added = [field for field in self.new if field.id not in self.old_fields]
        for field in sorted(added, key=lambda field: field.id):
            before = [name for name in names[: names.index(field.name)] if name in standing]
            index = standing.index(before[-1]) + 1 if before else 0
            is_moved = index < len(standing) or self.is_before_partition
            move = Move(field.name, before[-1] if before else None) if is_moved else None
            standing.insert(index, field.name)
            column = AddColumn((*self.path, field.name), field.type, field.description, move)
            additions.append((field.id, column))
        return additions, standing


def _groups(
    old_path: Path,
    path: Path,
    old: Sequence[DataField],
    new: Sequence[DataField],
    *,
    is_before_partition: bool = False,
) -> Iterator[_Group]:
    """Yield this group, and those below its fields."""
    group = _Group(old_path, path, old, new, is_before_partition)
    yield group
    for was, is_ in group.remaining_fields:
        for steps, before, after in _levels(was.type, is_.type):
            if isinstance(before, Row) and isinstance(after, Row):
                paths = (*old_path, was.name, *steps), (*path, is_.name, *steps)
                yield from _groups(*paths, before.fields, after.fields)


def _levels(
    old: PaimonType, new: PaimonType, steps: Path = ()
) -> Iterator[tuple[Path, PaimonType, PaimonType]]:
    """Yield a type and the elements and values inside it that a path reaches; members of ROWs have paths of their own."""
    yield steps, old, new
    if old.root != new.root or isinstance(old, Multiset):
        return
    if isinstance(old, Array) and isinstance(new, Array):
        yield from _levels(old.element, new.element, (*steps, "element"))
    elif isinstance(old, Map) and isinstance(new, Map):
        yield from _levels(old.value, new.value, (*steps, "value"))


def drop(alteration: Alteration) -> Iterator[SchemaChange]:
    """Drop columns and members, under their old names."""
    for group in alteration.groups:
        stay = {field.id for field in group.new}
        yield from [DropColumn((*group.old_path, field.name)) for field in group.old if field.id not in stay]


def rename(alteration: Alteration) -> Iterator[SchemaChange]:
    """Rename columns and members."""
    for group in alteration.groups:
        new_names = {was.name: is_.name for was, is_ in group.remaining_fields if was.name != is_.name}
        every = {field.name for fields in (group.old, group.new) for field in fields}
        yield from [RenameColumn((*group.path, name), to) for name, to in in_turn(new_names, every)]


def add(alteration: Alteration) -> Iterator[SchemaChange]:
    """Add columns and members, in the order of their ids."""
    additions = [addition for group in alteration.groups for addition in group.additions[0]]
    yield from [column for _, column in sorted(additions, key=itemgetter(0))]


def alter(alteration: Alteration) -> Iterator[SchemaChange]:
    """Change the types, nullability, descriptions and default values of fields, and what an addition cannot have."""
    for group in alteration.groups:
        for field in group.new:
            yield from _altered(group.old_fields.get(field.id), field, (*group.path, field.name))


def _altered(was: DataField | None, field: DataField, path: Path) -> Iterator[SchemaChange]:
    default = was.default_value if was is not None else None
    if was is not None:
        types: list[SchemaChange] = []
        for steps, before, after in _levels(was.type, field.type):
            if not before.children and before.type_text() != after.type_text():
                types.append(UpdateColumnType((*path, *steps), after.required(False)))
            if before.is_nullable != after.is_nullable:
                types.append(UpdateColumnNullability((*path, *steps), after.is_nullable))
        if default is not None and default != field.default_value and types:
            # The old value may have no meaning in the new type.
            yield UpdateColumnDefaultValue(path, None)
            default = None
        yield from types
        if was.description != field.description:
            yield UpdateColumnComment(path, field.description)
    if default != field.default_value:
        yield UpdateColumnDefaultValue(path, field.default_value)


def move(alteration: Alteration) -> Iterator[SchemaChange]:
    """Yield the fewest moves that bring columns into their order."""
    columns = alteration.groups[0]
    names, (_, standing) = [field.name for field in columns.new], columns.additions
    # All but those of a longest rising subsequence have to move.
    ends: list[int] = []
    before: dict[int, int | None] = {}
    for name in names:
        number = standing.index(name)
        place = bisect_left(ends, number)
        before[number] = ends[place - 1] if place else None
        ends[place : place + 1] = [number]
    steady: set[int] = set()
    last = ends[-1] if ends else None
    while last is not None:
        steady.add(last)
        last = before[last]
    for index, name in enumerate(names):
        if standing.index(name) not in steady:
            after = names[index - 1] if index else None
            yield UpdateColumnPosition(Move(name, after))


def set_options(alteration: Alteration) -> Iterator[SchemaChange]:
    """Set and remove options, as they are after the columns that they name were renamed."""
    old, new = alteration.old, alteration.new
    renamed = {was.name: is_.name for was, is_ in alteration.groups[0].remaining_fields}
    before = after_renames(old.options, renamed)
    for key in sorted({*before, *new.options}):
        if key not in new.options:
            yield RemoveOption(key)
        elif before.get(key) != new.options[key]:
            yield SetOption(key, new.options[key])


def set_comment(alteration: Alteration) -> Iterator[SchemaChange]:
    """Change the comment of the table."""
    if alteration.old.comment != alteration.new.comment:
        yield UpdateComment(alteration.new.comment)


STEPS: tuple[Step, ...] = (drop, rename, add, alter, move, set_options, set_comment)
"""In the order of an alteration."""
