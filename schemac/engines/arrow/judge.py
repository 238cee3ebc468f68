"""Readers of Arrow and Parquet files.

Layer: engines.
Shape: columns and members are found by name, absent ones read as null, and types are cast safely on the way. Null in a
column that may not be null passes unseen; in a member of a struct it makes the read fail.
Source: `pyarrow.dataset`, asked with every pair of types and layouts (`tests/conformance/test_verdicts.py`).
"""

from functools import update_wrapper
from typing import cast

from schemac.language.attributes.arrow import EXTENSION_TYPE, read_hints
from schemac.language.attributes.attribute import Family, Role
from schemac.language.attributes.registry import has_role
from schemac.language.logical.facts import Fact
from schemac.language.logical.model import Castability, SchemaField
from schemac.versions.evolution import changes
from schemac.versions.evolution.castability import castability, misfit, missing_cast
from schemac.versions.evolution.constraints import TIGHTENED, tightened
from schemac.versions.evolution.judge import Judge, Rule, make_optional
from schemac.versions.evolution.version_pair import VersionPair

_REGISTERED = frozenset(
    {"arrow.json", "arrow.uuid", "arrow.bool8", "arrow.opaque", "arrow.fixed_shape_tensor"}
)
"""Extension types that pyarrow knows; of all others it sees the storage."""
_WRITE_ANEW = "rewrite the files, or add a new field next to the old one"


def _outside_list_views(rule: Rule | changes.Judgement) -> Rule:
    """Ask a rule about changes of an Arrow type, so that whatever lies around it is cast."""

    def ask(change: changes.Change, pair: VersionPair | None) -> changes.Judgement:
        judgement = rule if isinstance(rule, changes.Judgement) else rule(change, pair)
        field = change.new_field or change.old_field
        lists = [above for above in field.ancestors if above.type.family is Family.LIST] if field else []
        buffers = [read_hints(above.extra).buffer for above in lists]
        is_in_list_view = any(buffer is not None and buffer.kind == "View" for buffer in buffers)
        if judgement.outcome is changes.Outcome.REFUSED or not is_in_list_view:
            return judgement
        return changes.Judgement(
            changes.Outcome.REWRITE, "pyarrow cannot cast inside list views", "rewrite the files"
        )

    return update_wrapper(ask, cast("Rule", rule))


def _added(change: changes.Change, _pair: object) -> changes.Judgement:
    """Return SAFE for a field that may be null; refuse a required one, which existing files lack."""
    if change.current_field.is_nullable:
        return changes.SAFE
    return changes.refused(
        f"existing files have no {change.path}, and it may not be null",
        make_optional(change.current_field.type),
    )


def _renamed(change: changes.Change, _pair: object) -> changes.Judgement:
    """Refuse a new name: Arrow matches fields by name, so the old values would read as null."""
    return changes.refused(
        f"existing files have it as {change.old}, and Arrow finds fields by name, so it would read as null",
        "rewrite the files, or read them with the old schema and rename the field",
    )


def _required(change: changes.Change, _pair: object) -> changes.Judgement:
    """Return DATA: existing files have to be checked for nulls."""
    return changes.depends_on_data(f"{change.path} may be null in existing files", "check for nulls first")


def _relaid(change: changes.Change, _pair: object) -> changes.Judgement:
    """Refuse a blob or float encoding that comes, goes or changes, since existing files have another layout."""
    return changes.refused(f"{change.path} has a different layout", "add a new field next to it")


def _type(change: changes.Change, _pair: object) -> changes.Judgement:
    """Return REFUSED without a cast, DATA where values may not fit, REWRITE for a layout that Arrow cannot cast, else SAFE."""
    old, new = change.fields
    match castability(old.type, new.type):
        case Castability.NEVER:
            return changes.refused(
                f"{old.type.type_text()} cannot be cast to {new.type.type_text()}", _WRITE_ANEW
            )
        case Castability.DEPENDS:
            return _layout(old, new) or changes.depends_on_data(
                f"{misfit(old.type, new.type)}: reading fails, or changes them",
                "check the values first, or rewrite the files",
            )
    return _layout(old, new) or changes.SAFE


def _buffers(change: changes.Change, _pair: object) -> changes.Judgement:
    """Return NEW_FILES, or REWRITE where Arrow has no cast between the two layouts."""
    return _layout(*change.fields) or changes.Judgement(
        changes.Outcome.NEW_FILES, "existing files keep their layout and are cast when they are read"
    )


def _layout(old: SchemaField, new: SchemaField) -> changes.Judgement | None:
    """Return REWRITE where Arrow has no cast between two layouts, and None where it has one."""
    missing = missing_cast(old, new)
    if not missing:
        return None
    return changes.Judgement(changes.Outcome.REWRITE, missing, "keep the layout, or rewrite the files")


def _extension(change: changes.Change, _pair: object) -> changes.Judgement:
    """Return REWRITE between two different extension types that pyarrow registers, METADATA otherwise."""
    before, after = map(_extension_of, change.fields)
    if before == after or not _REGISTERED.issuperset((before[0], after[0])):
        return changes.Judgement(changes.Outcome.METADATA)
    return changes.Judgement(
        changes.Outcome.REWRITE, f"there is no cast from {before[0]} to another extension type", _WRITE_ANEW
    )


def _extension_of(field: SchemaField) -> tuple[str, str]:
    """Name and metadata; empty if there is none."""
    if has_role(field.extra, Role.JSON):
        return ("arrow.json", "")
    extension = EXTENSION_TYPE.read(field.extra)
    return (extension.name, extension.metadata or "") if extension is not None else ("", "")


JUDGE = Judge(
    {
        **dict.fromkeys(changes.PROPERTY_FACTS, changes.METADATA),
        **dict.fromkeys(changes.DATASET_FACTS, changes.SAFE),
        **dict.fromkeys(TIGHTENED, tightened),
        **dict.fromkeys(changes.TYPE_FACTS, _outside_list_views(_type)),
        **dict.fromkeys(changes.LAYOUT_FACTS, _buffers),
        **dict.fromkeys((Fact.EXTENSION_TYPE_CHANGED, Fact.JSON_CHANGED), _extension),
        **dict.fromkeys((Fact.BLOB_ADDED, Fact.BLOB_REMOVED, Fact.FLOAT_ENCODING_CHANGED), _relaid),
        **dict.fromkeys((Fact.FIELD_RENAMED, Fact.FIELD_MOVED), _renamed),
        **dict.fromkeys(
            (Fact.FIELDS_REORDERED, Fact.FIELD_DROPPED, Fact.BECAME_OPTIONAL),
            _outside_list_views(changes.SAFE),
        ),
        Fact.FIELD_ADDED: _outside_list_views(_added),
        Fact.BECAME_REQUIRED: _outside_list_views(_required),
        Fact.UNIT_CHANGED: changes.of_another_unit,
    }
)
