"""What a plan asks of the rows of an Iceberg table, which pyiceberg reads as the new schema does: by ids, with its types and defaults.

Layer: engines.
Errors: SC422 failed-check, SC426.
"""

from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa

from schemac.engines.iceberg.rows import ROW_READER, IcebergTableRows
from schemac.engines.iceberg.tables.plan import IcebergPlan
from schemac.evolution.row_rules import constraints_of
from schemac.rows.validation.stored import Comparison, report_failed
from schemac.source.catalogue import UNCHECKED_ROWS
from schemac.source.report import Report


def rows_after(plan: IcebergPlan) -> IcebergTableRows:
    """Return the rows of a table as they will be. Raises what the reader of rows raises."""
    return replace(ROW_READER.open(plan.table.name), read_as=plan.schema)


def look_at_rows(plan: IcebergPlan, references: Mapping[str, str], report: Report) -> bool:
    """Report what is in the way of a plan; false if its rows cannot be read."""
    table, without = plan.table.name, plan.without_target(references)
    rules = [rule for rule in plan.rules if rule not in without]
    rows_rules = constraints_of(rules)
    named = {one.dataset: references[one.dataset] for one in rows_rules.references}
    row_report = Report()
    try:
        rows = rows_after(plan)
        offences = Comparison(table, rows, plan.new).offences(rows_rules, named, row_report)
    except (ModuleNotFoundError, ValueError, OSError, RuntimeError, NotImplementedError, pa.ArrowException):
        return False
    if any(one.code == UNCHECKED_ROWS.id for one in row_report.diagnostics):
        return False
    report.extend(row_report.diagnostics)
    state = "nothing was changed"
    for offence in offences:
        expression = rows.expression(offence.rows)
        rule = next((r for r in rules if (r.path, r.subject) == (offence.path, offence.subject)), None)
        if rule is not None:
            report_failed(rule.path, rule.question, offence, table, expression, state, report)
        elif offence.subject is None and any(note.field == offence.path for note in plan.unlooked):
            question = "every value has to be of the type in the schema"
            report_failed(offence.path, question, offence, table, expression, state, report)
    return True
