"""What is looked at in a table before anything is changed.

Floor: 11 (tables).
Shape: a check a field; each reads the field in all rows, and says how many values stand in the way, which ones come first,
and how to find them.
Errors: SC422 failed-check, SC430 pointless-rounding.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemac.attributes.own import CLOCK_ZONE
from schemac.evolution.changes import Change, Fact
from schemac.evolution.clocks import clock_of
from schemac.evolution.engines import lance as engine
from schemac.evolution.fit import Fit, can_be_rounded, fit, why_misfit
from schemac.evolution.side import Pair
from schemac.evolution.verdict import Outcome
from schemac.logical.slots import Slot, is_in_structs, preorder
from schemac.source.catalogue import FAILED_CHECK, POINTLESS_ROUNDING
from schemac.source.report import Report
from schemac.source.suggest import closest
from schemac.tables.casts.shown import shown
from schemac.tables.convert import Conversion, is_named
from schemac.tables.filters import misfit_filter, null_filter, row_filter
from schemac.tables.steps import Check

_SHOWN = 3
_ROWS = 20
"""So many values and rows are named."""


def value_checks(sides: Pair, changes: Sequence[Change], rounded: frozenset[str]) -> Iterator[Check]:
    """The checks that a change takes: for nulls where none may be, and for values that do not fit."""
    seen: set[tuple[str, bool]] = set()
    for change in changes:
        slot, before = change.new_slot, change.old_slot
        if slot is None or before is None or engine.judge(change, sides).outcome is not Outcome.DATA:
            continue
        is_about_nulls = change.fact is Fact.BECAME_REQUIRED
        if is_about_nulls and not sides.new.words[slot]:
            # Lance does not know whether the items of a vector may be null.
            continue
        if (slot.title, is_about_nulls) in seen:
            continue
        seen.add((slot.title, is_about_nulls))
        if is_about_nulls:
            question, query = "no null may be there", null_filter(before)
        elif fit(before.type, slot.type) is Fit.DEPENDS or change.fact is Fact.JSON_CHANGED:
            is_rounded = is_named(slot, rounded)
            question = _question(before, slot, is_rounded=is_rounded)
            query = "" if is_rounded else misfit_filter(sides, before, slot)
        else:
            continue
        yield Check(slot.title, question=question, query=query, slot=slot, is_about_nulls=is_about_nulls)


def report_misfits(
    step: Check, sides: Pair, dataset: Any, name: str, rounded: frozenset[str], report: Report
) -> None:
    """Carry a check out; SC422 where something stands in the way."""
    assert step.slot is not None
    if step.is_about_nulls:
        count = _nulls(dataset, sides.before[step.slot])
        if count:
            _report(step, f"{count:,} {'is' if count == 1 else 'are'} null", step.query, name, report)
        return
    found = _Misfits(step.slot)
    conversion = Conversion(sides, rounded, found.add)
    column = step.slot.column
    sources = sorted(conversion.sources(column))
    try:
        for batch in dataset.scanner(columns=sources, with_row_id=True).to_batches():
            found.row_ids = batch.column("_rowid")
            conversion.build(column, batch)
    except (pa.ArrowException, ValueError) as error:
        _report(step, str(error).splitlines()[0], step.query, name, report)
        return
    if found.count:
        query = step.query or (row_filter(found.rows) if found.rows else "")
        old = sides.before[step.slot]
        reason = "" if is_named(step.slot, rounded) else _reason(old, step.slot)
        _report(step, found.describe() + reason, query, name, report, old.type)


def report_pointless_rounding(rounded: frozenset[str], sides: Pair, report: Report) -> None:
    """SC430 for a name that is no field, or a field that has nothing to round."""
    slots = {slot.title: slot for slot in preorder(sides.new.dataset.columns)}
    for name in sorted(rounded):
        slot = slots.get(name)
        if slot is None:
            near = closest(name, slots)
            help = (
                f"did you mean `--allow-rounding {near}`?"
                if near
                else "give the path of a field as it is now called"
            )
            report.add(
                POINTLESS_ROUNDING, f"there is no field {name} whose values could be rounded", help=help
            )
        elif not any(
            inner in sides.before and can_be_rounded(sides.before[inner].type, inner.type)
            for inner in preorder([slot])
        ):
            message = (
                f"nothing is rounded in {name}: its values keep their type, or have no nearest one in the new"
            )
            report.add(POINTLESS_ROUNDING, message, help=f"leave out `--allow-rounding {name}`")


def refuse_rounding(rounded: Collection[str], why: str, report: Report) -> None:
    """SC430 for every name, where no engine in question rounds anything."""
    for name in sorted(set(rounded)):
        report.add(
            POINTLESS_ROUNDING,
            f"nothing is rounded in {name}: {why}",
            help=f"leave out `--allow-rounding {name}`",
        )


def _question(before: Slot, slot: Slot, *, is_rounded: bool) -> str:
    title = slot.type.title()
    question = f"every value has to fit {title}"
    if is_rounded and slot.type.kind in ("Date", "Time", "Timestamp", "Duration"):
        question = f"what is finer than {title} is cut off, as --allow-rounding {slot.title} says; the rest has to fit"
    elif is_rounded:
        question = f"values are rounded to the nearest {title}, as --allow-rounding {slot.title} says; each has to be in its range"
    clock = clock_of(before, slot)
    is_about_zones = (
        "timezone" in type(before.type).model_fields or "timezone" in type(slot.type).model_fields
    )
    return f"{question}, by a clock in {clock}" if clock and is_about_zones else question


def _reason(before: Slot, slot: Slot) -> str:
    """What is wrong with values, where there is more to say than that they do not fit."""
    clock = clock_of(before, slot)
    if before.type.kind == "String" and slot.type.kind == "Timestamp" and not clock:
        return f"; a text without an offset is the reading of a clock, and which one `{CLOCK_ZONE.key}` has to say"
    if clock and clock != "UTC" and before.type.kind != "String":
        reason = f"a clock in {clock} shows some readings never, or twice, and years beyond 1 to 9999 have no clock"
    else:
        reason = why_misfit(before.type, slot.type)
    return f"; {reason}" if reason else ""


class _Misfits:
    """The values of one field that do not fit, as they are found."""

    def __init__(self, slot: Slot) -> None:
        self.slot = slot
        self.row_ids: Any = None
        self.count = 0
        self.values: list[str] = []
        self.rows: list[int] = []

    def add(self, slot: Slot, values: Any, misfits: Any) -> None:
        """Some more."""
        if slot is not self.slot:
            return
        self.count += int(misfits.sum())
        if len(self.values) < _SHOWN:
            wrong = values.filter(pa.array(misfits))
            self.values += shown(wrong.slice(0, _SHOWN - len(self.values)))
        if len(self.rows) < _ROWS and is_in_structs(slot):
            places = np.flatnonzero(misfits)[: _ROWS - len(self.rows)]
            self.rows += self.row_ids.take(pa.array(places)).to_pylist()

    def describe(self) -> str:
        """How many, and the first of them."""
        verb = "does" if self.count == 1 else "do"
        among = ", among them" if self.count > len(self.values) else ":"
        return f"{self.count:,} {verb} not{among} {', '.join(self.values)}"


def _report(step: Check, found: str, query: str, name: str, report: Report, old: Any = None) -> None:
    ways = ["mend or remove these rows, or change the schema; nothing was changed"]
    if query:
        ways.insert(0, f"lance.dataset({json.dumps(name)}).to_table(filter={json.dumps(query)}) shows them")
    assert step.slot is not None
    is_open = old is not None and old.kind != "String" and "--allow-rounding" not in step.question
    if is_open and can_be_rounded(old, step.slot.type):
        ways.append(f"`--allow-rounding {step.slot.title}` takes the nearest value")
    report.add(
        FAILED_CHECK,
        f"{step.title}: {step.question}, but {found}",
        file=name,
        path=step.title,
        help="; ".join(ways),
    )


def _nulls(dataset: Any, before: Slot) -> int:
    """How many values of a field are null where what is around it is not."""
    chain = [before]
    while chain[-1].parent is not None:
        chain.append(chain[-1].parent)
    count = 0
    for batch in dataset.to_batches(columns=[str(before.column.segment)]):
        values = batch.column(str(before.column.segment))
        for inner in reversed(chain[:-1]):
            values = _inside(values.filter(values.is_valid()), inner)
        count += int(values.null_count)
    return count


def _inside(values: Any, slot: Any) -> Any:
    """The values of a part or member of what is around it, without what is null."""
    kind = slot.parent.type.kind
    if kind == "Struct":
        return pc.struct_field(values, str(slot.segment))
    if kind == "Map":
        return values.keys if slot.segment.value == "key" else values.items
    return values.flatten()
