"""The standard's system columns.

Layer: checks.
Errors: SC323 odd-system-column.
Source: RFC-016's sample and the reference implementation's check of a new schema. Names such as `offset` are ordinary words,
so nothing is said of a schema that has but one of them and no SetVocab that means it.
"""

from collections.abc import Mapping

from schemac.attributes.family import Family
from schemac.logical.dataset import LogicalDataset
from schemac.logical.findings import Findings
from schemac.logical.schema_fields import SchemaField
from schemac.logical.system import VARIANTS, SystemColumns
from schemac.source.catalogue import ODD_SYSTEM_COLUMN
from schemac.source.help import Help

_OFFSETS, _OPERATIONS = zip(*VARIANTS.values(), strict=True)


def check_system_columns(dataset: LogicalDataset, findings: Findings) -> None:
    """They have one of the accepted types, may not be null, are complete and come first."""
    names, explicit = dataset.naming
    present: dict[str, SchemaField] = {}
    places: dict[str, int] = {}
    for i, field in enumerate(dataset.columns):
        if field.segment in names:
            present.setdefault(str(field.segment), field)
            places.setdefault(str(field.segment), i)
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
        _check_order(names_present, places, present, names, findings)


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
    places: Mapping[str, int],
    present: Mapping[str, SchemaField],
    names: SystemColumns,
    findings: Findings,
) -> None:
    """Check the order; the time of the event may be any column, so it has no place of its own."""
    late = next((name for i, name in enumerate(names_present) if places[name] != i), None)
    if late is not None:
        findings.at_name(
            present[late],
            ODD_SYSTEM_COLUMN,
            f"the system column {late} is column number {places[late] + 1}",
            help=f"the system columns come first, in this order: {', '.join(names)}",
        )
