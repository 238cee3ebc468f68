"""The result of a validation of rows: of a batch, and of all of them.

Layer: rows.
Shape: a `JudgedBatch` has every column in its nullable type (see `judging.arrays`), also the values that do not fit, and the
       reasons by rows. A `Validation` has good rows as an Arrow table of the dataset's schema; bad rows as they came, with their numbers and reasons; counts.
Errors: SC350 unfit-rows, by `raise_if_bad`.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cached_property
from html import escape
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemac.rows.judging.reasons import Reasons, reason_counts
from schemac.rows.judging.settings import POSITIONS, ReasonCount
from schemac.text.source.catalogue import UNFIT_ROWS
from schemac.text.source.diagnostics import Diagnostic, SchemaError
from schemac.text.source.json_object import Json
from schemac.text.source.phrases import listed, printable

ROW, ERRORS = "_row", "_errors"
_LONGEST_VALUE = 40
"""Characters of a value in a message."""


@dataclass
class JudgedBatch:
    """The values of the rows of a batch, and the reasons against them."""

    rows: pa.RecordBatch
    reasons: Reasons = field(default_factory=Reasons)
    source: Callable[[Any], pa.RecordBatch] | None = None
    """Gives rows as they came, by an array of their numbers."""

    @property
    def is_bad(self) -> pa.Array:
        """Which rows have reasons."""
        return pa.array(np.isin(np.arange(self.rows.num_rows), self.reasons.rows))


class RowReason(NamedTuple):
    """One reason why a row does not fit."""

    row: int
    """The number of the row, from 0."""
    path: str
    """The path of the value, such as `stops[3].minutes`; empty for the row as a whole, several paths separated by commas for fields that are compared together."""
    rule: str
    """The rule that it breaks; `schemac explain rules` lists them."""
    value: str | None
    """The value as text, cut at 1000 characters; None if there is none."""


class UnfitRowsError(SchemaError):
    """Raised if all rows have to fit and some do not; `validation` has every reason."""

    def __init__(self, validation: "Validation") -> None:
        super().__init__(tuple(_diagnostics(validation)))
        self.validation = validation


@dataclass(frozen=True)
class Validation:
    """The result of `Dataset.validate`."""

    dataset: str
    """The name of the dataset."""
    good: pa.Table
    """The rows that fit, with the dataset's Arrow schema."""
    bad: pa.Table
    """The other rows unchanged, with their numbers (`_row`) and reasons (`_errors`). Python rows are given as text (`_raw`)."""
    unchecked: tuple[str, ...] = ()
    """Datasets that the schema refers to but that were not passed: these references were not checked."""

    @cached_property
    def reasons(self) -> tuple[RowReason, ...]:
        """Every reason, in the order of the rows."""
        errors = self.bad.column(-1).combine_chunks()
        rows = self.bad.column(-2).combine_chunks().take(pc.list_parent_indices(errors))
        columns = (column.to_pylist() for column in (rows, *errors.flatten().flatten()))
        return tuple(map(RowReason._make, zip(*columns, strict=True)))

    @property
    def rows(self) -> int:
        """How many rows there were."""
        return int(self.good.num_rows + self.bad.num_rows)

    @property
    def is_good(self) -> bool:
        """Whether all rows fit."""
        return not self.bad.num_rows

    @property
    def counts(self) -> tuple[ReasonCount, ...]:
        """How often each rule is broken, the most frequent first; paths have `[]` for a position."""
        return ReasonCount.sorted(reason_counts(self.bad.column(-1).combine_chunks()))

    def raise_if_bad(self) -> "Validation":
        """Return this validation. Raises UnfitRowsError, a SchemaError, if a row does not fit."""
        if not self.is_good:
            raise UnfitRowsError(self)
        return self

    def to_json(self) -> Json:
        """Return the counts as JSON."""
        return {
            "records": {"in": self.rows, "fit": self.good.num_rows, "rejected": self.bad.num_rows},
            "reasons": [asdict(one) for one in self.counts],
            "uncheckedReferences": [*self.unchecked],
        }

    def __str__(self) -> str:
        lines = [f"{self.good.num_rows:,} of {self.rows:,} rows fit {self.dataset}"]
        lines += [f"{one.count:>12,} × {one.path or 'the row'}: {one.rule}" for one in self.counts]
        lines += [_unchecked_note(self)] if self.unchecked else []
        return "\n".join(map(printable, lines))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        fit, others = self.good.num_rows, self.bad.num_rows
        head = f"<b>{self.rows:,}</b> rows, <b>{fit:,}</b> fit, <b>{others:,}</b> do not fit"
        cells = [
            f"<tr><td>{one.count:,}</td><td><code>{escape(printable(one.path))}</code></td><td>{escape(printable(one.rule))}</td></tr>"
            for one in self.counts
        ]
        titles = "<tr><th>count</th><th>field</th><th>rule</th></tr>"
        table = f"<table>{titles}{''.join(cells)}</table>" if cells else ""
        note = f"<p>{escape(printable(_unchecked_note(self)))}</p>" if self.unchecked else ""
        return f"<div><p>{head}</p>{table}{note}</div>"


def _unchecked_note(validation: Validation) -> str:
    """Return the line on references that were not checked, with the datasets that they refer to."""
    names = listed(validation.unchecked)
    return f"not checked: references to {names}, whose rows were not given"


def _diagnostics(validation: Validation) -> Iterator[Diagnostic]:
    """Yield a finding for each rule that is broken at a path, with the first row that breaks it."""
    first: dict[tuple[str, str], RowReason] = {}
    for one in validation.reasons:
        first.setdefault((re.sub(POSITIONS, "[]", one.path), one.rule), one)
    for counted in validation.counts:
        path, rule, count = counted.path, counted.rule, counted.count
        one = first[path, rule]
        if one.value is None:
            value_text = ""
        else:
            value_text = f": {one.value[:_LONGEST_VALUE]}{'…' if len(one.value) > _LONGEST_VALUE else ''}"
        where = f"{one.path}: " if one.path else ""
        many = f" (and {count - 1:,} more)" if count > 1 else ""
        message = printable(f"row {one.row:,}: {where}{rule}{value_text}{many}")
        help = f"`schemac explain {rule.partition(':')[0]}` explains the rule"
        code = UNFIT_ROWS
        yield Diagnostic(code.id, code.slug, code.severity, message, validation.dataset, path=path, help=help)
