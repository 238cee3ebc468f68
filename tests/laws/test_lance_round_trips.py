"""Manifests there and back through Lance: its schema messages, and real tables."""

import json
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
from hypothesis import assume, given
from lance.schema import LanceSchema

import schemac
from schemac import Dataset
from schemac.engines.lance.artifact import to_arrow, to_bytes, to_message
from tests.conformance.oracle import split
from tests.effort import law
from tests.laws.shapes import kept, shapes
from tests.laws.strategies import texts

QUICK = law(60)
FEW = law(12)


def taken(text: str) -> Dataset:
    """The dataset of a manifest that Lance takes."""
    (dataset,) = schemac.compile_text(text)
    assume(dataset.schema.fields)
    try:
        dataset.to_lance()
    except schemac.SchemaError:
        assume(False)
    return dataset


def as_lance_reads(message: bytes) -> pa.Schema:
    """The Arrow schema that Lance makes of a message."""
    metadata, fields = split(message)
    texts = {key.decode(): list(value) for key, value in metadata.items()}
    return _with_json(LanceSchema._from_protos(json.dumps(texts), *fields).to_pyarrow())


def _with_json(schema: pa.Schema) -> pa.Schema:
    """A schema of Lance's shows JSON as its storage, where a table shows Arrow's type."""

    def field(f: pa.Field) -> pa.Field:
        metadata: dict[bytes, bytes] = dict(f.metadata or {})
        if metadata.get(b"ARROW:extension:name") == b"lance.json":
            metadata = {k: v for k, v in metadata.items() if not k.startswith(b"ARROW:extension:")}
            return pa.field(f.name, pa.json_(pa.string()), f.nullable, metadata or None)
        return f.with_type(type_of(f.type))

    def type_of(t: Any) -> pa.DataType:
        if isinstance(t, pa.BaseExtensionType):
            return t
        if pa.types.is_struct(t):
            return pa.struct([field(member) for member in t])
        if pa.types.is_map(t):
            return pa.map_(field(t.key_field), field(t.item_field))
        if pa.types.is_fixed_size_list(t):
            return pa.list_(field(t.value_field), t.list_size)
        if pa.types.is_large_list(t):
            return pa.large_list(field(t.value_field))
        return pa.list_(field(t.value_field)) if pa.types.is_list(t) else t

    return pa.schema([field(f) for f in schema], schema.metadata)


@QUICK
@given(texts())
def test_read_messages_as_lance_does(text: str) -> None:
    dataset = taken(text)
    message = to_bytes(to_message(dataset._compilation.lowered))
    assert shapes(to_arrow(dataset.to_lance())) == shapes(as_lance_reads(message))


@QUICK
@given(texts())
def test_go_from_manifest_to_lance_and_back(text: str) -> None:
    dataset = taken(text)
    again = schemac.from_arrow(to_arrow(dataset.to_lance()), name=dataset.name)
    assert again.to_lance() == dataset.to_lance()
    assert again.losses("lance") == ()
    assert kept(dataset, "lance", again) == []


@FEW
@given(texts())
def test_go_from_manifest_to_a_table_and_back(tmp_path_factory: Any, text: str) -> None:
    dataset = taken(text)
    path: Path = tmp_path_factory.mktemp("table") / "t.lance"
    lance.LanceDataset.commit(path, lance.LanceOperation.Overwrite(dataset.to_arrow(), []))
    again = schemac.from_lance(path, name=dataset.name)
    assert again.to_lance() == dataset.to_lance()
