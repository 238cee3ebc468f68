"""Keys: columns that identify a row, and columns that another attribute names.

Layer: language.
Errors: SC317 to SC319.
Source: Lance's table format, "Unenforced Primary Key": no field of the key, and nothing above it, may be
nullable, nested in a list or map, or have members. Keys that an attribute of the schema lists are of columns.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from schemac.language.attributes import odf, own
from schemac.language.attributes.attribute import Family, Role
from schemac.language.attributes.constraints import OF_ROWS
from schemac.language.attributes.registry import ATTRIBUTES, of_role
from schemac.language.logical.findings import Findings
from schemac.language.logical.schema_fields import SchemaField
from schemac.text.source.catalogue import (
    DUPLICATE_KEY_POSITION,
    INVALID_PRIMARY_KEY,
    MISPLACED_ATTRIBUTE,
    UNKNOWN_COLUMN,
)
from schemac.text.source.help import Help
from schemac.text.source.phrases import closest, with_article
from schemac.text.syntax.events import written

_NAMING_COLUMNS = tuple(attribute for attribute in ATTRIBUTES.values() if attribute.names_columns)
_NAMING_IN_TEXTS = tuple(
    attribute
    for attribute in ATTRIBUTES.values()
    if attribute.renamed is not None and attribute not in OF_ROWS
)
"""Attributes of which only parts of the value name columns. Constraints of rows are parsed where they are checked."""


def check_primary_key(field: SchemaField, findings: Findings) -> None:
    """Check that a field which is marked as part of the primary key can be one."""
    for attribute in of_role(Role.KEY_PART):
        if attribute.key in field.extra:
            _check_key_part(field, attribute.key, findings)


def _check_key_part(field: SchemaField, key: str, findings: Findings) -> None:
    above: SchemaField | None = field
    while above is not None:
        if above.type.family in (Family.LIST, Family.MAP) and above is not field:
            findings.at_extra(
                field,
                key,
                INVALID_PRIMARY_KEY,
                f"{field.path_text} is inside the {above.type.kind} {above.path_text}",
                on_key=True,
            )
            return
        if above.is_nullable:
            text = f"make {above.path_text} required: write its type without Option"
            help = Help.make_required(text, levels=_levels(field, above))
            findings.at_extra(
                field,
                key,
                INVALID_PRIMARY_KEY,
                f"a primary key may not be null, but {above.path_text} may",
                on_key=True,
                help=help,
            )
            return
        above = above.parent
    is_vector = field.type.family is Family.LIST and getattr(field.type, "fixed_length", None) is not None
    if field.children and not is_vector:
        message = f"{field.path_text} is {with_article(field.type.kind)}; the fields of a primary key have plain types"
        findings.at_extra(
            field, key, INVALID_PRIMARY_KEY, message, on_key=True, help="mark its members instead"
        )


def _levels(field: SchemaField, above: SchemaField) -> int:
    """Return how many structs a field is deeper than another one."""
    return 0 if field is above or field.parent is None else 1 + _levels(field.parent, above)


def check_positions(fields: Sequence[SchemaField], findings: Findings) -> None:
    """No two fields of a key are at the same position."""
    for attribute in (*of_role(Role.KEY_PART), *of_role(Role.CLUSTERING_PART)):
        by_position: dict[int, SchemaField] = {}
        for field in fields:
            value = attribute.read(field.extra) if attribute.key in field.extra else None
            if value is None or value.position is None:
                continue
            first = by_position.setdefault(value.position, field)
            if first is not field:
                findings.at_extra(
                    field,
                    attribute.key,
                    DUPLICATE_KEY_POSITION,
                    f"position {value.position} of the key is already used by {first.path_text}",
                    "position",
                    help=Help.write(str(max(by_position) + 1), key="position", is_safe=False),
                )


def check_named_columns(extra: Mapping[str, Any], columns: Sequence[SchemaField], findings: Findings) -> None:
    """Columns that attributes of the schema name do exist."""
    names = [str(field.segment) for field in columns]
    for attribute in _NAMING_COLUMNS:
        for i, name in enumerate(attribute.read(extra) or ()):
            if name not in names:
                near = closest(name, names)
                help = Help.did_you_mean(near, name, mark="'") if near else ""
                message = f"there is no column '{name}'"
                findings.at_schema(UNKNOWN_COLUMN, message, "extra", attribute.key, i, help=help)
    for column in columns:
        old, new = column.extra.get(own.RENAMED_FROM.key), str(column.segment)
        if not isinstance(old, str) or old in names:
            continue
        for attribute in _NAMING_IN_TEXTS:
            for renaming in attribute.renamings(extra, old, new):
                findings.at_schema(
                    UNKNOWN_COLUMN,
                    f"there is no column '{old}' any more: it is called '{new}' now",
                    "extra",
                    attribute.key,
                    *renaming.steps,
                    help=Help.write(written(renaming.text)),
                    on_key=renaming.is_key,
                )


def check_object_link(field: SchemaField, findings: Findings) -> None:
    """Did, Multihash and ObjectLink are texts; a link is at the top level only."""
    word = odf.TYPE.read(field.extra)
    if word is None or word.kind not in odf.WORDS:
        return
    if field.type.family not in odf.WORD_FAMILIES:
        findings.at_extra(
            field,
            odf.TYPE.key,
            MISPLACED_ATTRIBUTE,
            f"{with_article(word.kind)} has to be a String, but {field.path_text} is {with_article(field.type.kind)}",
            "kind",
            help=Help.retype("type", "String"),
        )
    elif word.kind == "ObjectLink" and field.parent is not None:
        findings.at_extra(
            field,
            odf.TYPE.key,
            MISPLACED_ATTRIBUTE,
            "an ObjectLink has to be a column",
            "kind",
            help="move the field to the top level",
        )
