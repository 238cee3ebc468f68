"""Of each value as a record of JSON has it, pydantic and jsonschema say what the judge and the Arrow arrays say."""

import base64
import json
import math
import struct
import sys
from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest
from pydantic import BaseModel, ValidationError

import schemac
from schemac.arrow.constraints import constraints_of
from schemac.cli.main import main
from schemac.engines.jsonschema.keywords import dump
from schemac.language.attributes.attribute import Family
from schemac.language.constraints.constraint import shown
from schemac.language.constraints.field_constraints import CONSTRAINTS
from schemac.language.kinds.temporal import PER_SECOND
from schemac.language.logical.model import LogicalType
from schemac.rows.judging.typed_values import nullable_array
from tests.constraints.cases import (
    COMPARED,
    CONDITIONS,
    Case,
    cases,
    dataset_of,
    dataset_of_conditions,
    values_of,
)
from tests.engines.exact_json import exact, takes, validator_of
from tests.judging.records import RecordJudge, value_type

CASES = list(cases())
FEW = pytest.param(5, 0, id="few")
MANY = pytest.param(1, 200, id="many", marks=pytest.mark.long)
"""Every how many values are asked, and how many of them are random."""


@cache
def of_kind(kind: Any) -> tuple[list[Case], schemac.Dataset]:
    """The cases of a constraint, and a table with a column for each."""
    found = [case for case in CASES if case.kind is kind]
    return found, dataset_of(found)


def tokens(type_: LogicalType, values: tuple[Any, ...]) -> Iterator[str]:
    """The values as JSON has them, in more than one way where there are several."""
    for value in values:
        for written in _written(type_, value):
            yield dump(written)


def _written(type_: LogicalType, value: Any) -> list[Any]:
    if value is None:
        return [None]
    match type_.family:
        case Family.LIST:
            inner = getattr(type_, "item_type")  # noqa: B009
            return [[_written(inner, item)[0] for item in value]]
        case Family.BYTES:
            return [base64.b64encode(value).decode()]
        case Family.DECIMAL:
            return [value, value.normalize()]
        case Family.FLOAT:
            # Not a number has no token.
            packing = getattr(type_, "packing")  # noqa: B009
            wide = struct.unpack(packing, struct.pack(packing, value))[0]
            return [wide, *_around(wide, packing)] if math.isfinite(value) else []
        case Family.DATE:
            return [(date(1970, 1, 1) + timedelta(days=value)).isoformat()]
        case Family.TIME | Family.TIMESTAMP:
            return _clocks(type_, value)
    return [value]


def _around(value: float, packing: str) -> Iterator[Decimal]:
    """Numbers that are rounded to a narrow float, or just not: the middles between it and its neighbours, and what is beside these."""
    if packing.endswith("d"):
        return
    size = struct.calcsize(packing)
    (bits,) = struct.unpack(f"<{'H' if size == 2 else 'I'}", struct.pack(packing, value))
    for other in (bits - 1, bits + 1):
        if 0 < other < 2 ** (8 * size):
            (neighbour,) = struct.unpack(packing, struct.pack(f"<{'H' if size == 2 else 'I'}", other))
            if math.isfinite(neighbour):
                middle, step = Decimal((value + neighbour) / 2), Decimal(abs(value - neighbour))
                yield from (
                    middle,
                    middle - step / 10**9,
                    middle + step / 10**9,
                    middle - step / 10,
                    middle + step / 10,
                )


def _clocks(type_: LogicalType, value: int) -> list[str]:
    per = PER_SECOND[getattr(type_, "unit")]  # noqa: B009
    text = shown(type_, value)
    if text.startswith("day "):
        return []
    zone = "Z" if text.endswith("Z") else ""
    found = [text, text.replace("T", " ").removesuffix("Z") + zone]
    if value % per == 0:
        found.append(f"{text.removesuffix('Z')}.000{zone}")
    if value % (60 * per) == 0:
        found.append(text.removesuffix("Z").removesuffix(":00") + zone)
    if zone:
        found.append(text.removesuffix("Z") + "+00:00")
    return found


def verdicts(field: pa.Field, found: list[str]) -> dict[str, str]:
    """The rules that values break by the judge and the Arrow arrays, empty for none; without those that the judge refuses."""
    judge = RecordJudge(pa.schema([field]))
    judged = {token: judge.json(f'{{"{field.name}": {token}}}').values for token in found}
    taken = {token: values[field.name] for token, values in judged.items() if values is not None}
    is_text = pa.types.is_decimal(field.type) and pa.types.is_string(value_type(field))
    place = constraints_of(pa.schema([field])).column(field.name)
    assert place is not None
    (constraint,) = place.constraints
    array = pa.array(taken.values(), field.type if is_text else value_type(field))
    broken = zip(taken, constraint.violations(array).to_pylist(), strict=True)
    return {token: constraint.rule if is_broken else "" for token, is_broken in broken}


def model_of(dataset: schemac.Dataset) -> type[BaseModel]:
    ((path, content),) = dataset.artifacts("pydantic").items()
    module = ModuleType("generated.constraints")
    sys.modules[module.__name__] = module
    exec(compile(content, path, "exec"), vars(module))
    found = [c for c in vars(module).values() if isinstance(c, type) and c.__module__ == module.__name__]
    return found[-1]


def said(model: type[BaseModel], text: str) -> str:
    """The rule that pydantic finds broken."""
    try:
        model.model_validate_json(text)
    except ValidationError as error:
        return error.errors()[0]["type"]
    return ""


@pytest.mark.parametrize(("step", "count"), [FEW, MANY])
@pytest.mark.parametrize("kind", CONSTRAINTS, ids=lambda kind: kind.attribute.name)
def test_say_the_same_of_every_value(kind: Any, step: int, count: int) -> None:
    """JSON Schema takes more only where it says so."""
    found, dataset = of_kind(kind)
    schema, model = dataset.to_arrow(), model_of(dataset)
    properties = exact(dataset.artifacts("jsonschema")["jsonschema/schema.json"])["properties"]
    wider = {
        loss.path.partition(".")[0]
        for loss in dataset.losses("jsonschema")
        if kind.attribute.key in loss.lost
    }
    asked = 0
    for i, case in enumerate(found):
        name = f"c{i}"
        validator = validator_of(properties[name])
        drawn = list(dict.fromkeys(tokens(case.type, values_of(case.type, count))))[i % step :: step]
        for token, expected in verdicts(schema.field(name), drawn).items():
            asked += 1
            assert said(model, f'{{"{name}": {token}}}') == expected, (case, token)
            taken = takes(validator, token)
            assert taken == (not expected) or (taken and name in wider), (case, token, properties[name])
    assert asked > 4


def records_of_conditions() -> Iterator[str]:
    """Records in which values of each column meet many of the others."""
    types = {str(field.segment): field.type for field in dataset_of_conditions()._logical.columns}
    of = {name: types["a" if name == "p" else name] for name in COMPARED}
    drawn = {name: list(tokens(type_, values_of(type_, 20))) for name, type_ in of.items()}
    for row in range(100):
        # Numbers without a common divisor.
        record = {
            name: found[(row * (number + 1) + row // 7) % len(found)]
            for number, (name, found) in enumerate(drawn.items())
        }
        record["p"] = f'{{"q": {record["p"]}}}'
        yield "{" + ", ".join(f'"{name}": {token}' for name, token in record.items()) + "}"


def test_say_the_same_of_every_condition() -> None:
    """The models find those conditions false that Arrow arrays find false."""
    dataset = dataset_of_conditions()
    schema = dataset.to_arrow()
    judge = RecordJudge(schema)
    judged = [(text, judge.json(text).values) for text in records_of_conditions()]
    taken = [(text, values) for text, values in judged if values is not None]
    arrays = [
        nullable_array([values[name] for _, values in taken], schema.field(name)) for name in schema.names
    ]
    rows = pa.RecordBatch.from_arrays(arrays, schema.names)
    seen = 0
    for check in constraints_of(schema).rows.checks:
        fields = [{"name": n, "type": {"kind": "Option", "inner": k}} for n, k in COMPARED.items()]
        extra = {"schemac.dev/check": [check.text]}
        (alone,) = schemac.compile_text(json.dumps({"name": "r", "fields": fields, "extra": extra}))
        model = model_of(alone)
        broken = check.violations(rows).to_pylist()
        seen += 0 < sum(broken) < len(taken)
        for (text, _), is_broken in zip(taken, broken, strict=True):
            assert said(model, text) == (check.rule if is_broken else ""), (check.text, text)
    assert seen > len(CONDITIONS) - 3


@pytest.mark.parametrize(("target", "name"), [("jsonschema", "a.schema.json"), ("pydantic", "a_models.py")])
def test_come_back_the_same(
    target: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a target was written for is what is imported of it, constraint by constraint."""
    dataset = dataset_of(CASES)
    ((_, content),) = dataset.artifacts(target).items()
    (tmp_path / name).write_bytes(content)
    assert main(["import", str(tmp_path / name)]) == 0
    text = capsys.readouterr().out
    (again,) = schemac.compile_text(text)
    assert "not kept" not in text
    assert schemac.diff(dataset, again) == ()
    assert again.artifacts(target) == dataset.artifacts(target)
