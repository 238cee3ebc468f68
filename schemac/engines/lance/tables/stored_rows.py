"""The rows of a table beside the constraints of its schema.

Layer: engines.
Errors: SC425 broken-constraint, SC426 unusable-reference; note SC427 unchecked-reference.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from schemac.constraints.expressions import FieldNode
from schemac.constraints.rows import ReferenceTo, RowConstraints, row_constraints
from schemac.constraints.survey import Offence, survey, target_keys
from schemac.engines.lance.dataset import open_dataset, reason_of
from schemac.engines.lance.tables.filters import row_filter
from schemac.engines.lance.tables.live_table import LanceTable
from schemac.evolution.version_pair import LockedSchemaVersion
from schemac.logical.path import dotted
from schemac.source.catalogue import BROKEN_CONSTRAINT, UNCHECKED_REFERENCE, UNUSABLE_REFERENCE
from schemac.source.report import Report
from schemac.source.suggest import closest


def report_broken(
    table: LanceTable, wanted: LockedSchemaVersion, references: Mapping[str, str], report: Report
) -> None:
    """Say which constraints of a schema the rows of a table break; the table has that schema."""
    dataset, schema = wanted.dataset, table.dataset

    def scan(names: Sequence[str]) -> Iterator[tuple[Any, Any]]:
        for batch in schema.scanner(columns=list(names), with_row_id=True).to_batches():
            yield batch, batch.column("_rowid")

    rows = row_constraints(dataset.schema.extra, dataset.columns)
    targets = _targets(rows, references, table, report)
    if report.has_errors:
        return
    for offence in survey(dataset.columns, rows, scan, targets):
        _report(offence, table.name, report)


def _report(offence: Offence, table: str, report: Report) -> None:
    many = f"{'at least ' if offence.is_least else ''}{offence.count:,}"
    verb = "is" if offence.count == 1 else "are"
    among = ", among them" if offence.count > len(offence.values) else ":"
    query = json.dumps(row_filter(offence.rows))
    report.add(
        BROKEN_CONSTRAINT,
        f"{table}: {offence.path}: {many} {verb} not {offence.text}{among} {'; '.join(offence.values)} ({offence.rule.partition(':')[0]})",
        file=table,
        path=offence.path,
        help=f"lance.dataset({json.dumps(table)}).to_table(filter={query}) shows {'them' if offence.count <= len(offence.rows) else 'the first of them'}",
    )


def _targets(
    rows: RowConstraints, references: Mapping[str, str], table: LanceTable, report: Report
) -> Mapping[str, Any]:
    """Return the values that are referred to, of each dataset whose table is named."""
    found = {}
    known = {one.dataset for one in rows.references}
    for dataset in sorted(references.keys() - known):
        near = closest(dataset, known)
        help = f"did you mean `--reference {near}=…`?" if near else ""
        message = f"the schema refers to no dataset '{dataset}'"
        report.add(UNUSABLE_REFERENCE, message, file=table.name, help=help)
    for one in rows.references:
        path = references.get(one.dataset)
        if path is None:
            message = f"{one.path}: not compared with the rows of {one.dataset}, whose table is not named"
            help = f"name it with `--reference {one.dataset}=PATH`"
            report.add(UNCHECKED_REFERENCE, message, file=table.name, path=one.path, help=help)
            continue
        try:
            found[one.dataset] = _keys(one, path)
        except (ValueError, OSError, RuntimeError, pa.ArrowException) as error:
            message = f"the table {path} of {one.dataset} cannot be used: {reason_of(error)}"
            report.add(UNUSABLE_REFERENCE, message, file=table.name, path=one.path)
    return found


def _keys(reference: ReferenceTo, path: str) -> Any:
    """Return the values of the fields that are referred to. Raises ValueError for a field that is not there."""
    table = open_dataset(path)
    paths = dict(_paths(table.schema, ()))
    for name in reference.to:
        if name not in paths:
            near = closest(name, paths)
            raise ValueError(f"it has no field '{name}'" + (f"; did you mean '{near}'?" if near else ""))
    nodes = [
        FieldNode(node.type, paths[name]) for node, name in zip(reference.fields, reference.to, strict=True)
    ]
    return target_keys(reference, table.to_table(columns=sorted({node.path[0] for node in nodes})), nodes)


def _paths(fields: Any, above: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for member in fields:
        path = (*above, member.name)
        yield dotted(path), path
        if pa.types.is_struct(member.type):
            yield from _paths(member.type, path)
