"""Every judge of values says what the corpus says; quick proofs say what exact reading says."""

import json
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

import schemac
from schemac.rows.judging.arrays import storage_field, to_field
from schemac.rows.judging.scalars import with_zones
from schemac.rows.judging.settings import Unexpected, ValidationSettings
from schemac.rows.judging.typed_values import UnreadableTypeError
from schemac.rows.validation.validating import PythonRowReader, plain_batches
from schemac.rows.validation.validator import TEXT, FieldInput, FieldReader, Validator
from tests.engines.json_records import COLUMNS
from tests.judging import value_corpus as corpus
from tests.judging.objects import NESTED, SCALARS


@pytest.mark.parametrize("name", ["tokens", "cells"])
def test_texts_have_the_outcomes_of_the_corpus(name: str) -> None:
    lines = corpus.read(name)
    texts = texts_of(lines)
    found = [json.loads(line) for line in corpus.lines_of_texts(texts, is_cell=name == "cells")]
    assert [(now, before) for now, before in zip(found, lines, strict=True) if now != before] == []


def texts_of(lines: list[Any]) -> dict[tuple[str, str], list[str]]:
    texts: dict[tuple[str, str], list[str]] = {}
    for settings, place, text, _ in lines:
        texts.setdefault((settings, place), []).append(text)
    return texts


@pytest.mark.parametrize("name", ["tokens", "cells"])
@pytest.mark.parametrize("height", [1, 7, 10_000])
@pytest.mark.parametrize("share", [4, pytest.param(1, marks=pytest.mark.long)])
def test_batches_have_the_outcomes_of_the_corpus(name: str, height: int, share: int) -> None:
    """Many records at a time: what is wrong with one of them is nothing to the others."""
    lines = corpus.read(name)
    groups: dict[tuple[str, str], list[Any]] = {}
    for line in lines:
        groups.setdefault((line[0], line[1]), []).append(line)
    for (settings, place), some in groups.items():
        some = some[:: share * {1: 40, 7: 5, 10_000: 1}[height]]
        for field in corpus.fields_at(place, settings):
            expected = [
                next(o for o, names in line[3].items() if field.name in names.split()) for line in some
            ]
            texts = [line[2] for line in some]
            told = []
            validator = validator_of(field, corpus.SETTINGS[settings], is_cell=name == "cells")
            for start in range(0, len(texts), height):
                told += outcomes(validator, field, place, texts[start : start + height])
            assert [one for one in zip(texts, told, expected, strict=True) if one[1] != one[2]] == [], (
                field,
                settings,
            )


def validator_of(field: pa.Field, settings: ValidationSettings, *, is_cell: bool) -> Validator:
    origin = settings.fields.get(field.name)
    schema = with_zones(pa.schema([field]), lambda _: None, settings.timezone)
    inputs = [FieldInput(field.name, "column", field.name, None if origin is None else origin.epoch)]
    return Validator(schema, settings, inputs if is_cell else None)


def outcomes(validator: Validator, field: pa.Field, place: str, texts: list[str]) -> list[str]:
    is_cell = validator.inputs[0].form == "column"
    records = (
        texts
        if is_cell
        else [f'{{"{field.name}": {corpus.TEXTS[place].format(text, text)}}}' for text in texts]
    )
    judged = validator.validate(pa.record_batch([pa.array(records)], [field.name if is_cell else TEXT]))
    nullable = field.with_nullable(True)
    told, reasons_of_rows = [], judged.reasons.by_row()
    for row, text in enumerate(texts):
        if row in reasons_of_rows:
            reasons = reasons_of_rows[row]
            told.append(
                "; ".join(
                    corpus.told(one.path[len(field.name) :], one.rule, one.value, text) for one in reasons
                )
            )
            continue
        (shown,) = corpus.shown_values(to_field(judged.rows.column(0).slice(row, 1), nullable))
        told.append("=" if shown in (repr(text), repr(corpus.content(text))) else f"= {shown}")
    return told


def test_columns_have_the_outcomes_of_the_corpus() -> None:
    found = [json.loads(line) for line in corpus.lines_of_columns()]
    assert [pair for pair in zip(found, corpus.read("columns"), strict=True) if pair[0] != pair[1]] == []


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_quick_proofs_say_what_exact_reading_says(zone: str | None) -> None:
    settings, count, fields = ValidationSettings(timezone=zone), 0, {}
    for name, (type_text, _) in COLUMNS.items():
        (fields[name],) = with_zones(
            corpus.dataset_of(type_text).to_arrow(metadata=True), lambda _: None, zone
        )
    for source, array in corpus.arrays().items():
        (batch,) = plain_batches(pa.table({"f": array}).to_reader())
        plain = batch.column(0)
        for name in COLUMNS:
            for is_required in (False, True):
                field = fields[name].with_nullable(not is_required)
                try:
                    column = FieldReader.of_column(field, batch.schema.field(0), settings)
                except (UnreadableTypeError, schemac.SchemaError):
                    continue
                if column.proof is not None:
                    count += 1
                    exact, quick = (_validated(one, plain) for one in (replace(column, proof=None), column))
                    assert quick == exact, (source, name)
    assert count > 150


@pytest.mark.parametrize("unexpected", [Unexpected.IGNORE, Unexpected.REJECT])
@pytest.mark.parametrize("share", [9, pytest.param(1, marks=pytest.mark.long)])
def test_quick_proofs_of_objects_say_what_exact_reading_says(unexpected: Unexpected, share: int) -> None:
    """Alone, so that pyarrow makes an array of it, and beside objects of all classes."""
    objects = [*SCALARS, *NESTED]
    proven = 0
    for name, (type_text, _) in COLUMNS.items():
        for is_required in (False, True):
            (field,) = corpus.dataset_of(type_text).to_arrow(metadata=True)
            schema = pa.schema([storage_field(field).with_nullable(not is_required)])
            (column,) = PythonRowReader(schema, ValidationSettings(unexpected)).fields
            if column.proof is None:
                continue
            exact = replace(column, proof=None)
            alone = objects[:: 4 * share if is_required else share]
            for values in (objects, *([one] for one in alone)):
                quick = _validated(column, values)
                assert repr(quick) == repr(_validated(exact, values)), (name, values)
                proven += not column.proof(values).doubtful.all()
    assert proven > 400 / share


def _validated(column: FieldReader, array: Any) -> Any:
    values, reasons = column.validated(array)
    shown, reasons_of_rows = corpus.shown_values(values), reasons.by_row()
    # What stands beside a reason is nobody's value.
    return [None if row in reasons_of_rows else value for row, value in enumerate(shown)], reasons_of_rows
