"""A packed file is read to its end or refused, whoever unpacks it; nothing in it is passed over."""

import bz2
import gzip
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import lance
import pyarrow as pa
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading.files import FileSplit, SourceFile, chunks_of, lines_of_split
from schemac.pipeline.runner import run
from schemac.text.source.catalogue import UNREADABLE_INPUT

Pack = Callable[[bytes], bytes]


def named(text: bytes) -> bytes:
    """A member of gzip with the name of its file and a time, as programs write it."""
    stream = BytesIO()
    with gzip.GzipFile("a file's name", "wb", fileobj=stream, mtime=1) as packed:
        packed.write(text)
    return stream.getvalue()


PACKED: dict[str, Pack] = {
    ".gz": named,
    ".gzip": gzip.compress,
    ".bz2": bz2.compress,
    ".deflate": zlib.compress,
    ".zst": lambda text: bytes(pa.compress(text, codec="zstd", asbytes=True)),
}
LINES = b"".join(b"%d\n" % (i * 7919 % 1000003) for i in range(20_000))
MORE = b"7\n"


def changed(packed: bytes, at: int) -> bytes:
    other = bytearray(packed)
    other[at] ^= 255
    return bytes(other)


SOUND: dict[str, tuple[Callable[[Pack], bytes], bytes]] = {
    "whole": (lambda pack: pack(LINES), LINES),
    "empty": (lambda pack: pack(b""), b""),
    "two streams": (lambda pack: pack(LINES) + pack(MORE), LINES + MORE),
    "many streams": (lambda pack: b"".join(pack(MORE) for _ in range(500)), MORE * 500),
    "an empty stream behind": (lambda pack: pack(LINES) + pack(b""), LINES),
    "an empty stream between": (lambda pack: pack(LINES) + pack(b"") + pack(MORE), LINES + MORE),
    "without a byte": (lambda _: b"", b""),
}
DAMAGED: dict[str, Callable[[Pack], bytes]] = {
    "a zero behind": lambda pack: pack(LINES) + bytes(1),
    "zeros behind": lambda pack: pack(LINES) + bytes(512),
    "zeros between": lambda pack: pack(LINES) + bytes(512) + pack(MORE),
    "text behind": lambda pack: pack(LINES) + b"garbage",
    "a beginning behind": lambda pack: pack(LINES) + pack(LINES)[:5],
    "cut": lambda pack: pack(LINES)[:-9],
    "cut in the sum": lambda pack: pack(LINES)[:-2],
    "cut in the header": lambda pack: pack(LINES)[:4],
    "with a wrong sum": lambda pack: changed(pack(LINES), -3),
    "not packed": lambda _: LINES,
}
SHAPES = {**{shape: make for shape, (make, _) in SOUND.items()}, **DAMAGED}
FEW = ("two streams", "without a byte", "zeros behind", "zeros between", "cut in the sum")


def read_by_chunks(path: Path) -> list[str] | None:
    """The lines, or None where the file is refused."""
    try:
        return "".join(chunks_of(str(path), "utf-8")).splitlines()
    except PipelineError:
        return None


def read_by_lines(path: Path) -> list[str] | None:
    piece = FileSplit(SourceFile(str(path), path.as_uri(), path.stat().st_size))
    try:
        return [line.decode() for block in lines_of_split(piece) for line in block.to_pylist()]
    except PipelineError:
        return None


def read_by_spark(spark: SparkSession, path: Path) -> list[str] | None:
    try:
        return [row.value for row in spark.read.text(str(path)).collect()]
    except Py4JJavaError:
        return None


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ending", PACKED)
def test_read_a_packed_file_to_its_end_or_refuse_it(tmp_path: Path, ending: str, shape: str) -> None:
    path = tmp_path / f"a{ending}"
    path.write_bytes(SHAPES[shape](PACKED[ending]))
    expected = SOUND[shape][1].decode().splitlines() if shape in SOUND else None
    assert read_by_chunks(path) == expected
    assert read_by_lines(path) == expected


@pytest.mark.parametrize(
    "shape", [one if one in FEW else pytest.param(one, marks=pytest.mark.long) for one in SHAPES]
)
def test_read_gzip_as_spark_does(spark: SparkSession, tmp_path: Path, shape: str) -> None:
    """Spark's own reader and ours take turns, by what a pipeline does with its records."""
    path = tmp_path / "a.gz"
    path.write_bytes(SHAPES[shape](named))
    assert read_by_spark(spark, path) == read_by_lines(path)


@pytest.mark.parametrize("ending", [".gz", ".bz2"])
@pytest.mark.parametrize("fields", [{}, {"id": {"expr": "id::bigint"}}], ids=["in place", "as rows"])
def test_write_nothing_of_a_file_that_is_not_read_to_its_end(
    spark: SparkSession, tmp_path: Path, ending: str, fields: dict[str, object]
) -> None:
    """Spark's own reader takes zeros for the end of bzip2, and loses what follows."""
    schema = pa.schema([pa.field("id", pa.int64(), False)])
    path = tmp_path / f"a.json{ending}"
    job = Job.model_validate(
        {"source": {"path": str(path)}, "fields": fields, "target": {"path": str(tmp_path / "t.lance")}}
    )
    pack = PACKED[ending]
    path.write_bytes(pack(b'{"id": 1}\n') + bytes(512) + pack(b'{"id": 2}\n'))
    with pytest.raises(PipelineError, match="compress it again") as caught:
        run(job, schema, spark=spark)
    assert caught.value.code is UNREADABLE_INPUT
    assert not (tmp_path / "t.lance").exists()
    path.write_bytes(pack(b'{"id": 1}\n') + pack(b'{"id": 2}\n'))
    run(job, schema, spark=spark)
    assert lance.dataset(tmp_path / "t.lance").to_table()["id"].to_pylist() == [1, 2]
