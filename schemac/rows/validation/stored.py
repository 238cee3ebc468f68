"""Rows of a table or of files, checked against the constraints of their schema.

Layer: rows.
Shape: batches come one after the other, in the types of their store; they are read as a pipeline reads typed columns, so that what is compared
       is what the schema says. Memory is that of `constraints.survey`.
Errors: SC424 table-drift, SC425 broken-constraint, SC426 unusable-reference; note SC427 unchecked-reference.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from schemac.artifacts.dataset import ROW_READER, RowReader, StoredRows
from schemac.language.constraints.evaluation import Offence, ReferenceValues, survey
from schemac.language.constraints.rows import RowConstraints, row_constraints
from schemac.registry.engine import blamed, engines
from schemac.rows.judging.arrays import MissingMemberError
from schemac.rows.judging.settings import ValidationSettings
from schemac.rows.judging.typed_values import UnreadableTypeError
from schemac.rows.validation.constraints import UnusableTargetError, reference_values
from schemac.rows.validation.validator import FieldReader, column_readers, validated_columns
from schemac.text.source.catalogue import (
    BROKEN_CONSTRAINT,
    FAILED_CHECK,
    TABLE_DRIFT,
    UNCHECKED_REFERENCE,
    UNCHECKED_ROWS,
    UNUSABLE_REFERENCE,
)
from schemac.text.source.diagnostics import Report
from schemac.text.source.files import install_help
from schemac.text.source.phrases import Help, closest
from schemac.versions.evolution.tables import HELP_FOR_ROWS, TABLES, report_rows_without_reader
from schemac.versions.evolution.version_pair import LockedSchemaVersion

Shown = Callable[[Sequence[int]], str]
"""Gives Python that shows rows by their numbers."""


class UnreadableRowsError(Exception):
    """A file of a table is missing or damaged."""


def reader_of(path: str) -> RowReader | None:
    """Return what opens the rows at a path; None if nothing does."""
    able = [engine for engine in engines() if ROW_READER.is_of(engine)]
    for engine in able:
        with blamed(engine.name):
            if ROW_READER.of(engine).is_of(path):
                return ROW_READER.of(engine)
    return None


def open_rows(path: str, report: Report) -> StoredRows | None:
    """Open the rows at a path; None after reporting why they cannot be checked."""
    reader = reader_of(path)
    if reader is None:
        report_rows_without_reader(path, report)
        return None
    try:
        return reader.open(path)
    except ModuleNotFoundError as error:
        message = f"{path}: its rows need {error.name}, which is not installed"
        report.add(UNCHECKED_ROWS, message, file=path, help=f"{install_help(error)}; or {HELP_FOR_ROWS}")
    except _ERRORS as error:
        message = f"{path}: its rows cannot be read: {_error_text(error)}"
        report.add(UNCHECKED_ROWS, message, file=path, help=HELP_FOR_ROWS)
    return None


@dataclass(frozen=True)
class StoredComparison:
    """Checks the rows of a store against a locked schema."""

    name: str
    stored: StoredRows
    wanted: LockedSchemaVersion

    def columns(self, report: Report) -> tuple[str, ...]:
        """Return the columns of the schema; empty after reporting which of them are missing or have another type."""
        source, expected = self.stored.schema, self.wanted.lowered.to_arrow()

        def report_drift(text: str, path: str = "", help: str = "") -> None:
            report.add(TABLE_DRIFT, f"{self.name}: {text}", file=self.name, path=path, help=help)

        for name in expected.names:
            if name not in source.names:
                help = Help.nearest(name, source.names, f"its columns are {', '.join(source.names)}")
                report_drift(f"there is no column {name}", name, help)
                continue
            try:
                self._column_readers([name], source)
            except UnreadableTypeError as error:
                report_drift(str(error), name)
            except MissingMemberError as error:
                report_drift(f"a struct has no member {error}", name)
        for name in source.names:
            if name not in expected.names:
                report_drift(f"the schema has no field {name}", help="add a field, or leave the column out")
        return () if report.has_errors else tuple(expected.names)

    def _column_readers(self, names: Sequence[str], source: pa.Schema) -> list[FieldReader]:
        """Return readers of columns in their types of the schema. Raises UnreadableTypeError or MissingMemberError."""
        expected = self.wanted.lowered.to_arrow()
        members = pa.schema([expected.field(name) for name in names], expected.metadata)
        return column_readers(members, source, ValidationSettings())

    def report_broken(self, references: Mapping[str, str], report: Report) -> None:
        """Report values that do not fit their type, and constraints that rows break."""
        dataset = self.wanted.dataset
        rows = row_constraints(dataset.schema.extra, dataset.columns)
        for one in self.offences(rows, references, report):
            report_offence(one, self.name, self.stored.expression, report)

    def offences(
        self, rows: RowConstraints, references: Mapping[str, str], report: Report
    ) -> Sequence[Offence]:
        """Return the values that do not fit their type, and the broken constraints of values and rows; none after reporting why not."""
        names = self.columns(report)
        targets = reference_targets(rows, references, self.name, self.wanted, report) if names else []
        if report.has_errors:
            return ()
        try:
            offences: dict[tuple[str, str], Offence] = {}
            for judged, numbers in self._judged_batches(names):
                for row, reasons in judged.reasons.by_row().items():
                    for path, rule, value in reasons:
                        one = Offence(path, rule, "of the type in the schema")
                        one = offences.setdefault((path, rule), one)
                        one.add([value if value is not None else "null"], numbers.take(pa.array([row])))

            def scan(columns: Sequence[str]) -> Iterator[tuple[Any, Any]]:
                return ((judged.rows, numbers) for judged, numbers in self._judged_batches(columns))

            return (*offences.values(), *survey(self.wanted.dataset.columns, rows, scan, targets))
        except UnreadableRowsError as error:
            report.add(UNCHECKED_ROWS, f"{self.name}: its rows cannot be read: {error}", file=self.name)
            return ()

    def _judged_batches(self, names: Sequence[str]) -> Iterator[tuple[Any, Any]]:
        """Yield each batch with the reasons against its values, and the numbers of its rows from 0 on. Raises UnreadableRowsError."""
        start, columns = 0, None
        for batch in _batches(self.stored, names):
            columns = columns or self._column_readers(names, batch.schema)
            numbers = pa.array(range(start, start + batch.num_rows), pa.uint64())
            yield validated_columns(columns, map(batch.column, names)), numbers
            start += batch.num_rows


def _batches(stored: StoredRows, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield batches of some columns. Raises UnreadableRowsError whatever the store raises."""
    try:
        yield from stored.batches(names)
    except _ERRORS as error:
        raise UnreadableRowsError(_error_text(error)) from error


_ERRORS = (ValueError, OSError, RuntimeError, pa.ArrowException)
"""What libraries raise for files that are missing or damaged."""


def reference_targets(
    rows: RowConstraints,
    references: Mapping[str, str],
    name: str,
    referenced: LockedSchemaVersion,
    report: Report,
) -> list[ReferenceValues]:
    """Return the values that are referred to, of each dataset whose table is named."""
    targets = []
    report_unknown_references(rows, references, name, report)
    for one in rows.references:
        path = references.get(one.dataset)
        if path is None:
            message = f"{one.path}: not compared with the rows of {one.dataset}, whose table is not named"
            help = f"name it with `--reference {one.dataset}=PATH`"
            report.add(UNCHECKED_REFERENCE, message, file=name, path=one.path, help=help)
            continue
        try:
            # The first engine with tables reports what is wrong with a path.
            able = [engine for engine in engines() if ROW_READER.is_of(engine) and TABLES.is_of(engine)]
            stored = (reader_of(path) or ROW_READER.of(able[0])).open(path)
            known = stored.schema.names
            columns = dict.fromkeys(steps.partition(".")[0] for steps in one.to)
            labels = [label for label in columns if label in known] or known[:1]
            batches = list(stored.batches(labels))
            schema = pa.schema([stored.schema.field(label) for label in labels])
            table = pa.Table.from_batches(batches, batches[0].schema if batches else schema)
            targets.append(reference_values(one, table, referenced.lowered.to_arrow()))
        except (*_ERRORS, ModuleNotFoundError, UnusableTargetError) as error:
            message = f"the table {path} of {one.dataset} cannot be used: {_error_text(error)}"
            help = error.help if isinstance(error, UnusableTargetError) else ""
            report.add(UNUSABLE_REFERENCE, message, file=name, path=one.path, help=help)
    return targets


def report_unknown_references(
    rows: RowConstraints, references: Mapping[str, str], name: str, report: Report
) -> None:
    """Report tables that are named for datasets to which a schema does not refer."""
    known = {one.dataset for one in rows.references}
    for dataset in sorted(references.keys() - known):
        near = closest(dataset, known)
        help = f"did you mean `--reference {near}=…`?" if near else ""
        report.add(UNUSABLE_REFERENCE, f"the schema refers to no dataset '{dataset}'", file=name, help=help)


def report_offence(offence: Offence, table: str, rows_text: Shown, report: Report) -> None:
    """Report the rows that break a constraint, with the command that shows them."""
    count, values = _count_and_values(offence)
    verb = "is" if offence.count == 1 else "are"
    message = f"{table}: {offence.path}: {count} {verb} not {offence.text}{values} ({offence.rule.partition(':')[0]})"
    help = f"{rows_text(offence.rows)} shows {'them' if offence.count <= len(offence.rows) else 'the first of them'}"
    report.add(BROKEN_CONSTRAINT, message, file=table, path=offence.path, help=help)


def report_failed(
    path: str, question: str, offence: Offence, table: str, rows_text: str, state: str, report: Report
) -> None:
    """Report the rows that are in the way of a change: `question` is what was asked of them, `rows_text` shows them, `state` is what became of the table."""
    count, values = _count_and_values(offence)
    verb = "does" if offence.count == 1 else "do"
    message = f"{path}: {question}, but {count} {verb} not satisfy it{values}"
    help = f"{rows_text} shows them; correct or remove these rows, or change the schema; {state}"
    report.add(FAILED_CHECK, message, file=table, path=path, help=help)


def _count_and_values(offence: Offence) -> tuple[str, str]:
    """Return how many values break a constraint, and the end of a sentence that lists the first of them."""
    count = f"{'at least ' if offence.is_least else ''}{offence.count:,}"
    among = ", among them" if offence.count > len(offence.values) else ":"
    return count, f"{among} {'; '.join(offence.values)}"


def _error_text(error: Exception) -> str:
    """Return the first line of an error in lower case at its beginning; the name of its class if it has no text."""
    text = next(iter(str(error).strip().splitlines()), "") or type(error).__name__
    return f"{text[:1].lower()}{text[1:]}"
