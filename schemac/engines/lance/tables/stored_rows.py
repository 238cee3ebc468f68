"""The rows of a table, checked against the constraints of a schema: as they are, or as a plan will make them.

Layer: engines.
Errors: SC422 failed-check, SC425 broken-constraint, SC426 unusable-reference; note SC427 unchecked-reference.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from schemac.constraints.rows import row_constraints
from schemac.constraints.survey import Scan, survey
from schemac.engines.lance.tables.filters import row_filter
from schemac.engines.lance.tables.live_table import LanceTable
from schemac.engines.lance.tables.plan import Plan, plan
from schemac.engines.lance.tables.recipe import Preview, Recipe
from schemac.engines.lance.tables.steps import Check
from schemac.evolution.constraints import every_rule
from schemac.evolution.row_rules import constraints_of
from schemac.evolution.version_pair import LockedSchemaVersion
from schemac.logical.schema_fields import SchemaField
from schemac.rows.validation.stored import reference_targets, report_offence
from schemac.rows.validation.stored import report_failed as refuse
from schemac.source.report import Report


def report_broken(
    table: LanceTable, expected: LockedSchemaVersion, references: Mapping[str, str], report: Report
) -> None:
    """Say which constraints of a schema the rows of a table break; of one that has another schema, which the report says, as they will be."""
    dataset = expected.dataset
    made = plan(table, expected, Report()) if report.has_errors else None
    if made is None and report.has_errors:
        # It has another schema, and why there is no way to this one, `plan` says.
        return
    rows = row_constraints(dataset.schema.extra, dataset.columns)
    target_report = Report()
    targets = reference_targets(rows, references, table.name, expected, target_report)
    report.extend(target_report.diagnostics)
    if target_report.has_errors:
        return
    if made is not None and made.changes:
        preview = _preview(made, [field for rule in every_rule(expected) for field in rule.fields])
        columns, scan = preview.columns, _scan_of(preview, table.dataset, None)
    else:
        columns, scan = dataset.columns, _scan_of(None, table.dataset, None)
    for offence in survey(columns, rows, scan, targets):
        report_offence(offence, table.name, lambda ids: _rows_expression(table, ids), report)


def report_failed(
    made: Plan, checks: Sequence[Check], fragments: Sequence[Any], state: str, report: Report
) -> None:
    """Say which checks of constraints the rows of some fragments do not pass, as they will be; `state` is what became of the table."""
    table, new = made.table, made.pair.new
    rules = [check.rule for check in checks if check.rule is not None]
    rows = constraints_of(rules)
    named = {one.dataset: made.references[one.dataset] for one in rows.references}
    targets = reference_targets(rows, named, table.name, new, report)
    preview = _preview(made, [field for rule in rules for field in rule.fields])
    scan = _scan_of(preview, table.dataset, fragments)
    offences = survey(preview.columns, rows, scan, targets)
    for check in checks:
        for offence in offences:
            rule = check.rule
            if rule is not None and (offence.path, offence.subject) == (rule.path, rule.subject):
                expression = _rows_expression(table, offence.rows, check.query)
                refuse(check.title, check.question, offence, table.name, expression, state, report)


def _preview(made: Plan, fields: Sequence[SchemaField]) -> Preview:
    recipe = Recipe.of(made.stages, [], made.layout.numbers, made.rounded)
    # What does not fit has a check of its own.
    return Preview(replace(recipe, on_misfit=lambda *_: None), fields)


def _scan_of(preview: Preview | None, dataset: Any, fragments: Sequence[Any] | None) -> Scan:
    def scan(names: Sequence[str]) -> Iterator[tuple[Any, Any]]:
        columns = list(names) if preview is None else preview.sources
        if fragments is not None and not fragments:
            return
        scanner = dataset.scanner(columns=columns, fragments=fragments, scan_in_order=True, with_row_id=True)
        for batch in scanner.to_batches():
            yield batch if preview is None else preview.make(batch), batch.column("_rowid")

    return scan


def _rows_expression(table: LanceTable, ids: Sequence[int], query: str = "") -> str:
    return f"lance.dataset({json.dumps(table.name)}).to_table(filter={json.dumps(query or row_filter(ids))})"
