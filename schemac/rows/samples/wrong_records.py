"""Records that break one rule each, as JSON, as cells of CSV, and as columns that have types.

Layer: rows.
Shape: good records are changed at one place at a time, with tokens that are wrong in many ways; the judge says what each of them
      breaks. Of the records that break one rule only, the first one for each rule at each path is kept. What is unique needs two
      records that are alike.
      Wrong records in forms other than JSON: cells of CSV, and columns that have types: the records of `wrong_rows` in; those that a
      form can hold out, each with the rule that it breaks there, and the rules that none breaks.
Rule: nothing is claimed of a record that the judge did not say.
      Nothing is claimed of a record that the judge of its form did not say.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import compress
from typing import Any, NamedTuple

import pyarrow as pa

from schemac.artifacts.dataset import CheckedDataset
from schemac.language.attributes.attribute import Family
from schemac.language.constraints.constraint import EXACT, Constraint, shown, step_of
from schemac.language.constraints.field_constraints import (
    CONSTRAINTS,
    Bound,
    MultipleOf,
    Pattern,
    Size,
    constraints_at,
)
from schemac.language.constraints.rows import CHECK_RULE, DUPLICATE_RULE, REFERENCE_RULE, UNIQUE_RULE
from schemac.language.logical.model import Part, SchemaField, preorder
from schemac.rows.judging.arrays import storage_schema, to_batches
from schemac.rows.judging.judge import MALFORMED, value_at
from schemac.rows.judging.settings import ValidationSettings
from schemac.rows.judging.tokens import NumberText, json_string, parse, token_text
from schemac.rows.runs.plain_types import nullable_field
from schemac.rows.samples.numbers import Draws
from schemac.rows.samples.patterns import generator_of
from schemac.rows.samples.sampler import Datasets, Sampler, with_members
from schemac.rows.samples.values import NoValueError, Values, values_of
from schemac.rows.samples.written import csv_line, json_lines
from schemac.rows.validation.validating import ValidationRules, validated
from schemac.rows.validation.validator import TEXT, Validator

GOOD = 60
"""Good records that some are taken of."""
BASES = 15
"""So many of them are changed at a place that has constraints."""
_RAW = 1024
"""Candidates among which rows are looked for that break a condition alone."""
TOKENS = (
    "null", '""', '"x"', "true", "[]", "{}", "0", "1", "-1", "1.5", "5", "37", "200", "300", "-200", "70000", "-70000", "5000000000", "-5000000000", "1e19", "-1e19",
    "1e30", "-1e30", "1e400", "0.12345678901234567890123456789", "9999999999999999999999999999999999999999", '"2024-02-30"', '"0000-01-01"', '"2024-01-01T00:00:00"',
    '"0000-01-01T00:00:00Z"', '"2024-01-01T00:00:00.1234567891Z"', '"2024-01-01T00:00:00.1234567891"', '"13:45:00.1234567891"', '"25:00"', '"AA="', '"AAE="',
    '"AAECAwQF"', '"1999-12-31"', '"1999-12-31T23:59:59"', '"1999-12-31T23:59:59Z"', '"12:34:56"', "[null]", '{"x": 1}',
    '"0000-01-01T00:00:00"',
)  # fmt: skip
"""Values of JSON of which each is wrong for some types."""
_FILLERS = "x1?é A"
_OF_PAIRS = frozenset({UNIQUE_RULE, DUPLICATE_RULE})


class WrongRow(NamedTuple):
    """A record that breaks one rule."""

    text: str
    """A JSON object, or what is none where the rule is `malformed`."""
    path: str
    rule: str


@dataclass(frozen=True)
class WrongRows:
    """Records that break each rule of a dataset, one rule each."""

    rows: tuple[WrongRow, ...]
    missing: tuple[tuple[str, str], ...]
    """Paths and rules of constraints that no record was found for which breaks nothing else."""
    references: Mapping[str, pa.Table]
    """The rows that they refer to, by dataset."""


def wrong_rows(dataset: CheckedDataset, seed: int, others: Datasets) -> WrongRows:
    """Return records that break each rule once. Raises SchemaError if no good rows can be made."""
    sampler = Sampler(dataset, GOOD, seed, others)
    schema = dataset.to_arrow(metadata=True)
    good = [text for batch in sampler.batches() for text in json_lines(schema, batch)]
    references = {
        one.dataset: pa.Table.from_batches(Sampler(others[one.dataset], GOOD, seed, others).tables())
        for one in sampler.rows.references
        if one.dataset != dataset.name
    }
    raw = (
        list(json_lines(schema, sampler.candidates(0, _RAW, is_mended=False))) if sampler.rows.checks else []
    )
    by_reason: dict[tuple[str, str], WrongRow] = {("", MALFORMED): WrongRow(good[0][:-1], "", MALFORMED)}
    texts = [*_changed_records(sampler, good, seed), *raw]
    for text, reasons in zip(texts, _reasons_by_row(dataset, texts, references), strict=True):
        if len(reasons) == 1 and reasons[0][1] not in _OF_PAIRS:
            row = WrongRow(text, *reasons[0])
            by_reason.setdefault(rule_of(row), row)
    rows = (*by_reason.values(), *_duplicates(sampler, dataset, good, references))
    there = {rule_of(one) for one in rows}
    return WrongRows(rows, tuple([one for one in _expected_reasons(sampler) if one not in there]), references)


def rule_of(row: WrongRow) -> tuple[str, str]:
    """Return the path and the rule, wherever in a list or a map it is broken."""
    return re.sub(r'\[[0-9]+\]|\["[^"]*"\]', "[]", row.path), row.rule


def _reasons_by_row(
    dataset: CheckedDataset, rows: Any, references: Mapping[str, Any]
) -> list[list[tuple[str, str]]]:
    """Return the paths and rules for which a dataset refuses each of some rows."""
    reasons: list[list[tuple[str, str]]] = [[] for _ in range(len(rows))]
    for one in validated(dataset, rows, ValidationRules(references)).reasons:
        reasons[one.row].append((one.path, one.rule))
    return reasons


def _expected_reasons(sampler: Sampler) -> Iterator[tuple[str, str]]:
    """Yield the paths and rules of all constraints, and of what is required."""
    for field in preorder(sampler.fields):
        # As reasons have it, with `[]` for a place in a list or a map.
        path = "".join(f".{one.segment}" if one.is_member else "[]" for one in field.chain)[1:]
        if not field.is_nullable and field.segment is not Part.KEY and field.type.family is not Family.NULL:
            yield path, "required"
        for constraint in constraints_at(field):
            if not (hasattr(constraint, "is_set") and not constraint.is_set):
                yield path, constraint.rule
    for check in sampler.rows.checks:
        yield check.path, check.rule
    for reference in sampler.rows.references:
        yield reference.path, REFERENCE_RULE


def _changed_records(sampler: Sampler, good: Sequence[str], seed: int) -> Iterator[str]:
    """Yield good records with one thing changed."""
    records = [parse(text) for text in good]
    for field, member in with_members(sampler.fields, sampler.members):
        draws = Draws(seed, "wrong", field.path_text)
        there = [record for record in records if _first_place(record, field) is not None]
        # Those with a value first.
        there.sort(key=lambda record: _first_value(record, field) in (None, [], {}, ""))
        for number, base in enumerate(there[:BASES]):
            current = _first_value(base, field)
            tokens = [
                token for one in constraints_at(field) for token in _tokens_beyond(field, one, draws, current)
            ]
            if number < 3:
                tokens += _wrong_tokens(field, member, draws, current)
            for token in tokens:
                copy = parse(token_text(base))
                if _set_first_value(copy, field, token):
                    yield token_text(copy)


def _first_place(record: Any, field: SchemaField) -> tuple[Any, Any] | None:
    """Return what holds the first value of a field, and its key or position there; None if there is none."""
    if field.parent is None:
        return (record, field.segment) if field.segment in record else None
    above = _first_place(record, field.parent)
    value = None if above is None else above[0][above[1]]
    if field.is_member:
        return (value, field.segment) if type(value) is dict and field.segment in value else None
    if type(value) is list and value:
        return value, 0
    return (value, next(iter(value))) if type(value) is dict and value else None


def _first_value(record: Any, field: SchemaField) -> Any:
    """Return the first value of a field in a record, or the first key; None if there is none."""
    place = _first_place(record, field)
    if place is None:
        return None
    return place[1] if field.segment is Part.KEY else place[0][place[1]]


def _set_first_value(record: Any, field: SchemaField, token: str) -> bool:
    """Change the first value of a field in a record; return whether there is one that can be."""
    place = _first_place(record, field)
    if place is None:
        return False
    holder, key = place
    value = parse(f"[{token}]")[0]
    if field.segment is not Part.KEY:
        holder[key] = value
        return True
    label = value if type(value) is str else token
    if label in holder:
        return False
    holder[label] = holder.pop(key)
    return True


def _wrong_tokens(field: SchemaField, member: pa.Field, draws: Draws, current: Any) -> Iterator[str]:
    """Yield tokens that may be wrong for a field."""
    yield from TOKENS
    if type(current) is list and current:
        first = current[0]
        # Items like the first one that differ from all.
        others: list[Any] = []
        if type(first) is str:
            others = [letter * max(len(first), 1) for letter in "pqrstuvwxyz"]
        elif type(first) is NumberText:
            others = [NumberText(number) for number in range(11, 30)]
        yield token_text([*current, *({token_text(one): one for one in others}.values())])
        yield from (
            token_text([*current, *current[:1]]),
            token_text(current[:-1]),
            token_text(current + current),
        )
    try:
        other: Values = values_of(field, member)
    except NoValueError:
        return
    for _ in range(8):
        value = other.draw(draws)
        if isinstance(value, str):
            yield json_string(value)
        elif isinstance(value, int) and not isinstance(value, bool) and field.type.family is Family.INTEGER:
            yield str(value)


def _tokens_beyond(field: SchemaField, constraint: Constraint, draws: Draws, current: Any) -> Iterator[str]:
    """Yield tokens that only just break a constraint."""
    type_ = field.type
    if isinstance(constraint, Bound):
        is_bare = type_.family in (Family.INTEGER, Family.DECIMAL, Family.FLOAT, Family.DURATION)
        divisors = [Decimal(one.divisor) for one in constraints_at(field) if isinstance(one, MultipleOf)]
        for step in (step_of(type_) or Decimal(1), *divisors):
            limit = constraint.limit
            if not constraint.is_exclusive or divisors:
                limit = _shifted(limit, -step if constraint.is_lower else step)
            text = shown(type_, limit)
            yield text if is_bare else json_string(text)
    elif isinstance(constraint, MultipleOf):
        yield shown(type_, _shifted(constraint.divisor, step_of(type_) or Decimal(1)))
    elif isinstance(constraint, Size) and type(current) is list:
        items = current or [None]
        yield token_text((items * (constraint.limit + 1))[: constraint.limit + 1])
        yield token_text(current[: max(constraint.limit - 1, 0)])
    elif isinstance(constraint, Size) and type(current) is str:
        last = current[-1:] or "x"
        yield json_string(current[: max(constraint.limit - 1, 0)])
        yield json_string(current + last * (constraint.limit + 1 - len(current)))
        # Bytes are written as four characters for three of them.
        yield json_string("AAAA" * (constraint.limit // 3 + 1))
    elif isinstance(constraint, Pattern):
        length = len(current) if isinstance(current, str) else 3
        yield from (json_string(filler * length) for filler in _FILLERS)
    if isinstance(constraint, Size):
        # Texts that match the pattern of the field, whatever their length.
        for text in [one.pattern.text for one in constraints_at(field) if isinstance(one, Pattern)]:
            for more in (0, 1, constraint.limit, constraint.limit + 4):
                generator = generator_of(text, more)
                for _ in range(20 if generator.count else 0):
                    yield json_string(generator.nth(draws.below(generator.count)))


def _shifted(value: Any, step: Decimal) -> Any:
    """Return a value that is one step further, in the type of the value."""
    if isinstance(value, Decimal):
        return EXACT.add(value, step)
    return value + (float(step) if isinstance(value, float) else int(step))


def _duplicates(
    sampler: Sampler, dataset: CheckedDataset, good: Sequence[str], references: Mapping[str, Any]
) -> Iterator[WrongRow]:
    """Yield pairs of records that are alike in what is unique, and in nothing else that is."""
    lists = [(one.path, [node.path for node in one.fields], UNIQUE_RULE) for one in sampler.rows.unique]
    if sampler.keys:
        lists.append((",".join(map(".".join, sampler.keys)), sampler.keys, DUPLICATE_RULE))
    at = 0
    for path, fields, rule in lists:
        while at + 1 < len(good):
            one, other = good[at], _with_values_of(good[at], good[at + 1], fields)
            at += 2
            if other is None:
                continue
            if _reasons_by_row(dataset, [one, other], references) == [[(path, rule)]] * 2:
                yield from (WrongRow(text, path, rule) for text in (one, other))
                break


def _with_values_of(text: str, other: str, fields: Sequence[tuple[str, ...]]) -> str | None:
    """Return the second record with the first one's values in some fields; None if one of them is null there."""
    first, second = parse(text), parse(other)
    for path in fields:
        value, target = value_at(first, path), value_at(second, path[:-1])
        if value is None or type(target) is not dict:
            return None
        target[path[-1]] = value
    return token_text(second)


@dataclass(frozen=True)
class WrongForm:
    """The wrong records that one format can hold."""

    rows: tuple[WrongRow, ...]
    left_out: tuple[tuple[str, str], ...]
    """Paths and rules that records of JSON break, and none of these."""
    typed: pa.Table | None = None
    """The rows, where their columns have types."""


def in_cells(dataset: CheckedDataset, wrong: WrongRows) -> WrongForm:
    """Return records of CSV; a cell has no type, so that what breaks `type` in JSON may break `cast` here."""
    names = dataset.to_arrow().names
    readable = [row for row in wrong.rows if row.rule != MALFORMED]
    records = [parse(row.text) for row in readable]
    lines = [[_cell_text(record.get(name)) for name in names] for record in records]
    cells = pa.table([pa.array([line[i] for line in lines], pa.string()) for i in range(len(names))], names)
    reasons_by_row = _reasons_by_row(dataset, cells, wrong.references)
    # A line with one cell too many is malformed.
    rows = [
        row._replace(text=csv_line([""] * (len(names) + 1))) for row in wrong.rows if row.rule == MALFORMED
    ]
    for row, line, reasons in zip(readable, lines, reasons_by_row, strict=True):
        # A value that is wrong in another way than in JSON may break rules for several rows too.
        if len(reasons) == 1 and (not _is_constraint(reasons[0][1]) or reasons[0] == (row.path, row.rule)):
            rows.append(WrongRow(csv_line(line), *reasons[0]))
    by_reason: dict[tuple[str, str], list[WrongRow]] = {}
    for row in rows:
        if row.rule in _OF_PAIRS or rule_of(row) not in by_reason:
            by_reason.setdefault(rule_of(row), []).append(row)
    return _wrong_form(wrong, [row for several in by_reason.values() for row in several])


_CONSTRAINTS = frozenset(
    (REFERENCE_RULE, UNIQUE_RULE, DUPLICATE_RULE, *(constraint.attribute.name for constraint in CONSTRAINTS))
)


def _is_constraint(rule: str) -> bool:
    """Return whether values that have the right type break the rule."""
    return rule in _CONSTRAINTS or rule.startswith(f"{CHECK_RULE}:")


def _cell_text(value: Any) -> str | None:
    """Return the text of a value for a cell of CSV: lists and objects as JSON, None for null."""
    return None if value is None else value if type(value) is str else token_text(value)


def in_columns(dataset: CheckedDataset, wrong: WrongRows, fixed: Iterable[str] = ()) -> WrongForm:
    """Return records in the types of the dataset, but for null, which every field may be; `fixed` names columns that stay as they are."""
    schema = storage_schema(dataset.to_arrow(metadata=True))
    # The records whose values have the right types.
    readable = [row for row in wrong.rows if row.rule == "required" or _is_constraint(row.rule)]
    exact = dataset.to_arrow()
    nullable_schema = pa.schema(
        [nullable_field(one) if one.name not in fixed else one for one in exact], exact.metadata
    )
    texts = pa.array([row.text for row in readable], pa.string())
    nullable = Validator(schema, ValidationSettings()).validate(pa.record_batch([texts], [TEXT])).rows
    table = pa.Table.from_batches(to_batches(nullable, nullable_schema), nullable_schema)
    reasons_by_row = _reasons_by_row(dataset, table, wrong.references)
    is_stored = [
        reasons == [(row.path, row.rule)]
        and (row.rule != "required" or row.path.partition(".")[0].partition("[")[0] not in fixed)
        for row, reasons in zip(readable, reasons_by_row, strict=True)
    ]
    # Not all types of Arrow can be filtered.
    typed = to_batches(nullable.filter(pa.array(is_stored, pa.bool_())), nullable_schema)
    stored = [*compress(readable, is_stored)]
    return _wrong_form(wrong, stored, pa.Table.from_batches(typed, nullable_schema))


def _wrong_form(wrong: WrongRows, stored: Sequence[WrongRow], typed: pa.Table | None = None) -> WrongForm:
    """Return the records that a form can store, with the paths and rules of which it has none."""
    there = {rule_of(one) for one in stored}
    left_out = dict.fromkeys(rule_of(one) for one in wrong.rows if rule_of(one) not in there)
    return WrongForm(tuple(stored), tuple(left_out), typed)
