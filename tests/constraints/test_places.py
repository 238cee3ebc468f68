"""One table: constraint × kind × place. Wherever a value is held against a constraint, the corpus says whether it breaks it.

Shape: a place gives, for the values of a case, whether each breaks the constraint; None where the place does not see the value, such as NaN
       in a record of JSON. An engine takes part once it says that it `checks_constraints`, with those constraints that it does not name as losses.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import localcontext
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pydantic import ValidationError

import schemac
from schemac.arrow.constraints import constraints_of
from schemac.language.attributes.attribute import Family
from schemac.language.checks.constraints import _forbids
from schemac.language.constraints.evaluation import survey
from schemac.language.constraints.rows import RowConstraints
from schemac.registry.engine import engines
from schemac.rows.judging.settings import ValidationSettings
from schemac.rows.judging.tokens import parse, token_text
from schemac.rows.samples.written import json_lines
from schemac.rows.validation.validator import FieldInput, Validator
from tests.constraints import corpus
from tests.constraints.cases import Case, arrow_of, cases, dataset_of, values_of
from tests.constraints.corpus import lines_of_constraints
from tests.engines.exact_json import exact
from tests.engines.jsonschema.test_artifact import validator
from tests.engines.pydantic.test_artifact import model
from tests.judging import value_corpus

Verdicts = list[bool | None]
ALL = list(cases())


@dataclass(frozen=True)
class Table:
    """Cases with their values, a column each, as long as the longest of them."""

    cases: Sequence[Case]
    dataset: schemac.Dataset
    values: pa.Table

    @classmethod
    def of(cls, found: Sequence[Case], count: int) -> "Table":
        dataset = dataset_of(list(found))
        schema = dataset.to_arrow()
        drawn = [values_of(case.type, count) for case in found]
        height = max(map(len, drawn))
        columns = [
            arrow_of(case.type, schema.field(i).type, (values * (height // len(values) + 1))[:height])
            for i, (case, values) in enumerate(zip(found, drawn, strict=True))
        ]
        return cls(found, dataset, pa.Table.from_arrays(columns, schema=schema))

    def records(self) -> list[str]:
        """The rows as records of JSON, which have no infinity and nothing that is not a number."""
        schema = self.dataset.to_arrow(metadata=True)
        rows = pa.Table.from_arrays(self.written_values(), schema=schema)
        return [line for batch in rows.combine_chunks().to_batches() for line in json_lines(schema, batch)]

    def written_values(self) -> list[pa.ChunkedArray]:
        """The columns with null for what no record of JSON has."""
        return [
            pc.if_else(self.unwritten(i), None, column) if pa.types.is_floating(column.type) else column
            for i, column in enumerate(self.values.columns)
        ]

    def unwritten(self, i: int) -> Any:
        """Which values of a column no record of JSON has."""
        column = self.values.column(i)
        if not pa.types.is_floating(column.type):
            return pa.repeat(pa.scalar(False), len(column))
        return pc.invert(pc.fill_null(pc.is_finite(column.cast(pa.float64())), True))


class Place(ABC):
    """Where constraints are held against values."""

    @abstractmethod
    def verdicts(self, table: Table) -> list[Verdicts]:
        """Whether each value breaks the constraint of its column, by column."""


class OfArrow(Place):
    """The functions that plans and the survey of stored rows use: what the other places are compared with."""

    def verdicts(self, table: Table) -> list[Verdicts]:
        held = constraints_of(table.dataset.to_arrow(metadata=True))
        found = []
        for i in range(len(table.cases)):
            place = held.column(f"c{i}")
            assert place is not None
            (constraint,) = place.constraints
            found.append(constraint.violations(table.values.column(i).combine_chunks()).to_pylist())
        return found


class OfTables(Place):
    """`Dataset.validate` of a table."""

    def verdicts(self, table: Table) -> list[Verdicts]:
        return _by_column(table, table.dataset.validate(table.values))


class OfRecords(Place):
    """`Dataset.validate` of records, which are judged as those of a pipeline."""

    def verdicts(self, table: Table) -> list[Verdicts]:
        return _without_unwritten(table, _by_column(table, table.dataset.validate(table.records())))


class OfCells(Place):
    """The validator that tasks of a pipeline use, for cells of CSV."""

    def verdicts(self, table: Table) -> list[Verdicts]:
        schema = table.dataset.to_arrow(metadata=True)
        validator = Validator(
            schema, ValidationSettings(), [FieldInput(name, "column", name) for name in schema.names]
        )
        records = [parse(text) for text in table.records()]
        cells = [
            pa.array([_cell(record.get(name)) for record in records], pa.string()) for name in schema.names
        ]
        batch = pa.RecordBatch.from_arrays(cells, names=schema.names)
        reasons = [
            (row, reason)
            for row, several in validator.validate(batch).reasons.by_row().items()
            for reason in several
        ]
        verdicts = _broken(table, ((row, reason.path, reason.rule) for row, reason in reasons))
        # An empty cell is a null there.
        for i in range(len(cells)):
            for row in pc.indices_nonzero(pc.equal(cells[i], "")).to_pylist():
                verdicts[i][row] = None
        return _without_unwritten(table, verdicts)


@dataclass(frozen=True)
class Nested(Place):
    """Fields in a struct, in the structs of a list, or in those of a map, of tables or records."""

    holder: str
    are_records: bool

    def verdicts(self, table: Table) -> list[Verdicts]:
        fields = [self._field(i, case) for i, case in enumerate(table.cases)]
        (dataset,) = schemac.compile_text(
            json.dumps({"name": "nested", "fields": fields}, ensure_ascii=False)
        )
        schema = dataset.to_arrow()
        columns = [
            self._column(column.combine_chunks(), field.type)
            for column, field in zip(
                table.written_values() if self.are_records else table.values.columns, schema, strict=True
            )
        ]
        nested: Any = pa.Table.from_arrays(columns, schema=schema)
        if self.are_records:
            metadata_schema = dataset.to_arrow(metadata=True)
            batches = nested.replace_schema_metadata(None).combine_chunks().to_batches()
            nested = [line for batch in batches for line in json_lines(metadata_schema, batch)]
        validation = dataset.validate(nested)
        reasons = ((one.row, one.path, one.rule) for one in validation.reasons)
        verdicts = _broken(table, reasons)
        return _without_unwritten(table, verdicts) if self.are_records else verdicts

    def _field(self, i: int, case: Case) -> dict[str, Any]:
        struct = {"kind": "Struct", "fields": [{"name": "m", **case.field}]}
        types: dict[str, dict[str, Any]] = {
            "struct": struct,
            "list": {"kind": "List", "itemType": struct},
            "map": {"kind": "Map", "keyType": "String", "valueType": struct},
        }
        return {"name": f"c{i}", "type": types[self.holder]}

    def _column(self, values: pa.Array, data_type: pa.DataType) -> pa.Array:
        offsets = pa.array(range(len(values) + 1), pa.int32())
        match self.holder:
            case "list":
                structs = pa.StructArray.from_arrays([values], fields=[*data_type.value_type])
                return pa.ListArray.from_arrays(offsets, structs, data_type)
            case "map":
                structs = pa.StructArray.from_arrays([values], fields=[*data_type.item_type])
                return pa.MapArray.from_arrays(offsets, pa.array(["k"] * len(values)), structs, data_type)
        return pa.StructArray.from_arrays([values], fields=[*data_type])


def _cell(value: Any) -> str | None:
    return None if value is None else value if isinstance(value, str) else token_text(value)


def _without_unwritten(table: Table, found: list[Verdicts]) -> list[Verdicts]:
    for i, column in enumerate(found):
        for row in pc.indices_nonzero(table.unwritten(i)).to_pylist():
            column[row] = None
    return found


def _by_column(table: Table, found: schemac.Validation) -> list[Verdicts]:
    return _broken(table, ((one.row, one.path, one.rule) for one in found.reasons))


def _broken(table: Table, reasons: Iterable[tuple[int, str, str]]) -> list[Verdicts]:
    verdicts: list[Verdicts] = [[False] * table.values.num_rows for _ in table.cases]
    for row, path, rule in reasons:
        column = int(re.split(r"[.\[]", path)[0][1:])
        is_own = rule == table.cases[column].kind.attribute.name
        # A value that is none of the type is not compared.
        verdicts[column][row] = True if is_own else None
    return verdicts


class OfTheCompiler(Place):
    """What a manifest with the value in `enum` is told; it compares values with bounds, sizes and patterns."""

    def verdicts(self, table: Table) -> list[Verdicts]:
        held = constraints_of(table.dataset.to_arrow(metadata=True))
        found: list[Verdicts] = []
        for i, case in enumerate(table.cases):
            place = held.column(f"c{i}")
            assert place is not None
            is_scalar = case.type.family in (Family.INTEGER, Family.DECIMAL, Family.TEXT)
            values = (
                table.values.column(i).to_pylist() if is_scalar and case.kind.attribute.name != "enum" else []
            )
            verdicts: Verdicts = [
                None if value is None else _forbids(place.constraints[0], value) for value in values
            ]
            found.append(verdicts or [None] * table.values.num_rows)
        return found


class OfStoredRows(Place):
    """`verify --data`, which counts."""

    def verdicts(self, table: Table) -> list[Verdicts]:
        counts = dict.fromkeys((f"c{i}" for i in range(len(table.cases))), 0)

        def scan(names: Sequence[str]) -> Any:
            for batch in table.values.select(list(names)).to_batches():
                yield batch, pa.array(range(batch.num_rows), pa.uint64())

        for offence in survey(table.dataset._logical.columns, RowConstraints(), scan, []):
            counts[offence.path] += offence.count
        expected = OfArrow().verdicts(table)
        assert counts == {f"c{i}": sum(map(bool, column)) for i, column in enumerate(expected)}
        return expected


@dataclass(frozen=True)
class OfEngine(Place):
    """The artifact of an engine, asked record by record."""

    engine: str
    asking: Callable[[schemac.Dataset], Callable[[str], bool]]
    """Gives what tells whether the artifact takes a record."""

    def verdicts(self, table: Table) -> list[Verdicts]:
        taking = [i for i, case in enumerate(table.cases) if self.writes(case)]
        found: list[Verdicts] = [[None] * table.values.num_rows for _ in table.cases]
        if not taking:
            return found
        takes, plain = self.asking(table.dataset), self.asking(_bare(table.cases))
        for row, text in enumerate(table.records()):
            record = exact(text)
            for i in taking:
                own = json.dumps({f"c{i}": None}) if record[f"c{i}"] is None else alone(text, i)
                # A value that is none of the type is not compared.
                found[i][row] = not takes(own) if plain(own) else None
        return _without_unwritten(table, found)

    def writes(self, case: Case) -> bool:
        """Whether the artifact has the constraint."""
        losses = dataset_of([case]).losses(self.engine)
        return not any(case.kind.attribute.key in str(loss) for loss in losses)


def alone(text: str, i: int) -> str:
    """Return a record with one of its fields, digit by digit."""
    return f'{{"c{i}":{token_text(parse(text)[f"c{i}"])}}}'


def _bare(found: Sequence[Case]) -> schemac.Dataset:
    """Return the table without constraints."""
    fields = [{"name": f"c{i}", "type": case.field["type"]} for i, case in enumerate(found)]
    (dataset,) = schemac.compile_text(json.dumps({"name": "cases", "fields": fields}, ensure_ascii=False))
    return dataset


def _json_schema(dataset: schemac.Dataset) -> Callable[[str], bool]:
    asked = validator(dataset)

    def takes(text: str) -> bool:
        with localcontext(prec=500):
            return bool(asked.is_valid(exact(text)))

    return takes


def _pydantic(dataset: schemac.Dataset) -> Callable[[str], bool]:
    asked = model(dataset)

    def takes(text: str) -> bool:
        try:
            asked.model_validate_json(text)
        except ValidationError:
            return False
        return True

    return takes


PLACES: dict[str, Place] = {
    "arrow": OfArrow(),
    "table": OfTables(),
    "records": OfRecords(),
    "cells": OfCells(),
    **{f"tables, {holder}": Nested(holder, are_records=False) for holder in ("struct", "list", "map")},
    **{f"records, {holder}": Nested(holder, are_records=True) for holder in ("struct", "list", "map")},
    "compiler": OfTheCompiler(),
    "stored": OfStoredRows(),
    "jsonschema": OfEngine("jsonschema", _json_schema),
    "pydantic": OfEngine("pydantic", _pydantic),
}
"""Spark's expressions are held against the same functions of Arrow in `test_spark.py`, its runs against `validate` in `tests/validation`."""


SLICE = 60
"""Cases that are asked at a time."""


def test_the_corpus_has_every_constraint_kind_and_sample() -> None:
    assert value_corpus.read("constraints") == [json.loads(line) for line in lines_of_constraints()]


@pytest.mark.parametrize("name", PLACES)
def test_places_have_the_verdicts_of_the_corpus(name: str) -> None:
    place = PLACES[name]
    # Records are asked one by one there.
    chosen = ALL[:: 12 if isinstance(place, OfEngine | Nested) else 3]
    compared = 0
    for start in range(0, len(chosen), SLICE):
        table = Table.of(chosen[start : start + SLICE], 0)
        compared += _differing(table, corpus.expected(table.cases, table.values), place.verdicts(table))
    assert compared > 400


@pytest.mark.parametrize("name", PLACES)
def test_no_two_places_disagree(name: str) -> None:
    place = PLACES[name]
    # Records are asked one by one there.
    chosen = ALL[:: 24 if isinstance(place, OfEngine | Nested) else 8]
    compared = sum(
        _compared(place, chosen[start : start + SLICE], 20) for start in range(0, len(chosen), SLICE)
    )
    assert compared > 400


@pytest.mark.long
@pytest.mark.parametrize("name", PLACES)
def test_places_have_all_verdicts_of_the_corpus(name: str) -> None:
    for start in range(0, len(ALL), SLICE):
        table = Table.of(ALL[start : start + SLICE], 0)
        _differing(table, corpus.expected(table.cases, table.values), PLACES[name].verdicts(table))


@pytest.mark.long
@pytest.mark.parametrize("start", range(0, len(ALL), SLICE))
@pytest.mark.parametrize("name", PLACES)
def test_no_two_places_disagree_on_ten_thousand_values(name: str, start: int) -> None:
    compared = _compared(PLACES[name], ALL[start : start + SLICE], 10_000)
    assert compared > 10_000 or name in ("arrow", "compiler")


def test_every_engine_that_checks_constraints_is_a_place() -> None:
    asked = {place.engine for place in PLACES.values() if isinstance(place, OfEngine)}
    assert asked == {engine.name for engine in engines() if engine.checks_constraints}


def _compared(place: Place, chosen: Sequence[Case], count: int) -> int:
    """Hold a place against Arrow for more values; how many both have a verdict on."""
    table = Table.of(chosen, count)
    return _differing(table, OfArrow().verdicts(table), place.verdicts(table))


def _differing(
    table: Table, expected: Sequence[Verdicts] | Sequence[list[bool]], found: list[Verdicts]
) -> int:
    for i, case in enumerate(table.cases):
        differing = [
            (table.values.column(i)[row], found[i][row], held)
            for row, held in enumerate(expected[i])
            if found[i][row] not in (None, held)
        ]
        assert differing == [], case
    return sum(one is not None for column in found for one in column)
