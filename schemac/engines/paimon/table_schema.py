"""The schema files of a Paimon table: where they are, and one of them as Paimon writes it.

Layer: engines.
Shape: `to_text` gives the bytes that Paimon's Java writes, without a line end after the last brace. JSON around such tables that is neither
      a schema nor data is recognized, too: snapshots.
Source: `SchemaSerializer` of github.com/apache/paimon and Jackson's `DefaultPrettyPrinter`. Java's options come in the order of a hash
      table; here they are sorted.
"""

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from schemac.engines.paimon.types import Array, DataField, Map, PaimonType, Row, Vector
from schemac.importers.sniffing import ForeignDocument, has_keys, is_json_with
from schemac.language.attributes.own import TABLE_VERSION
from schemac.text.source.json_object import Json

FILE_NAME = re.compile(r"schema-([0-9]+)")
"""How Paimon names its schema files."""


def is_source(path: Path) -> bool:
    """Return whether a path is a folder with schema files, or such a file by name and content."""
    if path.is_dir():
        return any(any(folder.glob("schema-[0-9]*")) for folder in (path / "schema", path))
    is_named = path.name.startswith("schema-") or path.suffix.lower() == ".json"
    return is_named and is_json_with(path, b'"highestFieldId":')


def is_table(path: Path) -> bool:
    """Return whether a path is a table's folder: one with a schema file."""
    return path.is_dir() and bool(schema_files(path))


def schema_files(path: Path) -> list[Path]:
    """List the schema files of a table, oldest first; of a file, itself."""
    if path.is_file():
        return [path]
    for folder in (path / "schema", path):
        numbered = [
            (int(match[1]), file)
            for file in (folder.iterdir() if folder.is_dir() else ())
            if (match := FILE_NAME.fullmatch(file.name)) and file.is_file()
        ]
        if numbered:
            return [file for _, file in sorted(numbered)]
    return []


DOCUMENTS = (
    ForeignDocument(
        "a snapshot of a Paimon table", has_keys("schemaId", "baseManifestList"), "import the table's folder"
    ),
)
"""What to import in place of such a file."""


VERSION = 3
"""What Paimon writes since 0.9."""
FIRST_VERSION = 1
"""What it wrote up to 0.7, and still reads."""


@dataclass(frozen=True, slots=True)
class TableSchema:
    """The content of a schema file."""

    schema_id: int
    fields: tuple[DataField, ...]
    highest_field_id: int
    """The highest id that was ever given to a field of the table; -1 for none."""
    partition_keys: tuple[str, ...] = ()
    primary_keys: tuple[str, ...] = ()
    options: Mapping[str, str] = dataclasses.field(default_factory=dict)
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
        }
        # A null would be read as the text "null".
        if self.comment is not None:
            tree["comment"] = self.comment
        tree["timeMillis"] = self.time_millis
        return tree

    def to_text(self) -> str:
        """Return the file's text."""
        return _text(self.to_dict(), "\n")

    def of_version(self, table_record: str) -> "TableSchema":
        """Return the schema with its locked version among its options."""
        return replace(self, options={**self.options, TABLE_VERSION: table_record})

    def renumbered(self, ids: Mapping[int, int]) -> "TableSchema":
        """Return the schema with other ids for all of its columns and members."""
        fields = tuple([_renumbered_field(top, ids) for top in self.fields])
        return replace(self, fields=fields, highest_field_id=max(ids.values(), default=-1))


def _renumbered_field(field: DataField, ids: Mapping[int, int]) -> DataField:
    return replace(field, id=ids[field.id], type=_renumbered_type(field.type, ids))


def _renumbered_type(type_: PaimonType, ids: Mapping[int, int]) -> PaimonType:
    if isinstance(type_, Row):
        return replace(type_, fields=tuple([_renumbered_field(member, ids) for member in type_.fields]))
    if isinstance(type_, Map):
        return replace(type_, key=_renumbered_type(type_.key, ids), value=_renumbered_type(type_.value, ids))
    return (
        replace(type_, element=_renumbered_type(type_.element, ids))
        if isinstance(type_, Array | Vector)
        else type_
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


_SPECIAL = re.compile(r'[\x00-\x1f"\\]')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def _quoted(text: str) -> str:
    return f'"{_SPECIAL.sub(_escape, text) if _SPECIAL.search(text) else text}"'


def _escape(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[0]) or f"\\u{ord(match[0]):04X}"
