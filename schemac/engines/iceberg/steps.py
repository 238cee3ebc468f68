"""What one commit to an Iceberg table does, step by step.

Layer: engines. Values only.
Shape: a step compares what a table has with what it is to have, and yields its operations: none where the two are the same. So a plan also
      corrects what somebody else changed. `iceberg.judge` says which steps a change needs, and here is their order.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from schemac.engines.iceberg.types import NAME_MAPPING, IcebergSchema, NestedField, full_name, preorder
from schemac.text.source.json_object import Json


@dataclass(frozen=True, slots=True)
class Operation:
    """One change that the commit makes to the table."""

    verb: str
    field: str
    """Its full name; empty for the table as a whole."""
    description: str = ""

    def to_json(self) -> Json:
        """Return the operation for programs."""
        return {"does": self.description, "field": self.field, "step": self.verb}


@dataclass(frozen=True, slots=True)
class TableCommit:
    """A table as it is, and as it is to be."""

    current: IcebergSchema
    """Under the ids of `schema`."""
    schema: IcebergSchema
    """Under the ids that the table has, or gets."""
    current_format: int
    format: int
    """The one that is asked for; 0 for any."""
    set_properties: Mapping[str, str]
    removed_properties: tuple[str, ...]


Step = Callable[..., Iterator[Operation]]
"""A step of a commit; or at one field, by its full name and what it was and is to be."""


def upgrade(commit: TableCommit) -> Iterator[Operation]:
    """Yield the upgrade to a newer format."""
    if commit.format > commit.current_format:
        yield Operation("upgrade", "", f"format {commit.current_format} → {commit.format}")


def identify(commit: TableCommit) -> Iterator[Operation]:
    """Yield the change of the identifier fields."""
    if commit.current.identifier_ids != commit.schema.identifier_ids:
        names = {field.id: full_name(path) for path, field in commit.schema.preorder()}
        description = ", ".join(names[id] for id in commit.schema.identifier_ids) or "none"
        yield Operation("identify by", "", description)


def drop(commit: TableCommit) -> Iterator[Operation]:
    """Yield the dropped fields, without those inside of them."""
    for path, field in _missing_in(commit.current, commit.schema):
        yield Operation("drop", full_name(path), field.full_type_text())


def add(name: str, field: NestedField) -> Iterator[Operation]:
    """Yield the addition of a field, with all that is below it."""
    numbers = ", ".join(str(inner.id) for _, inner in preorder((field,)))
    yield Operation("add", name, f"{field.full_type_text()}; id {numbers}")


def rename(name: str, was: NestedField, is_: NestedField) -> Iterator[Operation]:
    """Yield the new name of a field."""
    if was.name != is_.name:
        yield Operation("rename", name, f"{was.name} → {is_.name}")


def promote(name: str, was: NestedField, is_: NestedField) -> Iterator[Operation]:
    """Yield the new type of a field."""
    if was.type.word != is_.type.word:
        cast = f"{was.type.word} → {is_.type.word}; values are cast when they are read"
        yield Operation("promote", name, cast)


def set_nullability(name: str, was: NestedField, is_: NestedField) -> Iterator[Operation]:
    """Yield that a field becomes optional or required."""
    if was.required != is_.required:
        yield Operation("make optional" if was.required else "make required", name)


def set_doc(name: str, was: NestedField, is_: NestedField) -> Iterator[Operation]:
    """Yield the new doc of a field, or its removal."""
    if was.doc != is_.doc:
        yield Operation("set doc" if is_.doc is not None else "remove doc", name, is_.doc or "")


def set_default(name: str, was: NestedField, is_: NestedField) -> Iterator[Operation]:
    """Yield the new write default of a field."""
    if was.write_default != is_.write_default:
        yield Operation("set default", name, str(is_.write_default))


FIELD_STEPS: tuple[Step, ...] = (rename, promote, set_nullability, set_doc, set_default)
"""In their order at one field."""


def at_fields(commit: TableCommit) -> Iterator[Operation]:
    """Yield the additions and changes of fields, in the order of the new schema."""
    before = {field.id: field for _, field in commit.current.preorder()}
    added_ids = {field.id for _, field in _missing_in(commit.schema, commit.current)}
    for path, field in commit.schema.preorder():
        name = full_name(path)
        if field.id in added_ids:
            yield from add(name, field)
        elif field.id in before:
            for step in FIELD_STEPS:
                yield from step(name, before[field.id], field)


def reorder(commit: TableCommit) -> Iterator[Operation]:
    """Yield the new order of the fields that stay, for each struct."""
    olds = {id: [field.id for field in fields] for id, _, fields in _groups(commit.current)}
    for id, path, fields in _groups(commit.schema):
        names = {field.id: field.name for field in fields}
        order = [names[i] for i in olds.get(id, ()) if i in names]
        new_order = [field.name for field in fields if field.id in olds.get(id, ())]
        if order != new_order:
            yield Operation("reorder", full_name(path), ", ".join(new_order))


def set_properties(commit: TableCommit) -> Iterator[Operation]:
    """Yield the table properties that are set and removed."""
    for key, value in sorted(commit.set_properties.items()):
        description = "follows the fields" if key == NAME_MAPPING else f"= {value}"
        yield Operation("set property", "", f"{key} {description}")
    for key in commit.removed_properties:
        yield Operation("remove property", "", key)


STEPS: tuple[Step, ...] = (upgrade, identify, drop, at_fields, reorder, set_properties)
"""In the order of a plan: the table, its fields in the order of the new schema, and its properties."""


def _missing_in(schema: IcebergSchema, other: IcebergSchema) -> Iterator[tuple[tuple[str, ...], NestedField]]:
    """Yield the fields whose ids another schema has not, without those inside of them."""
    ids = {field.id for _, field in other.preorder()}
    lacking: set[int] = set()
    for path, field in schema.preorder():
        if field.id not in ids and field.id not in lacking:
            lacking |= {inner.id for _, inner in preorder((field,))}
            yield path, field


def _groups(schema: IcebergSchema) -> Iterator[tuple[int, tuple[str, ...], tuple[NestedField, ...]]]:
    """Yield the id, path and fields of each struct; the table comes first, with id 0 and an empty path."""
    yield 0, (), schema.columns
    for path, field in schema.preorder():
        if field.type.word == "struct":
            yield field.id, path, field.type.fields
