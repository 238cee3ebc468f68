"""One operation on the schema of a Paimon table.

Layer: engines. Values only.
Source: `SchemaChange` of github.com/apache/paimon, in the form of its REST catalog, whose keys are those of the arguments.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from schemac.engines.paimon.types import PaimonType
from schemac.source.json_object import Json

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
        arguments = {f.metadata["key"]: _written(getattr(self, f.name)) for f in fields(self)}
        return {"action": self.action, **arguments}


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
    """Change a type, and leave its nullability as it is."""

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


def _written(value: Any) -> Any:
    """Return an argument as JSON has it."""
    if isinstance(value, PaimonType | Move):
        return value.to_json()
    return list(value) if isinstance(value, tuple) else value


def _formatted(value: Any) -> str:
    """Return an argument for people; of a type with parts its root."""
    if isinstance(value, PaimonType):
        written = value.to_json()
        return str(written["type"] if isinstance(written, Mapping) else written)
    return str(value).lower() if isinstance(value, bool) else str(value)
