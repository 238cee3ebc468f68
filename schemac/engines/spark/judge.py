"""Spark SQL over a catalog of lance-spark.

Layer: engines.
Source: the statements that lance-spark's catalog accepts, which depend on its version. No release changes columns: 0.4.0
answers "Table alteration is not supported", builds up to August 2026 "Only SET/UNSET TBLPROPERTIES is supported". Its open
pull request 752 has ADD, DROP and RENAME COLUMN at the top level, DROP and SET NOT NULL, one sort a statement. What is
refused, `schemac apply` does through Lance itself. Comments and metadata have no statement either, but no query depends
on them, so they are no reason to refuse a change.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from schemac.attributes.odf import DESCRIPTION
from schemac.engines.spark.facts import SparkFact
from schemac.engines.spark.marks import COMMENT
from schemac.engines.spark.versions import KNOWN, Connector
from schemac.engines.spark.view import spark_column
from schemac.evolution.castability import castability, misfit
from schemac.evolution.changes import JUDGED_FACTS, TYPE_FACTS, Change, Fact
from schemac.evolution.constraints import TIGHTENED, tightened, verify_of
from schemac.evolution.judge import Judge
from schemac.evolution.keys import is_key_changed, way_out_of_key
from schemac.evolution.verdict import SAFE, Judgement, Outcome, of_another_unit
from schemac.evolution.version_pair import VersionPair
from schemac.logical.castability import Castability
from schemac.logical.schema_fields import SchemaField

_APPLY = "use `schemac apply`, which changes the table through Lance itself"
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
_PROPERTIES = frozenset({SparkFact.TABLE_PROPERTY_SET, SparkFact.TABLE_PROPERTY_REMOVED})
_KEYS = frozenset({Fact.PRIMARY_KEY_ADDED, Fact.PRIMARY_KEY_REMOVED, Fact.PRIMARY_KEY_MOVED})
_COLUMNS = frozenset(
    {
        Fact.FIELD_ADDED,
        Fact.FIELD_DROPPED,
        Fact.FIELD_RENAMED,
        Fact.BECAME_OPTIONAL,
        Fact.BECAME_REQUIRED,
    }
)
"""What a change of one column can be."""


def judge(change: Change, pair: VersionPair | None, connector: Connector = KNOWN) -> Judgement:
    """Return what Spark's ALTER TABLE makes of a change, with a version of lance-spark."""
    if change.fact in (Fact.DATASET_ADDED, Fact.DATASET_DROPPED) or pair is None:
        return SAFE
    if change.fact in TIGHTENED:
        return tightened(change, pair, verify_of(change))
    if change.fact in _PROPERTIES:
        return _of_property(connector)
    if change.fact in _STORAGE:
        way_out = "add a new column next to it, fill it, and drop the old one"
        return Judgement(Outcome.REFUSED, f"{connector} sets it when a column is created", way_out)
    if change.fact in _COLUMNS:
        return _of_column(change, pair, connector)
    match change.fact:
        case Fact.FIELD_MOVED:
            return _refused(connector, "cannot move columns")
        case Fact.FIELDS_REORDERED:
            return _refused(connector, "does not support FIRST and AFTER")
        case Fact.UNIT_CHANGED if change.old is not None and change.new is not None:
            return of_another_unit(change)
    if change.new_field is None or change.old_field is None:
        return Judgement(Outcome.METADATA)
    old, new = (
        spark_column(pair.old, change.old_field.column),
        spark_column(pair.new, change.new_field.column),
    )
    is_same_type = _bare(old.type.json) == _bare(new.type.json)
    if is_same_type and _may_lose_values(change):
        assert change.new_field is not None
        reason = f"{misfit(change.old_field.type, change.new_field.type)}, though Spark's type stays the same"
        return Judgement(Outcome.DATA, reason, "check the values first; `schemac apply` changes the table")
    if old == new:
        return SAFE
    if change.fact in _KEYS and is_key_changed(pair):
        reason = "a table keeps the primary key that it was created with"
        return Judgement(Outcome.REFUSED, reason, way_out_of_key(pair))
    if is_same_type:
        return Judgement(Outcome.METADATA, f"through `schemac apply`: {connector} cannot alter metadata")
    return _refused(connector, "cannot change types")


def judge_of(version: str) -> Callable[[Change, VersionPair | None], Judgement]:
    """Return the judge for a version of lance-spark. Raises ValueError for what is not a version."""
    return partial(judge, connector=Connector.of(version))


def _of_property(connector: Connector) -> Judgement:
    if connector.alters_properties:
        return Judgement(Outcome.NEW_FILES, "existing columns keep their encodings")
    reason = f"{connector} does not support ALTER TABLE"
    return Judgement(Outcome.REFUSED, reason, "use lance-spark 0.5 or newer")


def _of_column(change: Change, pair: VersionPair, connector: Connector) -> Judgement:
    """Return a column or member that comes, goes, or changes its name or nullability."""
    field = change.new_field or change.old_field
    assert field is not None
    if change.fact is Fact.FIELD_ADDED and not field.is_nullable:
        reason = "a new column has no values, so it has to be optional"
        return Judgement(Outcome.REFUSED, reason, "make it optional")
    if not connector.alters_columns:
        return _refused(connector, "cannot alter columns")
    if field.parent is not None:
        return _refused(connector, "can alter only top-level columns")
    if change.fact is Fact.FIELD_ADDED and _needs_properties(field, pair):
        return _refused(connector, "ignores table properties when it adds a column")
    if change.fact is Fact.BECAME_REQUIRED:
        reason = f"{connector} allows it if no row has null in {change.path}"
        return Judgement(Outcome.DATA, reason, "check for nulls, and fill them first")
    return Judgement(Outcome.METADATA, f"with {connector}")


def _needs_properties(field: SchemaField, pair: VersionPair) -> bool:
    """Whether DDL alone would make another column of it."""
    # The description is what the comment says.
    return bool(spark_column(pair.new, field).metadata.keys() - {COMMENT, DESCRIPTION.key})


def _refused(connector: Connector, what: str) -> Judgement:
    return Judgement(Outcome.REFUSED, f"{connector} {what}", _APPLY)


def _may_lose_values(change: Change) -> bool:
    """Tell whether stored values may not fit, whatever Spark sees of the types."""
    if change.fact not in TYPE_FACTS or change.old_field is None or change.new_field is None:
        return False
    return castability(change.old_field.type, change.new_field.type) >= Castability.DEPENDS


def _bare(json: Any) -> Any:
    """Return a type of Spark without the metadata, names and nullability of its members."""
    if isinstance(json, dict):
        return {
            key: _bare(value) for key, value in json.items() if key not in ("metadata", "name", "nullable")
        }
    return [_bare(item) for item in json] if isinstance(json, list) else json


JUDGE = Judge(judge, judge_of, JUDGED_FACTS | _PROPERTIES | {SparkFact.TYPE_CHANGED})
