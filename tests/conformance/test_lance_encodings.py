"""Entries `lance-encoding:*` that the checks let through, Lance's writer takes; whatever stops it is refused."""

import json
from typing import Any

import lance
import pyarrow as pa
import pytest

import schemac
from schemac.engines.lance.arrow_form import ENCODING_PREFIX, properties_of
from schemac.engines.lance.attributes import BLOB, ENCODING
from schemac.language.attributes.arrow import METADATA

ROWS = 3000
TEXTS = (
    *(
        "abc",
        "",
        "-1",
        "0",
        "1",
        "2",
        "4096",
        "0.5",
        "1.0",
        "1.5",
        "1_0",
        " 5",
        "+5",
        "007",
        "1e2",
        "1e999",
        "nan",
    ),
    *("18446744073709551616", "true", "false", "on", "off", "auto", "none", "zstd", "lz4", "fsst", "gzip"),
    *("miniblock", "fullzip", "sparse"),
)
STRUCT = {"kind": "Struct", "fields": [{"name": "m", "type": "Int32"}, {"name": "n", "type": "Int32"}]}
WORDS = pa.array([f"word {i % 40}" for i in range(ROWS)])
NUMBERS = pa.array([float(i % 40) for i in range(ROWS)])
WITH = {
    "compression-level": {"compression": "zstd"},
    "dict-values-compression-level": {"dict-values-compression": "zstd"},
    "bss": {"compression": "zstd"},
}
"""Entries without which another one has no effect."""


def field(entry: str, text: str) -> dict[str, Any]:
    name = entry.removeprefix(ENCODING_PREFIX)
    others = {f"{ENCODING_PREFIX}{key}": value for key, value in WITH.get(name, {}).items()}
    type_: Any = {"packed": STRUCT, "bss": "Float64"}.get(
        name, "Binary" if name.startswith("blob") else "String"
    )
    extra: dict[str, Any] = {METADATA.key: {**others, entry: text}}
    if name.startswith("blob"):
        extra[BLOB.key] = {}
    return {"name": "x", "type": type_, "extra": extra}


def compiled(entry: str, text: str) -> schemac.Dataset | None:
    manifest = {"extra": {"lance.org/storageVersion": "2.3"}, "fields": [field(entry, text)]}
    try:
        (dataset,) = schemac.compile_text(json.dumps(manifest))
    except schemac.SchemaError:
        return None
    return dataset


def rows_of(dataset: schemac.Dataset) -> pa.Table:
    schema = dataset.to_arrow()
    if pa.types.is_struct(schema.field("x").type):
        return dataset.sample(50, seed=1)
    values = NUMBERS if pa.types.is_floating(schema.field("x").type) else WORDS
    return pa.Table.from_arrays([values], schema=schema)


@pytest.mark.parametrize("entry", [*properties_of(ENCODING), *properties_of(BLOB)])
def test_write_what_the_checks_accept(entry: str, tmp_path: Any) -> None:
    datasets = {text: dataset for text in TEXTS if (dataset := compiled(entry, text)) is not None}
    assert datasets
    assert "abc" not in datasets
    for text, dataset in datasets.items():
        rows = rows_of(dataset)
        path = tmp_path / text
        lance.write_dataset(rows, path, data_storage_version="2.3")
        assert lance.dataset(path).count_rows() == rows.num_rows, text
        if entry not in properties_of(BLOB):
            assert lance.dataset(path).to_table()["x"].to_pylist() == rows["x"].to_pylist(), text


@pytest.mark.parametrize(("name", "text"), [("dict-max-size", "abc"), ("dict-size-ratio", "0")])
def test_refuse_what_ends_the_writer(name: str, text: str, tmp_path: Any) -> None:
    entry = f"{ENCODING_PREFIX}{name}"
    rows = pa.Table.from_arrays(
        [WORDS], schema=pa.schema([pa.field("x", pa.string(), metadata={entry: text})])
    )
    with pytest.raises(BaseException, match=name):
        lance.write_dataset(rows, tmp_path / "t")
    assert compiled(entry, text) is None


@pytest.mark.parametrize(
    ("type_", "entries", "kept"),
    [
        (pa.string(), {"compresion": "zstd"}, {}),
        (pa.string(), {"compression": "zstd", "dict-max-size": "abc"}, {"compression": "zstd"}),
        (pa.string(), {"compression-level": "3"}, {}),
        (pa.string(), {"dict-max-size": "007"}, {"dict-max-size": "007"}),
    ],
)
def test_import_without_what_lance_does_not_read(
    type_: pa.DataType, entries: dict[str, str], kept: dict[str, str]
) -> None:
    """What is left out is named, and what is kept is there as it was."""
    metadata = {f"{ENCODING_PREFIX}{name}": text for name, text in entries.items()}
    dataset = schemac.from_arrow(pa.schema([pa.field("x", type_, metadata=metadata)]))
    found = dataset.to_arrow().field("x").metadata or {}
    assert {key.decode(): value.decode() for key, value in found.items()} == {
        f"{ENCODING_PREFIX}{name}": text for name, text in kept.items()
    }
    assert [w.message.split("`")[1] for w in dataset.warnings] == [
        f"{ENCODING_PREFIX}{name}: {text}" for name, text in entries.items() if name not in kept
    ]
