"""Every type in every place, as an engine sees it: all fields of one place are a dataset, without those that it refuses.

The types are those of `tests/conformance/manifest_types.py`, which takes them from the registry of kinds.
"""

import base64
import datetime
import json
import uuid
from decimal import Decimal
from functools import cache
from typing import Any

import pyarrow as pa
import pytest

import schemac
from schemac.artifacts.targets import Emission, load_target
from schemac.engines.jsonschema.keywords import dump
from schemac.text.source.diagnostics import Report, Severity
from tests.conformance.arrow_values import rows
from tests.conformance.manifest_types import POSITIONS, TYPES, Manifest

FEW = (
    "column",
    "optional member of an optional Struct",
    "optional item of an optional List",
    "key",
    "optional value of an optional Map",
    "optional item of an optional vector",
)
"""The places of a quick run: each sort of part once, as much of it optional as can be."""
PLACES = [place if place in FEW else pytest.param(place, marks=pytest.mark.long) for place in POSITIONS]


def _named(place: str) -> dict[str, Manifest]:
    """The fields of a place by name; a type that cannot stand there is refused when they are compiled."""
    return {f"f{i}": {**POSITIONS[place](type_), "name": f"f{i}"} for i, type_ in enumerate(TYPES.values())}


def title(name: str) -> str:
    """What the type of a field is called."""
    return list(TYPES)[int(name[1:])]


@cache
def dataset(place: str, without: frozenset[str] = frozenset()) -> schemac.Dataset:
    """Every type that can stand in a place."""
    fields = {name: field for name, field in _named(place).items() if name not in without}
    while True:
        try:
            (found,) = schemac.compile_text(json.dumps({"name": "crossed", "fields": list(fields.values())}))
        except schemac.SchemaError as error:
            bad = {str(d.path).partition(".")[0] for d in error.diagnostics}
            if not bad & fields.keys():
                raise
            fields = {name: field for name, field in fields.items() if name not in bad}
        else:
            return found


def refused(engine: str, place: str) -> dict[str, str]:
    """The fields that an engine refuses, with the code of why."""
    logical = dataset(place)._compilation
    target, report = load_target(engine), Report()
    target.emit(logical, Emission(logical.dataset, engine, target.loss_code, report))
    errors = [d for d in report.diagnostics if d.severity is Severity.ERROR]
    assert all(d.path and d.help for d in errors), errors
    return {str(d.path).partition(".")[0]: d.code for d in errors}


def held(engine: str, place: str) -> schemac.Dataset:
    """Every type that can stand in a place, and that an engine holds there."""
    return dataset(place, frozenset(refused(engine, place)))


def lossy(found: schemac.Dataset, engine: str) -> set[str]:
    """The fields that lose something."""
    return {loss.path.partition(".")[0] for loss in found.losses(engine)}


def records(found: schemac.Dataset) -> list[dict[str, Any]]:
    """Values of Python for every field, as JSON has them; each field alone has as many as its type needs."""
    schema = found.to_arrow(metadata=True)
    columns = {f.name: [as_json(value, f) for value in rows(f)] for f in schema}
    height = max(map(len, columns.values()))
    return [{name: values[i % len(values)] for name, values in columns.items()} for i in range(height)]


def as_json(value: Any, field: Any) -> Any:
    """A value of an Arrow field as a record of JSON has it."""
    type_, is_ = field.type, pa.types
    if value is None:
        return None
    if field.metadata and field.metadata.get(b"ARROW:extension:name") == b"lance.blob.v2":
        return base64.b64encode(value["data"]).decode()
    if field.metadata and field.metadata.get(b"ARROW:extension:name") == b"lance.bfloat16":
        return 1.5
    if isinstance(type_, pa.BaseExtensionType):
        if type_.extension_name == "arrow.uuid":
            return str(uuid.UUID(bytes=value))
        if type_.extension_name == "arrow.json":
            return json.loads(value)
        if type_.extension_name == "arrow.fixed_shape_tensor":
            # Arrow makes the items of every tensor nullable.
            value = [item or 0.0 for item in value]
        return as_json(value, pa.field("x", type_.storage_type))
    if is_.is_dictionary(type_):
        return as_json(value, pa.field("x", type_.value_type))
    if is_.is_struct(type_):
        return {member.name: as_json(value[member.name], member) for member in type_.fields}
    if is_.is_map(type_):
        return {_key(as_json(k, type_.key_field)): as_json(v, type_.item_field) for k, v in value}
    if is_.is_nested(type_):
        return [as_json(item, type_.value_field) for item in value]
    return f"{_scalar(value)}Z" if is_.is_timestamp(type_) and type_.tz else _scalar(value)


def _key(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else dump(value)


def _scalar(value: Any) -> Any:
    match value:
        case bytes():
            return base64.b64encode(value).decode()
        case datetime.datetime():
            return value.isoformat()
        case datetime.date() | datetime.time():
            return value.isoformat()
        case datetime.timedelta():
            return int(value / datetime.timedelta(milliseconds=1))
        case Decimal():
            return int(value) if value == value.to_integral_value() else value.normalize()
    return value
