"""Rows and tables that are unlike all that a schema's author would write are read exactly, or refused with a reason."""

import json
from datetime import UTC, datetime, timedelta, timezone
from decimal import Context, Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from pydantic import ValidationError

import schemac
from schemac.arrow.constraints import constraints_of
from schemac.language.constraints.evaluation import survey
from schemac.rows.judging.arrays import plain_layout
from schemac.rows.judging.typed_values import raw_values
from tests.conformance.manifest_types import TYPES, member, of, option
from tests.engines.pydantic.test_artifact import model


def dataset_of(type_text: str, extra: str = "") -> schemac.Dataset:
    (dataset,) = schemac.compile_text(f"name: t\n{extra}fields:\n- {{name: a, type: {type_text}}}\n")
    return dataset


def rules(dataset: schemac.Dataset, source: Any) -> list[tuple[int, str]]:
    return [(one.row, one.rule) for one in dataset.validate(source).reasons]


def contents(table: pa.Table) -> dict[str, list[Any]]:
    arrays = {name: table[name].combine_chunks() for name in table.column_names}
    return {name: raw_values(plain_layout(array)) for name, array in arrays.items()}


def test_read_no_decimal_as_zero() -> None:
    """pyarrow brings a decimal to another scale by a table of 38 powers, and reads other memory beyond it."""
    of_a_float, tiny = (
        0.0036376900103169464,
        Decimal(1).scaleb(-9999999, Context(Emin=-99999999, Emax=9999999)),
    )
    for precision, scale in ((9, 2), (10, 2), (38, 0), (38, 10), (18, 18), (60, 10)):
        dataset = dataset_of(f"{{kind: Decimal, precision: {precision}, scale: {scale}}}")
        values = [Decimal("1E-41"), Decimal("3E-41"), Decimal(of_a_float), tiny]
        for several in (values, *([value] for value in values)):
            expected = [(row, "precision") for row in range(len(several))]
            assert rules(dataset, [{"a": value} for value in several]) == expected


@pytest.mark.parametrize(
    ("precision", "scale"), [(4, -2), (38, -38), (76, -1), (76, -76), (4, 6), (38, 76), (1, 2)]
)
def test_keep_decimals_whose_digits_are_all_on_one_side(precision: int, scale: int) -> None:
    """pyarrow counts their digits wrong, and takes none of Python's with more than 76 before the point."""
    kind = f"{{kind: Decimal, precision: {precision}, scale: {scale}}}"
    nested = f"{{kind: Struct, fields: [{{name: x, type: {kind}}}, {{name: y, type: {{kind: Option, inner: Date}}}}]}}"
    dataset = dataset_of(kind)
    (nested_dataset,) = schemac.compile_text(
        "name: t\nfields:\n"
        f"- {{name: list, type: {{kind: List, itemType: {{kind: Option, inner: {kind}}}}}}}\n"
        f"- {{name: map, type: {{kind: Option, inner: {{kind: Map, keyType: String, valueType: {kind}}}}}}}\n"
        f"- {{name: struct, type: {{kind: Option, inner: {nested}}}}}\n"
    )
    nines, unit = Decimal((0, (9,) * precision, -scale)), Decimal((0, (1,), -scale))
    values = [nines, nines.copy_negate(), unit, Decimal(0)]
    assert contents(dataset.validate([{"a": value} for value in values]).good) == {"a": values}
    columns: dict[str, list[Any]] = {
        "list": [*([value, None] for value in values), []],
        "map": [*([("k", value)] for value in values), None],
        "struct": [*({"x": value, "y": None} for value in values), None],
    }
    names, rows = columns.keys(), zip(*columns.values(), strict=True)
    validation = nested_dataset.validate([dict(zip(names, row, strict=True)) for row in rows])
    assert contents(validation.good) == columns
    beyond, between = Decimal((0, (1,), precision - scale)), Decimal((0, (1,), -scale - 1))
    assert rules(dataset, [{"a": beyond}, {"a": between}]) == [(0, "range"), (1, "precision")]
    assert nested_dataset.validate(nested_dataset.sample(20)).is_good


@pytest.mark.parametrize(("precision", "scale"), [(4, -2), (38, -38), (4, 6), (38, 76), (1, 2)])
def test_compare_decimals_whose_digits_are_all_on_one_side(precision: int, scale: int) -> None:
    type_text = (
        f"{{kind: Decimal, precision: {precision}, scale: {scale}}}, extra: {{schemac.dev/minimum: 0}}"
    )
    unit = Decimal((0, (1,), -scale))
    assert rules(dataset_of(type_text), [{"a": unit}, {"a": -unit}]) == [(1, "minimum")]


@pytest.mark.parametrize("kind", ["Int32", "Float64", "{kind: Decimal, precision: 10, scale: 2}"])
def test_integers_of_any_length_have_a_rule(kind: str) -> None:
    assert rules(dataset_of(kind), [{"a": 10**5000}, {"a": 1}]) == [(0, "range")]


def test_bytes_that_are_no_text_are_refused() -> None:
    table = pa.table({"a": [b"caf\xe9", b"caf\xe8", b"ok"]})
    assert rules(dataset_of("String"), table) == [(0, "cast"), (1, "cast")]


@pytest.mark.parametrize("values", [[1500], [True], [timedelta(1)], [1.5]])
@pytest.mark.parametrize("kind", ["Binary", "{kind: Binary, fixedLength: 3}"])
def test_only_texts_and_bytes_become_bytes(kind: str, values: list[Any]) -> None:
    with pytest.raises(schemac.SchemaError, match="SC643"):
        dataset_of(kind).validate(pa.table({"a": values}))


def test_a_uuid_is_no_number_and_has_its_usual_text() -> None:
    table = pa.table({"a": pa.array([b"0" * 16], pa.uuid())})
    assert rules(dataset_of("Int32"), table) == [(0, "cast")]
    assert dataset_of("String").validate(table).good.to_pylist() == [
        {"a": "30303030-3030-3030-3030-303030303030"}
    ]


def test_dates_that_are_not_at_midnight_are_not_cut() -> None:
    dates = pa.array([86_400_001, 86_400_000, -1], pa.int64()).view(pa.date64())
    assert rules(dataset_of("Date"), pa.table({"a": dates})) == [(0, "precision"), (2, "precision")]
    assert rules(dataset_of("String"), pa.table({"a": dates})) == [(0, "cast"), (2, "cast")]


@pytest.mark.parametrize(
    ("key_type", "rows", "expected"),
    [
        ("String", [{1: 1}, {None: 1}, {b"k": 1}, {(1, 2): 1}, {object: 1}, {"x": 1}, [(1, 1)], [("x", 1)]], "ttttt.t."),
        ("String", [{1: 1, "1": 2}], "m"),
        ("Int32", [{1: 1}, {"1": 1}, {True: 1}, {1.5: 1}], "..tc"),
        ("Float64", [{float("nan"): 1, float("-nan"): 2}, {1: 1, 2.5: 3}], "m."),
        ("Duration", [{timedelta(seconds=1): 1}, {1: 1}], ".."),
        ("Timestamp", [{datetime(1890, 1, 1, tzinfo=ZoneInfo("Europe/Berlin")): 1}, {"x": 1}], ".c"),
        ("Bool", [{True: 1}, {1: 1}], ".t"),
    ],
)  # fmt: skip
def test_keys_are_of_the_type_of_the_map(key_type: str, rows: list[Any], expected: str) -> None:
    dataset = dataset_of(f"{{kind: Map, keyType: {key_type}, valueType: Int32}}")
    found = dict(rules(dataset, [{"a": row} for row in rows]))
    assert "".join(found.get(row, ".")[0] for row in range(len(rows))) == expected


def test_an_instant_beyond_all_clocks_is_out_of_range() -> None:
    instants = pa.array([-(2**63), 0], pa.int64()).view(pa.timestamp("us", "UTC"))
    dataset = dataset_of("{kind: Timestamp, timezone: null}")
    assert rules(dataset, pa.table({"a": instants})) == [(0, "range")]


REFERENCE = "extra: {schemac.dev/references: [{fields: [a], dataset: o, to: [id]}]}\n"


@pytest.mark.parametrize("kind", ["Int8", "Int64", "UInt64"])
@pytest.mark.parametrize("target_type", [pa.int8(), pa.int64(), pa.uint64()])
def test_references_between_integers_of_any_sign(kind: str, target_type: pa.DataType) -> None:
    ids = [1, 2**63 + 1] if target_type == pa.uint64() else [1, -1]
    rows = [{"a": 1}, {"a": 2}] if kind == "UInt64" else [{"a": 1}, {"a": -1}]
    references = {"o": pa.table({"id": pa.array(ids, target_type)})}
    validation = dataset_of(kind, REFERENCE).validate(rows, references=references)
    is_there = rows[1]["a"] in ids
    assert [one.rule for one in validation.reasons] == ([] if is_there else ["references"])


def test_zero_has_no_sign_among_rows() -> None:
    table = pa.table({"a": [0.0, -0.0]})
    dataset = dataset_of("Float64", "extra: {schemac.dev/unique: [[a]]}\n")
    constraints = constraints_of(dataset.to_arrow()).rows
    rows = pa.array([0, 1], pa.uint64())
    (offence,) = survey((), constraints, lambda _: iter([(table.to_batches()[0], rows)]), [])
    assert offence.count == len(dataset.validate(table).reasons) == 2
    references = {"o": pa.table({"id": [0.0]})}
    assert dataset_of("Float64", REFERENCE).validate(table, references=references).is_good


def test_bad_rows_can_be_validated_again() -> None:
    bad = dataset_of("Int32").validate(pa.table({"a": [1, None]})).bad
    again = dataset_of("Int32").validate(bad)
    assert again.bad.column_names == ["a", "_row", "_errors"]
    assert [one.rule for one in again.reasons] == ["required"]
    (named,) = schemac.compile_text(
        "name: t\nfields:\n- {name: _row, type: Int32}\n- {name: _errors, type: Int32}\n"
    )
    validation = named.validate(pa.table({"_row": [1, None], "_errors": [1, 2]}))
    assert [(one.row, one.path) for one in validation.reasons] == [(1, "_row")]
    assert str(validation)


@pytest.mark.parametrize("kind", ["Int32", "{kind: Decimal, precision: 10, scale: 2}"])
def test_models_refuse_a_signaling_nan(kind: str) -> None:
    with pytest.raises(ValidationError):
        model(dataset_of(kind)).model_validate({"a": Decimal("sNaN")})


@pytest.mark.parametrize(
    "value",
    [
        datetime(1, 1, 1, tzinfo=ZoneInfo("Europe/Berlin")),
        datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-5))),
        datetime.min.replace(tzinfo=UTC),
    ],
)
def test_models_refuse_instants_beyond_the_calendar(value: datetime) -> None:
    dataset = dataset_of("Timestamp")
    try:
        model(dataset).model_validate({"a": value})
    except ValidationError:
        assert rules(dataset, [{"a": value}])
    else:
        assert not rules(dataset, [{"a": value}])


@pytest.mark.parametrize(
    "name", [name for name, type_ in TYPES.items() if "extra" not in type_ and name != "Null"]
)
def test_a_map_keeps_all_its_entries_or_is_refused(name: str) -> None:
    """A key that is there twice is a reason, whatever its type; no map that fits comes out as another one, or as null."""
    keys_of = {"name": "t", "fields": [member("a", TYPES[name])]}
    maps_of = member("a", option(of("Map", keyType=TYPES[name], valueType=of("Int32"))))
    (dataset,) = schemac.compile_text(json.dumps({"name": "t", "fields": [maps_of]}))
    (keys,) = schemac.compile_text(json.dumps(keys_of))
    key = keys.sample(1)["a"].combine_chunks()
    maps = pa.MapArray.from_arrays(
        pa.array([0, 2, 3], pa.int32()),
        pa.concat_arrays([key, key, key]),
        pa.array([1, 2, 3], pa.int32()),
        dataset.to_arrow().field("a").type,
    )
    validation = dataset.validate(pa.table({"a": maps}))
    assert [(one.row, one.path, one.rule) for one in validation.reasons] == [(0, "a", "key")]
    assert validation.good["a"].combine_chunks().equals(maps[1:])
