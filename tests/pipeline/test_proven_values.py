"""Values that are proven many at a time are those that the judge reads: no value depends on which of them read it."""

import pyarrow as pa

from schemac.rows.judging.arrays import to_field
from schemac.rows.judging.settings import ValidationSettings
from schemac.rows.judging.typed_values import nullable_array
from schemac.rows.validation.validator import TEXT, Validator
from tests.judging.records import RecordJudge, value_type
from tests.pipeline.test_batch_records import SCHEMA, lines_of, shown

RECORDS = 1_000


def test_prove_the_values_that_the_judge_reads() -> None:
    """Signs of zero too."""
    schema = pa.schema([field for field in SCHEMA if field.name != "uid"])
    lines = lines_of("json", RECORDS)
    found = Validator(schema, ValidationSettings()).validate(pa.record_batch([pa.array(lines)], [TEXT]))
    reasons = found.reasons.by_row()
    good = [row for row in range(len(lines)) if row not in reasons]
    assert len(good) > RECORDS / 2
    judge = RecordJudge(schema)
    judged = [judge.json(line) for line in lines]
    assert [one.reasons for one in judged] == [tuple(reasons.get(row, ())) for row in range(len(lines))]
    told = [one.values for one in judged if one.values is not None]
    columns = [nullable_array([values[field.name] for values in told], field) for field in schema]
    rows = found.rows.take(pa.array(good))
    read = [to_field(rows.column(field.name), field.with_type(value_type(field))) for field in schema]
    expected = pa.table(columns, names=schema.names)
    assert shown(pa.table(read, names=schema.names)) == shown(expected)
