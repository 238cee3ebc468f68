"""The result of a validation of rows: of a batch, and of all of them.

Layer: rows.
Shape: a `JudgedBatch` has every column in its loose type (see `judging.nullable_arrays`), also the values that do not fit, and the
       reasons by rows. A `Validation` has good rows as an Arrow table of the dataset's schema; bad rows as they came, with their numbers and reasons; counts.
Errors: SC350 unfit-rows, by `raise_if_bad`.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from schemac.rows.judging.judge import Reason
from schemac.text.source.catalogue import UNFIT_ROWS
from schemac.text.source.diagnostic import Diagnostic, SchemaError
from schemac.text.source.json_object import Json
from schemac.text.source.phrases import listed, printable

ROW, ERRORS = "_row", "_errors"
REASONS = pa.list_(
    pa.struct([pa.field("path", pa.string()), pa.field("rule", pa.string()), pa.field("value", pa.string())])
)
_POSITIONS = re.compile(r'\[[0-9]+\]|\["(?:[^"]|"(?!\]))*"\]')
_LONGEST_VALUE = 40
"""Characters of a value in a message."""


class RowReasons(MutableMapping[int, list[Reason]]):
    """The reasons of rows, by the number of the row in its batch.

    The reasons of a field for many rows are kept as indices into a list, until those of one row are requested.
    """

    def __init__(self) -> None:
        self._columns: list[tuple[Any, Any, list[list[Reason]]]] = []
        """Rows, numbers, and the reasons that these stand for."""
        self._single: dict[int, list[Reason]] = {}
        self.whole: dict[int, list[Reason]] = {}
        """Rows that are no records, with the one reason that counts."""

    def add_many(self, rows: Any, numbers: Any, reasons: list[list[Reason]]) -> None:
        """Add reasons to rows that differ."""
        if not len(rows):
            return
        single = self._open() if self._single else {}
        self._columns.append((rows, numbers, reasons))
        if single:
            # What is opened stands in front of what comes later.
            self._single = {}
            for row, several in self._open().items():
                single.setdefault(row, []).extend(several)
            self._single = single

    def add_all(self, other: "RowReasons") -> None:
        """Add those of another field."""
        for column in other._columns:
            self.add_many(*column)
        for row, several in other._single.items():
            for reason in several:
                self.add(row, reason)

    def add(self, row: int, reason: Reason) -> None:
        """Add a reason behind the others of a row."""
        self._single.setdefault(row, []).append(reason)

    def refuse(self, row: int, reason: Reason) -> None:
        """Give a row one reason alone, as for a malformed record."""
        self.whole[row] = [reason]

    def _open(self) -> dict[int, list[Reason]]:
        if self._columns:
            opened: dict[int, list[Reason]] = {}
            for rows, numbers, reasons in self._columns:
                for row, number in zip(rows.tolist(), numbers.tolist(), strict=True):
                    opened.setdefault(row, []).extend(reasons[number])
            for row, several in self._single.items():
                opened.setdefault(row, []).extend(several)
            self._single, self._columns = opened, []
        return self._single

    def __getitem__(self, row: int) -> list[Reason]:
        """Return the reasons of a row."""
        return self.whole[row] if row in self.whole else self._open()[row]

    def __setitem__(self, row: int, several: list[Reason]) -> None:
        """Replace the reasons of a row."""
        self._open()[row] = several
        self.whole.pop(row, None)

    def __delitem__(self, row: int) -> None:
        """Leave a row without reasons."""
        self._open().pop(row, None)
        self.whole.pop(row, None)

    def __iter__(self) -> Iterator[int]:
        """Yield the rows."""
        return iter({**self._open(), **self.whole})

    def __len__(self) -> int:
        """Return how many rows have reasons."""
        return len(self.rows)

    def __repr__(self) -> str:
        """Show them as a dict does."""
        return repr(dict(self))

    @property
    def rows(self) -> Any:
        """The numbers of the rows, in their order, as an array of numpy."""
        single = np.array([*self._single, *self.whole], np.int64)
        return np.unique(np.concatenate([*(rows for rows, _, _ in self._columns), single]))

    def rows_with(self, reason: Reason) -> list[int]:
        """Return the rows that have a reason."""
        found = {row for row, several in self._single.items() if reason in several}
        for rows, numbers, reasons in self._columns:
            with_it = [number for number, several in enumerate(reasons) if reason in several]
            if with_it:
                found.update(rows[np.isin(numbers, with_it)].tolist())
        return sorted(found)

    def array(self, data_type: pa.DataType) -> pa.Array:
        """Return the reasons of each of `rows`, in a type of lists of structs."""
        rows = self.rows
        count = len(self._single) + sum(len(column[0]) for column in self._columns)
        if self._columns and not self.whole and count == len(rows):
            parts = [
                pa.array(reasons, data_type).take(pa.array(numbers)) for _, numbers, reasons in self._columns
            ]
            parts.append(pa.array([*self._single.values()], data_type))
            order = np.argsort(
                np.concatenate([*(rows for rows, _, _ in self._columns), np.array([*self._single], np.int64)])
            )
            return pa.concat_arrays(parts).take(pa.array(order))
        return pa.array([self[row] for row in rows.tolist()], data_type)


@dataclass
class JudgedBatch:
    """Rows with their values and with the reasons found so far, by the number of the row in the batch."""

    rows: pa.RecordBatch
    reasons: RowReasons = field(default_factory=RowReasons)
    source: Callable[[Sequence[int]], pa.RecordBatch] | None = None
    """Gives rows as they came, by their numbers."""

    def object_to(self, row: int, reason: Reason) -> None:
        """Add a reason."""
        self.reasons.add(row, reason)

    @property
    def is_bad(self) -> pa.Array:
        """Which rows have reasons."""
        return pa.array(np.isin(np.arange(self.rows.num_rows), self.reasons.rows))

    def forget(self, rows: Sequence[int]) -> None:
        """Remove the reasons about values of rows that are not records."""
        if rows:
            places = np.arange(self.rows.num_rows)
            is_none = np.isin(places, rows)
            self.rows = self.rows.take(pa.array(places, mask=is_none))


class RowReason(NamedTuple):
    """Why a row does not fit."""

    row: int
    """The number of the row, from 0."""
    path: str
    """The path of the value, such as `stops[3].minutes`; empty for the row as a whole, several paths separated by commas for fields that are compared together."""
    rule: str
    """The rule that it breaks; `schemac explain rules` lists them."""
    value: str | None
    """The value as text, cut at 1000 characters; None if there is none."""


@dataclass(frozen=True)
class RuleCount:
    """How often a rule is broken at a path, whose positions are left out."""

    path: str
    rule: str
    count: int


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
    reasons: tuple[RowReason, ...]
    """Every reason, in the order of the rows."""
    unchecked: tuple[str, ...] = ()
    """Datasets that the schema refers to but that were not passed: these references were not checked."""

    @property
    def rows(self) -> int:
        """How many rows there were."""
        return int(self.good.num_rows + self.bad.num_rows)

    @property
    def is_good(self) -> bool:
        """Whether all rows fit."""
        return not self.bad.num_rows

    @property
    def counts(self) -> tuple[RuleCount, ...]:
        """How often each rule is broken, the most frequent first; paths have `[]` for a position."""
        validated = Counter((_POSITIONS.sub("[]", one.path), one.rule) for one in self.reasons)
        counts = [RuleCount(path, rule, count) for (path, rule), count in validated.items()]
        return tuple(sorted(counts, key=lambda one: (-one.count, one.path, one.rule)))

    def raise_if_bad(self) -> "Validation":
        """Return itself. Raises UnfitRowsError, a SchemaError, if a row does not fit."""
        if not self.is_good:
            raise UnfitRowsError(self)
        return self

    def to_json(self) -> Json:
        """Return the counts as JSON."""
        return {
            "records": {"in": self.rows, "fit": self.good.num_rows, "rejected": self.bad.num_rows},
            "reasons": [{"path": one.path, "rule": one.rule, "count": one.count} for one in self.counts],
            "uncheckedReferences": [*self.unchecked],
        }

    def __str__(self) -> str:
        lines = [f"{self.good.num_rows:,} of {self.rows:,} rows fit {self.dataset}"]
        lines += [f"{one.count:>12,} × {one.path or 'the row'}: {one.rule}" for one in self.counts]
        lines += [_unchecked(self)] if self.unchecked else []
        return "\n".join(map(printable, lines))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        cards = (("rows", self.rows), ("fit", self.good.num_rows), ("do not fit", self.bad.num_rows))
        head = ", ".join(f"<b>{count:,}</b> {label}" for label, count in cards)
        cells = [
            f"<tr><td>{one.count:,}</td><td><code>{escape(printable(one.path))}</code></td><td>{escape(printable(one.rule))}</td></tr>"
            for one in self.counts
        ]
        table = (
            f"<table><tr><th>count</th><th>field</th><th>rule</th></tr>{''.join(cells)}</table>"
            if cells
            else ""
        )
        note = f"<p>{escape(printable(_unchecked(self)))}</p>" if self.unchecked else ""
        return f"<div><p>{head}</p>{table}{note}</div>"


def _unchecked(validation: Validation) -> str:
    names = listed(validation.unchecked)
    return f"not checked: references to {names}, whose rows were not given"


def _diagnostics(validation: Validation) -> Iterator[Diagnostic]:
    """Yield a finding for each rule that is broken at a path, with the first row that breaks it."""
    first: dict[tuple[str, str], RowReason] = {}
    for one in validation.reasons:
        first.setdefault((_POSITIONS.sub("[]", one.path), one.rule), one)
    for counted in validation.counts:
        path, rule, count = counted.path, counted.rule, counted.count
        one = first[path, rule]
        value_text = (
            ""
            if one.value is None
            else f": {one.value[:_LONGEST_VALUE]}{'…' if len(one.value) > _LONGEST_VALUE else ''}"
        )
        where = f"{one.path}: " if one.path else ""
        many = f" (and {count - 1:,} more)" if count > 1 else ""
        message = printable(f"row {one.row:,}: {where}{rule}{value_text}{many}")
        help = f"`schemac explain {rule.partition(':')[0]}` explains the rule"
        code = UNFIT_ROWS
        yield Diagnostic(code.id, code.slug, code.severity, message, validation.dataset, path=path, help=help)
