"""Spark: a StructType in its JSON form.

Floor: 7 (importers).
Shape: Spark's types become Arrow's, as Spark's own conversion has them; what the metadata says of vectors, lengths and
large offsets is put back into them.
Source: `pyspark.sql.types` and the metadata keys of lance-spark, as in `schemac.targets.spark`.
"""

import json
import re
from pathlib import Path
from typing import Any

from schemac.attributes import spark as words
from schemac.attributes.odf import DESCRIPTION
from schemac.importers.importer import Imported, Importer, refuse
from schemac.lifting.lift import lift
from schemac.lowering.metadata import BLOB, BLOB_EXTENSION, EXTENSION_METADATA, EXTENSION_NAME, compact
from schemac.physical.arrow import ArrowField, ArrowType, pa
from schemac.source.catalogue import UNSUPPORTED_ARROW_TYPE
from schemac.source.report import Report
from schemac.targets.spark import (
    BYTE_WIDTH,
    CHILD_KEYS,
    FLOAT16,
    LARGE_BINARY,
    LARGE_LIST,
    LARGE_STRING,
    VECTOR_SIZE,
)

_DECIMAL = re.compile(r"decimal\(\s*(\d+)\s*,\s*(-?\d+)\s*\)")
_TIME = re.compile(r"time\((\d)\)")
_RICHER = re.compile(r"(varchar|char)\(\d+\)|variant")
_MARKERS = (
    VECTOR_SIZE,
    BYTE_WIDTH,
    FLOAT16,
    LARGE_STRING,
    LARGE_BINARY,
    LARGE_LIST,
    *CHILD_KEYS["List"],
    *CHILD_KEYS["Map"],
)


class _UnsupportedError(Exception):
    """A Spark type that no kind stands for."""


def read(path: Path, report: Report) -> Imported | None:
    """The schema of a file with a StructType's JSON."""
    try:
        document = json.loads(path.read_bytes())
    except ValueError as error:
        refuse(path, f"it is no JSON: {error}", report)
        return None
    if not isinstance(document, dict) or document.get("type") != "struct":
        refuse(
            path, "it is no StructType: the JSON has to be an object with `type: struct` and `fields`", report
        )
        return None
    return from_struct_type(document, str(path), report)


def from_struct_type(document: dict[str, Any], file: str, report: Report) -> Imported | None:
    """The schema of a StructType in its JSON form."""
    fields: list[ArrowField] = []
    for field in document.get("fields", []):
        try:
            fields.append(_field(field))
        except _UnsupportedError as error:
            name = str(field["name"])
            message = f"{name}: no kind stands for Spark's {error}"
            report.add(
                UNSUPPORTED_ARROW_TYPE,
                message,
                file=file,
                path=name,
                help="leave the column out, or cast it first",
            )
        except (KeyError, TypeError, AttributeError) as error:
            refuse(Path(file), f"it is no StructType: a field lacks {error}", report)
            return None
    return Imported(lift(pa.schema(fields), file, report))


def _field(field: dict[str, Any]) -> ArrowField:
    metadata: dict[str, Any] = dict(field.get("metadata") or {})
    type_ = _type(field["type"], metadata)
    return pa.field(
        str(field["name"]), type_, bool(field["nullable"]), _arrow_metadata(field["type"], metadata) or None
    )


def _part(name: str, type_: Any, nullable: bool, metadata: str | None) -> ArrowField:
    return _field(
        {"name": name, "type": type_, "nullable": nullable, "metadata": json.loads(metadata or "{}")}
    )


def _arrow_metadata(type_: Any, metadata: dict[str, Any]) -> dict[str, str]:
    """What is not about the type: attributes under their keys, and the comment as the description."""
    rest = {key: value for key, value in metadata.items() if key not in _MARKERS}
    comment = rest.pop("comment", None)
    if comment is not None:
        rest.setdefault(DESCRIPTION.key, compact(comment))
    if isinstance(type_, str) and _RICHER.fullmatch(type_):
        rest.setdefault(words.TYPE.key, compact(type_))
    if rest.get(EXTENSION_NAME) == BLOB_EXTENSION:
        rest.setdefault(EXTENSION_METADATA, "")
    return {key: value if isinstance(value, str) else compact(value) for key, value in rest.items()}


def _type(type_: Any, metadata: dict[str, Any]) -> ArrowType:
    if isinstance(type_, str):
        return _atomic(type_, metadata)
    kind = type_["type"]
    if kind == "struct":
        return pa.struct([_field(member) for member in type_["fields"]])
    if kind == "map":
        key_metadata, value_metadata = (metadata.get(key) for key in CHILD_KEYS["Map"])
        key = _part("key", type_["keyType"], False, key_metadata)
        return pa.map_(key, _part("value", type_["valueType"], type_["valueContainsNull"], value_metadata))
    if kind == "array":
        item = _part("item", type_["elementType"], type_["containsNull"], metadata.get(CHILD_KEYS["List"][0]))
        if metadata.get(FLOAT16) == "true":
            item = item.with_type(pa.float16())
        if VECTOR_SIZE in metadata:
            return pa.list_(item, int(metadata[VECTOR_SIZE]))
        return pa.large_list(item) if LARGE_LIST in metadata else pa.list_(item)
    raise _UnsupportedError(str(kind))


def _atomic(name: str, metadata: dict[str, Any]) -> ArrowType:
    plain: dict[str, Any] = {
        "boolean": pa.bool_(),
        "byte": pa.int8(),
        "short": pa.int16(),
        "integer": pa.int32(),
        "long": pa.int64(),
        "float": pa.float32(),
        "double": pa.float64(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us", "UTC"),
        "timestamp_ntz": pa.timestamp("us"),
        "interval day to second": pa.duration("us"),
        "void": pa.null(),
        "decimal": pa.decimal128(10, 0),
        "time": pa.time64("us"),
    }
    if name in plain:
        return plain[name]
    if name == "string" or _RICHER.fullmatch(name):
        storage = pa.large_string() if LARGE_STRING in metadata else pa.string()
        if metadata.get(EXTENSION_NAME) == "arrow.json":
            del metadata[EXTENSION_NAME]
            return pa.json_(storage)
        return storage
    if name == "binary":
        return _binary(metadata)
    if match := _DECIMAL.fullmatch(name):
        return pa.decimal128(int(match[1]), int(match[2]))
    if match := _TIME.fullmatch(name):
        return {"0": pa.time32("s"), "3": pa.time32("ms")}.get(match[1], pa.time64("us"))
    raise _UnsupportedError(name)


def _binary(metadata: dict[str, Any]) -> ArrowType:
    if metadata.get(EXTENSION_NAME) == BLOB_EXTENSION:
        members = (
            ("data", pa.large_binary()),
            ("uri", pa.string()),
            ("position", pa.uint64()),
            ("size", pa.uint64()),
        )
        return pa.struct([pa.field(name, type_) for name, type_ in members])
    if BYTE_WIDTH in metadata:
        width = int(metadata[BYTE_WIDTH])
        if metadata.get(EXTENSION_NAME) == "arrow.uuid" and width == 16:
            del metadata[EXTENSION_NAME]
            return pa.uuid()
        return pa.binary(width)
    return pa.large_binary() if LARGE_BINARY in metadata or metadata.get(BLOB) == "true" else pa.binary()


IMPORTER = Importer("spark", "Spark StructType as JSON", read)
