"""Tables of Iceberg with rows, and what pyiceberg itself does with a change."""

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from schemac.engines.iceberg.artifact import fields_of
from schemac.engines.iceberg.types import IcebergSchema
from schemac.language.logical.facts import AnyFact, Fact
from schemac.language.logical.model import Part, SchemaField
from schemac.versions.evolution.changes import Change
from schemac.versions.evolution.version_pair import VersionPair

_PARTS = {Part.ITEM: "element", Part.KEY: "key", Part.VALUE: "value"}


def create(catalog: Any, name: str, schema: IcebergSchema, rows: Sequence[dict[str, Any]] = ()) -> Any:
    """A table of a schema under Iceberg's own ids, with rows."""
    from pyiceberg.schema import Schema

    table = catalog.create_table(f"n.{name}", Schema.model_validate(schema.to_json()))
    if rows:
        append(table, rows)
    return table


def append(table: Any, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows, as one file."""
    table.append(pa.Table.from_pylist(list(rows), schema=table.schema().as_arrow()))


def path_of(field: SchemaField) -> tuple[str, ...]:
    """A field as pyiceberg names it."""
    return tuple(_PARTS[s] if isinstance(s, Part) else s for s in field.path)


def attempt(table: Any, change: Change, pair: VersionPair) -> str:
    """What pyiceberg says against one change of a table, by its own `update_schema`; empty where it makes it."""
    from pyiceberg.exceptions import ValidationError
    from pyiceberg.types import IcebergType

    make = _MAKERS.get(change.fact)
    if make is None:
        make = _change_type
    update = table.update_schema()
    try:
        make(update, change, pair, IcebergType.__subclasses__())
        # What concerns a map's key shows only here.
        update._apply()
    except (ValueError, ValidationError) as error:
        return str(error) or type(error).__name__
    return ""


def type_of(written: Any) -> Any:
    """pyiceberg's type of one in JSON."""
    from pyiceberg.schema import Schema

    tree = {"type": "struct", "fields": [{"id": 1, "name": "a", "required": False, "type": written}]}
    return Schema.model_validate(tree).fields[0].field_type


def _change_type(update: Any, change: Change, pair: VersionPair, _: Any) -> None:
    assert change.old_field is not None
    assert change.new_field is not None
    was, is_ = fields_of(pair.old)[change.old_field], fields_of(pair.new)[change.new_field]
    if was.type.word != is_.type.word:
        update.update_column(path_of(change.old_field), type_of(is_.type.to_json()))


def _add(update: Any, change: Change, pair: VersionPair, _: Any) -> None:
    assert change.new_field is not None
    field = fields_of(pair.new)[change.new_field]
    above = change.new_field.parent
    holder = path_of(pair.before[above]) if above is not None else ()
    # A name that is free, for what is dropped or renamed by the same edit still has its own.
    name = f"{field.name}__new"
    update.add_column((*holder, name), type_of(field.type.to_json()), field.doc, field.required)


def _drop(update: Any, change: Change, pair: VersionPair, _: Any) -> None:
    assert change.old_field is not None
    update.delete_column(path_of(change.old_field))


def _rename(update: Any, change: Change, pair: VersionPair, _: Any) -> None:
    assert change.old_field is not None
    update.rename_column(path_of(change.old_field), f"{change.new}__new")


def _require(update: Any, change: Change, pair: VersionPair, _: Any) -> None:
    assert change.old_field is not None
    update.update_column(path_of(change.old_field), required=change.fact is Fact.BECAME_REQUIRED)


def _move(update: Any, change: Change, pair: VersionPair, _: Any) -> None:
    raise ValueError("pyiceberg has no way to move a field into another struct")


def _reorder(update: Any, change: Change, pair: VersionPair, _: Any) -> None:
    fields = pair.new.dataset.columns if change.new_field is None else change.new_field.children
    for field in reversed([pair.before[field] for field in fields if field in pair.before]):
        update.move_first(path_of(field))


def _nothing(update: Any, change: Change, pair: VersionPair, _: Any) -> None:
    """What pyiceberg has no part in."""


_MAKERS: dict[AnyFact, Callable[[Any, Change, VersionPair, Any], None]] = {
    Fact.FIELD_ADDED: _add,
    Fact.FIELD_DROPPED: _drop,
    Fact.FIELD_RENAMED: _rename,
    Fact.FIELD_MOVED: _move,
    Fact.FIELDS_REORDERED: _reorder,
    Fact.BECAME_OPTIONAL: _require,
    Fact.BECAME_REQUIRED: _require,
    **dict.fromkeys((Fact.DESCRIPTION_ADDED, Fact.DESCRIPTION_CHANGED, Fact.DESCRIPTION_REMOVED), _nothing),
}
