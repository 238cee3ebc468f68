"""Constraints of records that the batch reader proves, over the same cases as `test_places`: what is packed is held against Arrow's functions."""

import json

import pyarrow as pa
import pytest

pytest.importorskip("pyspark")

from schemac.arrow.constrained import constraints_of
from schemac.pipeline.batch_reading.batch_reader import Sieve, batch_reader
from schemac.pipeline.batch_reading.keeping import keeping_of
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.reading.source import json_text_records
from schemac.pipeline.reading.texts import Texts
from tests.constraints.test_places import ALL, Table, _alone
from tests.pipeline.test_constraints import BROKEN, GOOD, schema

JOB = Job.model_validate({"source": {"path": "in.json"}, "target": {"path": "out.lance"}})


def no_frame() -> None:
    """What is read here is no frame of Spark."""


def sieves_of(columns: pa.Schema) -> tuple[Sieve, Sieve] | None:
    """The sieve of records of a schema, without its constraints and with them; None where its values are not read in batches."""
    records = json_text_records(Texts(no_frame, {}), is_geojson=False)
    reader = batch_reader(records, columns, JOB)
    if reader is None or reader.is_converted or reader.values.keys() != set(columns.names):
        return None
    types = dict(zip(reader.values, list(reader.spark.fields)[1:], strict=True))
    try:
        keeping = keeping_of(columns, {label: member.type for label, member in types.items()})
    except pa.ArrowNotImplementedError:
        return None
    labels = tuple(reader.values)
    return Sieve(reader.task, labels), Sieve(reader.task, labels, keeping)


def test_pack_records_with_parts() -> None:
    """Nulls below nulls, items and entries; what is not proven may hold anything."""
    found = sieves_of(schema())
    assert found is not None
    texts = [json.dumps(GOOD | change) for change, _ in [({}, []), *BROKEN]]
    odd = [json.dumps(GOOD | {"n": 2**70}), json.dumps(GOOD | {"place": {"x": 2**40}}), "{", "", None]
    proven, packed = (sieve(pa.array([*texts, *odd])) for sieve in found)
    keeps = [True, *(not why for _, why in BROKEN)]
    assert proven.proven.to_pylist() == [True] * len(texts) + [False] * len(odd)
    assert packed.proven.to_pylist() == keeps + [False] * len(odd)
    assert packed.batch.to_pylist() == proven.batch.filter(pa.array(keeps)).to_pylist()


@pytest.mark.parametrize(("share", "count"), [(4, 20), pytest.param(1, 2_000, marks=pytest.mark.long)])
def test_pack_what_keeps_its_constraints(share: int, count: int) -> None:
    """A record that is proven is packed where its value keeps the constraint, and only there."""
    kept = refused = 0
    for start in range(0, len(ALL), 60 * share):
        table = Table.of(ALL[start : start + 60], count)
        columns, lines = table.dataset.to_arrow(metadata=True), table.records()
        constraints = constraints_of(columns)
        for i, case in enumerate(table.cases):
            found = sieves_of(pa.schema([columns.field(i)]))
            if found is None:
                continue
            texts = pa.array(
                json.dumps({f"c{i}": None}) if json.loads(line)[f"c{i}"] is None else _alone(line, i)
                for line in lines
            )
            proven, packed = (sieve(texts).proven.to_pylist() for sieve in found)
            place = constraints.column(f"c{i}")
            assert place is not None
            is_wrong = place.constraints[0].violations(table.values.column(i).combine_chunks()).to_pylist()
            unwritten = table.unwritten(i).to_pylist()
            for row, is_proven in enumerate(proven):
                wanted = is_proven and (unwritten[row] or not is_wrong[row])
                assert packed[row] is wanted, (case, texts[row])
                kept, refused = kept + wanted, refused + (is_proven and not wanted)
    assert min(kept, refused) > 400
