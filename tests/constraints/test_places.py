"""One table: constraint × kind × place. Wherever a value is held against a constraint, the same is said of it.

Shape: a place gives, for the values of a case, whether each breaks the constraint; None where the place does not see the value, such as NaN
       in a record of JSON. An engine takes part once it says that it `checks_constraints`, with those constraints that it does not name as losses.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
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
from schemac.registry.installed import engines
from schemac.rows.judging.tokens import parse
from schemac.rows.samples.written import json_lines
from schemac.rows.samples.wrong_records import record_text
from tests.constraints.cases import Case, arrow_of, cases, dataset_of, values_of
from tests.engines.exact_json import exact
from tests.engines.jsonschema.test_artifact import validator
from tests.engines.pydantic.test_artifact import model

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
        columns = [
            pc.if_else(self.unwritten(i), None, column) for i, column in enumerate(self.values.columns)
        ]
        rows = pa.Table.from_arrays(columns, schema=schema)
        return [line for batch in rows.combine_chunks().to_batches() for line in json_lines(schema, batch)]

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


def _without_unwritten(table: Table, found: list[Verdicts]) -> list[Verdicts]:
    for i, column in enumerate(found):
        for row in pc.indices_nonzero(table.unwritten(i)).to_pylist():
            column[row] = None
    return found


def _by_column(table: Table, found: schemac.Validation) -> list[Verdicts]:
    verdicts: list[Verdicts] = [[False] * table.values.num_rows for _ in table.cases]
    for one in found.reasons:
        column = int(one.path.partition("[")[0][1:])
        is_own = one.rule == table.cases[column].kind.attribute.name
        # A value that is none of the type is not compared.
        verdicts[column][one.row] = True if is_own else None
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
                own = json.dumps({f"c{i}": None}) if record[f"c{i}"] is None else _alone(text, i)
                # A value that is none of the type is not compared.
                found[i][row] = not takes(own) if plain(own) else None
        return _without_unwritten(table, found)

    def writes(self, case: Case) -> bool:
        """Whether the artifact has the constraint."""
        losses = dataset_of([case]).losses(self.engine)
        return not any(case.kind.attribute.key in str(loss) for loss in losses)


def _alone(text: str, i: int) -> str:
    """Return a record with one of its fields, digit by digit."""
    return f'{{"c{i}":{record_text(parse(text)[f"c{i}"])}}}'


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
    "table": OfTables(),
    "records": OfRecords(),
    "compiler": OfTheCompiler(),
    "stored": OfStoredRows(),
    "jsonschema": OfEngine("jsonschema", _json_schema),
    "pydantic": OfEngine("pydantic", _pydantic),
}
"""Spark's expressions are held against the same functions of Arrow in `test_spark.py`, its runs against `validate` in `tests/validation`."""


SLICE = 60
"""Cases that are asked at a time."""


@pytest.mark.parametrize("name", PLACES)
def test_no_two_places_disagree(name: str) -> None:
    place = PLACES[name]
    # Records are asked one by one there.
    chosen = ALL[:: 24 if isinstance(place, OfEngine) else 4]
    compared = sum(
        _compared(place, chosen[start : start + SLICE], 20) for start in range(0, len(chosen), SLICE)
    )
    assert compared > 400


@pytest.mark.long
@pytest.mark.parametrize("start", range(0, len(ALL), SLICE))
@pytest.mark.parametrize("name", PLACES)
def test_no_two_places_disagree_on_ten_thousand_values(name: str, start: int) -> None:
    compared = _compared(PLACES[name], ALL[start : start + SLICE], 10_000)
    assert compared > 10_000 or name == "compiler"


def test_every_engine_that_checks_constraints_is_a_place() -> None:
    asked = {place.engine for place in PLACES.values() if isinstance(place, OfEngine)}
    assert asked == {engine.name for engine in engines() if engine.checks_constraints}


def _compared(place: Place, chosen: Sequence[Case], count: int) -> int:
    """Hold a place against Arrow; how many values both have a verdict on."""
    table = Table.of(chosen, count)
    expected, found = OfArrow().verdicts(table), place.verdicts(table)
    for i, case in enumerate(table.cases):
        differing = [
            (table.values.column(i)[row], found[i][row], held)
            for row, held in enumerate(expected[i])
            if found[i][row] not in (None, held)
        ]
        assert differing == [], case
    return sum(one is not None for column in found for one in column)
