"""The steps that change a Lance table, and the indices that they build again.

Layer: engines. Values only.
Shape: steps are ordered; each says what it costs, and what it does to ids, metadata and indices. Parameters of an index have the names
      that Lance's own functions give them. One that is not known here does not come back, and the plan says so.
Source: `describe_indices` and `index_stats` of pylance 14.0.2, held against indices built with every parameter
      (`tests/tables/test_indices.py`).
"""

import dataclasses
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from enum import Enum, auto
from typing import Any, ClassVar

from schemac.language.logical.schema_fields import SchemaField
from schemac.text.source.json_object import Json
from schemac.versions.evolution.changes import Outcome
from schemac.versions.evolution.constraints import Rule

MARK = "__schemac_"
"""Names that columns have while they cannot have their own begin with this."""


IndexParameters = dict[str, Any]
"""Keyword arguments of the function of Lance that builds an index."""


@dataclass(frozen=True, slots=True)
class Index:
    """An index of a table, with all that is needed to build it again."""

    name: str
    path: str
    """Of its field, as Lance writes it."""
    type: str
    parameters: IndexParameters = dataclasses.field(default_factory=dict)
    field_id: int = 0
    """The lock's id of the field, once it is known; it stays when the field gets another name."""
    lost: tuple[str, ...] = ()
    """Parameters that do not come back when it is built again."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step; the subclasses are all that there are."""

    title: str
    """The field, or what the step is about."""

    cost: Outcome = Outcome.METADATA

    verb: ClassVar[str]
    """The step in a word."""

    def describe(self) -> str:
        """Return what it does, for people."""
        return ""

    def to_json(self) -> Json:
        """Return the step for programs."""
        return {"cost": str(self.cost), "does": self.describe(), "field": self.title, "step": self.verb}


class Subject(Enum):
    """What a check asks of the values of a field."""

    FIT = auto()
    """Each one has to fit the new type."""
    NULLS = auto()
    """None may be null."""
    RULE = auto()
    """They have to keep a constraint."""
    PLACE = auto()
    """Where one is, the structs that the field moves into may not be null."""


@dataclass(frozen=True, slots=True)
class Check(Step):
    """Look at the data before anything is changed."""

    verb = "check"
    cost: Outcome = Outcome.DATA
    question: str = ""
    query: str = ""
    """A filter of Lance that finds the rows in question; empty if it has no words for them."""
    field: SchemaField | None = dataclasses.field(default=None, repr=False, compare=False)
    subject: Subject = Subject.FIT
    rule: Rule | None = dataclasses.field(default=None, repr=False, compare=False)
    """The constraint, if it is about one."""

    def describe(self) -> str:
        """Return the question, and the query that answers it, where Lance has one."""
        return f"{self.question}: rows where {self.query}" if self.query else self.question


@dataclass(frozen=True, slots=True)
class Unlooked(Step):
    """A constraint that cannot be checked, because another table is needed."""

    verb = "not checked"
    cost: Outcome = Outcome.DATA
    dataset: str = ""
    question: str = ""

    def describe(self) -> str:
        """Return what is not looked at, and how it can be."""
        return f"{self.question}, and this is not checked; name that table with `--reference {self.dataset}=PATH`"


@dataclass(frozen=True, slots=True)
class Rewrite(Step):
    """Write a field anew, into files next to those that exist; nothing shows of it before the swap."""

    verb = "rewrite"
    cost: Outcome = Outcome.REWRITE
    field: SchemaField | None = dataclasses.field(default=None, repr=False, compare=False)
    before: str = ""
    after: str = ""
    ids: tuple[int, ...] = ()
    old_ids: tuple[int, ...] = ()

    def describe(self) -> str:
        """Return the types and ids."""
        if not self.before:
            return f"{self.after} is written with nulls, so that the files show in which rows its struct or list is null; id {_range(self.ids)}"
        was = f"{_range(self.old_ids)} → " if self.old_ids else ""
        return f"{self.before} → {self.after}, written into new files; id {was}{_range(self.ids)}"


@dataclass(frozen=True, slots=True)
class Add(Step):
    """Add fields of nulls, with the ids that the lock gives them."""

    verb = "add"
    fields: tuple[SchemaField, ...] = dataclasses.field(default=(), repr=False, compare=False)
    ids: tuple[int, ...] = ()

    def describe(self) -> str:
        """Return the ids."""
        return f"existing rows read as null; id {_range(self.ids)}; no data is written"


@dataclass(frozen=True, slots=True)
class DropIndex(Step):
    """Drop an index together with its field."""

    verb = "drop index"
    index: Index | None = None
    is_rebuilt: bool = True

    def describe(self) -> str:
        """Which one."""
        assert self.index is not None
        again = "it is rebuilt at the end" if self.is_rebuilt else "its field is dropped"
        return f"{self.index.type} index {self.index.name}; {again}"


@dataclass(frozen=True, slots=True)
class Swap(Step):
    """One commit that adds all new fields to the table, and removes those that they replace."""

    verb = "swap in"
    details: tuple[str, ...] = ()

    def describe(self) -> str:
        """Return what changes by it."""
        return "; ".join(("one commit, unless rows were written since they were made", *self.details))


@dataclass(frozen=True, slots=True)
class SetSchema(Step):
    """One commit that sets every field's name, place, nullability and metadata, and removes dropped ones."""

    verb = "set schema"
    details: tuple[str, ...] = ()

    def describe(self) -> str:
        """Return what changes by it."""
        return f"one commit, no data is rewritten: {'; '.join(self.details) or 'metadata'}"


@dataclass(frozen=True, slots=True)
class BuildIndex(Step):
    """Build an index again."""

    verb = "build index"
    cost: Outcome = Outcome.REWRITE
    index: Index | None = None

    def describe(self) -> str:
        """Which one."""
        assert self.index is not None
        lost = (
            f"; its settings {', '.join(self.index.lost)} are lost, because schemac does not know them"
            if self.index.lost
            else ""
        )
        return f"{self.index.type} index {self.index.name}{lost}"


def _range(ids: tuple[int, ...]) -> str:
    """Return `-` for no ids, one id, or the lowest and the highest with a dash."""
    if not ids:
        return "-"
    return str(ids[0]) if len(ids) == 1 else f"{min(ids)}–{max(ids)}"


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
        *("lance_tokenizer", "base_tokenizer", "language", "with_position", "max_token_length"),
        *("lower_case", "stem", "remove_stop_words", "custom_stop_words", "ascii_folding"),
        *("min_ngram_length", "max_ngram_length", "prefix_only", "block_size", "split_identifiers"),
        *("split_on_numerics", "preserve_original", "index_operators", "document_granularity"),
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
        parameters: IndexParameters
        if "metric_type" in details:
            parameters = {"metric": str(details["metric_type"]).lower()}
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
                parameters |= {names[key]: _number(value) for key, value in group.items() if key in names}
            lost |= details.keys() - {"metric_type", "hnsw", "compression", "runtime_hints"}
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
