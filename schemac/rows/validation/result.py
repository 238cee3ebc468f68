"""The result of a validation of rows: of a batch, and of all of them.

Layer: rows.
Shape: a `JudgedBatch` has every column in its loose type (see `judging.nullable_arrays`), also the values that do not fit, and the
       reasons by rows. A `Validation` has good rows as an Arrow table of the dataset's schema; bad rows as they came, with their numbers and reasons; counts.
Errors: SC350 unfit-rows, by `raise_if_bad`.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemac.rows.judging.judge import Reason
from schemac.rows.judging.settings import POSITIONS
from schemac.text.source.catalogue import UNFIT_ROWS
from schemac.text.source.diagnostic import Diagnostic, SchemaError
from schemac.text.source.json_object import Json
from schemac.text.source.phrases import listed, printable

ROW, ERRORS = "_row", "_errors"
REASONS = pa.list_(
    pa.struct([pa.field("path", pa.string()), pa.field("rule", pa.string()), pa.field("value", pa.string())])
)
_LONGEST_VALUE = 40
"""Characters of a value in a message."""


REASON = REASONS.value_type


def repeated(text: str, count: int) -> pa.Array:
    """Return a column with one text."""
    return pa.array([text], pa.string()).take(pa.array(np.zeros(count, np.int8)))


def reason_array(reasons: Sequence[Reason]) -> pa.StructArray:
    """Return reasons as an array."""
    columns = zip(*reasons, strict=True) if reasons else ((), (), ())
    return pa.StructArray.from_arrays(
        [pa.array(column, pa.string()) for column in columns], fields=list(REASON)
    )


def reason_counts(reasons: pa.ListArray) -> Counter[tuple[str, str]]:
    """Count the reasons of rows by path, without positions, and rule."""
    each = reasons.flatten()
    paths = pc.replace_substring_regex(each.field("path"), POSITIONS, "[]")
    table = pa.table({"path": paths, "rule": each.field("rule")})
    counts = table.group_by(["path", "rule"]).aggregate([([], "count_all")])
    return Counter({(row["path"], row["rule"]): row["count_all"] for row in counts.to_pylist()})


class Reasons(Mapping[int, list[Reason]]):
    """The reasons of rows, by the number of the row in its batch: columns of Arrow, in the order in which they were added.

    `whole` are the rows that are no records, with the one reason that counts.
    """

    def __init__(self) -> None:
        self._parts: list[tuple[Any, pa.StructArray]] = []
        """Numbers of rows, and a reason for each."""
        self.whole: dict[int, Reason] = {}
        self._opened: tuple[Any, dict[int, list[Reason]]] | None = None

    def add(self, rows: Any, reasons: pa.StructArray) -> None:
        """Add a reason to each of some rows, behind those that they have."""
        if len(rows):
            self._parts.append((rows.astype(np.int64, copy=False), reasons))

    def add_rule(self, rows: Any, path: str, rule: str, values: pa.Array) -> None:
        """Add one rule at one path, with the text of a value for each row."""
        columns = [repeated(path, len(rows)), repeated(rule, len(rows)), values]
        self.add(rows, pa.StructArray.from_arrays(columns, fields=list(REASON)))

    def add_all(self, other: "Reasons") -> None:
        """Add those of another field."""
        self._parts += other._parts

    def refuse(self, row: int, reason: Reason) -> None:
        """Give a row one reason alone, as for a malformed record."""
        self.whole[row] = reason

    def without(self, rows: Sequence[int], path: str) -> "Reasons":
        """Return the same without those of some rows at a path."""
        result = Reasons()
        for numbers, reasons in self._parts:
            is_other = ~np.isin(numbers, rows) | (
                reasons.field("path").to_numpy(zero_copy_only=False) != path
            )
            result.add(numbers[is_other], reasons.filter(pa.array(is_other)))
        return result

    def rows_with(self, reason: Reason) -> list[int]:
        """Return the rows that have a reason without a value."""
        numbers = set[int]()
        for rows, reasons in self._parts:
            has_path = pc.and_(pc.equal(reasons.field("path"), reason.path), reasons.field("value").is_null())
            is_alike = pc.and_(has_path, pc.equal(reasons.field("rule"), reason.rule))
            numbers.update(rows[is_alike.to_numpy(zero_copy_only=False)].tolist())
        return sorted(numbers)

    @property
    def rows(self) -> Any:
        """The numbers of the rows, in their order, as an array of numpy."""
        whole = np.array([*self.whole], np.int64)
        return np.unique(np.concatenate([*(rows for rows, _ in self._parts), whole]))

    def array(self, data_type: pa.DataType = REASONS) -> pa.ListArray:
        """Return the reasons of each of `rows`, in a type of lists of structs."""
        whole = np.array([*self.whole], np.int64)
        rows = np.concatenate([*(numbers for numbers, _ in self._parts), whole])
        reasons = pa.concat_arrays(
            [*(several for _, several in self._parts), reason_array([*self.whole.values()])]
        )
        order = np.argsort(rows, kind="stable")
        if len(whole):
            is_counted = ~np.isin(rows, whole)
            is_counted[len(rows) - len(whole) :] = True
            order = order[is_counted[order]]
        _, starts = np.unique(rows[order], return_index=True)
        offsets = pa.array(np.append(starts, len(order)), pa.int32())
        return pa.ListArray.from_arrays(offsets, reasons.take(pa.array(order)), data_type)

    @property
    def _by_row(self) -> dict[int, list[Reason]]:
        state = len(self._parts), tuple(self.whole.items())
        if self._opened is None or self._opened[0] != state:
            lists = ([Reason(**one) for one in several] for several in self.array().to_pylist())
            self._opened = state, dict(zip(self.rows.tolist(), lists, strict=True))
        return self._opened[1]

    def __getitem__(self, row: int) -> list[Reason]:
        """Return the reasons of a row."""
        return self._by_row[row]

    def __iter__(self) -> Iterator[int]:
        """Yield the rows."""
        return iter(self._by_row)

    def __len__(self) -> int:
        """Return how many rows have reasons."""
        return len(self.rows)

    def __repr__(self) -> str:
        """Show them as a dict does."""
        return repr(self._by_row)

    def __bool__(self) -> bool:
        """Return whether a row has one."""
        return bool(self._parts or self.whole)


@dataclass
class JudgedBatch:
    """Rows with their values and with the reasons found so far, by the number of the row in the batch."""

    rows: pa.RecordBatch
    reasons: Reasons = field(default_factory=Reasons)
    source: Callable[[Any], pa.RecordBatch] | None = None
    """Gives rows as they came, by an array of their numbers."""

    @property
    def is_bad(self) -> pa.Array:
        """Which rows have reasons."""
        return pa.array(np.isin(np.arange(self.rows.num_rows), self.reasons.rows))

    def forget(self, rows: Sequence[int]) -> None:
        """Remove the values of rows that are not records."""
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
    unchecked: tuple[str, ...] = ()
    """Datasets that the schema refers to but that were not passed: these references were not checked."""

    @cached_property
    def reasons(self) -> tuple[RowReason, ...]:
        """Every reason, in the order of the rows."""
        errors = self.bad.column(ERRORS).combine_chunks()
        rows = self.bad.column(ROW).combine_chunks().take(pc.list_parent_indices(errors))
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
    def counts(self) -> tuple[RuleCount, ...]:
        """How often each rule is broken, the most frequent first; paths have `[]` for a position."""
        validated = reason_counts(self.bad.column(ERRORS).combine_chunks())
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
        first.setdefault((re.sub(POSITIONS, "[]", one.path), one.rule), one)
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
