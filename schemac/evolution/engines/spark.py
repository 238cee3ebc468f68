"""Spark SQL over a catalog of lance-spark.

Floor: 10 (evolution).
Source: the statements that lance-spark's catalog accepts: ADD, DROP and RENAME COLUMN at the top level, DROP NOT NULL,
SET TBLPROPERTIES; one sort a statement. What it refuses, `schemac apply` does through Lance itself. Comments and metadata
have no statement either, but no query depends on them, so they are no reason to refuse a change.
"""

from typing import Any

from schemac.evolution.changes import Change, Fact
from schemac.evolution.side import Pair
from schemac.evolution.verdict import SAFE, Judgement, Outcome, of_another_unit

_APPLY = "carry it out with `schemac apply`, which goes through Lance itself"
_STORAGE = frozenset(
    {
        Fact.BLOB_ADDED,
        Fact.BLOB_REMOVED,
        Fact.FLOAT_ENCODING_CHANGED,
        Fact.PACKED_STRUCT_CHANGED,
        Fact.JSON_CHANGED,
        Fact.STORAGE_VERSION_CHANGED,
    }
)
"""What is decided when a column or table is made."""
_PROPERTIES = frozenset({Fact.TABLE_PROPERTY_SET, Fact.TABLE_PROPERTY_REMOVED})


def judge(change: Change, sides: Pair | None) -> Judgement:
    """What Spark's ALTER TABLE makes of a change."""
    if change.fact in (Fact.DATASET_ADDED, Fact.DATASET_DROPPED) or sides is None:
        return SAFE
    if change.fact in _PROPERTIES:
        return Judgement(Outcome.NEW_FILES, "columns that are there keep their encodings")
    if change.fact in _STORAGE:
        return Judgement(
            Outcome.REFUSED,
            "lance-spark decides on it when a column is made",
            "add a column beside it, fill it, and drop the old one",
        )
    slot = change.new_slot or change.old_slot
    is_column = slot is not None and slot.parent is None
    match change.fact:
        case Fact.FIELD_ADDED if change.new_slot is not None:
            if not change.new_slot.is_nullable:
                return Judgement(
                    Outcome.REFUSED,
                    "a new column has no values, so it has to be optional",
                    "make it optional",
                )
            return (
                Judgement(Outcome.METADATA) if is_column else _refused("adds columns at the top level only")
            )
        case Fact.FIELD_DROPPED | Fact.FIELD_RENAMED:
            return (
                Judgement(Outcome.METADATA) if is_column else _refused("knows columns of the top level only")
            )
        case Fact.BECAME_OPTIONAL:
            return (
                Judgement(Outcome.METADATA) if is_column else _refused("knows columns of the top level only")
            )
        case Fact.BECAME_REQUIRED:
            return _refused("has no SET NOT NULL")
        case Fact.FIELD_MOVED:
            return _refused("moves no columns")
        case Fact.FIELDS_REORDERED:
            return _refused("has no FIRST and AFTER")
        case Fact.UNIT_CHANGED if change.old is not None and change.new is not None:
            return of_another_unit(change)
    if slot is None or change.old_slot is None or change.new_slot is None:
        return Judgement(Outcome.METADATA)
    old, new = sides.old.spark_column(change.old_slot.column), sides.new.spark_column(change.new_slot.column)
    if old == new:
        return SAFE
    if _bare(old) == _bare(new):
        return Judgement(Outcome.METADATA, "through `schemac apply`: lance-spark alters no metadata")
    return _refused("changes no types")


def _refused(what: str) -> Judgement:
    return Judgement(Outcome.REFUSED, f"lance-spark {what}", _APPLY)


def _bare(column: dict[str, Any]) -> Any:
    """Types alone."""

    def strip(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: strip(v) for k, v in value.items() if k not in ("metadata", "name", "nullable")}
        return [strip(item) for item in value] if isinstance(value, list) else value

    return strip(column)
