"""The content of a Paimon table's schema files, and the numbers of its fields and schemas.

Layer: engines.
Shape: `to_text` gives the bytes that Paimon's Java writes, without a line end after the last brace. JSON around such tables that is
      neither a schema nor data is recognized, too: snapshots.
      A column and a member of a row have one number each.
      Of a version the lock remembers `schemaId`, the N of Paimon's `schema-N`, and `timeMillis`, when its file was made, where it was
      imported.
Source: `SchemaSerializer` of github.com/apache/paimon and Jackson's `DefaultPrettyPrinter`. Java's options come in the order of a hash
      table; here they are sorted.
      `SchemaChange.addColumn` and `Schema.Builder` take the column's number first, then those of the members inside its type, children
      before their parent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from schemac.engines.paimon import attributes as paimon
from schemac.engines.paimon.types import DataField, PaimonType
from schemac.language.attributes.builtin import TABLE_VERSION
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import SchemaField
from schemac.text.source.json_object import Json
from schemac.versions.identity.lock import Former, Numbered, Numbering, Numbers

VERSION = 3
"""What Paimon writes since 0.9."""
FIRST_VERSION = 1
"""What it wrote up to 0.7, and still reads."""


class TableSchema(NamedTuple):
    """The content of a schema file."""

    schema_id: int
    fields: tuple[DataField, ...]
    highest_field_id: int
    """The highest id that was ever given to a field of the table; -1 for none."""
    partition_keys: tuple[str, ...] = ()
    primary_keys: tuple[str, ...] = ()
    options: Mapping[str, str] = {}
    comment: str | None = None
    time_millis: int = 0
    version: int = VERSION

    def to_dict(self) -> Json:
        """Return the file's values, keys in the order in which Paimon writes them."""
        tree: Json = {
            "version": self.version,
            "id": self.schema_id,
            "fields": [top.to_json() for top in self.fields],
            "highestFieldId": self.highest_field_id,
            "partitionKeys": list(self.partition_keys),
            "primaryKeys": list(self.primary_keys),
            "options": {key: self.options[key] for key in sorted(self.options)},
            "comment": self.comment,
            "timeMillis": self.time_millis,
        }
        # A null would be read as the text "null".
        return {key: value for key, value in tree.items() if value is not None}

    def to_text(self) -> str:
        """Return the file's text."""
        return _text(self.to_dict(), "\n")

    def of_version(self, table_record: str) -> "TableSchema":
        """Return the schema with its locked version among its options."""
        return self._replace(options={**self.options, TABLE_VERSION: table_record})

    def renumbered(self, ids: Mapping[int, int]) -> "TableSchema":
        """Return the schema with other ids for all of its columns and members."""
        fields = _renumbered(PaimonType("ROW", fields=self.fields), ids).fields
        return self._replace(fields=fields, highest_field_id=max(ids.values(), default=-1))


def _renumbered(type_: PaimonType, ids: Mapping[int, int]) -> PaimonType:
    """Return a type with other ids for all members of ROWs in it."""
    members = [one._replace(id=ids[one.id], type=_renumbered(one.type, ids)) for one in type_.fields]
    return replace(
        type_, fields=tuple(members), parts=tuple([_renumbered(part, ids) for part in type_.parts])
    )


def _text(value: Any, line: str) -> str:
    """Return a value as Jackson writes it; `line` is the line end with the indent that holds around it."""
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return f"[ {', '.join([_text(item, line) for item in value])} ]" if value else "[ ]"
    inner = line + "  "
    items = [f"{inner}{_quoted(key)} : {_text(item, inner)}" for key, item in value.items()]
    return f"{{{','.join(items)}{line}}}" if items else "{ }"


_ESCAPES = {code: f"\\u{code:04X}" for code in range(32)} | str.maketrans(
    {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
)


def _quoted(text: str) -> str:
    """Return a text as JSON in quotes, with only control characters, quotes and backslashes escaped."""
    return f'"{text.translate(_ESCAPES)}"'


NAME = "paimon"


def ids_of(locked_ids: Mapping[SchemaField, Numbers]) -> dict[SchemaField, int]:
    """Return the ids that a lock gives to columns and members."""
    ids_by_field = {field: field_ids.of(NAME) for field, field_ids in locked_ids.items()}
    return {field: ids[0] for field, ids in ids_by_field.items() if ids}


def data_of(schema_id: int, time_millis: int) -> dict[str, int]:
    """Return what a lock remembers of a version."""
    return {"schemaId": schema_id, **({"timeMillis": time_millis} if time_millis else {})}


def number_fields(
    columns: Sequence[SchemaField], known_ids: Mapping[SchemaField, int] | None = None, highest: int = -1
) -> tuple[dict[SchemaField, int], int]:
    """Return the ids of all columns and members, and the highest one: kept ids stay, others count on in the order of Paimon's Java."""
    known, ids = known_ids or {}, dict[SchemaField, int]()

    def take(field: SchemaField) -> None:
        """Give a field the id that it had, or the next one."""
        nonlocal highest
        if field not in known:
            highest += 1
        ids[field] = known.get(field, highest)

    def enter(field: SchemaField) -> None:
        """Give ids to a column, or a member of a row that was there before, and what is below it."""
        take(field)
        below(field, is_new=field not in known)

    def below(field: SchemaField, *, is_new: bool) -> None:
        """Give ids to the members below a field; `is_new` says whether that field is new."""
        if field.extra and field.extra.get(paimon.TYPE.key) == "VARIANT":
            return
        for child in field.children:
            if child.is_member and not is_new:
                enter(child)
                continue
            below(child, is_new=is_new)
            if child.is_member:
                take(child)

    for field in columns:
        enter(field)
    return ids, highest


def _number(dataset: LogicalDataset, former: Former | None, highest: int) -> Numbered:
    """Return the id of each field, the former one where it is known, and the highest id after that."""
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


NUMBERING = Numbering(
    _number, next_data=lambda data: data_of(data.get("schemaId", -1) + 1, 0), data_of_form_1=data_of
)
