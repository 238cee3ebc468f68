"""Spark: a StructType in its JSON form.

Layer: engines.
Shape: Spark's types become Arrow's, as Spark's own conversion has them; what the metadata says of vectors, lengths and
large offsets is put back into them. What has no word in a manifest becomes a note at its field.
Errors: SC551 unsupported-arrow-type, SC552 unreadable-source.
Source: `pyspark.sql.types` and the metadata keys of lance-spark, as in `schemac.engines.spark.artifact`.
"""

import json
import re
from pathlib import Path
from typing import Any

from schemac.arrow.constraints import key_paths
from schemac.arrow.metadata import EXTENSION_METADATA, EXTENSION_NAME, compact
from schemac.engines.spark import attributes as words
from schemac.engines.spark import columns as lance_spark
from schemac.engines.spark.connector import ATOMIC, blob_type
from schemac.importers import importer
from schemac.importers.datasets import from_arrow_schema, with_whole_key
from schemac.language.attributes.builtin import DESCRIPTION
from schemac.language.logical.model import FieldPath, Part, dotted
from schemac.language.physical import ArrowField, ArrowType, pa
from schemac.text.source.diagnostics import Report
from schemac.text.source.json_object import Json

COLLATIONS = "__COLLATIONS"
_DECIMAL = re.compile(r"decimal\(\s*(\d+)\s*,\s*(-?\d+)\s*\)")
_TIME = re.compile(r"time\(([0-6])\)")
_COLLATED = re.compile(r"string collate (\S+)")
_DAY_TIME = re.compile(r"interval (day|hour|minute|second)( to (hour|minute|second))?")
_RICHER = re.compile(words.TYPE_PATTERN)
_MOST_DIGITS = 38
_DEEPEST = 100
"""Levels of nesting that are read; Lance and the manifest language stop far above it."""
_PLAIN = ATOMIC.keys() - {"binary", "interval day to second"}
"""Types that metadata do not change."""


def _malformed(path: FieldPath, reason: str) -> importer.UnreadableSourceError:
    """Return the error for something at a path that no StructType has."""
    place = f"at {dotted(path)}, " if path else ""
    return importer.UnreadableSourceError(f"it is not a StructType: {place}{reason}")


def read(path: Path, report: Report) -> importer.ImportedSchema:
    """Return the schema of a file with a StructType's JSON."""
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise importer.UnreadableSourceError(f"it is not valid JSON: {error}") from error
    return from_struct_type(document, str(path), report)


def from_struct_type(
    document: Any, file: str, report: Report, notes: importer.ImportNotes | None = None
) -> importer.ImportedSchema:
    """Return the schema of a StructType in its JSON form; columns without a kind are in the report. Raises UnreadableSourceError."""
    notes = notes if notes is not None else importer.ImportNotes()
    reader = _Reader(notes)
    fields: list[ArrowField] = []
    refused: list[ArrowField] = []
    try:
        # Half a character has a form in JSON, but no text can hold it.
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise importer.UnreadableSourceError("a name or text in it is not valid Unicode") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise _malformed((), "it is nested too deeply, or not valid JSON") from error
    if not isinstance(document, dict) or document.get("type") != "struct":
        raise _malformed((), "the JSON has to be an object with `type: struct` and `fields`")
    for member in _entry(document, "fields", list, ()):
        try:
            fields.append(reader.field(member, ()))
        except importer.UnsupportedColumnError as error:
            importer.refuse_column(error.path, f"{dotted(error.path)}: {error}", file, report)
            marks = {
                key: text for key, text in (member.get("metadata") or {}).items() if isinstance(text, str)
            }
            refused.append(pa.field(member["name"], pa.null(), metadata=marks))
    tree = from_arrow_schema(pa.schema(fields), file, report, notes.add)
    # A column without a kind may be a part of the key.
    key = key_paths(pa.schema([*fields, *refused]))
    return importer.ImportedSchema(with_whole_key(tree, key, notes.add), notes=notes)


def _entry(holder: Any, key: str, expected_type: Any, path: FieldPath) -> Any:
    """Return an entry of a JSON object that has to be there, and of this type."""
    if not isinstance(holder, dict):
        raise _malformed(path, f"an object is expected, not {_formatted(holder)}")
    if key not in holder:
        raise _malformed(path, f"`{key}` is missing")
    value = holder[key]
    if not isinstance(value, expected_type):
        raise _malformed(path, f"`{key}` cannot be {_formatted(value)}")
    return value


def _formatted(value: Any) -> str:
    """Return a value as JSON, cut at 40 characters."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:40]}…"


class _Reader:
    """Makes Arrow fields of the fields of a StructType, and notes what they do not keep."""

    def __init__(self, notes: importer.ImportNotes) -> None:
        self._notes = notes

    def field(self, field: Any, holder: FieldPath) -> ArrowField:
        """Return the Arrow field of a StructField. Raises UnreadableSourceError or UnsupportedColumnError."""
        name: str = _entry(field, "name", str, holder)
        path = (*holder, name)
        nullable: bool = _entry(field, "nullable", bool, path)
        metadata = field.get("metadata") or {}
        if not isinstance(metadata, dict):
            raise _malformed(path, f"`metadata` cannot be {_formatted(metadata)}")
        return self._field(name, _entry(field, "type", (str, dict), path), nullable, metadata, path)

    def _field(
        self, name: str, json_type: Any, nullable: bool, metadata: Json, path: FieldPath
    ) -> ArrowField:
        """Return an Arrow field; note collations and user-defined types. Raises UnreadableSourceError if it is nested too deep."""
        metadata = dict(metadata)
        if len(path) > _DEEPEST:
            raise _malformed(path[:1], f"it is nested deeper than {_DEEPEST} levels")
        collations = metadata.pop(COLLATIONS, None)
        named = list(collations.values()) if isinstance(collations, dict) else []
        if isinstance(json_type, str) and (match := _COLLATED.fullmatch(json_type)):
            named.append(match[1])
        for collation in named:
            self._notes.add(path, f"Spark's collation {collation} is not kept")
        if isinstance(json_type, dict) and json_type.get("type") == "udt":
            text = f"the user-defined type {json_type.get('class', '')} is kept as its SQL type"
            self._notes.add(path, text)
            json_type = _entry(json_type, "sqlType", (str, dict), path)
        type_ = self._type(json_type, metadata, path)
        if pa.types.is_null(type_) and not nullable:
            # Spark's own `array()` is a list of these.
            self._notes.add(path, "Spark's void may always be null, even if it is declared otherwise")
            nullable = True
        return pa.field(name, type_, nullable, self._arrow_metadata(json_type, metadata, path) or None)

    def _part(
        self, name: str, part: Part, holder: Any, nullable: bool, metadata: Any, path: FieldPath
    ) -> ArrowField:
        """Return a list's item, a map's key or value; its metadata is a text in that of its field."""
        key = "elementType" if part is Part.ITEM else f"{part.value}Type"
        json_type = _entry(holder, key, (str, dict), path)
        try:
            entries = json.loads(metadata) if metadata is not None else {}
        except (TypeError, ValueError, RecursionError):
            entries = None
        if not isinstance(entries, dict):
            raise _malformed(path, f"the metadata of the {part.value} cannot be {_formatted(metadata)}")
        return self._field(name, json_type, nullable, entries, (*path, part))

    def _arrow_metadata(self, json_type: Any, metadata: Json, path: FieldPath) -> dict[str, str]:
        """Return what is not about the type: attributes under their keys, and the comment as the description."""
        rest = {key: value for key, value in metadata.items() if key not in lance_spark.TYPE_MARKS}
        comment = rest.pop("comment", None)
        if comment is not None:
            rest[DESCRIPTION.key] = compact(comment if isinstance(comment, str) else compact(comment))
        if isinstance(json_type, str) and _RICHER.fullmatch(json_type):
            rest[words.TYPE.key] = compact(json_type)
        if rest.get(EXTENSION_NAME) == lance_spark.BLOB_EXTENSION:
            rest.setdefault(EXTENSION_METADATA, "")
        for key, value in rest.items():
            if not isinstance(value, str):
                rest[key] = compact(value)
                self._notes.add(path, f"Spark's metadata {key} is kept as the text {_formatted(rest[key])}")
        return rest

    def _type(self, json_type: Any, metadata: Json, path: FieldPath) -> ArrowType:
        """Return the Arrow type of a type in Spark's JSON. Raises UnreadableSourceError or UnsupportedColumnError."""
        if isinstance(json_type, str):
            return self._atomic(json_type, metadata, path)
        kind = _entry(json_type, "type", str, path)
        if kind == "struct":
            return pa.struct([self.field(member, path) for member in _entry(json_type, "fields", list, path)])
        if kind == "map":
            of_key, of_value = (metadata.get(key) for key in lance_spark.ENTRY_KEYS)
            nullable = _entry(json_type, "valueContainsNull", bool, path)
            key = self._part("key", Part.KEY, json_type, False, of_key, path)
            value = self._part("value", Part.VALUE, json_type, nullable, of_value, path)
            return pa.map_(key, value)
        if kind == "array":
            nullable = _entry(json_type, "containsNull", bool, path)
            of_item = metadata.get(lance_spark.ITEM_KEYS[0])
            name = metadata.get(lance_spark.CHILD_NAME, "item")
            if not isinstance(name, str):
                reason = f"the metadata {lance_spark.CHILD_NAME} cannot be {_formatted(name)}"
                raise _malformed(path, reason)
            item = self._part(name, Part.ITEM, json_type, nullable, of_item, path)
            if metadata.get(lance_spark.FLOAT16) == "true" and pa.types.is_float32(item.type):
                item = item.with_type(pa.float16())
            if lance_spark.VECTOR_SIZE in metadata:
                return pa.list_(item, _length(metadata, lance_spark.VECTOR_SIZE, path))
            return pa.large_list(item) if lance_spark.LARGE_LIST in metadata else pa.list_(item)
        raise importer.UnsupportedColumnError(path, f"Spark's {kind}")

    def _atomic(self, name: str, metadata: Json, path: FieldPath) -> ArrowType:
        """Return the Arrow type of a type without parts, and remove metadata that has become part of it."""
        if name == "date" and lance_spark.DATE_MILLISECOND in metadata:
            return pa.date64()
        if name in _PLAIN:
            return ATOMIC[name]()
        if name == "string" or _RICHER.fullmatch(name) or _COLLATED.fullmatch(name):
            storage = pa.large_string() if lance_spark.LARGE_STRING in metadata else pa.string()
            if metadata.get(EXTENSION_NAME) == "arrow.json":
                del metadata[EXTENSION_NAME]
                # Below the top every JSON has the mark, whatever its offsets: the connector reads it by it.
                return pa.json_(storage if len(path) == 1 else pa.string())
            return storage
        if name == "binary":
            if metadata.get(EXTENSION_NAME) == lance_spark.BLOB_EXTENSION:
                return blob_type()
            if lance_spark.BYTE_WIDTH in metadata:
                width = _length(metadata, lance_spark.BYTE_WIDTH, path)
                if metadata.get(EXTENSION_NAME) == "arrow.uuid" and width == 16:
                    del metadata[EXTENSION_NAME]
                    return pa.uuid()
                return pa.binary(width)
            is_large = lance_spark.LARGE_BINARY in metadata or metadata.get(lance_spark.BLOB) == "true"
            return pa.large_binary() if is_large else pa.binary()
        if name == "decimal":
            return pa.decimal128(10, 0)
        if match := _DECIMAL.fullmatch(name):
            precision, scale = int(match[1]), int(match[2])
            if not 1 <= precision <= _MOST_DIGITS or abs(scale) > _MOST_DIGITS:
                raise _malformed(path, f"Spark has no {name}")
            return pa.decimal128(precision, scale)
        if name == "time" or _TIME.fullmatch(name):
            digits = name[5:6] or "6"
            if digits not in "036":
                self._notes.add(path, f"Spark's {name} becomes {'time(3)' if digits < '3' else 'time(6)'}")
            unit = "s" if digits == "0" else "ms" if digits <= "3" else "us"
            return pa.time64(unit) if unit == "us" else pa.time32(unit)
        if match := _DAY_TIME.fullmatch(name):
            if name != "interval day to second":
                self._notes.add(path, f"Spark's {name} becomes an interval day to second")
            return pa.duration("us")
        raise importer.UnsupportedColumnError(path, f"Spark's {name}")


def _length(metadata: Json, key: str, path: FieldPath) -> int:
    """Return a positive number below 2**31 from metadata. Raises UnreadableSourceError for any other value."""
    value = metadata[key]
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        value = int(value[:10])
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**31:
        raise _malformed(path, f"the metadata {key} cannot be {_formatted(metadata[key])}")
    return value


IMPORTER = importer.Importer("spark", "Spark StructType as JSON", read, from_struct_type)
