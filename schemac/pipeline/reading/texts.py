"""Records of text files as texts: each line by Spark, or cut out of whole files by tasks of ours.

Layer: pipeline.
Shape: a frame of `_raw` (the record as it stands in its file), `_source` (the file), `_fault` (null, or the rule that the text
       itself breaks) and the columns that stand in names of folders (`day=2024-01-01/`), which are text. Blank lines are no records.
"""

import base64
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StringType, StructField, StructType

from schemac.pipeline.declaration.job import Source
from schemac.pipeline.declaration.source_options import FILES, Options
from schemac.pipeline.reading.decoding import byte_text, has_marks
from schemac.pipeline.reading.file_columns import FILE, FILE_TYPES, METADATA, OF_FILE
from schemac.pipeline.reading.paths import base_path, spark_path
from schemac.pipeline.spark.columns import RAW, SOURCE
from schemac.pipeline.spark.executors import is_connect
from schemac.pipeline.spark.registration import register
from schemac.pipeline.spark.sqltext import literal, name, struct, when
from schemac.runs.storage import NO_STORAGE, Storage, current_storage, hadoop_address, storage_in_use

FAULT = "_fault"
NAME, SIZE, MODIFIED = "__name", "__size", "__modified"
ROWS_PER_BATCH = 4096
BYTES_PER_BATCH = 8 << 20
# Below this, spreading the records of one file over the tasks costs more than it brings.
BYTES_WORTH_SPREADING = 32 << 20
BYTES_WORTH_A_TASK = 1 << 20
BYTES_TO_OPEN = 1 << 14
BAD_ENCODING = "encoding"

Splitter = Callable[[str], Iterator[tuple[str, str | None]]]
"""The records of the file at a path, each with the rule that its text breaks."""


@dataclass(frozen=True)
class Texts:
    """A frame of records, and the column of each name that a folder gives."""

    frame: DataFrame
    partitions: dict[str, str]

    def with_frame(self, frame: DataFrame) -> "Texts":
        """Take the same of other rows."""
        return replace(self, frame=frame)


@dataclass(frozen=True)
class File:
    """One file of a source: the path, and how Spark names it in `_source`."""

    path: str
    uri: str
    size_bytes: int
    modified_micros: int = 0
    folders: tuple[str | None, ...] = ()

    @property
    def is_packed_for_us(self) -> bool:
        """Whether the file is packed as Spark cannot unpack it everywhere."""
        return self.path.lower().endswith((".zst", ".zstd", ".deflate", ".gzip"))


@dataclass(frozen=True)
class Listed:
    """The files of a source, and the columns that names of folders give."""

    folders: tuple[str, ...]
    files: tuple[File, ...]


@contextmanager
def folders_as_text(spark: SparkSession) -> Iterator[None]:
    """Values in names of folders as they stand there: Spark would make a number of `007`."""
    key = "spark.sql.sources.partitionColumnTypeInference.enabled"
    before = spark.conf.get(key, None)
    spark.conf.set(key, "false")
    try:
        yield
    finally:
        if before is None:
            spark.conf.unset(key)
        else:
            spark.conf.set(key, before)


def file_options(source: Source) -> dict[str, str]:
    """Those options of a source that choose files, with the folder that columns in names of folders start from."""
    told = Options(source).some(FILES)
    for path in source.path:
        told |= current_storage().hadoop_options(path)
    base = base_path(source.path)
    return {"basePath": base, **told} if base is not None and "recursiveFileLookup" not in told else told


def spark_paths(source: Source) -> list[str]:
    """Write the paths of a source as Spark takes them."""
    return [hadoop_address(spark_path(path)) for path in source.path]


def lines(spark: SparkSession, source: Source, blank: str = " ") -> Texts:
    """Each line of UTF-8 files that does not only hold blanks, with the text `value` in place of `_raw`."""
    options = file_options(source) | Options(source).some(("lineSep",))
    with folders_as_text(spark):
        frame = spark.read.options(**options).text(spark_paths(source))
    partitions = {label: f"__p{i}" for i, label in enumerate(frame.columns[1:])}
    others = [f"{name(label)} as {column}" for label, column in partitions.items()]
    kept = frame.selectExpr("value", f"{METADATA}.file_path as {SOURCE}", OF_FILE, *others)
    return Texts(kept.where(f"trim(BOTH {literal(blank)} FROM value) <> ''"), partitions)


def judged(texts: Texts, faults: Sequence[tuple[str, str]] = ()) -> Texts:
    """Lines with their faults: bytes that are not UTF-8, and conditions with the rule that they break."""
    branches = " ".join(f"when {condition} then '{rule}'" for condition, rule in faults)
    fault = f"case when not __valid then '{BAD_ENCODING}' {branches} end"
    # ISO-8859-1 has a character for each byte, so that none is lost.
    raw = when("__valid", "value", "decode(cast(value as binary), 'ISO-8859-1')")
    kept = [SOURCE, FILE, *texts.partitions.values()]
    checked = texts.frame.selectExpr("value", *kept, "is_valid_utf8(value) as __valid")
    return texts.with_frame(checked.selectExpr(f"{raw} as {RAW}", f"{fault} as {FAULT}", *kept))


def files_of(spark: SparkSession, source: Source) -> Listed:
    """All files of a source."""
    with folders_as_text(spark):
        listed = spark.read.format("binaryFile").options(**file_options(source)).load(spark_paths(source))
    folders = [
        label for label in listed.columns if label not in ("path", "modificationTime", "length", "content")
    ]
    rows = listed.selectExpr(
        "path",
        f"{METADATA}.file_path as {SOURCE}",
        "length",
        "unix_micros(modificationTime)",
        *map(name, folders),
    ).collect()
    files = [File(path, uri, size, modified, tuple(values)) for path, uri, size, modified, *values in rows]
    return Listed(tuple(folders), tuple(sorted(files, key=lambda file: file.path)))


def cut(spark: SparkSession, listed: Listed, splitter: Splitter) -> Texts:
    """Read the records that a splitter finds in each file; a file is read by one task."""
    partitions = {label: f"__p{i}" for i, label in enumerate(listed.folders)}
    labels = (RAW, FAULT, SOURCE, NAME, SIZE, MODIFIED, *partitions.values())
    task = _Cutter(splitter, labels, listed.files, current_storage())
    register(spark, CutFiles)
    records = spark.read.format(CutFiles.name()).option("task", task.told()).load()
    modified = f"timestamp_micros(cast({MODIFIED} as bigint))"
    parts = (SOURCE, NAME, f"cast({SIZE} as bigint)", modified)
    file = struct(zip(FILE_TYPES, parts, strict=True))
    records = records.selectExpr(RAW, FAULT, SOURCE, f"{file} as {FILE}", *partitions.values())
    if max((file.size_bytes for file in listed.files), default=0) > BYTES_WORTH_SPREADING:
        records = records.repartition(_parallelism(spark))
    return Texts(records, partitions)


def _parallelism(spark: SparkSession) -> int:
    """How many tasks run side by side; a server tells only what a shuffle has."""
    if is_connect(spark):
        return int(spark.conf.get("spark.sql.shuffle.partitions", "8") or 8)
    return int(spark.sparkContext.defaultParallelism)


class CutFiles(DataSource):  # type: ignore[misc]  # PySpark is not followed
    """Spark's way to the records of whole files."""

    @classmethod
    def name(cls) -> str:
        """Return the word for `format`."""
        return "schemac-cut-files"

    def schema(self) -> StructType:
        """Columns of a record, all of them text."""
        return StructType([StructField(label, StringType()) for label in self._task().labels])

    def reader(self, schema: StructType) -> "_CutReader":
        """Make a reader of all files."""
        task = self._task()
        # Looked up here: executors on other machines do not have the variables.
        return _CutReader(replace(task, storage=task.storage.resolved()))

    def _task(self) -> "_Cutter":
        task = pickle.loads(base64.b64decode(self.options["task"]))  # noqa: S301 — made by `cut`
        assert isinstance(task, _Cutter)
        return task


class _CutReader(DataSourceReader):  # type: ignore[misc]  # PySpark is not followed
    """Reads some files in each task."""

    def __init__(self, task: "_Cutter") -> None:
        self.task = task

    def partitions(self) -> list[InputPartition]:
        """Files that are large enough to be worth a task, or as many as are."""
        groups: list[list[File]] = []
        size = BYTES_WORTH_A_TASK
        for file in self.task.files:
            if size >= BYTES_WORTH_A_TASK:
                groups.append([])
                size = 0
            groups[-1].append(file)
            size += file.size_bytes + BYTES_TO_OPEN
        return [InputPartition(group) for group in groups or [[]]]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read the records of these files."""
        for file in partition.value:
            yield from self.task.batches(file)


@dataclass(frozen=True)
class _Cutter:
    """What the tasks do."""

    splitter: Splitter
    labels: tuple[str, ...]
    files: tuple[File, ...]
    storage: Storage = NO_STORAGE

    def told(self) -> str:
        """Write the task as an option of a reader."""
        return base64.b64encode(pickle.dumps(self)).decode()

    def batches(self, file: File) -> Iterator[pa.RecordBatch]:
        """Read the records of a file."""
        with storage_in_use(self.storage):
            yield from self._batches(file)

    def _batches(self, file: File) -> Iterator[pa.RecordBatch]:
        texts: list[str] = []
        faults: list[str | None] = []
        size = 0
        for text, fault in self.splitter(file.path):
            texts.append(text)
            faults.append(fault)
            size += len(text)
            if len(texts) == ROWS_PER_BATCH or size > BYTES_PER_BATCH:
                yield self._batch(file, texts, faults)
                texts, faults, size = [], [], 0
        if texts:
            yield self._batch(file, texts, faults)

    def _batch(self, file: File, texts: list[str], faults: list[str | None]) -> pa.RecordBatch:
        known = (file.path.rpartition("/")[2], str(file.size_bytes), str(file.modified_micros))
        others = (file.uri, *known, *file.folders)
        columns = [pa.array(column, pa.string()) for column in (texts, faults)]
        columns += [pa.repeat(pa.scalar(other, pa.string()), len(texts)) for other in others]
        return pa.record_batch(columns, names=list(self.labels))


def decoded(text: str, encoding: str, fault: str | None = None) -> tuple[str, str | None]:
    """Decode a record's text as it is kept, and say its fault."""
    return (byte_text(text, encoding), BAD_ENCODING) if has_marks(text) else (text, fault)
