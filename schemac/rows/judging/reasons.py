"""Why records do not fit: one reason, and those of a batch as columns of Arrow.

Layer: rows.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemac.rows.judging.settings import POSITIONS

REASON = pa.struct([("path", pa.string()), ("rule", pa.string()), ("value", pa.string())])
REASONS = pa.list_(REASON)
QUARANTINE_SCHEMA = pa.schema(
    [
        pa.field("run", pa.string(), nullable=False),
        pa.field("source", pa.string()),
        pa.field("raw", pa.string()),
        pa.field("errors", REASONS, nullable=False),
    ]
)
"""The columns of records that do not fit."""


class Reason(NamedTuple):
    """Why a record does not fit: the path, the rule, and the value there, cut at 1000 characters; None if there is none."""

    path: str
    rule: str
    value: str | None


def reason_array(reasons: Sequence[Reason]) -> pa.StructArray:
    """Return reasons as an array."""
    return pa.array(reasons, REASON)


def reason_counts(reasons: pa.ListArray) -> Counter[tuple[str, str]]:
    """Count the reasons of rows by path, without positions, and rule."""
    each = reasons.flatten()
    paths = pc.replace_substring_regex(each.field("path"), POSITIONS, "[]")
    table = pa.table({"path": paths, "rule": each.field("rule")})
    counts = table.group_by(["path", "rule"]).aggregate([([], "count_all")])
    return Counter({(row["path"], row["rule"]): row["count_all"] for row in counts.to_pylist()})


class Reasons:
    """The reasons against the rows of a batch, as columns of Arrow, in the order in which they were added.

    `whole` are the rows that are no records, with the one reason that counts.
    """

    def __init__(self) -> None:
        self._parts: list[tuple[Any, pa.StructArray]] = []
        """Numbers of rows, and a reason for each."""
        self.whole: dict[int, Reason] = {}

    def add(self, rows: Any, reasons: pa.StructArray) -> None:
        """Add a reason to each of some rows, behind those that they have."""
        if len(rows):
            self._parts.append((rows.astype(np.int64, copy=False), reasons))

    def add_rule(self, rows: Any, path: str, rule: str, values: pa.Array) -> None:
        """Add one rule at one path, with the text of a value for each row."""
        columns = [pa.repeat(path, len(rows)), pa.repeat(rule, len(rows)), values]
        self.add(rows, pa.StructArray.from_arrays(columns, fields=list(REASON)))

    def add_all(self, other: "Reasons") -> None:
        """Add the reasons of another field."""
        self._parts += other._parts

    def refuse(self, row: int, reason: Reason) -> None:
        """Give a row one reason in place of all others, as for a malformed record."""
        self.whole[row] = reason

    def without(self, rows: Sequence[int], path: str) -> "Reasons":
        """Return the same without those of some rows at a path."""
        result = Reasons()
        for numbers, reasons in self._parts:
            paths = reasons.field("path").to_numpy(zero_copy_only=False)
            is_other = ~np.isin(numbers, rows) | (paths != path)
            result.add(numbers[is_other], reasons.filter(pa.array(is_other)))
        return result

    def rows_with(self, rule: str) -> list[int]:
        """Return the rows that break a rule."""
        numbers = set[int]()
        for rows, reasons in self._parts:
            is_alike = pc.equal(reasons.field("rule"), rule)
            numbers.update(rows[is_alike.to_numpy(zero_copy_only=False)].tolist())
        return sorted(numbers)

    @property
    def rows(self) -> Any:
        """The numbers of the rows that have reasons, ascending, as an array of numpy."""
        whole = np.array([*self.whole], np.int64)
        return np.unique(np.concatenate([*(rows for rows, _ in self._parts), whole]))

    def array(self, data_type: pa.DataType = REASONS) -> pa.ListArray:
        """Return the reasons of each of `rows`, in a type of lists of structs."""
        whole = np.array([*self.whole], np.int64)
        rows = np.concatenate([*(numbers for numbers, _ in self._parts), whole])
        of_whole = reason_array([*self.whole.values()])
        reasons = pa.concat_arrays([*(several for _, several in self._parts), of_whole])
        order = np.argsort(rows, kind="stable")
        if len(whole):
            is_counted = ~np.isin(rows, whole)
            is_counted[len(rows) - len(whole) :] = True
            order = order[is_counted[order]]
        _, starts = np.unique(rows[order], return_index=True)
        offsets = pa.array(np.append(starts, len(order)), pa.int32())
        return pa.ListArray.from_arrays(offsets, reasons.take(pa.array(order)), data_type)

    def by_row(self) -> dict[int, list[Reason]]:
        """Return the reasons of each row that has some, by its number in the batch, in ascending order."""
        lists = ([Reason(**one) for one in several] for several in self.array().to_pylist())
        return dict(zip(self.rows.tolist(), lists, strict=True))

    def __bool__(self) -> bool:
        """Return whether a row has one."""
        return bool(self._parts or self.whole)
