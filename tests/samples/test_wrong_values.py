"""What `sample --wrong` says of a value is what the corpus of values says of it, and it has every rule that the corpus has for a type."""

import csv
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

import schemac
from schemac.rows.judging.tokens import parse, token_text
from schemac.rows.samples.wrong_records import WrongRow, in_cells, in_columns, wrong_rows
from tests.constraints import corpus as constraint_corpus
from tests.constraints.cases import cases, dataset_of
from tests.judging import value_corpus as corpus

FIELDS = {field.name: field for field in corpus.fields_at("", "plain") if field.name != "brain"}
"""All but `brain`: only items of vectors are stored so."""


def rules_by_text(name: str, field: str) -> dict[str, list[str]]:
    """Return the rules that texts break in a field by the corpus, none for those that fit."""
    rules = {}
    for settings, place, text, groups in corpus.read(name):
        if (settings, place) == ("plain", ""):
            outcome = next(outcome for outcome, names in groups.items() if field in names.split())
            reasons = [] if outcome.startswith("=") else outcome.split("; ")
            rules[text] = [reason.split(" ")[0].rstrip(":") for reason in reasons]
    return rules


def rules_of(rows: Sequence[WrongRow]) -> list[list[str]]:
    """Return what is said of rows, without the explanation behind the name of a rule."""
    return [[row.rule.partition(":")[0]] for row in rows]


@pytest.mark.parametrize("name", FIELDS)
def test_wrong_records_have_the_rules_of_the_corpus(name: str) -> None:
    wrong = wrong_rows(schemac.from_arrow(pa.schema([FIELDS[name]])), 0, {})
    expected = rules_by_text("tokens", name)
    rows = [row for row in wrong.rows if row.rule != "malformed"]
    texts = [token_text(parse(row.text)[name]) for row in rows]
    assert rules_of(rows) == [expected[text] for text in texts]
    every = {rule for rules in expected.values() for rule in rules}
    assert {rule for (rule,) in rules_of(wrong.rows)} == every | {"malformed"}


@pytest.mark.parametrize("name", FIELDS)
def test_wrong_cells_have_the_rules_of_the_corpus(name: str) -> None:
    dataset = schemac.from_arrow(pa.schema([FIELDS[name]]))
    expected = rules_by_text("cells", name)
    rows = [row for row in in_cells(dataset, wrong_rows(dataset, 0, {})).rows if row.rule != "malformed"]
    texts = [cell for ((cell,),) in (csv.reader([row.text]) for row in rows)]
    assert rules_of(rows) == [expected[text] for text in texts]


def test_values_that_break_constraints_are_those_of_the_corpus() -> None:
    """Where the corpus has the value of a row, in records and in columns."""
    verdicts = constraint_corpus.read()
    compared = 0
    for case in cases():
        dataset, name = dataset_of([case]), case.kind.attribute.name
        try:
            wrong = wrong_rows(dataset, 0, {})
        except schemac.SchemaError:
            # No value of the samples keeps the constraint.
            continue
        of_case = verdicts[constraint_corpus.text_of(case)]
        stored = in_columns(dataset, wrong)
        typed: Any = stored.typed
        for row, value in zip(
            stored.rows, corpus.shown_values(typed.column(0).combine_chunks()), strict=True
        ):
            if value in of_case:
                assert of_case[value] == (row.rule == name), (case, value)
                compared += 1
    assert compared > 60
