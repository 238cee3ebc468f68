"""Compatibility of changes with Paimon tables, and the casts that Paimon makes of a column whose type was changed.

Layer: engines.
Shape: judged by what Paimon has at a field before and after, for many kinds are one type there. A table with data is meant; files stay
      as they are, fields are found by their ids and values are cast when they are read. Types with parts are not cast; what they are
      made of is.
Source: `SchemaManager`, `DataTypeCasts` and `CastExecutors` of github.com/apache/paimon, measured with 0.9.0 (a change is taken where
      the rules allow it and something can carry it out), and pypaimon 2.1.0 for what it reads afterwards
      (`tests/conformance/pypaimon/test_evolution.py`).
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

from schemac.engines.paimon import changes, options
from schemac.engines.paimon.attributes import PaimonFact
from schemac.engines.paimon.live_table import errors_of, paimon_types, table_schema
from schemac.engines.paimon.types import BITS, LONGEST, PARTS, PaimonType
from schemac.language.logical.facts import AnyFact, Fact
from schemac.language.logical.model import SchemaField
from schemac.versions.evolution.castability import is_doubtful
from schemac.versions.evolution.changes import (
    DATASET_FACTS,
    DESCRIPTION_FACTS,
    METADATA,
    PROPERTY_FACTS,
    SAFE,
    TYPE_FACTS,
    Change,
    Judgement,
    Outcome,
    depends_on_data,
    of_another_unit,
    refused,
)
from schemac.versions.evolution.constraints import TIGHTENED, tightened
from schemac.versions.evolution.judge import Judge, Rule, guarded, make_optional
from schemac.versions.evolution.version_pair import VersionPair


class CastRule(IntEnum):
    """Whether Paimon casts a type to another."""

    NONE = 0
    """Not at all."""
    EXPLICIT = 1
    """Where the table does not forbid it by `disable-explicit-type-casting`."""
    IMPLICIT = 2
    """Always; which does not mean that every value fits."""


_MANTISSA = {"FLOAT": 24, "DOUBLE": 53}
_INTEGERS = frozenset(BITS)
_NUMBERS = frozenset({*BITS, *_MANTISSA, "DECIMAL"})
_TEXTS = frozenset({"CHAR", "VARCHAR"})
_BYTES = frozenset({"BINARY", "VARBINARY"})
_TIMESTAMPS = frozenset({"TIMESTAMP", "TIMESTAMP_LTZ"})
_TIMES = frozenset({"DATE", "TIME", *_TIMESTAMPS})

_WIDENING = ("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL")
_IMPLICIT: dict[str, frozenset[str]] = {
    **{root: frozenset(_WIDENING[place:]) for place, root in enumerate(_WIDENING, 1)},
    "DECIMAL": frozenset({"FLOAT", "DOUBLE"}),
    **dict.fromkeys(("BOOLEAN", "VARCHAR", "VARBINARY", "DATE", "TIME"), frozenset()),
    "CHAR": frozenset({"VARCHAR"}),
    "BINARY": frozenset({"VARBINARY"}),
    "TIMESTAMP": frozenset({"DATE", "TIME", "TIMESTAMP_LTZ"}),
    "TIMESTAMP_LTZ": frozenset({"TIMESTAMP"}),
}
"""Besides the type's own root, whatever its parameters."""
_EXPLICIT: dict[str, frozenset[str]] = {
    "BOOLEAN": _NUMBERS | _TEXTS,
    **dict.fromkeys(("TINYINT", "SMALLINT"), _INTEGERS | _TEXTS | {"BOOLEAN"}),
    **dict.fromkeys(("INT", "BIGINT"), _INTEGERS | _TEXTS | _TIMESTAMPS | {"BOOLEAN"}),
    "FLOAT": _INTEGERS | _TEXTS,
    "DOUBLE": _INTEGERS | _TEXTS | {"FLOAT"},
    "DECIMAL": _INTEGERS | _TEXTS,
    **dict.fromkeys(_TEXTS, _NUMBERS | _BYTES | _TIMES | {"BOOLEAN", "CHAR"}),
    **dict.fromkeys(_BYTES, _TEXTS | {"BINARY"}),
    **dict.fromkeys(("DATE", "TIME"), _TIMESTAMPS | {"VARCHAR"}),
    "TIMESTAMP": frozenset({"INT", "BIGINT", "VARCHAR"}),
    "TIMESTAMP_LTZ": frozenset({"INT", "BIGINT", "DATE", "TIME", "VARCHAR"}),
}
_TEXT_LENGTH = {
    "BOOLEAN": 5,
    "TINYINT": 4,
    "SMALLINT": 6,
    "INT": 11,
    "BIGINT": 20,
    "DECIMAL": 40,
    **dict.fromkeys(_MANTISSA, 32),
    "DATE": 10,
    "TIME": 12,
    **dict.fromkeys(_TIMESTAMPS, 29),
}
"""Characters that every value of a root can be written in."""


def cast(old: PaimonType, new: PaimonType) -> CastRule:
    """Return how one type without parts becomes the other."""
    if old.root not in _IMPLICIT:
        return CastRule.IMPLICIT if old.type_text() == new.type_text() else CastRule.NONE
    if old.root == new.root or new.root in _IMPLICIT[old.root]:
        return CastRule.IMPLICIT
    if new.root not in _EXPLICIT[old.root]:
        return CastRule.NONE
    is_cut = old.root in _TIMES and new.root == "VARCHAR" and new.parameters[0] < _TEXT_LENGTH[old.root]
    return CastRule.NONE if is_cut else CastRule.EXPLICIT


def is_lossless(old: PaimonType, new: PaimonType) -> bool:
    """Whether every value of a castable type has its like in the other."""
    if old.root == new.root:
        if old.root == "DECIMAL":
            (precision, scale), (new_precision, new_scale) = old.parameters, new.parameters
            return new_scale >= scale and new_precision - new_scale >= precision - scale
        if old.root == "BINARY":
            # Shorter values are filled up with zeros.
            return old.parameters == new.parameters
        return all(was <= is_ for was, is_ in zip(old.parameters, new.parameters, strict=True))
    if new.root in _TEXTS:
        longest = old.parameters[0] if old.root in _TEXTS else _TEXT_LENGTH.get(old.root, LONGEST + 1)
        return new.root == "VARCHAR" and new.parameters[0] >= longest
    if old.root in _TEXTS:
        return (new.root, new.parameters) == ("VARBINARY", (LONGEST,))
    if old.root in _INTEGERS:
        bits = BITS[old.root]
        if new.root in BITS:
            return BITS[new.root] >= bits
        if new.root in _MANTISSA:
            return _MANTISSA[new.root] >= bits - 1
        return new.root == "DECIMAL" and new.parameters[0] - new.parameters[1] >= len(str(2 ** (bits - 1)))
    if old.root == "BOOLEAN":
        return new.root != "DECIMAL" or new.parameters[0] > new.parameters[1]
    if (old.root, new.root) in (("FLOAT", "DOUBLE"), ("DATE", "TIMESTAMP")):
        return True
    return (old.root, new.root) == ("BINARY", "VARBINARY") and new.parameters[0] >= old.parameters[0]


OPTION_FACTS = frozenset({PaimonFact.OPTION_SET, PaimonFact.OPTION_REMOVED})
_FIELD_FACTS = frozenset({PaimonFact.TYPE_CHANGED, PaimonFact.DEFAULT_VALUE_CHANGED})
_NEW_FIELD_HELP = "add a new field next to it, fill it, and drop the old one"
_NEW_TABLE = "copy the rows into a new table"
_ELSEWHERE = "use a type and settings that Paimon has, or leave paimon out of `schemac.dev/targets`"


class PaimonRow(NamedTuple):
    """What a fact means for a table with data, and what its plan does about it."""

    judge: Rule | Judgement
    steps: tuple[changes.Step, ...] = ()
    """The steps of an alteration that may be needed for it; none where there is nothing to do."""


def _judge_schemas(change: Change, pair: VersionPair | None) -> Judgement | None:
    """Return the verdict that follows from the schemas alone; None if there is none."""
    if pair is None:
        return SAFE
    if errors_of(pair.old):
        reason = "Paimon could not represent the old schema, so no such table can exist"
        return Judgement(Outcome.SAFE, reason)
    for error in errors_of(pair.new):
        # Only what is this change's doing.
        is_about_columns = change.fact in (Fact.FIELD_DROPPED, Fact.FIELD_RENAMED) and not error.path
        if error.path == change.path or is_about_columns or change.fact in OPTION_FACTS:
            return refused(f"Paimon cannot represent the new schema: {error.message}", _ELSEWHERE)
    return None


def names_after(pair: VersionPair) -> Mapping[str, str]:
    """Return new names of columns by the old ones, of those that are still there."""
    columns = [(pair.before.get(new), new) for new in pair.new.dataset.columns]
    return {
        str(old.segment): str(new.segment) for old, new in columns if old is not None and old.parent is None
    }


def _refuse_in_key(change: Change, _pair: object) -> Judgement | None:
    """Refuse a change inside the key of a map; None for any other."""
    field = change.old_field or change.new_field
    assert field is not None
    return _refuse_key_change(field) if field.is_in_key else None


def _judge_addition(change: Change, _pair: object) -> Judgement:
    """Return METADATA, since old rows read as null; refuse a required field."""
    new = change.current_field
    if not new.is_nullable:
        reason = f"existing rows have no {change.path}, and it may not be null"
        return refused(reason, make_optional(new.type))
    return Judgement(Outcome.METADATA, "existing rows read as null")


def _judge_drop(change: Change, pair: VersionPair) -> Judgement:
    """Return METADATA; refuse a column of a key, and the last old field of the table or ROW."""
    old = change.old_field
    assert old is not None
    name, parent, table = str(old.segment), old.parent, table_schema(pair.old)
    if parent is None and name in (*table.primary_keys, *table.partition_keys):
        return refused(f"{name} is in a key of the table, and keys cannot change", _NEW_TABLE)
    siblings = pair.old.dataset.columns if parent is None else parent.children
    if not any(sibling in pair.after for sibling in siblings):
        what = "table" if parent is None else "ROW"
        reason = f"no field would be left of the {what} that it was made of"
        return refused(reason, "keep one of its fields, or write a new table")
    return Judgement(Outcome.METADATA)


def _judge_rename(change: Change, pair: VersionPair) -> Judgement:
    """Return METADATA; refuse a column that the table is partitioned by, and a BLOB."""
    old, _ = change.fields
    if old.parent is None and str(old.segment) in table_schema(pair.old).partition_keys:
        reason = f"the table is partitioned by {old.path_text}, whose name is in its folders"
        return refused(reason, _NEW_TABLE)
    type_ = paimon_types(pair.old).get(old)
    if type_ is not None and type_.root == "BLOB":
        return refused("Paimon cannot rename a BLOB column", _NEW_FIELD_HELP)
    return Judgement(Outcome.METADATA)


def _judge_reorder(change: Change, _pair: object) -> Judgement:
    """Return METADATA for columns; refuse a new order of the members of a ROW."""
    if change.new_field is None:
        return METADATA
    if change.new_field.is_in_key:
        return _refuse_key_change(change.new_field)
    reason = "Paimon can change the order of columns, but not of the members of a ROW"
    return refused(reason, "keep the old order; readers find members by their names")


def _judge_nullability(change: Change, pair: VersionPair) -> Judgement:
    """Return METADATA for a field that becomes optional; a required one is DATA or refused, depending on an option."""
    old, new = change.fields
    types = _paimon_types(pair, old, new)
    if types is None:
        return SAFE
    was, is_ = types
    if was.is_nullable == is_.is_nullable:
        if new.is_nullable:
            return SAFE
        reason = f"{new.path_text} may still be null in Paimon, so nulls in existing rows stay"
        return depends_on_data(reason, f"first check for rows WHERE {old.path_text} IS NULL")
    if new.is_in_key:
        return _refuse_key_change(new)
    if _is_in_vector(pair, old):
        return refused("Paimon cannot change anything inside a VECTOR", _NEW_FIELD_HELP)
    if is_.is_nullable:
        if old.parent is None and str(old.segment) in table_schema(pair.old).primary_keys:
            return refused("a column of the primary key may not be null", _NEW_TABLE)
        return Judgement(Outcome.METADATA)
    if options.is_true(table_schema(pair.old).options, options.NULL_TO_NOT_NULL, default=True):
        reason = f"{new.path_text} may be null in existing rows, and Paimon does not check"
        unset = f'set the option `{options.NULL_TO_NOT_NULL}: "false"` in an earlier version'
        return refused(reason, f"{unset}, and check for nulls")
    reason = f"Paimon allows it without checking whether {new.path_text} is null in existing rows"
    return depends_on_data(reason, f"first check for rows WHERE {old.path_text} IS NULL")


def _judge_field(change: Change, pair: VersionPair) -> Judgement:
    """Return what a changed property of a field means: its type, description, default value, or one that Paimon does not store."""
    if change.old_field is None:
        is_same = table_schema(pair.old).comment == table_schema(pair.new).comment
        return SAFE if is_same else METADATA
    old, new = change.fields
    types = _paimon_types(pair, old, new)
    if types is None:
        return SAFE
    if (
        change.fact in TYPE_FACTS
        or _without_parts(types[0]) != _without_parts(types[1])
        or _is_key_nullability_changed(*types)
    ):
        return _judge_type(pair, old, new, *types)
    if change.fact is PaimonFact.DEFAULT_VALUE_CHANGED:
        return Judgement(Outcome.NEW_FILES, "existing rows stay unchanged")
    return METADATA if change.fact in DESCRIPTION_FACTS and new.is_member else SAFE


def _judge_type(
    pair: VersionPair, old: SchemaField, new: SchemaField, was: PaimonType, is_: PaimonType
) -> Judgement:
    """Return SAFE or DATA if Paimon's type stays, METADATA or DATA for a cast; refuse the rest."""
    if _is_key_nullability_changed(was, is_):
        return refused("the keys of a map cannot change", _NEW_FIELD_HELP)
    if _without_parts(was) == _without_parts(is_):
        if is_doubtful(old, new):
            stays = f"Paimon's type stays {is_.type_text()}"
            reason = f"{stays}, so values that do not fit {new.type.type_text()} stay too"
            return depends_on_data(reason, "check the values first")
        return SAFE
    if new.is_in_key:
        return _refuse_key_change(new)
    if _is_in_vector(pair, old):
        return refused("Paimon changes nothing inside a VECTOR", _NEW_FIELD_HELP)
    table = table_schema(pair.old)
    if old.parent is None and str(old.segment) in (*table.partition_keys, *table.primary_keys):
        reason = f"{old.path_text} is in a key of the table, and the types of keys cannot change"
        return refused(reason, _NEW_TABLE)
    way = cast(was, is_)
    if way is CastRule.NONE:
        return refused(f"{_short_text(was)} cannot become {_short_text(is_)}", _NEW_FIELD_HELP)
    if way is CastRule.EXPLICIT and options.is_true(table.options, options.EXPLICIT_CASTS):
        becomes = f"{_short_text(was)} becomes {_short_text(is_)}"
        reason = f"{becomes} only where `{options.EXPLICIT_CASTS}` is not set"
        return refused(reason, "remove the option in an earlier version")
    if not is_lossless(was, is_) or is_doubtful(old, new):
        return depends_on_data(
            f"values that do not fit {is_.type_text()} are truncated or read as null",
            f"first check for rows WHERE {old.path_text} IS NOT NULL AND TRY_CAST({old.path_text} AS {is_.type_text()}) IS NULL",
        )
    return Judgement(Outcome.METADATA, "values are cast when they are read")


def _judge_keys(change: Change, pair: VersionPair) -> Judgement:
    """Return SAFE for equal keys, METADATA if only their columns are renamed; refuse any other key."""
    names, old, new = names_after(pair), table_schema(pair.old), table_schema(pair.new)
    is_partition = change.fact is PaimonFact.PARTITION_KEYS_CHANGED or change.key == "partition"
    keys = "partition_keys" if is_partition else "primary_keys"
    before, after = getattr(old, keys), getattr(new, keys)
    if before == after:
        return SAFE
    if tuple(names.get(name, name) for name in before) == after:
        return Judgement(Outcome.METADATA, "the key changes together with its columns")
    if is_partition:
        return refused("the partitioning of a table cannot change", _NEW_TABLE)
    return refused("the primary key of a table with rows cannot change", _NEW_TABLE)


def _judge_option(change: Change, pair: VersionPair) -> Judgement:
    """Return the effect of an option on existing files; refuse a value that Paimon does not accept any more."""
    if change.key in options.OPTION_OF.values():
        return _judge_keys(change, pair)
    old = options.after_renames(table_schema(pair.old).options, names_after(pair))
    new = table_schema(pair.new).options
    if old.get(change.key) == new.get(change.key):
        return Judgement(Outcome.METADATA, "the option changes together with its columns")
    reason = options.option_error(change.key, old, new)
    if reason:
        return refused(reason, _NEW_TABLE)
    if change.key == "bucket":
        reason = "existing partitions keep their buckets and accept no rows until they are rewritten"
        return Judgement(Outcome.REWRITE, reason, "rewrite each partition with INSERT OVERWRITE from itself")
    if change.key.startswith(options.OF_FILES):
        return Judgement(Outcome.NEW_FILES, "existing files stay unchanged", "compact the table fully")
    return Judgement(Outcome.METADATA)


def _paimon_types(
    pair: VersionPair, old: SchemaField, new: SchemaField
) -> tuple[PaimonType, PaimonType] | None:
    """Return Paimon's types of a field before and after; None if one of the two schemas has none, as inside a VARIANT."""
    was, is_ = paimon_types(pair.old).get(old), paimon_types(pair.new).get(new)
    return None if was is None or is_ is None else (was, is_)


def _without_parts(type_: PaimonType) -> tuple[object, ...]:
    """Return the root of a type and its parameters, without its nullability and its parts."""
    return (type_.root, *type_.parameters)


def _is_key_nullability_changed(was: PaimonType, is_: PaimonType) -> bool:
    """Whether the nullability of the keys of a map, or of the elements of a multiset, changes."""
    if was.root != is_.root or was.root not in ("MAP", "MULTISET"):
        return False
    return was.children[0].is_nullable != is_.children[0].is_nullable


def _is_in_vector(pair: VersionPair, field: SchemaField) -> bool:
    """Whether a field of the old version is the element of a VECTOR."""
    above = paimon_types(pair.old).get(field.parent) if field.parent is not None else None
    return above is not None and above.root == "VECTOR"


def _short_text(type_: PaimonType) -> str:
    """Return a type for messages; of one with parts only the root."""
    return type_.root if type_.root in PARTS else type_.type_text()


def _refuse_key_change(field: SchemaField) -> Judgement:
    """Refuse to change a field that is in the key of a map."""
    return refused(f"{field.path_text} is in the key of a map, which cannot change", _NEW_FIELD_HELP)


ROWS: Mapping[AnyFact, PaimonRow] = {
    # A property of a field may be another type in Paimon.
    **dict.fromkeys(PROPERTY_FACTS | TYPE_FACTS | _FIELD_FACTS, PaimonRow(_judge_field, (changes.alter,))),
    **dict.fromkeys(DESCRIPTION_FACTS, PaimonRow(_judge_field, (changes.alter, changes.set_comment))),
    **dict.fromkeys(DATASET_FACTS, PaimonRow(SAFE)),
    **dict.fromkeys(TIGHTENED, PaimonRow(tightened)),
    **dict.fromkeys(
        (Fact.BECAME_REQUIRED, Fact.BECAME_OPTIONAL), PaimonRow(_judge_nullability, (changes.alter,))
    ),
    # A key changes together with its columns.
    **dict.fromkeys(
        (PaimonFact.PRIMARY_KEYS_CHANGED, PaimonFact.PARTITION_KEYS_CHANGED), PaimonRow(_judge_keys)
    ),
    **dict.fromkeys(OPTION_FACTS, PaimonRow(_judge_option, (changes.set_options,))),
    PaimonFact.COMMENT_CHANGED: PaimonRow(_judge_field, (changes.set_comment,)),
    Fact.FIELD_ADDED: PaimonRow(guarded(_refuse_in_key, _judge_addition), (changes.add, changes.alter)),
    Fact.FIELD_DROPPED: PaimonRow(guarded(_refuse_in_key, _judge_drop), (changes.drop,)),
    Fact.FIELD_RENAMED: PaimonRow(guarded(_refuse_in_key, _judge_rename), (changes.rename,)),
    Fact.FIELD_MOVED: PaimonRow(
        refused("Paimon cannot move a field out of the struct, list or map around it", _NEW_FIELD_HELP)
    ),
    Fact.FIELDS_REORDERED: PaimonRow(_judge_reorder, (changes.move,)),
    Fact.UNIT_CHANGED: PaimonRow(
        lambda change, pair: of_another_unit(change, pair, _judge_field(change, pair)), (changes.alter,)
    ),
}
JUDGE = Judge({fact: row.judge for fact, row in ROWS.items()}, _judge_schemas)
