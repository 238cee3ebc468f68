"""The checks, in their order.

Layer: checks.
"""

from collections.abc import Sequence
from dataclasses import replace

from schemac.attributes.constraints import OF_ROWS, are_constrained
from schemac.attributes.registry import are_telling
from schemac.checks.attributes import check_schema_attributes, check_slot_attributes
from schemac.checks.brought import check_brought
from schemac.checks.hints import check_hints
from schemac.checks.keys import check_named_columns, check_object_link, check_positions, check_primary_key
from schemac.checks.names import check_names
from schemac.checks.nesting import check_type
from schemac.checks.ownership import check_successors
from schemac.checks.system_columns import check_system_columns
from schemac.checks.vocabulary import Vocabulary, check_vocabularies
from schemac.logical.dataset import LogicalDataset
from schemac.logical.findings import Findings
from schemac.logical.slots import Slot, preorder
from schemac.source.report import Report


def check(dataset: LogicalDataset, report: Report, vocabularies: Sequence[Vocabulary] = ()) -> None:
    """Everything that can be said about one schema without an engine in mind."""
    findings = Findings(report, dataset.origins)
    sound = check_schema_attributes(dataset.schema.extra, findings) if dataset.schema.extra else {}
    if dataset.is_whole:
        check_named_columns(sound, dataset.columns, findings)
    check_names(dataset.columns, findings)
    slots = preorder(dataset.columns)
    telling: list[Slot] = []
    unread = dataset.unread
    for slot in slots:
        if unread and slot.type_at in unread:
            check_slot_attributes(slot, findings, is_placed=False)
            continue
        if slot.extra:
            check_slot_attributes(slot, findings)
        if unread and any(child.type_at in unread for child in slot.children):
            if slot.children[0].is_member:
                check_names(slot.children, findings)
            continue
        check_type(slot, findings)
        if slot.children and slot.children[0].is_member:
            check_names(slot.children, findings)
        if slot.extra and are_telling(slot.extra):
            telling.append(slot)
            check_hints(slot, findings)
            check_brought(slot, findings)
            check_primary_key(slot, findings)
            check_object_link(slot, findings)
            if are_constrained(slot.extra):
                # Imported here for start-up time, as below: most manifests have no constraints.
                from schemac.checks.constraints import check_constraints

                check_constraints(slot, findings)
    if dataset.is_whole and not unread and any(attribute.key in sound for attribute in OF_ROWS):
        from schemac.checks.constraints import check_row_constraints

        check_row_constraints(sound, dataset.columns, findings)
    check_positions(telling, findings)
    if dataset.is_whole:
        check_successors(slots, telling, findings)
    readable = tuple([column for column in dataset.columns if column.type_at not in unread]) if unread else ()
    check_system_columns(replace(dataset, columns=readable) if unread else dataset, findings)
    if vocabularies:
        check_vocabularies(sound, slots, vocabularies, findings)
