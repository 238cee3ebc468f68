"""What Arrow arrays are told of constraints, and what the `jsonschema` library says of the same values."""

import math
from decimal import Decimal
from typing import Any

import jsonschema
import pyarrow as pa
import pytest

from schemac.language.attributes.attribute import Family
from schemac.language.constraints.field_constraints import CONSTRAINTS, Bound, MultipleOf
from tests.constraints.cases import EXACT, Case, arrow_of, cases, columns_of, values_of

CASES = list(cases())
JSON_FAMILIES = (Family.INTEGER, Family.DURATION, Family.FLOAT, Family.TEXT, Family.BOOLEAN, Family.LIST)


def test_try_every_constraint_on_every_family_that_it_fits() -> None:
    tried = {(case.kind, case.type.family) for case in CASES}
    assert tried == {(kind, family) for kind in CONSTRAINTS for family in kind.attribute.fits or ()}


@pytest.mark.parametrize("kind", CONSTRAINTS, ids=lambda kind: kind.attribute.name)
def test_agree_with_jsonschema(kind: Any) -> None:
    """Where JSON has the values; a text that ends in a line break is told apart, for Python's `$` allows one."""
    found = [case for case in CASES if case.kind is kind]
    for case, place in zip(found, columns_of(found), strict=True):
        values = values_of(case.type, 200)
        array = arrow_of(case.type, place.field.type, values)
        (constraint,) = place.constraints
        broken = constraint.violations(array).to_pylist()
        assert not constraint.violations(array.slice(len(values) - 1)).to_pylist()[0], "null breaks nothing"
        if case.type.family not in JSON_FAMILIES:
            continue
        validator = jsonschema.Draft202012Validator({kind.attribute.name: _as_json(case)})
        for value, is_broken in zip(values, broken, strict=True):
            if (
                value is None
                or (isinstance(value, float) and not math.isfinite(value))
                or _is_told_apart(case, value)
            ):
                continue
            assert is_broken != validator.is_valid(_json_value(value)), (case, value)


def _as_json(case: Case) -> Any:
    return case.authored


def _json_value(value: Any) -> Any:
    if isinstance(value, list):
        return [_json_value(item) for item in value]
    return str(value) if isinstance(value, Decimal | bytes) else value


def _is_told_apart(case: Case, value: Any) -> bool:
    return isinstance(value, str) and value.endswith("\n") and "$" in str(case.authored)


@pytest.mark.parametrize(
    "case", [case for case in CASES if issubclass(case.kind, Bound | MultipleOf)], ids=str
)
def test_agree_with_exact_numbers(case: Case) -> None:
    """Python's integers and decimals are exact."""
    (place,) = columns_of([case])
    (constraint,) = place.constraints
    if case.type.family is Family.FLOAT:
        return
    values = values_of(case.type, 100)
    array = arrow_of(case.type, place.field.type, values)
    expected = []
    for value in values:
        if value is None:
            expected.append(False)
        elif isinstance(constraint, Bound):
            expected.append(not constraint.allows(value))
        else:
            assert isinstance(constraint, MultipleOf)
            scale = getattr(case.type, "scale", 0)
            expected.append(int(Decimal(value).scaleb(scale, EXACT)) % constraint.whole_divisor != 0)
    assert constraint.violations(array).to_pylist() == expected


@pytest.mark.parametrize(
    ("type_", "layouts"),
    [
        (pa.string(), (pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()))),
        (pa.decimal128(9, 2), (pa.decimal32(9, 2), pa.decimal64(9, 2), pa.decimal256(9, 2))),
        (pa.date32(), (pa.date64(),)),
    ],
    ids=str,
)
def test_see_the_same_values_in_every_layout(type_: pa.DataType, layouts: tuple[pa.DataType, ...]) -> None:
    for case, place in zip(CASES, columns_of(CASES), strict=True):
        if place.field.type != type_:
            continue
        array = arrow_of(case.type, type_, values_of(case.type))
        (constraint,) = place.constraints
        expected = constraint.violations(array)
        for layout in layouts:
            other = array.dictionary_encode() if pa.types.is_dictionary(layout) else array.cast(layout)
            assert constraint.violations(other) == expected, layout
            assert constraint.violations(other.slice(2)) == expected.slice(2), layout
