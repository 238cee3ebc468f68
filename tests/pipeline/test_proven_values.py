"""Where a record is proven with Arrow, its values are those that the judge reads: no value depends on which of them read it."""

from pathlib import Path

import pyarrow as pa

from schemac.pipeline.batch_reading.sieve import sieve_of
from schemac.pipeline.reading.source import Records
from schemac.rows.judging.arrays import plain_array, plain_type
from schemac.rows.judging.exact_types import to_field
from schemac.rows.judging.judge import Judge
from tests.pipeline.sieved import job_of
from tests.pipeline.test_batch_records import SCHEMA, lines_of, shown

RECORDS = 1_000


def test_prove_the_values_that_the_judge_reads() -> None:
    """Signs of zero too: JSON has none, for the variants of Spark drop them."""
    schema = pa.schema([field for field in SCHEMA if field.name != "uid"])
    records = Records(lambda: None, "_raw", None, worked=lambda _: None)
    sieve = sieve_of(records, schema, job_of(Path("in"), "json"))
    assert sieve is not None
    lines = lines_of("json", RECORDS)
    sifted = sieve(pa.array(lines))
    proven = [line for line, is_proven in zip(lines, sifted.proven.to_pylist(), strict=True) if is_proven]
    assert len(proven) > RECORDS / 2
    judge = Judge(schema)
    judged = [judge.json(line) for line in proven]
    assert [line for line, found in zip(proven, judged, strict=True) if found.reasons] == []
    told = [found.values for found in judged if found.values is not None]
    columns = [plain_array([values[field.name] for values in told], field) for field in schema]
    read = [to_field(sifted.batch.column(field.name), field.with_type(plain_type(field))) for field in schema]
    expected = pa.table(columns, names=schema.names)
    assert shown(pa.table(read, names=schema.names)) == shown(expected)
