"""Tables and rows of every type in every place are what they were after they were judged."""

import pyarrow as pa
import pytest

import schemac
from schemac.engines.jsonschema.keywords import dump
from schemac.rows.judging.arrays import storage_field
from tests.conformance.arrow_values import table as table_of
from tests.conformance.manifest_types import POSITIONS
from tests.engines import crossing
from tests.engines.json_records import FITS, manifest, records, verdicts

PLACES = [one if one in crossing.FEW[::2] else pytest.param(one, marks=pytest.mark.long) for one in POSITIONS]


@pytest.mark.parametrize("place", PLACES)
def test_take_tables_of_their_own_schema(place: str) -> None:
    dataset = crossing.dataset(place)
    given = table_of(dataset.to_arrow())
    found = dataset.validate(given)
    assert found.reasons == ()
    assert found.good.schema == given.schema
    assert found.good.to_pylist() == given.to_pylist()
    found.good.validate(full=True)


@pytest.mark.parametrize("place", PLACES)
def test_take_records_of_python(place: str) -> None:
    dataset = crossing.dataset(place, without=uncovered(place))
    rows = crossing.records(dataset)
    made = dataset.to_table(rows)
    assert made.schema == dataset.to_arrow()
    texts = [dump(row) for row in rows]
    assert dataset.to_table(texts).equals(made)
    made.validate(full=True)
    assert dataset.validate(made).good.equals(made)


@pytest.mark.parametrize("buffer", ["Contiguous", "View"])
def test_take_bytes_of_python_into_every_buffer(buffer: str) -> None:
    field = f"{{name: x, type: Binary, extra: {{arrow.apache.org/bufferEncoding: {{kind: {buffer}}}}}}}"
    (dataset,) = schemac.compile_text(f"{{name: t, fields: [{field}]}}")
    rows = [{"x": b"ab"}, {"x": b""}]
    assert dataset.to_table(rows).to_pylist() == rows


def uncovered(place: str) -> frozenset[str]:
    """The fields that no record of JSON can have: maps whose keys have parts."""
    schema = crossing.dataset(place).to_arrow()
    return frozenset(
        field.name
        for field in schema
        if pa.types.is_map(field.type) and pa.types.is_nested(storage_field(field.type.key_field).type)
    )


def test_have_the_verdicts_of_the_pipeline() -> None:
    """The records that Spark was asked about, with what it said of each."""
    (dataset,) = schemac.compile_text(manifest())
    texts = records()
    found = dataset.validate(texts)
    rules: dict[int, list[str]] = {}
    for one in found.reasons:
        rules.setdefault(one.row, []).append(one.rule)
    differing = {}
    for i, text in enumerate(texts):
        said = ", ".join(sorted({rule.partition(":")[0] for rule in rules.get(i, [])})) or FITS
        expected = verdicts()[text]
        if said != expected:
            differing[text] = (expected, said)
    assert differing == {}
