"""What a run can write to a Lance table can be read from it: every type, with null at every place above a required value."""

import contextlib
import json
from collections.abc import Callable
from pathlib import Path

import lance
import pyarrow as pa
import pytest

import schemac
from schemac.engines.lance.dataset import SOURCE
from schemac.engines.lance.runs.sink import as_lance_reads
from schemac.pipeline.writing.batches import to_schema
from schemac.rows.judging.arrays import plain_layout, to_field
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.plain_types import nullable_type, plain_field
from tests.conformance.manifest_types import TYPES, Manifest, member, of, option, struct
from tests.effort import every_nth

ROWS, ENOUGH = 12, 20
Outer = Callable[[Manifest], Manifest]
PLACES: dict[str, Callable[[Manifest, Outer], Manifest]] = {
    "column": lambda t, o: o(t),
    "member of a Struct": lambda t, o: o(struct(member("a", t))),
    "member of a Struct of a Struct": lambda t, o: o(struct(member("b", struct(member("a", t))))),
    "member of an optional member": lambda t, o: struct(member("b", o(struct(member("a", t))))),
    "member of an item": lambda t, o: o(of("List", itemType=o(struct(member("a", t))))),
    "member of a value": lambda t, o: of("Map", keyType=of("String"), valueType=o(struct(member("a", t)))),
    "item of a List in a Struct": lambda t, o: o(struct(member("l", of("List", itemType=t)))),
    "item of a vector": lambda t, o: o(of("List", itemType=t, fixedLength=2)),
    "item of a vector of vectors": lambda t, o: o(
        of("List", itemType=of("List", itemType=t, fixedLength=2), fixedLength=2)
    ),
    "item of a vector in a Struct": lambda t, o: o(
        struct(member("v", of("List", itemType=t, fixedLength=2)))
    ),
    "member of a packed Struct": lambda t, o: {
        **o(struct(member("a", t), member("b", of("Int8")))),
        "extra": {"lance.org/encoding": {"packed": True}},
    },
}
"""Places around a type, in which null can stand above it."""
LIMITS_OF_LANCE = {"empty Struct", "packed Struct with options"}
"""Types of which Lance writes no null below null."""
LIMITS_OF_SPARK = {f"Duration in {unit}" for unit in ("Seconds", "Milliseconds", "Nanoseconds")}
LIMITS_OF_SPARK |= {"Timestamp in Nanoseconds", "blob", "blob with thresholds"}
"""Types of which Spark has not all values, or no values: its durations are microseconds in 64 bits."""


def sampled(place: str, name: str, outer: Outer) -> pa.Table | None:
    """Rows of a type at a place; None where there is no such column."""
    column = member("field", PLACES[place](TYPES[name], outer))
    extra = {"lance.org/storageVersion": "2.2", "schemac.dev/targets": ["lance"]}
    try:
        (dataset,) = schemac.compile_text(json.dumps({"extra": extra, "fields": [column]}))
        return dataset.sample(ROWS)
    except schemac.SchemaError:
        return None


def is_kept(rows: pa.Table, path: Path) -> bool:
    """Whether Lance writes the rows, and reads them again."""
    try:
        lance.write_dataset(rows, path, data_storage_version="2.2", schema=as_lance_reads(rows.schema))
        lance.dataset(path).to_table()
    except BaseException as error:
        # Lance says it in many ways; a panic is no Exception.
        if isinstance(error, KeyboardInterrupt):
            raise
        return False
    return True


def as_spark_has(rows: pa.Table) -> pa.RecordBatch:
    """The rows as Spark gives them to the writer; a column for whose values it has no type as it is."""
    (batch,) = rows.combine_chunks().to_batches()
    column, field = batch.column(0), plain_field(rows.schema.field(0))
    with contextlib.suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):
        column = to_field(plain_layout(column).cast(nullable_type(field.type)), field)
    return pa.RecordBatch.from_arrays([column], names=["field"])


def plain_values(column: pa.Array) -> pa.Array:
    """Values without what says that they are required: Lance forgets it of the items of vectors."""
    return column.cast(nullable_type(column.type))


@pytest.mark.parametrize("place", every_nth(PLACES, 2))
def test_read_what_is_written(tmp_path: Path, place: str) -> None:
    """Wherever Lance takes the rows without null above the type, it takes them with null there, and they can be read."""
    count, unwritten, unread = 0, set(), {}
    for i, name in enumerate(TYPES):
        required, rows = sampled(place, name, lambda t: t), sampled(place, name, option)
        if required is None or rows is None or not is_kept(required, tmp_path / f"{i}.lance"):
            continue
        path, plain = tmp_path / f"{i}-null.lance", as_spark_has(rows)
        if not is_kept(pa.Table.from_batches([to_schema(plain, rows.schema)]), path):
            unwritten.add(name)
            continue
        count += 1
        try:
            (batch,) = SOURCE.read(str(path), 1, 0)
        except PipelineError as error:
            unread[name] = error.message
            continue
        if not batch.num_columns or not plain_values(batch.column(0)).equals(plain_values(plain.column(0))):
            unread[name] = "other values"
    assert count > ENOUGH
    assert unwritten <= LIMITS_OF_LANCE
    assert {name: why for name, why in unread.items() if name not in LIMITS_OF_SPARK} == {}
