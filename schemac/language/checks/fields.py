"""Checks of fields: names, nested options, each kind's own rules, successors of deprecated fields, and system columns.

Layer: language.
Errors: SC301 duplicate-field-name, SC302 empty-field-name, SC303 case-collision, SC304 nested-option, SC322 control-
character, SC323 odd-system-column, SC341 unknown-successor, and those of each kind.
Source: in Arrow's C data interface, through which Lance reads, a name ends at the first NUL. The standard's system
columns are those of RFC-016's sample and of the reference implementation's check of a new schema. `offset` and the like
are ordinary words, so a schema that has only one of them and no SetVocab that names it is not reported.
"""

import re
from collections.abc import Mapping, Sequence

from schemac.language.attributes.attribute import Family
from schemac.language.attributes.own import DEPRECATED
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.findings import Checked, Findings, Other
from schemac.language.logical.origins import VARIANTS, SystemColumns
from schemac.language.logical.schema_fields import SchemaField
from schemac.registry.engine import Trait
from schemac.registry.installed import with_trait
from schemac.text.source.catalogue import (
    CASE_COLLISION,
    CONTROL_CHARACTER,
    DUPLICATE_FIELD_NAME,
    EMPTY_FIELD_NAME,
    NESTED_OPTION,
    ODD_SYSTEM_COLUMN,
    UNKNOWN_SUCCESSOR,
)
from schemac.text.source.help import Help
from schemac.text.source.phrases import closest, listed

# Line ends and tabs come from headers of spreadsheets; all engines hold them.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def check_names(siblings: Sequence[SchemaField], findings: Findings) -> None:
    """Members of one struct, or the columns, have distinct names that are not blank."""
    by_name: dict[str, SchemaField] = {}
    by_folded: dict[str, SchemaField] = {}
    for field in siblings:
        name = str(field.segment)
        if not name.strip():
            findings.at_name(field, EMPTY_FIELD_NAME, "a field has no name", help="give it a name")
            continue
        if not name.isprintable() and (control := _CONTROL.search(name)):
            character = f"U+{ord(control.group()):04X}"
            message = f"a name may not contain the control character {character}"
            findings.at_name(field, CONTROL_CHARACTER, message, help=Help.remove_character(control.group()))
        first = by_name.setdefault(name, field)
        if first is not field:
            findings.at_name(
                field,
                DUPLICATE_FIELD_NAME,
                f"the name '{name}' is used twice",
                other=Other(first, "first used here"),
                help="rename one of the two",
            )
            continue
        duplicate = by_folded.setdefault(name.casefold(), field)
        if duplicate is not field:
            findings.at_name(
                field,
                CASE_COLLISION,
                f"'{name}' and '{duplicate.segment}' differ only in case, which"
                f" {listed([*with_trait(Trait.IGNORES_CASE), 'SQL'])} ignore",
                other=Other(duplicate, "the other one"),
                help="rename one of the two",
            )


def check_type(field: SchemaField, findings: Findings) -> None:
    """One Option at most, and the kind's own rules."""
    if len(field.options) > 1:
        findings.at_option(
            field,
            1,
            NESTED_OPTION,
            f"{field.path_text} is an Option inside an Option",
            help=Help.unwrap("keep the outer Option only", is_safe=True),
        )
    if isinstance(field.type, Checked):
        field.type.check(field, findings)


def check_successors(fields: Sequence[SchemaField], sound: Sequence[SchemaField], findings: Findings) -> None:
    """Check that what takes the place of a deprecated field is another field, and is not deprecated itself."""
    deprecated = {field.path_text: field for field in sound if DEPRECATED.key in field.extra}
    if not deprecated:
        return
    names = [field.path_text for field in fields if field.is_member]
    for path, field in deprecated.items():
        value = DEPRECATED.read(field.extra)
        successor = value.successor if value is not None else None
        if successor is None:
            continue
        if successor not in names:
            near = closest(successor, [name for name in names if name != path])
            help = (
                Help.did_you_mean(near, successor)
                if near
                else "write the path of a field, such as stops.item.name"
            )
            message = f"there is no field '{successor}' to take the place of {path}"
        elif successor == path:
            message, help = f"{path} cannot be its own successor", "name the field that takes its place"
        elif successor in deprecated:
            message = f"{successor}, the successor of {path}, is deprecated itself"
            help = "name the field that readers are to use in the end"
        else:
            continue
        findings.at_extra(field, DEPRECATED.key, UNKNOWN_SUCCESSOR, message, "successor", help=help)


_OFFSETS, _OPERATIONS = zip(*VARIANTS.values(), strict=True)


def check_system_columns(dataset: LogicalDataset, findings: Findings) -> None:
    """They have one of the accepted types, may not be null, are complete and come first."""
    names, explicit = dataset.naming
    present: dict[str, SchemaField] = {}
    positions: dict[str, int] = {}
    for i, field in enumerate(dataset.columns):
        if field.segment in names:
            present.setdefault(str(field.segment), field)
            positions.setdefault(str(field.segment), i)
    names_present = [name for name in names[:3] if name in present]
    if len(names_present) < 2 and not explicit.intersection(names_present):
        if names.event_time in explicit:
            _check_type(names.event_time, names, present, findings)
        return
    for name in names:
        _check_type(name, names, present, findings)
        if name in present and present[name].is_nullable:
            field = present[name]
            message = f"the system column {name} may not be null"
            help = Help.unwrap(f"write `type: {field.type.kind}` without Option", is_safe=False)
            findings.at_option(field, 0, ODD_SYSTEM_COLUMN, message, help=help)
    if dataset.is_whole:
        _check_completeness(names_present[0], names, present, findings)
        _check_order(names_present, positions, present, names, findings)


def _check_type(
    name: str, names: SystemColumns, present: Mapping[str, SchemaField], findings: Findings
) -> None:
    field = present.get(name)
    if field is None:
        return
    type_ = field.type
    if name == names.system_time:
        is_accepted = type_.type_text() == "Timestamp(Millisecond, UTC)"
        right, rule = "Timestamp", "in the standard it is a Timestamp in UTC with the unit Millisecond"
    elif name == names.event_time:
        is_accepted = type_.family in (Family.TIMESTAMP, Family.DATE)
        right, rule = "Timestamp", "in the standard it is a Timestamp or a Date"
    else:
        accepted = _OFFSETS if name == names.offset else _OPERATIONS
        is_accepted = type_.kind in accepted
        right, rule = (
            accepted[0],
            f"in the standard it is {accepted[0]}, in the reference implementation {accepted[1]}",
        )
    if not is_accepted:
        message = f"the system column {name} is {type_.type_text()}; {rule}"
        findings.at_type(
            field, ODD_SYSTEM_COLUMN, message, help=Help.write_type(right, key="type", is_safe=False)
        )


def _check_completeness(
    first: str, names: SystemColumns, present: Mapping[str, SchemaField], findings: Findings
) -> None:
    missing = [name for name in names if name not in present]
    if missing:
        are = "system columns are" if len(missing) > 1 else "a system column is"
        findings.at_name(
            present[first],
            ODD_SYSTEM_COLUMN,
            f"{are} missing, although {first} is there: {', '.join(missing)}",
            help="add them, or insert them with `--system-columns rfc`",
        )


def _check_order(
    names_present: list[str],
    positions: Mapping[str, int],
    present: Mapping[str, SchemaField],
    names: SystemColumns,
    findings: Findings,
) -> None:
    """Check the order; the time of the event may be any column, so it has no place of its own."""
    late = next((name for i, name in enumerate(names_present) if positions[name] != i), None)
    if late is not None:
        findings.at_name(
            present[late],
            ODD_SYSTEM_COLUMN,
            f"the system column {late} is column number {positions[late] + 1}",
            help=f"the system columns come first, in this order: {', '.join(names)}",
        )
