"""Wrong records in forms other than JSON: cells of CSV, and columns that have types.

Layer: rows.
Shape: the records of `wrong_rows` in; those that a form can hold out, each with the rule that it breaks there, and the rules that none breaks.
Rule: nothing is claimed of a record that the judge of its form did not say.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from schemac.artifacts.dataset import CheckedDataset
from schemac.constraints.rows import UNIQUE_RULE
from schemac.rows.judging.exact_types import to_batches
from schemac.rows.judging.judge import Judge
from schemac.rows.judging.loose import nullable_array
from schemac.rows.judging.shapes import opened
from schemac.rows.judging.tokens import NotJsonError, parse
from schemac.rows.samples.written import csv_line
from schemac.rows.samples.wrong import WrongRow, WrongRows, record_text, rule_of
from schemac.rows.validation.broken_rows import DUPLICATE
from schemac.rows.validation.validating import Rules, validated

_OF_PAIRS = frozenset({UNIQUE_RULE, DUPLICATE})


@dataclass(frozen=True)
class WrongForm:
    """Wrong records as one form holds them."""

    rows: tuple[WrongRow, ...]
    left_out: tuple[tuple[str, str], ...]
    """Paths and rules that records of JSON break, and none of these."""
    typed: pa.Table | None = None
    """The rows, where their columns have types."""


def in_cells(dataset: CheckedDataset, wrong: WrongRows) -> WrongForm:
    """Return records of CSV; a cell has no type, so that what breaks `type` in JSON may break `cast` here."""
    schema = dataset.to_arrow(metadata=True)
    judge = Judge(pa.schema([opened(member) for member in schema], schema.metadata))
    by_reason: dict[tuple[str, str], list[WrongRow]] = {}
    for one in wrong.rows:
        wrong_row = None if judge.uncovered_cells else _in_cells(judge, one)
        if wrong_row is not None and (one.rule in _OF_PAIRS or rule_of(wrong_row) not in by_reason):
            by_reason.setdefault(rule_of(wrong_row), []).append(wrong_row)
    return _form(wrong, [one for several in by_reason.values() for one in several])


def _in_cells(judge: Judge, one: WrongRow) -> WrongRow | None:
    """Return the record with the rule that it breaks as cells; None if it breaks none, or several."""
    names = judge.schema.names
    try:
        record = parse(one.text)
    except NotJsonError:
        # The line has one cell too many.
        return one._replace(text=csv_line([*("" for _ in names), ""]))
    cells = {name: _cell(record.get(name)) for name in names}
    judged, text = judge.csv(cells), csv_line(cells.values())
    if judged.reasons:
        (path, rule, _), *others = judged.reasons
        return None if others else WrongRow(text, path, rule)
    same = judge.uncovered == () and judge.json(one.text).values == judged.values
    return one._replace(text=text) if same else None


def _cell(value: Any) -> str | None:
    return None if value is None else value if type(value) is str else record_text(value)


def in_columns(dataset: CheckedDataset, wrong: WrongRows, fixed: Iterable[str] = ()) -> WrongForm:
    """Return records in the types of the dataset, but for null, which every field may be; `fixed` names columns that stay as they are."""
    schema = dataset.to_arrow(metadata=True)
    members = [opened(member) for member in schema]
    judge = Judge(pa.schema(members, schema.metadata))
    readable = [] if judge.uncovered else list(_readable(judge, wrong.rows))
    exact = dataset.to_arrow()
    nullable_schema = pa.schema(
        [_nullable(one) if one.name not in fixed else one for one in exact], exact.metadata
    )
    columns = [nullable_array([values[one.name] for _, values in readable], one) for one in members]
    nullable = pa.RecordBatch.from_arrays(columns, names=exact.names)
    table = pa.Table.from_batches(to_batches(nullable, nullable_schema), nullable_schema)
    reasons: list[list[tuple[str, str]]] = [[] for _ in readable]
    for one in validated(dataset, table, Rules(wrong.references)).reasons:
        reasons[one.row].append((one.path, one.rule))
    is_stored = [
        reasons[i] == [(row.path, row.rule)] and _is_held(row, fixed) for i, (row, _) in enumerate(readable)
    ]
    form = _form(
        wrong, [row for (row, _), is_shown_alike in zip(readable, is_stored, strict=True) if is_shown_alike]
    )
    # Not all types of Arrow can be filtered.
    typed = to_batches(nullable.filter(pa.array(is_stored, pa.bool_())), nullable_schema)
    return WrongForm(form.rows, form.left_out, pa.Table.from_batches(typed, nullable_schema))


def _is_held(one: WrongRow, fixed: Iterable[str]) -> bool:
    return one.rule != "required" or one.path.partition(".")[0].partition("[")[0] not in fixed


def _readable(judge: Judge, rows: Sequence[WrongRow]) -> Iterator[tuple[WrongRow, Mapping[str, Any]]]:
    """Yield the records whose values have the right types, with these."""
    for one in rows:
        try:
            values, run = judge.read(parse(one.text))
        except NotJsonError:
            continue
        if all(reason.rule == "required" for reason in run.reasons):
            yield one, values


def _nullable(field: pa.Field) -> pa.Field:
    """Return a field that may be null, at every depth but that of keys."""
    data_type, is_ = field.type, pa.types
    if is_.is_struct(data_type):
        data_type = pa.struct([_nullable(part) for part in data_type])
    elif is_.is_map(data_type):
        data_type = pa.map_(data_type.key_field, _nullable(data_type.item_field), data_type.keys_sorted)
    elif is_.is_fixed_size_list(data_type):
        data_type = pa.list_(_nullable(data_type.value_field), data_type.list_size)
    elif is_.is_large_list(data_type):
        data_type = pa.large_list(_nullable(data_type.value_field))
    elif is_.is_list(data_type):
        data_type = pa.list_(_nullable(data_type.value_field))
    elif is_.is_list_view(data_type):
        data_type = pa.list_view(_nullable(data_type.value_field))
    elif is_.is_large_list_view(data_type):
        data_type = pa.large_list_view(_nullable(data_type.value_field))
    return field.with_type(data_type).with_nullable(True)


def _form(wrong: WrongRows, stored: Sequence[WrongRow]) -> WrongForm:
    there = {rule_of(one) for one in stored}
    left_out = dict.fromkeys(rule_of(one) for one in wrong.rows if rule_of(one) not in there)
    return WrongForm(tuple(stored), tuple(left_out))
