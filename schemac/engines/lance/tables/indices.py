"""The indices of a Lance table, with all that is needed to build them again.

Layer: engines.
Shape: parameters under the names that Lance's own functions give them. One that is not known here does not come back, and
the plan says so.
Source: `describe_indices` and `index_stats` of pylance 14.0.2, held against indices built with every parameter
(`tests/tables/test_indices.py`).
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from schemac.engines.lance.tables.steps import Index, IndexParameters

INDICES_KEY = "schemac.indices"
"""Key of a table's configuration under which indices wait that are to be built again."""
_SCALAR_TYPES = {
    "LabelList": "LABEL_LIST",
    "NGram": "NGRAM",
    "ZoneMap": "ZONEMAP",
    "BloomFilter": "BLOOMFILTER",
}
"""Lance's names of types as `create_scalar_index` needs them, where they differ by more than case."""
_OF_GRAPH = {"max_connections": "m", "construction_ef": "ef_construction", "max_level": "max_level"}
_OF_COMPRESSION = {"num_bits": "num_bits", "num_sub_vectors": "num_sub_vectors"}
_OF_HINTS = {
    "lance.ivf.sample_rate": "sample_rate",
    "lance.sq.sample_rate": "sample_rate",
    "lance.pq.sample_rate": "sample_rate",
    "lance.ivf.max_iters": "max_iters",
    "lance.pq.max_iters": "max_iters",
    "lance.ivf.shuffle_partition_batches": "shuffle_partition_batches",
    "lance.ivf.shuffle_partition_concurrency": "shuffle_partition_concurrency",
    "lance.pq.kmeans_redos": "kmeans_redos",
    "lance.hnsw.prefetch_distance": "prefetch_distance",
    "lance.skip_transpose": "skip_transpose",
}
"""How an index was trained: not part of what it is, but needed to build the same index again."""
_OF_TEXTS = frozenset(
    {
        "lance_tokenizer",
        "base_tokenizer",
        "language",
        "with_position",
        "max_token_length",
        "lower_case",
        "stem",
        "remove_stop_words",
        "custom_stop_words",
        "ascii_folding",
        "min_ngram_length",
        "max_ngram_length",
        "prefix_only",
        "block_size",
        "split_identifiers",
        "split_on_numerics",
        "preserve_original",
        "index_operators",
        "document_granularity",
    }
)
_UNLIMITED = frozenset({"max_token_length"})
"""Parameters that may be None, and are something else where they are left out."""
_OF_STATISTICS = {"ZoneMap": ("rows_per_zone",), "BloomFilter": ("number_of_items", "probability")}
"""Parameters that statistics alone tell."""
_ROWS_OF_A_PAGE = 4096


def noted_indices(dataset: Any) -> dict[str, Index]:
    """Return the indices that a table's configuration notes, by name."""
    entries = json.loads(dataset.config().get(INDICES_KEY) or "[]")
    return {entry["name"]: Index(**{**entry, "lost": tuple(entry.get("lost", ()))}) for entry in entries}


def note_of(indices: Iterable[Index]) -> str:
    """Return the note of indices in a table's configuration."""
    return json.dumps([asdict(index) for index in indices])


def indices_of(dataset: Any) -> Iterator[Index]:
    """All present indices."""
    for description in dataset.describe_indices():
        details = description.details or {}
        type_ = description.index_type
        statistics = dataset.stats.index_stats(description.name)["indices"][0]
        lost: set[str] = set()
        if "metric_type" in details:
            parameters = _of_vectors(details, statistics, lost)
        elif type_ == "Inverted":
            parameters = {key: value for key, value in details.items() if key in _OF_TEXTS}
            # The details leave them out.
            parameters["custom_stop_words"] = statistics.get("params", {}).get("custom_stop_words")
            lost |= details.keys() - _OF_TEXTS
        else:
            parameters = {key: statistics[key] for key in _OF_STATISTICS.get(type_, ()) if key in statistics}
            # Nothing tells the size of a tree's pages; where there are more of them than by default it was set.
            has_more = statistics.get("num_pages", 0) > max(1, -(-dataset.count_rows() // _ROWS_OF_A_PAGE))
            lost |= details.keys() | ({"zone_size"} if type_ == "BTree" and has_more else set())
        set_parameters = {k: value for k, value in parameters.items() if value is not None or k in _UNLIMITED}
        yield Index(
            description.name, description.field_names[0], type_, set_parameters, lost=tuple(sorted(lost))
        )


def _of_vectors(details: Mapping[str, Any], statistics: Mapping[str, Any], lost: set[str]) -> IndexParameters:
    parameters: IndexParameters = {"metric": str(details["metric_type"]).lower()}
    parameters["num_partitions"] = statistics.get("num_partitions")
    compression = dict(details.get("compression") or {})
    if compression.pop("type", None) == "rq":
        # Another rotation cannot be asked for in words.
        compression.pop("rotation_type", None)
    for group, names in (
        (details.get("hnsw") or {}, _OF_GRAPH),
        (compression, _OF_COMPRESSION),
        (details.get("runtime_hints") or {}, _OF_HINTS),
    ):
        lost |= group.keys() - names.keys()
        parameters.update({names[key]: _number(value) for key, value in group.items() if key in names})
    lost |= details.keys() - {"metric_type", "hnsw", "compression", "runtime_hints"}
    return parameters


def _number(value: Any) -> Any:
    """Hints are texts."""
    if value in ("true", "false"):
        return value == "true"
    return int(value) if isinstance(value, str) and value.isdigit() else value


def build(dataset: Any, index: Index, path: str) -> None:
    """Build an index as it was, on the field at a path."""
    parameters = dict(index.parameters)
    if index.type.upper().startswith("IVF"):
        dataset.create_index(path, index_type=index.type, name=index.name, replace=True, **parameters)
        return
    type_: Any = _SCALAR_TYPES.get(index.type, index.type.upper())
    if index.type in _OF_STATISTICS and parameters:
        # Lance takes these in this form only.
        from lance.indices import IndexConfig

        type_, parameters = IndexConfig(index_type=type_.lower(), parameters=parameters), {}
    if "document_granularity" in parameters:
        from lance.dataset import DocumentGranularity

        parameters["document_granularity"] = DocumentGranularity(parameters["document_granularity"])
    dataset.create_scalar_index(path, type_, name=index.name, replace=True, **parameters)
