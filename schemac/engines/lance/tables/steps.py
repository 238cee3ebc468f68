"""The steps that change a Lance table, the filters that find the rows that they ask about, and the indices that they build again.

Layer: engines.
Shape: steps are ordered; each says what it costs, and what it does to ids, metadata and indices. Parameters of an index have the names
      that Lance's own functions give them. One that is not known here does not come back, and the plan says so.
Source: `describe_indices` and `index_stats` of pylance 14.0.2, held against indices built with every parameter
      (`tests/tables/test_indices.py`); DataFusion's `arrow_try_cast`, as pylance takes it (`tests/conformance/test_values.py` asks for
      every pair of types whether the filter finds exactly the rows that are in the way).
"""

import dataclasses
import enum
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa

from schemac.language.attributes.attribute import NUMBERS, Family
from schemac.language.constraints.constraint import Constraint, scale_of
from schemac.language.constraints.field_constraints import Bound, Enum, MultipleOf, Pattern, Size
from schemac.language.kinds.temporal import UNITS_BY_ARROW
from schemac.language.logical.model import SchemaField, is_in_structs
from schemac.text.source.json_object import Json
from schemac.versions.evolution.changes import Change, Outcome
from schemac.versions.evolution.constraints import ConstraintRule, constraint_of, verify_of
from schemac.versions.evolution.diff import clock_of
from schemac.versions.evolution.version_pair import SchemaVersion, VersionPair

MARK = "__schemac_"
"""Names that columns have while they cannot have their own begin with this."""


def new_column(number: int) -> str:
    """Return the reserved name of a column that is being written."""
    return f"{MARK}new_{number}"


IndexParameters = dict[str, Any]
"""Keyword arguments of the function of Lance that builds an index."""


@dataclass(frozen=True, slots=True)
class TableIndex:
    """An index of a table, with all that is needed to build it again."""

    name: str
    path: str
    """Of its field, as Lance writes it."""
    type: str
    parameters: IndexParameters = dataclasses.field(default_factory=dict)
    field_id: int = 0
    """The lock's id of the field, 0 for a field that the lock does not know."""
    lost: tuple[str, ...] = ()
    """Parameters that do not come back when it is built again."""


REWRITE, SWAP_IN, SET_SCHEMA = "rewrite", "swap in", "set schema"
"""Verbs: write a field anew, into files next to those that exist; bring all new fields into the table by one commit; do the rest by another."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a plan."""

    verb: str
    title: str
    """The path of the field, or what else the step is about."""
    description: str = ""
    """What it does."""
    cost: Outcome = Outcome.METADATA
    index: TableIndex | None = None
    """The index that it builds again; None if it builds none."""

    def describe(self) -> str:
        """Return what it does, for messages."""
        return self.description

    def to_json(self) -> Json:
        """Return the step for programs."""
        return {"cost": str(self.cost), "does": self.describe(), "field": self.title, "step": self.verb}


class CheckSubject(enum.Enum):
    """What a check asks of the values of a field."""

    FIT = enum.auto()
    """Each one has to fit the new type."""
    NULLS = enum.auto()
    """None may be null."""
    PLACE = enum.auto()
    """Where one is, the structs that the field moves into may not be null."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Check(Step):
    """A check of the rows before anything is changed."""

    verb: str = "check"
    cost: Outcome = Outcome.DATA
    question: str
    query: str = ""
    """A filter of Lance that finds the rows in question; empty if it has no words for them."""

    def describe(self) -> str:
        """Return the question, and the query that answers it, where Lance has one."""
        return f"{self.question}: rows where {self.query}" if self.query else self.question


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckStep(_Check):
    """A check of the values of a field."""

    field: SchemaField = dataclasses.field(repr=False, compare=False)
    subject: CheckSubject


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCheck(_Check):
    """A check that the rows keep a constraint after they are converted."""

    rule: ConstraintRule = dataclasses.field(repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class UncheckedRule(Step):
    """A constraint that cannot be checked, because another table is needed."""

    verb: str = "not checked"
    cost: Outcome = Outcome.DATA
    question: str


def ids_text(ids: Sequence[int]) -> str:
    """Return `-` for no ids, one id, or the lowest and the highest with a dash."""
    if not ids:
        return "-"
    return str(ids[0]) if len(ids) == 1 else f"{min(ids)}–{max(ids)}"


_PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_NUMBERS = NUMBERS | {Family.DECIMAL, Family.BOOLEAN}


def misfit_filter(pair: VersionPair, before: SchemaField, field: SchemaField) -> str:
    """Return the filter of rows whose value changes when it is cast to the new type and back; empty if Lance cannot express it."""
    old, new = _arrow_type(pair.old, before), _arrow_type(pair.new, field)
    # Lance's casts there and back keep to the rule for numbers, for durations, and for timestamps by one clock; but
    # DataFusion stops at a day that a timestamp does not reach, try or not.
    family = before.type.family
    is_asked_alike = {family, field.type.family} <= _NUMBERS
    if before.type.kind == field.type.kind:
        is_one_clock = family is Family.TIMESTAMP and clock_of(before, field) in ("", "UTC")
        is_asked_alike = is_asked_alike or is_one_clock or family is Family.DURATION
    if not is_in_structs(before) or not is_asked_alike:
        return ""
    there, back = _datafusion_type(new), _datafusion_type(old)
    if not there or not back:
        return ""
    name = column_name(before)
    # To DataFusion -0.0 is not 0, which is all that a number without a sign for it can give back.
    is_signed = before.type.family is Family.FLOAT and field.type.family is not Family.FLOAT
    itself = f"{name} + 0" if is_signed else name
    return f"arrow_try_cast(arrow_try_cast({name}, '{there}'), '{back}') IS DISTINCT FROM {itself}"


def null_filter(before: SchemaField) -> str:
    """Return the filter of rows where a field is null and the struct around it is not; empty for a field in a list or map."""
    if not is_in_structs(before):
        return ""
    around = f"{column_name(before.parent)} IS NOT NULL AND " if before.parent is not None else ""
    return f"{around}{column_name(before)} IS NULL"


def how_to_find(change: Change, pair: VersionPair | None) -> str:
    """Return the help for a new constraint: the filter of rows that break it if there is one, else the command that finds them."""
    constraint = constraint_of(change)
    query = ""
    if constraint is not None and pair is not None and change.old_field is not None:
        query = constraint_filter(pair, change.old_field, constraint)
    return f"find the rows with the filter `{query}`" if query else verify_of(change)


def constraint_filter(pair: VersionPair, before: SchemaField, constraint: Constraint) -> str:
    """Return the filter of rows that break a constraint of the new version; empty if Lance cannot express it.

    Values below lists and maps have no name in a filter.
    """
    type_ = _arrow_type(pair.old, before)
    is_named = is_in_structs(before) and not pa.types.is_nested(type_)
    # DataFusion reads no number as a decimal with a negative scale.
    if not is_named or before.type.type_text() != constraint.type.type_text() or scale_of(before.type) < 0:
        return ""
    name, word = column_name(before), _datafusion_type(type_) or _DATAFUSION_TIMES.get(str(type_), "")

    def value(one: Any) -> str:
        """Return a value of a constraint as a filter writes it."""
        if isinstance(one, str):
            return "'" + one.replace("'", "''") + "'"
        if isinstance(one, bool):
            return str(one).lower()
        text = f"'{one:f}'" if isinstance(one, Decimal) else repr(one)
        return f"arrow_cast({text}, '{word}')"

    is_text = before.type.family is Family.TEXT
    match constraint:
        case Bound() if word:
            is_nan = f" OR isnan({name})" if before.type.family is Family.FLOAT else ""
            return f"NOT ({name} {constraint.operator} {value(constraint.limit)}){is_nan}"
        case Enum() if word or is_text:
            return f"{name} NOT IN ({', '.join(map(value, constraint.values))})"
        case MultipleOf() if word and before.type.family is Family.INTEGER:
            return f"{name} % {value(constraint.divisor)} <> 0"
        case Size():
            # DataFusion counts bytes of texts only; as hexadecimal digits they are twice as many.
            length = f"character_length({name})" if is_text else f"character_length(encode({name}, 'hex'))"
            limit = constraint.limit if is_text else 2 * constraint.limit
            return f"{length} {'<' if constraint.is_lower else '>'} {limit}"
        case Pattern():
            return f"NOT regexp_like({name}, {value(constraint.pattern.text)})"
    return ""


_DATAFUSION_TIMES = {
    **{f"time32[{unit}]": f"Time32({UNITS_BY_ARROW[unit]})" for unit in ("s", "ms")},
    **{f"time64[{unit}]": f"Time64({UNITS_BY_ARROW[unit]})" for unit in ("us", "ns")},
}


def row_filter(ids: Sequence[int]) -> str:
    """Return the filter of rows with these row ids."""
    return f"_rowid IN ({', '.join(map(str, ids))})"


def column_name(field: SchemaField) -> str:
    """Return the path of a field as a filter of Lance writes it, with backticks where they are needed."""
    words = [str(segment) for segment in field.path]
    return ".".join(word if _PLAIN_NAME.fullmatch(word) else f"`{word}`" for word in words)


def _arrow_type(version: SchemaVersion, field: SchemaField) -> Any:
    """Return the Arrow type that a field of a version is lowered to."""
    return next(one.arrow.type for one in version.lowered.preorder() if one.field is field)


def _datafusion_type(type_: Any) -> str:
    """Return DataFusion's name of a type without parts; empty if none is known."""
    if pa.types.is_timestamp(type_):
        zone = f'Some("{type_.tz}")' if type_.tz else "None"
        return f"Timestamp({UNITS_BY_ARROW[type_.unit]}, {zone})"
    if pa.types.is_duration(type_):
        return f"Duration({UNITS_BY_ARROW[type_.unit]})"
    if pa.types.is_decimal(type_):
        return f"Decimal{type_.bit_width}({type_.precision}, {type_.scale})"
    return _DATAFUSION_TYPES.get(str(type_), "")


_DATAFUSION_TYPES = {
    **{f"{sign}int{bits}": f"{sign.upper()}Int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "halffloat": "Float16",
    "float": "Float32",
    "double": "Float64",
    "bool": "Boolean",
    "date32[day]": "Date32",
    "date64[ms]": "Date64",
}


INDICES_KEY = "schemac.indices"
"""Key of a table's configuration under which indices wait that are to be built again."""
_OF_VECTORS = frozenset(
    {
        *("max_connections", "construction_ef", "max_level", "num_bits", "num_sub_vectors"),
        *("lance.ivf.sample_rate", "lance.sq.sample_rate", "lance.pq.sample_rate", "lance.ivf.max_iters"),
        *("lance.pq.max_iters", "lance.ivf.shuffle_partition_batches", "lance.pq.kmeans_redos"),
        *("lance.ivf.shuffle_partition_concurrency", "lance.hnsw.prefetch_distance", "lance.skip_transpose"),
    }
)
"""Of graphs and compressions, and hints how an index was trained: not part of what it is, but needed to build the same index again."""
_RENAMED = {"max_connections": "m", "construction_ef": "ef_construction"}
"""Parameters whose names are not the last words of these."""
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


def noted_indices(dataset: Any) -> dict[str, TableIndex]:
    """Return the indices that a table's configuration notes, by name."""
    entries = json.loads(dataset.config().get(INDICES_KEY) or "[]")
    return {entry["name"]: TableIndex(**{**entry, "lost": tuple(entry.get("lost", ()))}) for entry in entries}


def note_indices(indices: Iterable[TableIndex]) -> str:
    """Return the note of indices in a table's configuration."""
    return json.dumps([asdict(index) for index in indices])


def indices_of(dataset: Any, lock_ids: Mapping[int, int]) -> Iterator[TableIndex]:
    """Yield the indices of a version, with the parameters that build them again; `lock_ids` has the lock's ids of fields by Lance's."""
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
            group = {**(details.get("hnsw") or {}), **compression, **(details.get("runtime_hints") or {})}
            known = {key: _hint_value(value) for key, value in group.items() if key in _OF_VECTORS}
            parameters |= {_RENAMED.get(key, key.rpartition(".")[2]): known[key] for key in known}
            lost |= group.keys() - _OF_VECTORS
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
        path, field_id = description.field_names[0], lock_ids.get(description.fields[0], 0)
        yield TableIndex(description.name, path, type_, set_parameters, field_id, tuple(sorted(lost)))


def _hint_value(value: Any) -> Any:
    """Return the value of a hint, which may be the text of a number or a boolean."""
    if value in ("true", "false"):
        return value == "true"
    return int(value) if isinstance(value, str) and value.isdigit() else value


def build_index(dataset: Any, index: TableIndex, path: str) -> None:
    """Build an index with its name and parameters on the field at a path."""
    parameters = dict(index.parameters)
    if index.type.upper().startswith("IVF"):
        dataset.create_index(path, index_type=index.type, name=index.name, replace=True, **parameters)
        return
    # Of all names, `create_scalar_index` takes this one otherwise than in capitals.
    type_: Any = "LABEL_LIST" if index.type == "LabelList" else index.type.upper()
    if index.type in _OF_STATISTICS and parameters:
        # Lance takes these in this form only.
        from lance.indices import IndexConfig

        type_, parameters = IndexConfig(index_type=type_.lower(), parameters=parameters), {}
    if "document_granularity" in parameters:
        from lance.dataset import DocumentGranularity

        parameters["document_granularity"] = DocumentGranularity(parameters["document_granularity"])
    dataset.create_scalar_index(path, type_, name=index.name, replace=True, **parameters)
