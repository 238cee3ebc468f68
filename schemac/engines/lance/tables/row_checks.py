"""Checks of the rows of a Lance table: values that stand in the way of a change, and constraints that rows break.

Layer: engines.
Shape: each check reads its field in all rows, and says how many values are in the way, which ones come first, and how to find them.
      Constraints are those of a schema, of the rows as they are or as a plan will make them.
Errors: SC422 failed-check, SC425 broken-constraint, SC426 unusable-reference; note SC427 unchecked-reference.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemac.engines.lance.tables.checks import FieldCast, casts_of, is_roundable, misfit_reason
from schemac.engines.lance.tables.convert import format_values, is_named, values_of
from schemac.engines.lance.tables.live_table import LanceTable
from schemac.engines.lance.tables.new_columns import Converter
from schemac.engines.lance.tables.plan import LancePlan, plan
from schemac.engines.lance.tables.steps import CheckStep, CheckSubject, RuleCheck, row_filter
from schemac.language.attributes.attribute import Family
from schemac.language.constraints.evaluation import Scan, survey
from schemac.language.constraints.rows import row_constraints
from schemac.language.logical.model import LogicalType, Part, SchemaField, is_in_structs
from schemac.rows.validation.stored import reference_targets, report_offence
from schemac.rows.validation.stored import report_failed as refuse
from schemac.text.source.catalogue import FAILED_CHECK
from schemac.text.source.diagnostics import Report
from schemac.versions.evolution.constraints import constraints_of, every_rule
from schemac.versions.evolution.version_pair import LockedSchemaVersion, LockedVersionPair

_MAX_VALUES = 3
_ROWS = 20
"""So many values and rows are named."""


class RunningCheck:
    """One check of a plan, asked of all batches of rows in turn."""

    def __init__(self, check: CheckStep, plan: LancePlan) -> None:
        self.check = check
        self.field = check.field
        self.pair: LockedVersionPair = plan.pair
        parent = plan.pair.before.get(self.field.parent) if self.field.parent is not None else None
        self.is_moved = (
            check.subject is CheckSubject.PLACE or plan.pair.before[self.field].parent is not parent
        )
        self._count = 0
        self._casts = casts_of(self.field, plan.stages)
        self._is_rounded = is_named(self.field, plan.rounded)
        id = plan.pair.new.ids[self.field]
        path_texts = {stage.new.by_id[id].path_text for stage in plan.stages if id in stage.new.by_id}
        self._misfits = _Misfits(self.field, path_texts)
        made = next((one for one in reversed(self.field.chain) if one in plan.written), self.field.column)
        converter = Converter.of(plan.stages, [[made]], plan.rounded)
        self._converter = replace(converter, on_misfit=self._misfits.add)

    @property
    def columns(self) -> list[str]:
        """The columns that it reads."""
        if self.check.subject is CheckSubject.NULLS and not self.is_moved:
            return [str(self.pair.before[self.field].column.segment)]
        return self._converter.sources

    def add_batch(self, batch: pa.RecordBatch) -> None:
        """Count what is in the way in a batch, which has the columns that are read and `_rowid`."""
        before = self.pair.before[self.field]
        if self.check.subject is CheckSubject.FIT:
            self._misfits.row_ids = batch.column("_rowid")
            before_count = self._misfits.count
            self._converter.make(batch)
            if self._misfits.count > before_count and not is_in_structs(self.field):
                self._note_rows(batch)
        elif not self.is_moved:
            self._count += _null_count(batch.column(str(before.column.segment)), before)
        else:
            made = self._converter.make(batch)
            if self.check.subject is CheckSubject.NULLS:
                self._count += _null_count(made.column(0), self.field)
            else:
                lost = pc.and_not(values_of(before, batch).is_valid(), values_of(self.field, made).is_valid())
                self._count += pc.sum(lost).as_py() or 0

    def _note_rows(self, batch: pa.RecordBatch) -> None:
        """Note the ids of rows that hold misfits inside lists and maps, which are found by halving the batch."""
        if len(self._misfits.rows) >= _ROWS:
            return
        misfits = _Misfits(self.field, self._misfits.path_texts)
        misfits.row_ids = batch.column("_rowid")
        replace(self._converter, on_misfit=misfits.add).make(batch)
        if misfits.count and len(batch) == 1:
            self._misfits.rows += misfits.row_ids.to_pylist()
        elif misfits.count:
            middle = len(batch) // 2
            self._note_rows(batch.slice(0, middle))
            self._note_rows(batch.slice(middle))

    def report(self, table: str, state: str, report: Report) -> None:
        """Report rows that prevent the change: SC422."""
        answer = self._result_text()
        if not answer:
            return
        query = self.check.query or (row_filter(self._misfits.rows) if self._misfits.rows else "")
        ways = [f"{_rows_expression(table, query)} shows them"] if query else []
        ways.append(f"correct or remove these rows, or change the schema; {state}")
        numbers = [cast for cast in self._casts if cast.before.type.family is not Family.TEXT]
        is_by_value = "" in self._misfits.reasons and not self._is_rounded
        if self.check.subject is CheckSubject.FIT and is_by_value and is_roundable(numbers):
            option = f"--allow-rounding {self.field.path_text}"
            ways.append(f"`{option}` stores the nearest value instead, if it is in range")
        message = f"{self.check.title}: {self.check.question}, but {answer}"
        report.add(FAILED_CHECK, message, file=table, path=self.check.title, help="; ".join(ways))

    def _result_text(self) -> str:
        """Return the counts and first values that are in the way, for a message; empty if nothing is."""
        if self._misfits.count:
            casts = self._casts or [FieldCast(self.pair.before[self.field], self.field)]
            before, after = next((c for c in casts if c.after.type == self._misfits.type), casts[-1])
            description = self._misfits.describe(f" fit {after.type.type_text()}" if len(casts) > 1 else "")
            reasons = sorted(filter(None, self._misfits.reasons))
            is_by_value = "" in self._misfits.reasons and not self._is_rounded
            return "; ".join([description + (misfit_reason(before, after) if is_by_value else ""), *reasons])
        verb = "is" if self._count == 1 else "are"
        what = f"{verb} null" if self.check.subject is CheckSubject.NULLS else f"{verb} lost"
        return f"{self._count:,} {what}" if self._count else ""


def _null_count(column: Any, field: SchemaField) -> int:
    """Return how many values of a field are null where the fields around it are not; `column` is the field's column."""
    for above, inner in pairwise(field.chain):
        column = column.filter(column.is_valid())
        if above.type.family is Family.STRUCT:
            column = pc.struct_field(column, str(inner.segment))
        elif above.type.family is Family.MAP:
            column = column.keys if inner.segment is Part.KEY else column.items
        else:
            column = column.flatten()
    return int(column.null_count)


class _Misfits:
    """Gathers the values of one field that do not fit: their count, and the first of them with the ids of their rows."""

    def __init__(self, field: SchemaField, path_texts: Collection[str]) -> None:
        self.field = field
        self.path_texts = path_texts
        self.row_ids: Any = None
        self.count = 0
        self.type: LogicalType | None = None
        """The type that the first of them do not fit; None if all fit."""
        self.values: list[str] = []
        self.rows: list[int] = []
        self.reasons: set[str] = set()
        """The reasons why they do not fit; an empty one for values that the new type does not have."""

    def add(self, field: SchemaField, values: Any, misfits: Any, why: str) -> None:
        """Count values that do not fit, as a `MisfitHandler`; those of other fields have checks of their own."""
        if field.path_text not in self.path_texts:
            return
        self.reasons.add(why)
        if self.type is None and misfits.any():
            self.type = field.type
        self.count += int(misfits.sum())
        if len(self.values) < _MAX_VALUES:
            wrong = values.filter(pa.array(misfits))
            self.values += format_values(wrong.slice(0, _MAX_VALUES - len(self.values)))
        if len(self.rows) < _ROWS and is_in_structs(self.field):
            places = np.flatnonzero(misfits)[: _ROWS - len(self.rows)]
            self.rows += self.row_ids.take(pa.array(places)).to_pylist()

    def describe(self, fit: str) -> str:
        """Return the count and the first values; `fit` names the missed condition if the check does not."""
        verb = "does" if self.count == 1 else "do"
        among = ", among them" if self.count > len(self.values) else ":"
        return f"{self.count:,} {verb} not{fit}{among} {', '.join(self.values)}"


def report_broken(
    table: LanceTable, expected: LockedSchemaVersion, references: Mapping[str, str], report: Report
) -> None:
    """Report the constraints that the rows of a table break; a table with another schema is checked as it will be, which is reported too."""
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
        report_offence(offence, table.name, lambda ids: _rows_expression(table.name, row_filter(ids)), report)


def report_failed(
    made: LancePlan, checks: Sequence[RuleCheck], fragments: Sequence[Any], state: str, report: Report
) -> None:
    """Report the constraints that the converted rows of some fragments break; `state` is what happened to the table."""
    table, new = made.table, made.pair.new
    rules = [check.rule for check in checks]
    rows = constraints_of(rules)
    named = {one.dataset: made.references[one.dataset] for one in rows.references}
    targets = reference_targets(rows, named, table.name, new, report)
    preview = _preview(made, [field for rule in rules for field in rule.fields])
    scan = _scan_of(preview, table.dataset, fragments)
    offences = survey(preview.columns, rows, scan, targets)
    for check in checks:
        for offence in offences:
            rule = check.rule
            if (offence.path, offence.subject) == (rule.path, rule.subject):
                expression = _rows_expression(table.name, check.query or row_filter(offence.rows))
                refuse(check.title, check.question, offence, table.name, expression, state, report)


def _preview(made: LancePlan, fields: Sequence[SchemaField]) -> Converter:
    """Return the converter of fields to what they are after the plan; values that do not fit become null without a report."""
    by_column: dict[SchemaField, list[SchemaField]] = {}
    for field in fields:
        whole = next(filter(is_in_structs, reversed(field.chain)))
        by_column.setdefault(whole.column, []).append(whole)
    converter = Converter.of(made.stages, by_column.values(), made.rounded)
    # What does not fit has a check of its own.
    return replace(converter, on_misfit=lambda *_: None)


def _scan_of(preview: Converter | None, dataset: Any, fragments: Sequence[Any] | None) -> Scan:
    """Return a scan of some fragments, or of all for None; `preview` converts the rows, None leaves them as they are."""

    def scan(names: Sequence[str]) -> Iterator[tuple[Any, Any]]:
        """Yield batches with some columns, and the ids of their rows."""
        columns = list(names) if preview is None else preview.sources
        for batch in rows_with_ids(dataset, columns, fragments):
            yield batch if preview is None else preview.make(batch), batch.column("_rowid")

    return scan


def rows_with_ids(dataset: Any, columns: Sequence[str], fragments: Any) -> Iterator[pa.RecordBatch]:
    """Yield batches with some columns and `_rowid`, of some fragments, or of all for None."""
    # To Lance, no fragments are all.
    if fragments is None or fragments:
        scanner = dataset.scanner(columns=columns, fragments=fragments, scan_in_order=True, with_row_id=True)
        yield from scanner.to_batches()


def _rows_expression(table: str, query: str) -> str:
    """Return the Python expression that reads the rows of a table that a filter finds."""
    return f"lance.dataset({json.dumps(table)}).to_table(filter={json.dumps(query)})"
