"""What the table that the DDL makes has otherwise than the Lance artifact.

Layer: engines.
Shape: the lowered fields compared with the Arrow fields of `connector.made_table`, place by place: layout, nullability,
names of items, and what the attributes say. All that differs is told, so that nothing can be left out by forgetting it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from schemac.arrow.form import forms
from schemac.arrow.lower_metadata import (
    EXTENSION_METADATA,
    EXTENSION_NAME,
    field_metadata,
    registered_extension_metadata,
)
from schemac.artifacts.type_writer import is_lost
from schemac.attributes import arrow, odf, own
from schemac.attributes.attribute import Role
from schemac.attributes.registry import are_telling, domain_of, has_role
from schemac.engines.spark.connector import MadeField
from schemac.engines.spark.marks import COMMENT
from schemac.logical.schema_fields import SchemaField
from schemac.physical.arrow import ArrowField, ArrowType, pa
from schemac.physical.field import LoweredField

Lose = Callable[[SchemaField, str, str], None]


def report_differences(
    expected: Sequence[LoweredField], made: Sequence[MadeField], reported_paths: frozenset[str], lose: Lose
) -> None:
    """Enter all differences; the types of the fields in `reported_paths` have been reported."""
    for field, there in zip(expected, made, strict=True):
        _report_field(field, there, reported_paths, lose)


def _report_field(field: LoweredField, made: MadeField, reported_paths: frozenset[str], lose: Lose) -> None:
    schema_field: SchemaField = field.field
    arrow = field.arrow
    expected_type: Any = arrow.type
    metadata = field.metadata
    if isinstance(expected_type, pa.BaseExtensionType):
        metadata = {**metadata, **registered_extension_metadata(expected_type)}
        expected_type = expected_type.storage_type
    if made.is_nullable and not arrow.nullable:
        lose(schema_field, "a value that may not be null", "one that may")
    if metadata:
        _report_metadata(schema_field, metadata, made.metadata, lose)
    if not field.children and expected_type.equals(made.type):
        return
    words, becomes = _layout(expected_type), _layout(made.type)
    if (
        words != becomes
        and not (reported_paths and schema_field.path_text in reported_paths)
        and not _is_json(arrow)
    ):
        lose(schema_field, words, becomes)
    if not field.children:
        return
    # What is in a vector of plain values Lance itself does not keep.
    if pa.types.is_fixed_size_list(expected_type) and not pa.types.is_struct(expected_type.value_type):
        return
    parts = _parts(made.type)
    if len(parts) == len(field.children):
        for child, part in zip(field.children, parts, strict=True):
            if pa.types.is_list(made.type) and child.arrow.name != part.name:
                lose(schema_field, f"the name {child.arrow.name} of its items", part.name)
            inner = MadeField(
                part.name,
                part.type,
                part.nullable,
                {key.decode(): value.decode() for key, value in (part.metadata or {}).items()},
            )
            _report_field(child, inner, reported_paths, lose)


def _is_json(field: ArrowField) -> bool:
    """Lance keeps JSON in its own layout, whatever the text is in."""
    return bool(isinstance(field.type, pa.BaseExtensionType) and field.type.extension_name == "arrow.json")


def _layout(type_: ArrowType) -> str:
    """Return a type without its parts."""
    if not pa.types.is_nested(type_):
        return str(type_)
    if pa.types.is_fixed_size_list(type_):
        of = "" if pa.types.is_nested(type_.value_type) else f" of {type_.value_type}"
        return f"a vector of length {type_.list_size}{of}"
    if pa.types.is_large_list(type_):
        return "a list with large offsets"
    if pa.types.is_map(type_):
        return "a map"
    if pa.types.is_struct(type_):
        return "a struct"
    return "a list"


def _parts(type_: ArrowType) -> list[ArrowField]:
    if pa.types.is_map(type_):
        return [type_.key_field, type_.item_field]
    if pa.types.is_struct(type_):
        return list(type_.fields)
    return [type_.value_field] if pa.types.is_nested(type_) else []


def _report_metadata(
    field: SchemaField, expected: Mapping[str, str], made: Mapping[str, str], lose: Lose
) -> None:
    """Enter what the table does not know of a field, in the author's words."""
    is_commented = COMMENT in made
    lost = [
        key
        for key, value in expected.items()
        if value and made.get(key) != value and not (is_commented and key == odf.DESCRIPTION.key)
    ]
    if not lost:
        return
    if EXTENSION_NAME not in lost and not are_telling(field.extra):
        # Nothing but attributes that travel under their own keys.
        for key in sorted(lost):
            lose(field, _attribute(key), "nothing")
        return
    if EXTENSION_NAME in lost:
        is_json = has_role(field.extra, Role.JSON)
        lost_type = "JSON" if is_json else f"the extension type {expected[EXTENSION_NAME]}"
        lose(field, lost_type, "a text" if is_json else "its storage")
    for words in _lost_attributes(field, set(lost) - {EXTENSION_NAME, EXTENSION_METADATA}):
        lose(field, words, "nothing")


def _lost_attributes(field: SchemaField, lost: set[str]) -> Iterator[str]:
    """Yield what of the attributes is in these entries of the metadata."""
    # Sorted, for the order of keys means nothing.
    for key, value in sorted(field.extra.items()):
        if key == arrow.METADATA.key:
            yield from (f"the metadata {name}" for name in sorted(lost & value.keys()))
            continue
        mine = sorted(lost & field_metadata({key: value}).keys())
        yield from dict.fromkeys(_entry(key, name) for name in mine)


def _entry(attribute: str, key: str) -> str:
    """`dictDivisor of lance.org/encoding`, or the attribute as a whole."""
    form = forms().get(domain_of(attribute))
    name = form.property_of(attribute, key) if form is not None else ""
    return f"{name} of {attribute}" if name else _attribute(attribute)


@lru_cache(maxsize=1024)
def _attribute(key: str) -> str:
    """Return the words for a whole attribute: one text, however many fields have it."""
    return f"the attribute {key}"


def lost_of_schema(extra: Mapping[str, Any]) -> Iterator[str]:
    """Attributes of the whole that neither file has a place for: engines' own are about something else."""
    for key in sorted(extra):
        if key == odf.DESCRIPTION.key:
            yield "the description of the table"
        elif key != own.TARGETS_OF.key and is_lost(key):
            yield f"the attribute {key}"
