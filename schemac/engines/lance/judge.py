"""Lance tables.

Layer: engines.
Shape: one table: what each fact means, what is asked of the values, what the commit of the schema does.
Source: every kind of change carried out on tables with data, pylance 14.0.2 (`tests/conformance/test_lance_verdicts.py`): one
commit replaces the schema (names, order, nullability, metadata, drops), another adds columns of nulls, a cast writes a
column anew under a new id.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from schemac.engines.lance import attributes as lance
from schemac.engines.lance.attributes import LanceFact
from schemac.engines.lance.fields import is_cast, is_inside_map_or_vector, lance_ids, words_of
from schemac.engines.lance.tables.steps import CheckSubject, how_to_find
from schemac.language.attributes import builtin
from schemac.language.attributes.attribute import Family
from schemac.language.logical.facts import AnyFact, Fact
from schemac.language.logical.model import Castability, SchemaField, is_in_structs, preorder
from schemac.versions.evolution.castability import castability, misfit
from schemac.versions.evolution.changes import (
    DATASET_FACTS,
    KEY_FACTS,
    LAYOUT_FACTS,
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
from schemac.versions.evolution.constraints import (
    TIGHTENED,
    is_key_changed,
    loss_of_key,
    tightened,
    way_out_of_key,
)
from schemac.versions.evolution.diff import clock_of
from schemac.versions.evolution.judge import Judge, Rule, guarded, make_optional
from schemac.versions.evolution.version_pair import LockedSchemaVersion, SchemaVersion, VersionPair

_NEW_FIELD_HELP = "add a new field next to it, fill it, and drop the old one"


class VerdictRow(NamedTuple):
    """What a fact means for a table with data, and what its plan does about it."""

    judge: Rule | Judgement
    subject: CheckSubject | None = CheckSubject.FIT
    """What is asked of the values where the verdict depends on them; None where it is a constraint that they have to keep."""
    detail: str = "sets metadata, keys and encodings"
    """What the commit of the schema does; empty where other steps do it."""


def _refuse_in_packed(change: Change, _pair: object) -> Judgement | None:
    """Refuse what changes how the members of a packed struct lie beside each other."""
    fields = [field for field in (change.old_field, change.new_field) if field is not None]
    is_order = change.fact is Fact.FIELDS_REORDERED
    holders = fields[:1] if is_order else [above for field in fields for above in field.ancestors]
    if not any(lance.is_packed(holder.extra) for holder in holders):
        return None
    reason = "existing files have the members of a packed struct side by side, in their old order"
    return refused(reason, _NEW_FIELD_HELP)


def _judge_addition(change: Change, pair: VersionPair) -> Judgement:
    """Return METADATA if old rows read as null, REWRITE if values are copied or columns rewritten; refuse a required field."""
    new = change.current_field
    if has_values(new, pair):
        hollow = next(_required_fields_without_values(new, pair), None)
        if hollow is not None:
            reason = f"existing rows have no {hollow.path_text}, and it may not be null"
            return refused(reason, make_optional(hollow.type))
        return Judgement(Outcome.REWRITE, "it is built from fields that were elsewhere; their data is copied")
    if not new.is_nullable:
        reason = f"existing rows have no {change.path}, and it may not be null"
        way_out = f"{make_optional(new.type)}; when it is filled, make it required"
        if new.parent is None:
            # A run fills whole columns.
            optional = make_optional(new.type)
            way_out = f"fill it first, with a run of `mode: backfill`, then apply; or {optional}"
        return refused(reason, way_out)
    if is_inside_map_or_vector(new):
        reason = "Lance cannot add fields inside maps and vectors, so the column is rewritten"
        # The column is itself new where the map or vector moved into it.
        *_, outermost = [pair.before[above] for above in new.ancestors if above in pair.before]
        return _refuse_copy(outermost, pair.old) or Judgement(Outcome.REWRITE, reason)
    return Judgement(Outcome.METADATA, "existing rows read as null")


def key_judgement(_change: Change | None, pair: VersionPair) -> Judgement:
    """Return what it means that the primary key differs, with rows or without.

    Lance refuses every update of the marks of a key ("cannot be changed once set"), but allows its columns to be dropped.
    """
    if not is_key_changed(pair):
        return METADATA
    reason = "the primary key of a Lance table can be set once, and neither changed nor removed"
    return refused(reason, way_out_of_key(pair))


def _judge_drop(change: Change, pair: VersionPair) -> Judgement:
    """Return METADATA, or REWRITE for the last field of a struct or list that has data in some file; refuse to drop all columns.

    Lance stores where a struct or list is null only in the data of the fields below it.
    """
    old = change.old_field
    assert old is not None
    if not any(field in pair.before for field in pair.new.dataset.columns):
        return refused("no column of the table would be left", "write a new table")
    lost = loss_of_key(old, pair)
    for above in old.ancestors:
        new = pair.after.get(above)
        if new is not None and not is_inside_map_or_vector(new) and not _has_data_below(new, above, pair):
            return Judgement(
                Outcome.REWRITE,
                f"all remaining fields of {new.path_text} are missing in some files, which would not show where it is null; so one of its fields is written"
                f"{lost and f'; {lost}'}",
            )
    return Judgement(Outcome.METADATA, lost)


def _has_data_below(field: SchemaField, above: SchemaField, pair: VersionPair) -> bool:
    """Whether some field below has data in every file in which the old field `above`, which is around it, has some."""
    parts = [child for child in field.children if _node_types(pair.new, child)]
    if parts:
        return any(_has_data_below(part, above, pair) for part in parts)
    return field in pair.before and _has_data_of_all_rows(pair.before[field], above, pair.old)


def _has_data_of_all_rows(field: SchemaField, above: SchemaField, version: SchemaVersion) -> bool:
    """Whether a field is as old as the field `above` that is around it, or was written anew since; True without a lock."""
    if not isinstance(version, LockedSchemaVersion):
        return True
    states = [[s for s in version.locked.states if s.id == version.ids[it]] for it in (field, above)]
    if not all(states):
        return True
    (mine, theirs) = (min(field_states, key=lambda state: state.first) for field_states in states)
    is_rewritten = len({lance_ids(state.numbers) for state in states[0]}) > 1
    return mine.first <= theirs.first or is_rewritten


def _judge_move(change: Change, pair: VersionPair) -> Judgement:
    """Return REWRITE, or DATA if values may be lost or missing where a struct is null; refuse to leave or enter a list or map."""
    old, new = change.fields
    if not (is_in_structs(old) and is_in_structs(new)):
        return refused("Lance cannot move a field into or out of a list or map", _NEW_FIELD_HELP)
    uncopied = _refuse_copy(new, pair.new)
    if uncopied is not None:
        return uncopied
    lost = nullable_structs_entered(new, pair)
    if lost:
        outer = lost[0].path_text
        reason = f"the values of {old.path_text} are lost in rows in which {outer} is null"
        return depends_on_data(reason, f"fill {outer} in these rows first")
    if leaves_nullable_struct(new, pair):
        reason = f"rows in which a struct around {old.path_text} is null have no value for {new.path_text}, and it may not be null"
        way_out = f"{make_optional(new.type)}, or fill the struct in these rows first"
        return depends_on_data(reason, way_out)
    return Judgement(Outcome.REWRITE, "Lance cannot move a column into another, so its data is copied")


def nullable_structs_entered(new: SchemaField, pair: VersionPair) -> list[SchemaField]:
    """Return the old structs that a field moves into and that may be null in existing rows, outermost first."""
    stayed = set(pair.before[new].ancestors)
    olds = [pair.before[above] for above in new.ancestors if above in pair.before]
    return [old for old in reversed(olds) if old.is_nullable and old not in stayed]


def leaves_nullable_struct(new: SchemaField, pair: VersionPair) -> bool:
    """Whether a required field moves out of a struct that may be null in existing rows."""
    stay = {pair.before.get(above) for above in new.ancestors}
    return not new.is_nullable and any(
        old.is_nullable and old not in stay for old in pair.before[new].ancestors
    )


def has_values(new: SchemaField, pair: VersionPair) -> bool:
    """Whether a new field gets values of existing fields, or would have got some in a version before it."""
    return any(
        field in pair.before or last_version_without(field, pair.new) is not None for field in preorder([new])
    )


def last_version_without(struct: SchemaField, version: SchemaVersion) -> int | None:
    """Return the number of the last locked version without this struct, if existing fields were moved into it; None for any other struct.

    In a table that went through each version, such a struct is not null in any row, though its members may be.
    """
    if not struct.children or not isinstance(version, LockedSchemaVersion):
        return None
    first: dict[int, int] = {}
    for state in version.locked.states:
        first[state.id] = min(state.first, first.get(state.id, state.first))
    id = version.ids[struct]
    begun = first.get(id, 1)
    # The members that it began with may have left it since.
    members = {s.id for s in version.locked.states if s.shape.parent == id and s.is_in(begun)}
    members |= {version.ids[child] for child in struct.children}
    return begun - 1 if any(first.get(member, begun) < begun for member in members) else None


def _required_fields_without_values(new: SchemaField, pair: VersionPair) -> Iterator[SchemaField]:
    """Yield the required fields below a new one for which existing rows have no value, without those inside them."""
    for child in new.children:
        if child in pair.before:
            continue
        if any(field in pair.before for field in preorder([child])):
            yield from _required_fields_without_values(child, pair)
        elif not child.is_nullable:
            yield child


def _judge_required(change: Change, pair: VersionPair) -> Judgement:
    """Return DATA, or METADATA for items of a vector, whose nullability Lance does not record."""
    if not _node_types(pair.new, change.current_field):
        return Judgement(Outcome.METADATA, "Lance does not record whether items of a vector may be null")
    reason = f"Lance allows it if no row has null in {change.path}"
    return depends_on_data(reason, "check for nulls, and fill them first")


def _refuse_copy(field: SchemaField, version: SchemaVersion) -> Judgement | None:
    """Refuse to copy a field with a blob or JSON in it, which Lance reads in another form than it writes; None for any other."""
    for inner in preorder([field]):
        if lance.BLOB.key in inner.extra or "json" in _node_types(version, inner):
            return refused(
                f"Lance cannot read {inner.path_text} in a form that can be copied", _NEW_FIELD_HELP
            )
    return None


def _copied_field(old: SchemaField, before: tuple[str, ...], after: tuple[str, ...]) -> SchemaField:
    """Return what is copied if a field gets other logical types: itself, or its column if Lance cannot cast it in its place."""
    is_in_list = not is_inside_map_or_vector(old) and is_cast(before[0], after[0])
    return old if is_in_structs(old) or is_in_list else old.column


def _judge_json(change: Change, pair: VersionPair) -> Judgement:
    """Return DATA for text that becomes JSON, METADATA for JSON that is declared otherwise; refuse to turn it into something else."""
    old, new = change.fields
    before, after = _logical_types(pair.old, old), _logical_types(pair.new, new)
    if before == after:
        return METADATA
    return _refuse_copy(_copied_field(old, before, after), pair.old) or depends_on_data(
        "every text has to be valid JSON", "check the texts first"
    )


def _judge_type(change: Change, pair: VersionPair) -> Judgement:
    """Return SAFE or METADATA for equal logical types, REWRITE for a cast, DATA if values may not fit; refuse the rest."""
    fact, (old, new) = change.fact, change.fields
    if fact is Fact.SORTED_KEYS_CHANGED and getattr(new.type, "keys_sorted", False):
        return refused("Lance has no map with sorted keys", "remove `keysSorted`")
    before, after = _logical_types(pair.old, old), _logical_types(pair.new, new)
    is_another = old.type.kind != new.type.kind
    # Lance may store two kinds alike between which nothing is known, such as one that somebody has added.
    is_unknown = is_another and castability(old.type, new.type) is Castability.NEVER
    if before == after and not is_unknown:
        # Views are not known to Lance; an extension type is, by its metadata.
        return METADATA if is_another or fact is Fact.EXTENSION_TYPE_CHANGED else SAFE
    uncopied = _refuse_copy(_copied_field(old, before, after), pair.old)
    if uncopied is not None:
        return uncopied
    if clock_of(old, new) is None:
        reading, instant = (old, new) if getattr(old.type, "timezone", None) is None else (new, old)
        zone = getattr(instant.type, "timezone", "")
        reason = f"{reading.path_text} has no zone, and no `clockZone` specifies the zone of its clock"
        entry = f"{builtin.CLOCK_ZONE.key}: {zone}"
        way_out = f"write `{entry}` under its `extra:` if the clock was in {zone}, or `UTC`, or another zone"
        return refused(reason, way_out)
    match castability(old.type, new.type):
        case Castability.NEVER:
            return refused(f"{old.type.type_text()} cannot become {new.type.type_text()}", _NEW_FIELD_HELP)
        case Castability.DEPENDS:
            reason = f"the column is rewritten; {_misfit_reason(old, new)}"
            way_out = "`schemac apply` checks all values before it changes anything"
            return depends_on_data(reason, way_out)
    return Judgement(Outcome.REWRITE, "the column is rewritten, under a new id")


def _misfit_reason(old: SchemaField, new: SchemaField) -> str:
    """Return why values of the old type may not fit the new one."""
    zones = [getattr(field.type, "timezone", None) for field in (old, new)]
    if old.type.family is new.type.family is Family.TIMESTAMP and zones.count(None) == 1:
        return f"timestamps without a zone are read as those of a clock in {clock_of(old, new)}, and have to be unambiguous there"
    return misfit(old.type, new.type)


def _logical_types(version: SchemaVersion, field: SchemaField) -> tuple[str, ...]:
    """Return Lance's logical types of a field; those of the vector for an item of a vector, which has none."""
    types = (_node_types(version, around) for around in (field, *field.ancestors))
    return next(filter(None, types))


def _node_types(version: SchemaVersion, field: SchemaField) -> tuple[str, ...]:
    """Return the logical types of the nodes that a field owns; none for an item of a vector."""
    return version.column_view(words_of, field.column)[field]


ROWS: Mapping[AnyFact, VerdictRow] = {
    **dict.fromkeys(PROPERTY_FACTS, VerdictRow(METADATA)),
    **dict.fromkeys(DATASET_FACTS, VerdictRow(SAFE)),
    **dict.fromkeys(
        TIGHTENED, VerdictRow(lambda change, pair: tightened(change, pair, how_to_find(change, pair)), None)
    ),
    **dict.fromkeys(TYPE_FACTS, VerdictRow(guarded(_refuse_in_packed, _judge_type), detail="")),
    **dict.fromkeys(
        LAYOUT_FACTS | {Fact.EXTENSION_TYPE_CHANGED}, VerdictRow(guarded(_refuse_in_packed, _judge_type))
    ),
    # The names of parts are metadata to Lance.
    Fact.CHILD_NAMES_CHANGED: VerdictRow(METADATA),
    **dict.fromkeys(
        (
            LanceFact.COMPRESSION_CHANGED,
            LanceFact.STRUCTURAL_ENCODING_CHANGED,
            LanceFact.PAGE_ENCODING_CHANGED,
            LanceFact.BLOB_THRESHOLDS_CHANGED,
        ),
        VerdictRow(
            Judgement(Outcome.NEW_FILES, "existing pages stay unchanged", "compact the table to rewrite them")
        ),
    ),
    **dict.fromkeys(KEY_FACTS - {Fact.CLUSTERING_KEY_CHANGED}, VerdictRow(key_judgement)),
    Fact.FIELD_ADDED: VerdictRow(guarded(_refuse_in_packed, _judge_addition), detail=""),
    Fact.FIELD_DROPPED: VerdictRow(guarded(_refuse_in_packed, _judge_drop), detail="drops {path}"),
    Fact.FIELD_RENAMED: VerdictRow(METADATA, detail="renames {old} to {new}"),
    Fact.FIELD_MOVED: VerdictRow(guarded(_refuse_in_packed, _judge_move), CheckSubject.PLACE),
    Fact.FIELDS_REORDERED: VerdictRow(guarded(_refuse_in_packed, METADATA), detail="reorders the fields"),
    Fact.BECAME_OPTIONAL: VerdictRow(METADATA, detail="makes {path} optional"),
    Fact.BECAME_REQUIRED: VerdictRow(_judge_required, CheckSubject.NULLS, "makes {path} required"),
    Fact.STORAGE_VERSION_CHANGED: VerdictRow(
        refused("the storage version of a table cannot change", "copy the data into a new table")
    ),
    Fact.PACKED_STRUCT_CHANGED: VerdictRow(
        refused("existing files have the other layout and cannot be read with this one", _NEW_FIELD_HELP)
    ),
    **dict.fromkeys(
        (Fact.BLOB_ADDED, Fact.BLOB_REMOVED, Fact.FLOAT_ENCODING_CHANGED),
        VerdictRow(refused("Lance has no cast between the two layouts", _NEW_FIELD_HELP)),
    ),
    Fact.JSON_CHANGED: VerdictRow(guarded(_refuse_in_packed, _judge_json)),
    Fact.UNIT_CHANGED: VerdictRow(of_another_unit),
}
JUDGE = Judge({fact: row.judge for fact, row in ROWS.items()})
