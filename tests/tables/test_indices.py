"""Every kind of index with every parameter that Lance tells of, through a change that takes its field away."""

import random
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
from lance.dataset import DocumentGranularity
from lance.indices import IndexConfig

from schemac.engines.lance.tables.apply import apply_plan
from schemac.engines.lance.tables.plan import plan
from schemac.engines.lance.tables.steps import indices_of
from schemac.text.source.diagnostics import Report
from schemac.versions.evolution.version_pair import locked_schema_version
from schemac.versions.identity.lock import LockedDataset
from tests.tables.test_apply import field
from tests.tables.test_oracle import QUIET, locked, opened

LARGE = {"arrow.apache.org/bufferEncoding": {"kind": "Contiguous", "offsetBitWidth": 64}}
LISTS: dict[str, Any] = {"kind": "List", "itemType": "String"}


def vector(item: str) -> dict[str, Any]:
    return {"kind": "List", "itemType": item, "fixedLength": 8}


OLD = [field("Int32", "k"), field("String", "s"), field(LISTS, "l"), field(vector("Float32"), "v")]
NEW = [
    field("Int64", "k"),
    field("String", "s", **LARGE),
    field(LISTS, "l", **LARGE),
    field(vector("Float64"), "v"),
]
TEXTS: list[dict[str, Any]] = [
    {"with_position": True, "stem": False, "remove_stop_words": False, "ascii_folding": False, "max_token_length": 20},
    {"max_token_length": None},
    {"base_tokenizer": "ngram", "min_ngram_length": 2, "max_ngram_length": 4, "prefix_only": True},
    {"custom_stop_words": ["foo"], "language": "German", "lower_case": False, "block_size": 256},
    {"base_tokenizer": "code", "split_identifiers": True, "split_on_numerics": True, "preserve_original": True, "index_operators": True},
]  # fmt: skip
VECTORS: dict[str, dict[str, Any]] = {
    "IVF_FLAT": {"metric": "dot"},
    "IVF_SQ": {"sample_rate": 100, "max_iters": 20},
    "IVF_PQ": {"num_sub_vectors": 2, "num_bits": 4, "metric": "cosine"},
    "IVF_RQ": {"num_bits": 3},
    "IVF_HNSW_FLAT": {"m": 11, "ef_construction": 78},
    "IVF_HNSW_PQ": {"m": 12, "ef_construction": 79, "num_sub_vectors": 2, "max_level": 4},
    "IVF_HNSW_SQ": {"m": 10, "ef_construction": 77},
}


def config(kind: str, **parameters: Any) -> IndexConfig:
    return IndexConfig(index_type=kind, parameters=parameters)


@pytest.fixture
def table(tmp_path: Path) -> tuple[str, LockedDataset]:
    lock, path = locked([{"fields": OLD}, {"fields": NEW}]), str(tmp_path / "t.lance")
    chance = random.Random(1)
    rows = [
        {
            "k": i,
            "s": f"hello w{i % 7} foo",
            "l": ["a", f"b{i % 3}"],
            "v": [chance.random() for _ in range(8)],
        }
        for i in range(300)
    ]
    data = lance.write_dataset(
        pa.Table.from_pylist(rows, locked_schema_version(lock, 1).lowered.to_arrow()), path
    )
    for number, parameters in enumerate(TEXTS):
        data.create_scalar_index("s", "INVERTED", name=f"text_{number}", **parameters)
    data.create_scalar_index("s", "NGRAM", name="ngram")
    data.create_scalar_index("s", "BITMAP", name="bitmap")
    data.create_scalar_index("l", "LABEL_LIST", name="labels")
    data.create_scalar_index(
        "l", "INVERTED", name="items", document_granularity=DocumentGranularity.LIST_ELEMENT
    )
    data.create_scalar_index("k", "BTREE", name="tree")
    data.create_scalar_index("k", config("zonemap", rows_per_zone=100), name="zones")
    data.create_scalar_index("k", config("bloomfilter", number_of_items=200, probability=0.01), name="bloom")
    for kind, parameters in VECTORS.items():
        data.create_index("v", kind, name=kind.lower(), num_partitions=2, **parameters)
    return path, lock


def details(path: str) -> dict[str, Any]:
    """All that Lance tells, but for what the data makes of it."""
    data = lance.dataset(path)
    kept = {index.name: (index.type, index.parameters, index.lost) for index in indices_of(data, {})}
    return {d.name: (d.index_type, d.details, d.field_names, kept[d.name]) for d in data.describe_indices()}


def test_build_indices_as_they_were(table: tuple[str, LockedDataset]) -> None:
    path, lock = table
    before, report = details(path), Report()
    assert len(before) == len(TEXTS) + len(VECTORS) + 7
    made = plan(opened(path, lock), locked_schema_version(lock, 2), report)
    assert made is not None, report.diagnostics
    assert {step.verb for step in made.steps} >= {"drop index", "build index"}
    assert apply_plan(made, report, QUIET), report.diagnostics
    assert details(path) == before
    assert lance.dataset(path).to_table(full_text_query="foo").num_rows in (0, 300)


def test_name_what_does_not_come_back(tmp_path: Path) -> None:
    """Lance does not tell how large the pages of a tree are."""
    lock, path = locked([{"fields": OLD[:1]}, {"fields": NEW[:1]}]), str(tmp_path / "t.lance")
    data = lance.write_dataset(
        pa.table({"k": pa.array(range(600), pa.int32())}, locked_schema_version(lock, 1).lowered.to_arrow()),
        path,
    )
    data.create_scalar_index("k", config("btree", zone_size=100), name="tree")
    made = plan(opened(path, lock), locked_schema_version(lock, 2), Report())
    assert made is not None
    assert "settings zone_size are lost" in made.steps[-1].describe()
