"""The checks of a dataset, in their order, with those of attributes that engines bring.

Layer: language.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from schemac.language.attributes.constraints import OF_ROWS, are_constrained
from schemac.language.attributes.registry import are_telling
from schemac.language.checks.attributes import check_field_attributes, check_schema_attributes
from schemac.language.checks.fields import check_names, check_successors, check_system_columns, check_type
from schemac.language.checks.hints import check_hints
from schemac.language.checks.keys import (
    check_named_columns,
    check_object_link,
    check_positions,
    check_primary_key,
)
from schemac.language.checks.vocabulary import Vocabulary, check_vocabularies
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.findings import Findings
from schemac.language.logical.schema_fields import SchemaField, preorder
from schemac.registry.engine import Capability
from schemac.registry.installed import blamed, engines
from schemac.text.source.report import Report


class Checks(NamedTuple):
    """Checks of an engine's attributes that apply to every schema, whatever it is built for."""

    field: Callable[[SchemaField, Findings], None]
    """Checks one field that has attributes of closed domains; those that are not sound by themselves have been taken out of it."""


CHECKS = Capability("checks", Checks)


def run_engine_checks(field: SchemaField, findings: Findings) -> None:
    """Run the checks of all engines on one field. Raises EngineError."""
    for name, checks in _all():
        with blamed(name):
            checks.field(field, findings)


@cache
def _all() -> tuple[tuple[str, Checks], ...]:
    return tuple([(engine.name, CHECKS.of(engine)) for engine in engines() if CHECKS.is_of(engine)])


def check(dataset: LogicalDataset, report: Report, vocabularies: Sequence[Vocabulary] = ()) -> None:
    """Run all checks of one schema that do not depend on an engine."""
    findings = Findings(report, dataset.origins)
    sound = check_schema_attributes(dataset.schema.extra, findings) if dataset.schema.extra else {}
    if dataset.is_whole:
        check_named_columns(sound, dataset.columns, findings)
    check_names(dataset.columns, findings)
    fields = preorder(dataset.columns)
    telling: list[SchemaField] = []
    unread = dataset.unread
    for field in fields:
        if unread and field.type_at in unread:
            check_field_attributes(field, findings, is_placed=False)
            continue
        if field.extra:
            check_field_attributes(field, findings)
        if unread and any(child.type_at in unread for child in field.children):
            if field.children[0].is_member:
                check_names(field.children, findings)
            continue
        check_type(field, findings)
        if field.children and field.children[0].is_member:
            check_names(field.children, findings)
        if field.extra and are_telling(field.extra):
            telling.append(field)
            check_hints(field, findings)
            run_engine_checks(field, findings)
            check_primary_key(field, findings)
            check_object_link(field, findings)
            if are_constrained(field.extra):
                # Imported here for start-up time, as below: most manifests have no constraints.
                from schemac.language.checks.constraints import check_constraints

                check_constraints(field, findings)
    if dataset.is_whole and not unread and any(attribute.key in sound for attribute in OF_ROWS):
        from schemac.language.checks.constraints import check_row_constraints

        check_row_constraints(sound, dataset.columns, findings)
    check_positions(telling, findings)
    if dataset.is_whole:
        check_successors(fields, telling, findings)
    readable = tuple([column for column in dataset.columns if column.type_at not in unread]) if unread else ()
    check_system_columns(replace(dataset, columns=readable) if unread else dataset, findings)
    if vocabularies:
        check_vocabularies(sound, fields, vocabularies, findings)
