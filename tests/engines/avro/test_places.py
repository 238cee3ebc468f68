"""Every type in every place: fastavro writes and reads values of it, and the importer gives the manifest back."""

import json
from datetime import date
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import schemac
from schemac.cli.main import main
from schemac.engines.avro import AVRO_TYPE
from tests.conformance.arrow_values import rows
from tests.engines.avro.test_avro import _plain
from tests.engines.crossing import PLACES, held, lossy, refused, title

fastavro = pytest.importorskip("fastavro")


def document(dataset: schemac.Dataset) -> Any:
    return json.loads(dataset.artifacts("avro")["avro/schema.avsc"])


def as_avro(value: Any, field: Any) -> Any:
    """A value of an Arrow field as fastavro takes it, with times as counts."""
    type_, is_ = field.type, pa.types
    if value is None:
        return None
    if field.metadata and field.metadata.get(b"ARROW:extension:name") == b"lance.blob.v2":
        return value["data"]
    if field.metadata and field.metadata.get(b"ARROW:extension:name") == b"lance.bfloat16":
        return 1.5
    if isinstance(type_, pa.BaseExtensionType):
        if type_.extension_name == "arrow.fixed_shape_tensor":
            value = [item or 0.0 for item in value]
        return as_avro(value, pa.field("x", type_.storage_type))
    if is_.is_dictionary(type_):
        return as_avro(value, pa.field("x", type_.value_type))
    if is_.is_struct(type_):
        return {member.name: as_avro(value[member.name], member) for member in type_.fields}
    if is_.is_map(type_):
        pairs = [(as_avro(k, type_.key_field), as_avro(v, type_.item_field)) for k, v in value]
        is_plain = is_.is_string(type_.key_type) or is_.is_large_string(type_.key_type)
        is_plain = is_plain or is_.is_string_view(type_.key_type) or _is_text(type_.key_type)
        return dict(pairs) if is_plain else [{"key": k, "value": v} for k, v in pairs]
    if is_.is_nested(type_):
        return [as_avro(item, type_.value_field) for item in value]
    if is_.is_date64(type_):
        return (value - date(1970, 1, 1)).days
    if is_.is_temporal(type_):
        return pa.scalar(value, type_).cast(pa.int64() if type_.bit_width == 64 else pa.int32()).as_py()
    return Decimal(value) if is_.is_uint64(type_) else value


def _is_text(type_: Any) -> bool:
    if isinstance(type_, pa.BaseExtensionType):
        return bool(type_.extension_name == "arrow.json")
    return bool(pa.types.is_dictionary(type_) and "string" in str(type_.value_type))


@pytest.mark.parametrize("place", PLACES)
def test_write_and_read_values(place: str) -> None:
    """Refused are decimals whose scale Avro does not have; nothing else."""
    why = refused("avro", place)
    assert set(why.values()) == {AVRO_TYPE.id}
    assert {title(name) for name in why} <= {
        "Decimal with negative scale",
        "Decimal with negative scale and 76 digits",
        "Decimal with scale above precision",
    }
    dataset = held("avro", place)
    schema = fastavro.parse_schema(_plain(document(dataset)))
    fastavro.parse_schema(document(dataset))
    arrow = dataset.to_arrow()
    columns = {field.name: [as_avro(value, field) for value in rows(field)] for field in arrow}
    for i in range(max(map(len, columns.values()))):
        record = {name: values[i % len(values)] for name, values in columns.items()}
        buffer = BytesIO()
        fastavro.schemaless_writer(buffer, schema, record)
        buffer.seek(0)
        assert fastavro.schemaless_reader(buffer, schema, schema) == record


@pytest.mark.parametrize("place", PLACES)
def test_import_what_was_written(place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same schema is built from it; where nothing was lost, the manifest is the same."""
    dataset = held("avro", place)
    (tmp_path / "crossed.avsc").write_bytes(dataset.artifacts("avro")["avro/schema.avsc"])
    assert main(["import", str(tmp_path / "crossed.avsc")]) == 0
    (again,) = schemac.compile_text(capsys.readouterr().out)
    assert document(again) == document(dataset)
    lost = lossy(dataset, "avro")
    before = {field.name: field for field in dataset.schema.fields if field.name not in lost}
    after = {field.name: field for field in again.schema.fields if field.name not in lost}
    changed = {str(change.path).partition(".")[0] for change in schemac.diff(dataset, again)} - lost
    assert {title(name) for name in changed} == set()
    assert before.keys() == after.keys()
