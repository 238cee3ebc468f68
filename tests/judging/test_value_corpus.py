"""Every judge of values says what the corpus says; quick proofs say what exact reading says."""

import json
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

import schemac
from schemac.rows.judging.clocks import with_zones
from schemac.rows.judging.settings import Settings
from schemac.rows.judging.typed_values import UnreadableTypeError
from schemac.rows.validation.judged import JudgedBatch, TypedColumn
from schemac.rows.validation.sources import Batches
from tests.engines.json_records import COLUMNS
from tests.judging import value_corpus as corpus


@pytest.mark.parametrize("name", ["tokens", "cells"])
def test_texts_have_the_outcomes_of_the_corpus(name: str) -> None:
    lines = corpus.read(name)
    texts: dict[tuple[str, str], list[str]] = {}
    for settings, place, text, _ in lines:
        texts.setdefault((settings, place), []).append(text)
    found = [json.loads(line) for line in corpus.lines_of_texts(texts, is_cell=name == "cells")]
    assert [(now, before) for now, before in zip(found, lines, strict=True) if now != before] == []


def test_columns_have_the_outcomes_of_the_corpus() -> None:
    found = [json.loads(line) for line in corpus.lines_of_columns()]
    assert [pair for pair in zip(found, corpus.read("columns"), strict=True) if pair[0] != pair[1]] == []


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_quick_proofs_say_what_exact_reading_says(zone: str | None) -> None:
    settings, count, fields = Settings(timezone=zone), 0, {}
    for name, (type_text, _) in COLUMNS.items():
        (fields[name],) = with_zones(
            corpus.dataset_of(type_text).to_arrow(metadata=True), lambda _: None, zone
        )
    for source, array in corpus.arrays().items():
        (batch,) = Batches(pa.schema([("f", array.type)]), pa.table({"f": array}).to_batches()).pieces()
        plain = batch.column(0)
        for name in COLUMNS:
            for is_required in (False, True):
                field = fields[name].with_nullable(not is_required)
                try:
                    column = TypedColumn.of(field, batch.schema, settings)
                except (UnreadableTypeError, schemac.SchemaError):
                    continue
                if column.proof is not None:
                    count += 1
                    exact, quick = (_judged(one, plain) for one in (replace(column, proof=None), column))
                    assert quick == exact, (source, name)
    assert count > 150


def _judged(column: TypedColumn, array: pa.Array) -> Any:
    values, reasons = column.judged(array, JudgedBatch(pa.record_batch([array], ["f"])))
    shown = corpus.shown_values(values)
    # What stands beside a reason is nobody's value.
    return [None if row in reasons else value for row, value in enumerate(shown)], reasons
