"""Readers of Arrow and Parquet files.

Layer: engines.
Shape: columns and members are found by name, absent ones read as null, and types are cast safely on the way. Null in a
column that may not be null passes unseen; in a member of a struct it makes the read fail.
Source: `pyarrow.dataset`, asked with every pair of types and layouts (`tests/conformance/test_verdicts.py`).
"""

from schemac.attributes.arrow import EXTENSION_TYPE, read_hints
from schemac.attributes.attribute import Role
from schemac.attributes.family import Family
from schemac.attributes.registry import has_role
from schemac.evolution.castability import castability, misfit
from schemac.evolution.changes import LAYOUT_FACTS, TYPE_FACTS, Change, Fact
from schemac.evolution.constraints import TIGHTENED, tightened
from schemac.evolution.judge import Judge
from schemac.evolution.layouts import missing_cast
from schemac.evolution.messages import make_optional
from schemac.evolution.verdict import SAFE, Judgement, Outcome, of_another_unit
from schemac.evolution.version_pair import VersionPair
from schemac.logical.castability import Castability
from schemac.logical.schema_fields import SchemaField

_NOTHING = frozenset(
    {
        Fact.FIELDS_REORDERED,
        Fact.FIELD_DROPPED,
        Fact.BECAME_OPTIONAL,
        Fact.DATASET_ADDED,
        Fact.DATASET_DROPPED,
    }
)
_SHAPES = TYPE_FACTS | {
    Fact.FIELD_ADDED,
    Fact.FIELD_DROPPED,
    Fact.FIELDS_REORDERED,
    Fact.BECAME_OPTIONAL,
    Fact.BECAME_REQUIRED,
}
"""Changes of an Arrow type, so that whatever is around it is cast."""
_REGISTERED = frozenset(
    {"arrow.json", "arrow.uuid", "arrow.bool8", "arrow.opaque", "arrow.fixed_shape_tensor"}
)
"""Extension types that pyarrow knows; of all others it sees the storage."""
_WRITE_ANEW = "rewrite the files, or add a new field next to the old one"


def judge(change: Change, pair: VersionPair | None) -> Judgement:
    """Return what a change means for files that exist."""
    judgement = _judge(change, pair)
    is_cast = change.fact in _SHAPES and judgement.outcome is not Outcome.REFUSED
    if is_cast and _is_in_list_view(change.new_field or change.old_field):
        return Judgement(Outcome.REWRITE, "pyarrow cannot cast inside list views", "rewrite the files")
    return judgement


def _judge(change: Change, pair: VersionPair | None) -> Judgement:
    old, new = change.old_field, change.new_field
    if change.fact in _NOTHING:
        return SAFE
    if change.fact in TIGHTENED:
        return tightened(change, pair)
    if old is not None and new is not None:
        if change.fact in TYPE_FACTS:
            return _type(old, new)
        if change.fact in LAYOUT_FACTS:
            return _layout(old, new) or Judgement(
                Outcome.NEW_FILES, "existing files keep their layout and are cast when they are read"
            )
        if change.fact in (Fact.EXTENSION_TYPE_CHANGED, Fact.JSON_CHANGED):
            return _extension(old, new)
    match change.fact:
        case Fact.FIELD_ADDED if new is not None:
            if new.is_nullable:
                return SAFE
            return Judgement(
                Outcome.REFUSED,
                f"existing files have no {change.path}, and it may not be null",
                make_optional(new.type),
            )
        case Fact.FIELD_RENAMED | Fact.FIELD_MOVED:
            return Judgement(
                Outcome.REFUSED,
                f"existing files have it as {change.old}, and Arrow finds fields by name, so it would read as null",
                "rewrite the files, or read them with the old schema and rename the field",
            )
        case Fact.BECAME_REQUIRED:
            return Judgement(
                Outcome.DATA, f"{change.path} may be null in existing files", "check for nulls first"
            )
        case Fact.UNIT_CHANGED if change.old is not None and change.new is not None:
            return of_another_unit(change)
        case Fact.BLOB_ADDED | Fact.BLOB_REMOVED | Fact.FLOAT_ENCODING_CHANGED:
            return Judgement(
                Outcome.REFUSED, f"{change.path} has a different layout", "add a new field next to it"
            )
    return Judgement(Outcome.METADATA)


def _type(old: SchemaField, new: SchemaField) -> Judgement:
    match castability(old.type, new.type):
        case Castability.NEVER:
            return Judgement(
                Outcome.REFUSED,
                f"{old.type.type_text()} cannot be cast to {new.type.type_text()}",
                _WRITE_ANEW,
            )
        case Castability.DEPENDS:
            return _layout(old, new) or Judgement(
                Outcome.DATA,
                f"{misfit(old.type, new.type)}: reading fails, or changes them",
                "check the values first, or rewrite the files",
            )
    return _layout(old, new) or SAFE


def _layout(old: SchemaField, new: SchemaField) -> Judgement | None:
    missing = missing_cast(old, new)
    return Judgement(Outcome.REWRITE, missing, "keep the layout, or rewrite the files") if missing else None


def _is_in_list_view(field: SchemaField | None) -> bool:
    above = field.parent if field is not None else None
    while above is not None:
        buffer = read_hints(above.extra).buffer
        if above.type.family is Family.LIST and buffer is not None and buffer.kind == "View":
            return True
        above = above.parent
    return False


def _extension(old: SchemaField, new: SchemaField) -> Judgement:
    before, after = _extension_of(old), _extension_of(new)
    if before == after or not {before[0], after[0]} <= _REGISTERED:
        return Judgement(Outcome.METADATA)
    return Judgement(
        Outcome.REWRITE, f"there is no cast from {before[0]} to another extension type", _WRITE_ANEW
    )


def _extension_of(field: SchemaField) -> tuple[str, str]:
    """Name and metadata; empty if there is none."""
    if has_role(field.extra, Role.JSON):
        return ("arrow.json", "")
    extension = EXTENSION_TYPE.read(field.extra)
    return (extension.name, extension.metadata or "") if extension is not None else ("", "")


JUDGE = Judge(judge)
