"""Sampled rows keep their schema, and wrong ones break what they say: asked of the judge, for all that the registries and the corpus have."""

import csv
import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import schemac
from schemac.artifacts.dataset import CheckedDataset
from schemac.language.attributes.attribute import Family
from schemac.language.constraints.field_constraints import CONSTRAINTS
from schemac.rows.judging.arrays import plain_layout, to_batches
from schemac.rows.judging.typed_values import raw_values
from schemac.rows.samples.patterns import generator_of
from schemac.rows.samples.sampler import Sampler
from schemac.rows.samples.written import csv_lines, json_lines
from schemac.rows.samples.wrong_records import WrongRows, in_cells, in_columns, rule_of, wrong_rows
from tests.conformance.manifest_types import POSITIONS, TYPES
from tests.constraints.cases import PATTERNS, cases, dataset_of
from tests.engines import crossing
from tests.judging.cells import CellReader
from tests.judging.records import RecordJudge

ROOT = Path(__file__).parents[2]
PLACES = [one if one in crossing.FEW[::4] else pytest.param(one, marks=pytest.mark.long) for one in POSITIONS]
DRIVERS = """
name: drivers
fields:
  - {name: id, type: String, extra: {schemac.dev/pattern: '^D-[0-9]{4}$', lance.org/primaryKey: {position: 1}}}
"""
"""What several manifests refer to, and the repository has as data only."""


@cache
def drivers(of_numbers: bool) -> schemac.Dataset:
    numbers = "type: Int64, extra: {lance.org/primaryKey: {position: 1}}"
    text = re.sub("type: String.*}}", f"{numbers}}}", DRIVERS) if of_numbers else DRIVERS
    (found,) = schemac.compile_text(text)
    return found


def drivers_of(dataset: schemac.Dataset) -> schemac.Dataset:
    """Drivers whose id has the type of the field that refers to them."""
    schema = dataset.to_arrow()
    return drivers("driver" in schema.names and pa.types.is_integer(schema.field("driver").type))


def manifests() -> list[Path]:
    return sorted([*ROOT.glob("tests/corpus/accepted/*/manifest.yaml"), *ROOT.glob("examples/*/*.yaml")])


@cache
def datasets() -> dict[str, tuple[schemac.Dataset, Mapping[str, CheckedDataset]]]:
    """All datasets of the corpus and the examples that have fields, with those beside them."""
    found: dict[str, tuple[schemac.Dataset, Mapping[str, CheckedDataset]]] = {}
    for path in manifests():
        try:
            compiled = schemac.compile_file(path)
        except schemac.SchemaError:
            # A pipeline, an overlay, a file of groups.
            continue
        beside = {one.name: one for one in compiled}
        for one in compiled:
            if one.schema.fields:
                found[f"{path.parent.name}/{one.name}"] = (one, {"drivers": drivers_of(one), **beside})
    assert len(found) > 60
    return found


@pytest.mark.parametrize("place", PLACES)
def test_sample_every_type(place: str) -> None:
    """Also as texts, which are read back as the same rows."""
    dataset = crossing.dataset(place)
    sampler = Sampler(dataset, 60, 3)
    (batch,) = sampler.batches()
    table = pa.Table.from_batches(to_batches(batch, sampler.exact))
    found = dataset.validate(table)
    assert found.reasons == ()
    assert values_of(found.good) == values_of(table)
    if place != "key":
        texts = json_lines(dataset.to_arrow(metadata=True), batch)
        assert values_of(dataset.to_table(texts)) == values_of(table)


def check_forms(dataset: schemac.Dataset, found: WrongRows) -> None:
    """What a form holds of wrong records breaks the rules that it says, and what it cannot hold is named."""
    typed = in_columns(dataset, found)
    assert typed.typed is not None
    judged = dataset.validate(typed.typed, references=found.references)
    assert [(one.row, one.path, one.rule) for one in judged.reasons] == [
        (i, one.path, one.rule) for i, one in enumerate(typed.rows)
    ]
    for form in (typed, in_cells(dataset, found)):
        there = {rule_of(one) for one in form.rows}
        assert {rule_of(one) for one in found.rows} - there == {*form.left_out}
        assert there


def values_of(table: pa.Table) -> dict[str, list[Any]]:
    """Values by column, whatever dictionaries the chunks have: Arrow mixes up dictionaries of half floats when it unifies them."""
    chunks = {name: table.column(name).chunks for name in table.schema.names}
    return {name: [v for one in held for v in raw_values(plain_layout(one))] for name, held in chunks.items()}


@pytest.mark.parametrize("share", [3, pytest.param(1, marks=pytest.mark.long)])
def test_sample_every_constraint(share: int) -> None:
    found = list(cases())[::share]
    dataset = dataset_of(found)
    table = dataset.sample(120, seed=5)
    assert dataset.validate(table).reasons == ()
    nulls = [table.column(f"c{i}").null_count for i in range(len(found))]
    assert min(nulls) > 0
    # Some constraints leave null alone, such as a maximum that no reader takes.
    assert nulls.count(120) < len(found) / 10


@pytest.mark.parametrize("count", [40, pytest.param(5000, marks=pytest.mark.long)])
def test_sample_corpus_and_examples(count: int) -> None:
    for name, (dataset, others) in list(datasets().items())[:: 2 if count == 40 else 1]:
        table = dataset.sample(count, seed=1, references=others)
        assert table.num_rows == count, name
        targets = {
            one: others[one].sample(count, seed=1, references=others)  # type: ignore[attr-defined]  # each is a Dataset
            for one in dataset.validate(table).unchecked
        }
        assert dataset.validate(table, references=targets).reasons == (), name


INSEPARABLE = {
    ("driver", "pattern"),
    ("driver", "exclusiveMinimum"),
    ("tip", "exclusiveMaximum"),
    ("place.code", "minLength"),
}
"""Whoever breaks these breaks a reference, a condition or a pattern as well."""


def test_break_each_rule_once() -> None:
    """Of every example, and of the constraints by themselves, which are all broken."""
    broken: set[str] = set()
    for name, (dataset, others) in datasets().items():
        if not name.startswith("constraints"):
            continue
        found = wrong_rows(dataset, 7, others)
        referred = dataset.validate([]).unchecked
        targets = {one: drivers_of(dataset).sample(60, seed=7) for one in referred}
        judged = dataset.validate([one.text for one in found.rows], references=targets)
        assert [(one.path, one.rule) for one in judged.reasons] == [
            (one.path, one.rule) for one in found.rows
        ]
        assert [one.row for one in judged.reasons] == list(range(len(found.rows)))
        assert set(found.missing) <= INSEPARABLE, name
        check_forms(dataset, found)
        broken |= {one.rule.partition(":")[0] for one in found.rows}
    assert broken >= {
        "required",
        "type",
        "cast",
        "range",
        "precision",
        "malformed",
        "unique",
        "references",
        "check",
        "minimum",
        "multipleOf",
    }


@pytest.mark.parametrize(
    ("place", "step"),
    [("column", 3), *(pytest.param(place, 1, marks=pytest.mark.long) for place in POSITIONS)],
)
def test_break_the_rules_of_every_type(place: str, step: int) -> None:
    """Each wrong record is refused for the reason that it names, and for no other; those beside it are taken."""
    rules: set[str] = set()
    for name, type_ in list(TYPES.items())[::step]:
        field = {**POSITIONS[place](type_), "name": "f"}
        try:
            (dataset,) = schemac.compile_text(json.dumps({"name": "t", "fields": [field]}))
        except schemac.SchemaError:
            # A type that cannot stand there.
            continue
        if RecordJudge(dataset.to_arrow(metadata=True)).uncovered:
            # A key that no record of JSON has.
            continue
        found = wrong_rows(dataset, 7, {})
        judged = dataset.validate([one.text for one in found.rows])
        assert [(one.row, one.path, one.rule) for one in judged.reasons] == [
            (i, one.path, one.rule) for i, one in enumerate(found.rows)
        ], name
        assert not found.missing or name == "tensor", (name, found.missing)
        rules |= {one.rule for one in found.rows}
        (batch,) = Sampler(dataset, 20, 1).batches()
        assert dataset.validate(json_lines(dataset.to_arrow(metadata=True), batch)).is_good, name
    # Texts are all that keys are.
    assert rules >= {"malformed", "cast", "range"} | ({"type", "length"} if place != "key" else set())


def test_break_every_constraint() -> None:
    found = [case for case in cases() if case.authored is True or case.authored not in (0, 1, [True, False])]
    usual = (Family.INTEGER, Family.TEXT, Family.LIST)
    chosen = {(case.kind, i % 2): case for i, case in enumerate(found) if case.type.family in usual}
    dataset = dataset_of(list(chosen.values()))
    broken = wrong_rows(dataset, 7, {})
    check_forms(dataset, broken)
    rules = {one.rule for one in broken.rows}
    # Every divisor of the registry divides every value of its type.
    assert rules >= {kind.attribute.name for kind in CONSTRAINTS} - {"multipleOf"}


@pytest.mark.long
def test_hold_wrong_records_of_every_dataset() -> None:
    for dataset, others in datasets().values():
        if not RecordJudge(dataset.to_arrow(metadata=True)).uncovered:
            check_forms(dataset, wrong_rows(dataset, 7, others))


def test_give_the_same_rows_always() -> None:
    """The digest was taken once: another version of Python, or of Arrow, gives the same rows."""
    dataset, others = datasets()["constraints/rides"]
    sampler = Sampler(dataset, 300, 7, others)
    schema = dataset.to_arrow(metadata=True)
    lines = [line for batch in sampler.batches() for line in json_lines(schema, batch)]
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    assert digest[:16] == "dfb180ca04f6f67e"
    assert dataset.sample(300, seed=8, references=others) != dataset.sample(300, seed=7, references=others)


def test_begin_alike_whatever_follows() -> None:
    dataset, others = datasets()["constraints/rides"]
    few, many = (dataset.sample(count, seed=1, references=others) for count in (200, 900))
    assert few.equals(many.slice(0, 200))


def test_sample_in_batches() -> None:
    dataset = schemac.compile_text(
        "name: t\nfields:\n  - {name: id, type: Int64, extra: {lance.org/primaryKey: {position: 1}}}\n"
    )[0]
    batches = list(Sampler(dataset, 20_000, 0).batches())
    assert max(batch.num_rows for batch in batches) < 10_000
    table = dataset.sample(20_000)
    assert len(set(table.column("id").to_pylist())) == 20_000


@pytest.mark.parametrize(
    "pattern", [*PATTERNS[:1], "^(?:a|bc){2,3}$", "^[^a]*$", "^D-[0-9]{4}$", "^(x|y)?z+$"]
)
def test_number_texts_of_patterns(pattern: str) -> None:
    piece = generator_of(pattern, 2)
    texts = [piece.nth(i) for i in range(min(piece.count, 500))]
    assert all(re.search(pattern, text) for text in texts)
    if piece.is_plain:
        assert len({*texts}) == len(texts)


UNSAMPLABLE = {
    "id is unique, and has values for 2 of 5 rows": "{name: id, type: Bool, extra: {lance.org/primaryKey: {position: 1}}}",
    "no text was found that is matched by the pattern": "{name: s, type: String, extra: {schemac.dev/pattern: '^a$', schemac.dev/minLength: 2}}",
}


@pytest.mark.parametrize("message", UNSAMPLABLE)
def test_say_why_there_is_no_sample(message: str) -> None:
    (dataset,) = schemac.compile_text(f"name: t\nfields:\n  - {UNSAMPLABLE[message]}\n")
    with pytest.raises(schemac.SchemaError, match=message) as caught:
        dataset.sample(5)
    assert [one.code for one in caught.value.diagnostics] == ["SC352"]


ROWS = """
name: t
extra: {schemac.dev/check: [%s]}
fields:
  - {name: a, type: {kind: Option, inner: Int64}}
  - {name: b, type: Int32}
  - {name: c, type: {kind: Decimal, precision: 8, scale: 2}}
  - {name: d, type: {kind: Decimal, precision: 9, scale: 2}}
  - {name: s, type: String}
"""


@pytest.mark.parametrize(
    "check",
    [
        "a = b",
        "d = c + 1.5",
        "a > b and s = 'north'",
        "b between 40 and 42",
        "b > 5 and b < 900000 and c <> d",
    ],
)
def test_find_rows_for_conditions(check: str) -> None:
    (dataset,) = schemac.compile_text(ROWS % json.dumps(check))
    assert dataset.validate(dataset.sample(200)).reasons == ()


def test_say_which_condition_leaves_no_row() -> None:
    (dataset,) = schemac.compile_text(ROWS % '"b > 5 and b < 4"')
    with pytest.raises(schemac.SchemaError, match="no row was found that satisfies `b > 5 and b < 4`"):
        dataset.sample(1)


CIRCLE = """
name: {0}
extra: {{schemac.dev/references: [{{fields: [other], dataset: {1}, to: [id]}}]}}
fields:
  - {{name: id, type: Int64, extra: {{lance.org/primaryKey: {{position: 1}}}}}}
  - {{name: other, type: {2}}}
"""


def test_refer_in_circles() -> None:
    optional = "{kind: Option, inner: Int64}"
    made = {
        name: schemac.compile_text(CIRCLE.format(name, to, kind))[0]
        for name, to, kind in (
            ("a", "b", "Int64"),
            ("b", "a", optional),
            ("x", "y", "Int64"),
            ("y", "x", "Int64"),
            ("own", "own", "Int64"),
        )
    }
    a, b, own = (made[name].sample(30, references=made) for name in ("a", "b", "own"))
    assert made["a"].validate(a, references={"b": b}).is_good
    assert made["own"].validate(own, references={"own": own}).is_good
    with pytest.raises(schemac.SchemaError, match="the references form a cycle"):
        made["x"].sample(3, references=made)


NESTED = """
name: staff
extra: {schemac.dev/references: [{fields: [%s], dataset: staff, to: [%s]}]}
fields:
  - {name: id, type: Int64, extra: {lance.org/primaryKey: {position: 1}}}
  - name: boss
    type: {kind: %s}
  - {name: key, type: {kind: Struct, fields: [{name: number, type: {kind: Option, inner: Int64}}]}}
"""
STRUCTS = (
    "Struct, fields: [{name: id, type: Int64}, {name: since, type: Date}]",
    "Struct, fields: [{name: id, type: {kind: Option, inner: Int64}}]",
    "Option, inner: {kind: Struct, fields: [{name: id, type: Int64}, {name: since, type: Date}]}",
)


@pytest.mark.parametrize("struct", STRUCTS)
@pytest.mark.parametrize("to", ["id", "key.number"])
def test_refer_to_itself_inside_of_structs(struct: str, to: str) -> None:
    (dataset,) = schemac.compile_text(NESTED % ("boss.id", to, struct))
    rows = dataset.sample(200, seed=3)
    assert rows.num_rows == 200
    assert rows.column("boss").combine_chunks().field("id").drop_null()
    assert dataset.validate(rows, references={"staff": rows}).is_good


def test_write_cells_that_are_read_back() -> None:
    dataset, others = datasets()["constraints/rides"]
    (batch,) = Sampler(dataset, 50, 7, others).batches()
    schema = dataset.to_arrow(metadata=True)
    for line, row in zip(csv_lines(schema, batch), json_lines(schema, batch), strict=True):
        cells = dict(zip(schema.names, next(csv.reader([line])), strict=True))
        judge, reader = RecordJudge(schema), CellReader(schema)
        assert (
            reader.csv({name: cell or None for name, cell in cells.items()}).values == judge.json(row).values
        )
