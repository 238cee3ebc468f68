"""Draws histories in which names come back: fields are dropped and others of their names are added, names are swapped and go round.

Shape: a field has an identity that no name and no lock tells, so that the rows of a table can be told after any number of versions.
"""

import random
from dataclasses import dataclass, replace
from typing import Any

Tree = dict[str, Any]
NAMES = ("a", "b", "c", "d")


@dataclass(frozen=True)
class Field:
    """A field of one version."""

    id: int
    """For life."""
    name: str
    kind: str = "String"
    was: str | None = None
    """The name before, where it is another one now."""
    members: tuple["Field", ...] = ()

    def tree(self) -> Tree:
        """The field as a manifest has it."""
        inner: Any = self.kind
        if self.members:
            inner = {"kind": "Struct", "fields": [member.tree() for member in self.members]}
        extra = {} if self.was is None else {"extra": {"schemac.dev/renamedFrom": self.was}}
        return {"name": self.name, "type": {"kind": "Option", "inner": inner}, **extra}

    def value(self, row: int) -> Any:
        """What a row of a table has here that is made at this version."""
        if self.members:
            return {member.name: member.value(row) for member in self.members}
        number = 100 * self.id + row
        return f"0{number}" if self.kind == "String" else number


Version = tuple[Field, ...]


class Histories:
    """Draws versions from one source of chance."""

    def __init__(self, chance: random.Random, *, casts: bool, moves_members: bool = True) -> None:
        self.chance = chance
        self.casts = casts
        self.moves_members = moves_members
        self.ids = 0

    def draw(self, versions: int) -> list[Version]:
        """A history of so many versions; each differs from the one before."""
        nested = self.chance.random() < 0.5
        columns = tuple(self.field(name) for name in self.chance.sample(NAMES, 3))
        if nested:
            members = tuple(self.field(name) for name in self.chance.sample(NAMES, 3))
            struct = replace(self.field("s"), members=members)
            columns = (*columns[:1], struct, *columns[1:])
        found: list[Version] = [columns]
        while len(found) < versions:
            version = self.edited(found[-1])
            # What is declared twice in turn was done the first time.
            if _declared(version).isdisjoint(_declared(found[-1])):
                found.append(version)
        return found

    def field(self, name: str) -> Field:
        """A new field."""
        self.ids += 1
        return Field(self.ids, name)

    def edited(self, version: Version) -> Version:
        """The next version: one edit of the columns, or of the members of the struct."""
        fields = tuple(replace(field, was=None, members=_settled(field.members)) for field in version)
        struct = next((field for field in fields if field.members), None)
        if struct is not None and self.chance.random() < 0.5:
            changed = replace(struct, members=self.edit(struct.members, moves=self.moves_members))
            return tuple(changed if field is struct else field for field in fields)
        plain = self.edit(tuple(field for field in fields if not field.members))
        return plain if struct is None else (*plain[:1], struct, *plain[1:])

    def edit(self, fields: Version, *, moves: bool = True) -> Version:
        """One edit of fields that stand beside each other."""
        free = [name for name in NAMES if name not in {field.name for field in fields}]
        edits = ["swap", "swap", *(["round"] if len(fields) > 2 else [])]
        edits += ["add"] * 4 if free else []
        edits += ["drop"] * 4 if len(fields) > 2 else []
        edits += ["cast"] * 2 if self.casts else []
        match self.chance.choice(edits):
            case "add":
                place = self.chance.randint(0, len(fields)) if moves else len(fields)
                return (*fields[:place], self.field(self.chance.choice(free)), *fields[place:])
            case "drop":
                gone = self.chance.choice(fields)
                return tuple(field for field in fields if field is not gone)
            case "cast":
                one = self.chance.choice(fields)
                other = replace(one, kind="Int64" if one.kind == "String" else "String")
                return tuple(other if field is one else field for field in fields)
            case "swap":
                return self.renamed(fields, 2, moves=moves)
        return self.renamed(fields, 3, moves=moves)

    def renamed(self, fields: Version, count: int, *, moves: bool) -> Version:
        """Let some fields pass their names on; more often than not names stay where they stand, so that nothing seems changed."""
        chosen = self.chance.sample(fields, min(count, len(fields)))
        names = {field.id: other.name for field, other in zip(chosen, chosen[1:] + chosen[:1], strict=True)}
        found = [
            replace(field, name=names[field.id], was=field.name) if field.id in names else field
            for field in fields
        ]
        if moves and self.chance.random() < 0.7:
            order = [field.name for field in fields]
            found.sort(key=lambda field: order.index(field.name))
        return tuple(found)


def _settled(fields: Version) -> Version:
    return tuple(replace(field, was=None) for field in fields)


def _declared(fields: Version) -> set[tuple[str, str]]:
    inner = [field for one in fields for field in (one, *one.members)]
    return {(field.name, field.was) for field in inner if field.was is not None}


def rows_of(version: Version, count: int = 2) -> list[Tree]:
    """The rows of a table that is made at a version."""
    return [{field.name: field.value(row) for field in version} for row in range(count)]


def rows_after(versions: list[Version], count: int = 2) -> list[Tree]:
    """The rows of a table that is made at the first of some versions, as they are at the last one."""
    return [_row(versions, row) for row in range(count)]


def _row(versions: list[Version], row: int) -> Tree:
    return {field.name: _value(field, versions, row) for field in versions[-1]}


def _value(field: Field, versions: list[Version], row: int) -> Any:
    states = [_find(version, field.id) for version in versions]
    if states[0] is None:
        return None
    if field.members:
        below = [state.members for state in states if state is not None]
        return _row(below, row)
    value = states[0].value(row)
    for state in states:
        assert state is not None, "a field does not come back"
        value = int(value) if state.kind == "Int64" else str(value)
    return value


def _find(version: Version, id: int) -> Field | None:
    return next((field for field in version if field.id == id), None)
