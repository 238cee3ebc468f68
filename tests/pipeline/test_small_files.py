"""Many small files that one task reads together give exactly what each gives alone: rows, reasons, texts, origins, and their order."""

import gzip
import json
import random
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import lance
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading.csv_grammar import CsvDialect, CsvForm, CsvForms
from schemac.pipeline.reading.cutting import RecordTexts, TextBatches, file_groups, text_rows
from schemac.pipeline.reading.files import BLOCK_BYTES, FileSplit, SourceFile
from schemac.pipeline.reading.parquet import RowGroups
from schemac.pipeline.record_tasks import RecordTask
from schemac.pipeline.runner import run
from schemac.pipeline.spark.packed import ERRORS, PACKED, RAW, SOURCE, unpacked
from schemac.rows.validation.result import JudgedBatch
from schemac.rows.validation.validator import Validator
from tests.effort import every_nth
from tests.pipeline.read_alike import job_of, one_by_one, task_of

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int32(), False),
        pa.field("at", pa.timestamp("us", "UTC")),
        pa.field("p", pa.decimal128(12, 2)),
        pa.field("s", pa.string()),
        pa.field("h", pa.float16()),
    ]
)
NAMES = tuple(SCHEMA.names)
GOOD = {"at": ["2024-01-01T00:00:00Z", "2024-01-01 10:00:00.123456+02:00"], "p": ["1.10", "1e2", "-0.5"], "s": ["a", "é"], "h": ["1", "0.1"]}  # fmt: skip
ODD = {"at": ["2024-02-30T00:00:00Z", "x"], "p": ["1.105", "NaN"], "s": ["a\x01"], "h": ["65520", "7e-9"]}

Row = tuple[Any, ...]


def line(rng: random.Random, id: int, form: str) -> bytes:
    """A record: right and proven, right and not proven, wrong, no record, blank, or no text."""
    if rng.random() < 0.08:
        return rng.choice([b"", b"{", b'"a', b"\xff", b"1,2", b"null"])
    values = {name: rng.choice(GOOD[name] if rng.random() < 0.9 else ODD[name]) for name in NAMES[1:]}
    if form == "csv":
        return ",".join([str(id), *values.values()]).encode()
    number = float(values["p"]) if values["p"] != "NaN" else "NaN"
    record = {"id": id, **values, "p": number, "h": float(values["h"])}
    if rng.random() < 0.1:
        record["other"] = 1
    return json.dumps(record, ensure_ascii=rng.random() < 0.5).encode()


def files_of(form: str, count: int) -> list[tuple[SourceFile, RecordTexts]]:
    rng = random.Random(form)
    found = []
    for number in range(count):
        lines = [line(rng, 1000 * number + i, form) for i in range(rng.choice([0, 1, 3, 20]))]
        faults = [rng.choice([None, None, None, "malformed"]) for _ in lines] if number % 4 == 1 else None
        texts: pa.Array = pa.array(lines, pa.binary())
        if number % 5 == 2:
            texts = pa.array([text.decode("utf-8", "replace") for text in lines])
        known = None if faults is None else pa.array(faults, pa.string())
        file = SourceFile(f"/in/{number}", f"file:///in/{number}", 100 + number, number, (str(number % 3),))
        found.append((file, RecordTexts(texts, known)))
    return found


def reader_of(
    form: str, files: list[tuple[SourceFile, RecordTexts]], folders: tuple[str, ...] = ()
) -> TextBatches:
    """The reader of these records; a line of JSON that is blank is none, which its own reader says."""
    forms = CsvForms((CsvForm(NAMES, CsvDialect(), NAMES),)) if form == "csv" else None
    texts = {file.path: records for file, records in files}
    return TextBatches(lambda split: iter([texts[split.file.path]]), folders, forms)


def splits_of(files: list[tuple[SourceFile, RecordTexts]]) -> Iterator[FileSplit]:
    return iter([FileSplit(file) for file, _ in files])


def rows_of(
    task: RecordTask, form: str, files: list[tuple[SourceFile, RecordTexts]]
) -> tuple[list[Row], list[Row]]:
    """Good records, and the others with their reasons, texts and files; each in the order that they come in."""
    good: list[Row] = []
    bad: list[Row] = []
    for batch in task(reader_of(form, files)(splits_of(files))):
        for records in unpacked(iter([batch])):
            rows = records.to_pylist()
            for row in rows:
                values = (row[ERRORS], row[RAW], row[SOURCE])
                is_good = row[ERRORS] is None
                fields = [row.get(name, row.get(f"__v{i}")) for i, name in enumerate(NAMES)]
                own: Row = (repr([*fields[:-1], float(np.float16(fields[-1]))]),)
                (good if is_good else bad).append(own if is_good else values)
    return good, bad


@pytest.mark.parametrize("packs", [True, False])
@pytest.mark.parametrize("form", ["json", "csv"])
def test_give_the_same_as_each_file_alone(form: str, packs: bool, tmp_path: Path) -> None:
    task = replace(task_of(SCHEMA, job_of(tmp_path, form)), keeps_all=False, packs=packs)
    files = files_of(form, 40)
    # What is learned of one file is known in the next.
    good, bad = rows_of(task, form, files)
    alone = [rows_of(task, form, [file]) for file in files]
    assert good == [row for rows, _ in alone for row in rows]
    assert bad == [row for _, rows in alone for row in rows]
    assert len(good) > 100
    assert {why["rule"] for errors, *_ in bad for why in errors} > {"cast", "malformed", "encoding"}
    assert len({source for *_, source in bad}) > 10
    with one_by_one():
        assert rows_of(replace(task), form, files)[1] == bad


def test_ask_once_for_many_files(tmp_path: Path) -> None:
    task = task_of(SCHEMA, job_of(tmp_path, "json"))
    calls: list[int] = []
    known = Validator.validate

    def validate(self: Validator, batch: pa.RecordBatch) -> JudgedBatch:
        calls.append(batch.num_rows)
        return known(self, batch)

    task = replace(task, keeps_all=False, packs=True)
    texts = pa.array([json.dumps({"id": i}).encode() for i in range(100)], pa.binary())
    files = [(SourceFile(f"{number}", f"{number}", 1), RecordTexts(texts)) for number in range(50)]
    with mock.patch.object(Validator, "validate", validate):
        batches = list(task(reader_of("json", files)(splits_of(files))))
    assert calls == [5000]
    assert [batch.column(PACKED).field("rows").to_pylist() for batch in batches] == [[5000]]


def test_gather_no_more_than_a_block() -> None:
    sizes = [BLOCK_BYTES, 10, 20, BLOCK_BYTES - 100, 200, 2 * BLOCK_BYTES, 5, 0, 5]
    files = [(SourceFile(str(i), "", size), RecordTexts(pa.array([b"x" * size] if size else [], pa.binary()))) for i, size in enumerate(sizes)]  # fmt: skip
    found = [[int(file.path) for file, _ in together] for together in file_groups(iter(files))]
    assert found == [[0], [1, 2, 3], [4], [5], [6, 8]]


@pytest.mark.parametrize("form", ["json", "csv"])
def test_give_texts_as_each_file_alone(form: str) -> None:
    work = partial(text_rows, ("__p0", *(NAMES if form == "csv" else ())))
    files = files_of(form, 30)
    reader = reader_of(form, files, ("__p0",))
    together = [row for batch in work(reader(splits_of(files))) for row in batch.to_pylist()]
    alone = [row for file in files for batch in work(reader(splits_of([file]))) for row in batch.to_pylist()]
    assert together == alone
    assert {row["_fault"] for row in together} == {None, "malformed", "encoding"} | (
        {"quotes"} if form == "csv" else set()
    )
    assert len(list(work(reader(splits_of(files))))) == 1


def test_take_cells_by_the_header_of_each_file() -> None:
    """Files with one header are read together, those of another one by themselves; a folder's name has to be its cell."""
    forms = CsvForms(
        (CsvForm(("__k0", "__k1"), CsvDialect()), CsvForm(("__k1", "__k2", "__k0"), CsvDialect())),
        {"b": 1},
        conflicts=(("__k1", "__p0"),),
    )
    texts = {"a": ["1,x"], "b": ["x,,2", 'y,"",3', "x,4"], "c": ["4,x", "5,"]}
    files = [
        (SourceFile(path, path, 1, folders=("x",)), RecordTexts(pa.array(lines)))
        for path, lines in texts.items()
    ]
    read = replace(reader_of("json", files, ("__p0",)), forms=forms)
    batches = list(read.reading(["__k0"])(splits_of(files)))
    assert [batch.columns.column("__k0").to_pylist() for batch in batches] == [
        ["1"],
        ["2", "3", None],
        ["4", "5"],
    ]
    faults = [None if batch.faults is None else batch.faults.to_pylist() for batch in batches]
    assert faults == [None, [None, "partition", "malformed"], None]


def test_read_row_groups_of_small_files_together(tmp_path: Path) -> None:
    """The columns that no field is read from are read of wrong rows alone, when the files are closed."""
    table = pa.table({"a": range(4000), "b": [f"b{i}" for i in range(4000)], "c": [[i] for i in range(4000)]})
    files = []
    for number in range(50):
        path = tmp_path / f"{number:02}.parquet"
        pq.write_table(table.slice(80 * number, 80), path, row_group_size=30)
        files.append(SourceFile(str(path), f"file:{number}", path.stat().st_size))
    schema = pa.schema(
        [("a", pa.int64()), ("b", pa.string()), ("c", pa.list_(pa.field("element", pa.int64())))]
    )
    reader = RowGroups(schema).reading(["b"])
    (batch,) = reader(iter([FileSplit(file) for file in files]))
    assert batch.columns.to_pydict() == {"b": table["b"].to_pylist()}
    rows = pa.array([0, 29, 30, 79, 80, 81, 2500, 3999])
    assert batch.raw.take(rows).to_pylist() == table.take(rows).to_pylist()
    assert batch.origin.take(rows).to_pylist() == [f"file:{row // 80}" for row in rows.to_pylist()]
    assert len(batch.raw.take(rows[:0])) == 0
    (batch,) = RowGroups(schema).reading([])(iter([FileSplit(files[0])]))
    assert batch.columns.num_rows == 80


ID = pa.schema([SCHEMA.field("id")])


@pytest.mark.spark
@pytest.mark.parametrize("form", every_nth(["json", "csv"], 2))
def test_load_many_files(form: str, spark: SparkSession, tmp_path: Path) -> None:
    """The table, the quarantine with the file of each record, and what an incremental run remembers of the files."""
    folder = tmp_path / "in"
    source = {"path": str(folder), "format": form, "mode": "incremental"}
    job = Job.model_validate(
        {"source": source, "target": {"path": str(tmp_path / "t.lance"), "mode": "append"}}
    )
    good, bad = [], []
    folder.mkdir()

    def write(numbers: range) -> None:
        for number in numbers:
            lines = ["id"] if form == "csv" else []
            path = folder / f"{number:03}.{form}"
            for i in range(5):
                text = f"wrong {number}" if i == number % 7 else f"{number * 10 + i}"
                is_good = text.isdigit()
                lines.append(text if form == "csv" else json.dumps({"id": int(text) if is_good else text}))
                if is_good:
                    good.append(int(text))
                else:
                    bad.append((lines[-1], f"file:{path}"))
            path.write_text("\n".join(lines))

    for numbers in (range(60), range(60, 100)):
        write(numbers)
        report = run(job, ID, spark=spark)
        assert report.rows_in == 5 * len(numbers)
        rows = lance.dataset(str(tmp_path / "t.lance")).to_table(columns=["id"])
        assert sorted(rows.column("id").to_pylist()) == sorted(good)
        rows = lance.dataset(str(tmp_path / "t.quarantine.lance")).to_table().to_pylist()
        assert sorted((row["raw"], row["source"]) for row in rows) == sorted(bad)
        assert {why["rule"] for row in rows for why in row["errors"]} == {"cast" if form == "csv" else "type"}
    assert run(job, ID, spark=spark).is_repeat
    (folder / f"055.{form}.gz").write_bytes(gzip.compress(b"1\n" * 10_000)[:-9])
    with pytest.raises(PipelineError, match=rf"055\.{form}\.gz"):
        run(job, ID, spark=spark)
