"""Iceberg tables.

Layer: engines.
Shape: one table: what each fact means, and which steps of a commit it needs. Facts are judged by what Iceberg has at a field
before and after, for many kinds are one type there. A table with data is meant; files stay as they are, and fields are found in
them by their ids.
Source: the Iceberg table specification, "Schema Evolution". It is stricter than pyiceberg 0.12, which also lets the scale
of a decimal change and text become bytes (`tests/engines/iceberg/test_oracle.py`).
"""

from collections.abc import Callable, Mapping
from functools import update_wrapper
from typing import NamedTuple, cast

from schemac.engines.iceberg import attributes, steps
from schemac.engines.iceberg.artifact import errors_of, fields_of, format_of, schema_of
from schemac.engines.iceberg.steps import Step
from schemac.engines.iceberg.types import FORMAT_3, IcebergType, NestedField, is_promotion
from schemac.language.attributes.attribute import Role
from schemac.language.attributes.registry import ATTRIBUTES
from schemac.language.logical.facts import AnyFact, Fact
from schemac.language.logical.model import SchemaField
from schemac.versions.evolution import changes
from schemac.versions.evolution.castability import is_doubtful
from schemac.versions.evolution.constraints import TIGHTENED, tightened, verify_of
from schemac.versions.evolution.diff import diff_of
from schemac.versions.evolution.judge import Judge, Rule, guarded, make_optional
from schemac.versions.evolution.version_pair import SchemaVersion, VersionPair

_NEW_FIELD_HELP = "add a field next to it, fill it, and drop the old one"
_ELSEWHERE = "use a type and settings that Iceberg has, or leave iceberg out of `schemac.dev/targets`"


class IcebergRow(NamedTuple):
    """What a fact means for a table with data, and what its plan does about it."""

    judge: Rule | changes.Judgement
    steps: tuple[Step, ...] = ()
    """The steps that the commit may need for it; none where there is nothing to do."""
    of_source: changes.Judgement | None = None
    """What it means at a field that the table is partitioned or sorted by; None where that does not matter."""


def _judge_schemas(change: changes.Change, pair: VersionPair | None) -> changes.Judgement | None:
    """Return the verdict that follows from the schemas or from a map key alone; None if there is none."""
    if pair is None:
        return changes.SAFE
    if errors_of(pair.old):
        return changes.Judgement(
            changes.Outcome.SAFE, "Iceberg could not represent the old schema, so no such table exists"
        )
    errors = errors_of(pair.new)
    if not errors:
        return None
    # To blame is this change, or no known one; if it is another change, that one says so.
    blamed = [error for error in errors if _is_related(change, error.path)]
    if not blamed:
        others = diff_of(pair)
        blamed = [e for e in errors if not any(_is_related(other, e.path) for other in others)]
    if not blamed:
        return changes.SAFE
    return changes.refused(f"Iceberg cannot represent the new schema: {blamed[0].message}", _ELSEWHERE)


def _is_related(change: changes.Change, path: str) -> bool:
    """Whether a change is about what is at a path, above it or below it."""
    if not path or not change.path:
        return True
    paths = (f"{path}.", f"{change.path}.")
    return paths[0].startswith(paths[1]) or paths[1].startswith(paths[0])


def _judge_schema_attribute(change: changes.Change, pair: VersionPair) -> changes.Judgement:
    """Return METADATA for a newer format or other table properties, SAFE for other attributes; refuse an older format."""
    if change.key == attributes.FORMAT_VERSION.key:
        old, new = format_of(pair.old), format_of(pair.new)
        if new < old:
            reason = f"a table of format {old} cannot go back to format {new}"
            return changes.refused(reason, f"keep `{attributes.FORMAT_VERSION.key}: {old}`")
        return changes.METADATA if new > old else changes.SAFE
    return changes.METADATA if change.key == attributes.TABLE_PROPERTIES.key else changes.SAFE


def _identifiers(version: SchemaVersion) -> set[SchemaField]:
    """Return the fields that identify a row."""
    ids = schema_of(version).identifier_ids
    return {schema_field for schema_field, field in fields_of(version).items() if field.id in ids}


def _judge_identifiers(_change: changes.Change, pair: VersionPair) -> changes.Judgement:
    """Return METADATA if other fields than before identify a row, else SAFE."""
    if _identifiers(pair.old) == {pair.before.get(field) for field in _identifiers(pair.new)}:
        return changes.SAFE
    return changes.Judgement(changes.Outcome.METADATA, "existing rows are not checked")


def _judge_addition(change: changes.Change, pair: VersionPair) -> changes.Judgement:
    """Return METADATA if old rows read as null or as a default, SAFE inside a variant; refuse a required field without a default."""
    new = change.current_field
    field = fields_of(pair.new).get(new)
    if field is None:
        return changes.SAFE
    if field.initial_default is not None:
        return changes.Judgement(changes.Outcome.METADATA, f"existing rows read as {field.initial_default}")
    if not field.required:
        return changes.Judgement(changes.Outcome.METADATA, "existing rows read as null")
    way_out = make_optional(new.type)
    if format_of(pair.new) >= FORMAT_3:
        way_out += f", or set its value in old rows with `{attributes.INITIAL_DEFAULT.key}`"
    return changes.refused(f"existing rows have no {change.path}, and it may not be null", way_out)


def _refuse_in_key(change: changes.Change, _pair: object) -> changes.Judgement | None:
    """Refuse a change inside a map key; None for any other."""
    field = change.new_field or change.old_field
    return _refuse_key_change(field) if field is not None and field.is_in_key else None


FieldRule = Callable[[changes.Change, NestedField, NestedField], changes.Judgement]
"""What a change means, by the field of Iceberg that it changes and the one that it makes of it."""


def _for_field(
    rule: FieldRule | changes.Judgement, in_schema: Rule | changes.Judgement = changes.SAFE
) -> Rule:
    """Return a rule for a field whose type in Iceberg stays; another type is judged as a promotion, a change of no field by `in_schema`."""

    def judge(change: changes.Change, pair: VersionPair) -> changes.Judgement:
        if change.old_field is None:
            return in_schema if isinstance(in_schema, changes.Judgement) else in_schema(change, pair)
        old, new = change.fields
        was, is_ = fields_of(pair.old).get(old), fields_of(pair.new).get(new)
        if was is None and is_ is None:
            return changes.SAFE
        if was is None or is_ is None:
            return changes.refused("Iceberg cannot convert between variant and other types", _NEW_FIELD_HELP)
        if was.type.word != is_.type.word and rule is not _judge_nullability:
            return _judge_promotion(old, new, was.type, is_.type, format_of(pair.new))
        return rule if isinstance(rule, changes.Judgement) else rule(change, was, is_)

    return update_wrapper(judge, cast("Rule", rule))


def _judge_description(_change: changes.Change, was: NestedField, is_: NestedField) -> changes.Judgement:
    """Return METADATA if the doc in Iceberg's schema changes, else SAFE."""
    return changes.SAFE if was.doc == is_.doc else changes.METADATA


def _judge_attribute(change: changes.Change, pair: VersionPair) -> changes.Judgement:
    """Return the verdict on identifier fields for an attribute of a key, else that on a default value."""
    # Rows are identified by Iceberg's own attribute, or by those of engines that have a primary key there.
    attribute = ATTRIBUTES.get(change.key)
    is_key = attribute is not None and attribute.role is Role.PRIMARY_KEY
    if is_key or change.key == attributes.IDENTIFIER_FIELDS.key:
        return _judge_identifiers(change, pair)
    return _for_field(_judge_default, _judge_schema_attribute)(change, pair)


def _judge_default(change: changes.Change, _was: NestedField, _is: NestedField) -> changes.Judgement:
    """Refuse to change an initial default; return NEW_FILES for a write default, else SAFE."""
    if change.key == attributes.INITIAL_DEFAULT.key:
        return changes.refused(
            "the value of a field in older rows is fixed when the field is added",
            f"leave `{attributes.INITIAL_DEFAULT.key}` unchanged; only `{attributes.WRITE_DEFAULT.key}` may change",
        )
    if change.key == attributes.WRITE_DEFAULT.key:
        return changes.Judgement(changes.Outcome.NEW_FILES, "existing rows stay unchanged")
    return changes.SAFE


def _judge_nullability(change: changes.Change, _was: NestedField, is_: NestedField) -> changes.Judgement:
    """Return METADATA for a field that becomes optional; refuse one that becomes required or is in a map key."""
    new = change.current_field
    if new.is_in_key:
        return _refuse_key_change(new)
    if is_.required:
        reason = f"{new.path_text} may be null in existing rows, and Iceberg does not check"
        return changes.refused(reason, "keep it optional, or copy the rows into a new table")
    return changes.METADATA


def _judge_unchanged_type(change: changes.Change, _was: NestedField, is_: NestedField) -> changes.Judgement:
    """Return DATA if values may not fit the new kind, though Iceberg's type stays; else SAFE."""
    old, new = change.fields
    if not is_doubtful(old, new):
        return changes.SAFE
    type_text = new.type.type_text()
    reason = f"Iceberg's type stays {is_.type.word}, so values that do not fit {type_text} stay too"
    return changes.depends_on_data(reason, "check the values first")


def _judge_promotion(
    old: SchemaField, new: SchemaField, was: IcebergType, is_: IcebergType, format_version: int
) -> changes.Judgement:
    """Return METADATA if Iceberg promotes the type, DATA if values may not fit; refuse anything else."""
    if new.is_in_key:
        return _refuse_key_change(new)
    if not is_promotion(was, is_, format_version):
        hint = f", except in format {FORMAT_3}" if is_promotion(was, is_, FORMAT_3) else ""
        return changes.refused(f"{was.word} cannot become {is_.word}{hint}", _NEW_FIELD_HELP)
    if is_doubtful(old, new):
        type_text = new.type.type_text()
        reason = f"Iceberg's type becomes {is_.word}, and values that do not fit {type_text} stay unchanged"
        if was.word == "date":
            reason = f"days outside the range of {is_.word} can no longer be read"
        return changes.depends_on_data(reason, f"check the values of {old.path_text} first")
    return changes.Judgement(changes.Outcome.METADATA, "values are cast when they are read")


def _refuse_key_change(field: SchemaField) -> changes.Judgement:
    """Refuse to change a field that is in a map key."""
    return changes.refused(f"{field.path_text} is in a map key, which never changes", _NEW_FIELD_HELP)


ROWS: Mapping[AnyFact, IcebergRow] = {
    **dict.fromkeys(changes.PROPERTY_FACTS, IcebergRow(_for_field(changes.SAFE), (steps.promote,))),
    **dict.fromkeys(changes.DATASET_FACTS, IcebergRow(changes.SAFE)),
    **dict.fromkeys(
        changes.DESCRIPTION_FACTS,
        IcebergRow(_for_field(_judge_description, changes.METADATA), (steps.set_doc, steps.set_properties)),
    ),
    **dict.fromkeys(
        changes.ATTRIBUTE_FACTS,
        IcebergRow(
            _judge_attribute,
            (steps.upgrade, steps.identify, steps.promote, steps.set_default, steps.set_properties),
        ),
    ),
    **dict.fromkeys(
        changes.KEY_FACTS - {Fact.CLUSTERING_KEY_CHANGED}, IcebergRow(_judge_identifiers, (steps.identify,))
    ),
    **dict.fromkeys(TIGHTENED, IcebergRow(lambda change, pair: tightened(change, pair, verify_of(change)))),
    **dict.fromkeys(changes.TYPE_FACTS, IcebergRow(_for_field(_judge_unchanged_type), (steps.promote,))),
    Fact.TEMPORAL_TYPE_CHANGED: IcebergRow(
        _for_field(_judge_unchanged_type),
        (steps.promote,),
        changes.refused(
            "the table is, or was, partitioned or sorted by {path}, whose type then stays",
            "add a field next to it",
        ),
    ),
    **dict.fromkeys(
        (Fact.BECAME_OPTIONAL, Fact.BECAME_REQUIRED),
        IcebergRow(_for_field(_judge_nullability), (steps.identify, steps.set_nullability)),
    ),
    Fact.FIELD_ADDED: IcebergRow(guarded(_refuse_in_key, _judge_addition), (steps.add, steps.identify)),
    Fact.FIELD_DROPPED: IcebergRow(
        guarded(_refuse_in_key, changes.METADATA),
        (steps.identify, steps.drop),
        changes.refused(
            "the table is, or was, partitioned or sorted by {path}",
            "keep the field, or copy the rows into a new table",
        ),
    ),
    Fact.FIELD_RENAMED: IcebergRow(guarded(_refuse_in_key, changes.METADATA), (steps.rename,)),
    Fact.FIELDS_REORDERED: IcebergRow(guarded(_refuse_in_key, changes.METADATA), (steps.reorder,)),
    Fact.FIELD_MOVED: IcebergRow(
        guarded(
            _refuse_in_key, changes.refused("Iceberg cannot move a field out of its struct", _NEW_FIELD_HELP)
        )
    ),
    Fact.UNIT_CHANGED: IcebergRow(
        lambda change, pair: changes.of_another_unit(change, pair, _for_field(changes.SAFE)(change, pair)),
        (steps.promote,),
    ),
}
JUDGE = Judge({fact: row.judge for fact, row in ROWS.items()}, _judge_schemas)
