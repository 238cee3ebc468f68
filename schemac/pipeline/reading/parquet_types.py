"""Reads Parquet columns whose types Spark refuses: nanoseconds, times of day, and whatever no field takes.

Layer: pipeline.
Shape: Spark gives the columns as it knows them. Where it refuses one, a file's own schema tells the columns; a timestamp in
       nanoseconds and a time of day are read as the counts that they are, at every depth, and columns that Spark cannot
       read are left out.
"""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from schemac.pipeline.declaration.job import Source
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading import texts
from schemac.pipeline.reading.decoding import open_file
from schemac.pipeline.reading.inputs import CountType
from schemac.source.catalogue import AMBIGUOUS_COLUMN

FILES_LOOKED_AT = 100


def read_parquet(spark: SparkSession, source: Source) -> tuple[DataFrame, dict[str, DataType]]:
    """Read the rows, and the types of columns that hold counts."""
    options = {**texts.file_options(source), **source.options}
    reader = spark.read.options(**options)
    paths = texts.spark_paths(source)
    with texts.folders_as_text(spark):
        try:
            frame = reader.parquet(*paths)
        except PySparkException:
            files = texts.files_of(spark, source).files
            schema = next(
                (file_schema for file in files if (file_schema := _schema_of(file.path)) is not None), None
            )
            if schema is None or not any(_is_refused(leaf_type) for leaf_type in _leaves(schema)):
                raise
        else:
            _check_folders(spark, source, frame)
            return frame, {}
        known = [file_schema for field in schema if (file_schema := _spark_field(spark, field)) is not None]
        frame = reader.schema(StructType(known)).parquet(*paths)
        _check_folders(spark, source, frame)
    types = {field.name: field.dataType for field in known}
    return frame, {
        field.name: _marked(types[field.name], field.type) for field in schema if field.name in types
    }


def _check_folders(spark: SparkSession, source: Source, frame: DataFrame) -> None:
    """Refuses a column that is in the files and in names of folders: Spark would take the folders' and say nothing."""
    if not any("=" in uri for uri in frame.inputFiles()):
        return
    listed = texts.files_of(spark, source)
    for file in listed.files[:FILES_LOOKED_AT] if listed.folders else ():
        schema = _schema_of(file.path)
        both = [label for label in listed.folders if schema is not None and label in schema.names]
        if both:
            message = f"`{both[0]}` is a column of `{file.path}`, and of the names of its folders"
            way = "name the files themselves, without `*`: then the column of the file is read"
            raise PipelineError(AMBIGUOUS_COLUMN, message, way)


def _schema_of(path: str) -> pa.Schema | None:
    import pyarrow.parquet as pq

    try:
        with open_file(path) as stream:
            file = pq.ParquetFile(stream)
            schema: pa.Schema = file.schema_arrow
            leaves = [file.schema.column(i) for i in range(len(file.schema.names))]
            # The oldest form of a timestamp: pyarrow calls it nanoseconds, Spark reads it as a timestamp.
            for leaf in leaves:
                if leaf.physical_type == "INT96" and (at := schema.get_field_index(leaf.path)) >= 0:
                    schema = schema.set(at, schema.field(at).with_type(pa.timestamp("us", "UTC")))
            return schema
    except (pa.ArrowException, OSError):
        return None


def _leaves(schema: Any) -> Iterator[pa.DataType]:
    for field in schema:
        yield from _leaves_of(field.type)


def _leaves_of(data_type: pa.DataType) -> Iterator[pa.DataType]:
    if isinstance(data_type, pa.BaseExtensionType):
        yield from _leaves_of(data_type.storage_type)
    elif data_type.num_fields:
        for i in range(data_type.num_fields):
            yield from _leaves_of(data_type.field(i).type)
    else:
        yield data_type


def _is_refused(data_type: pa.DataType) -> bool:
    """Whether a file is worth another look: a type that Spark may refuse is in it."""
    is_ = pa.types
    return _is_count(data_type) or is_.is_float16(data_type) or is_.is_null(data_type)


def _is_count(data_type: pa.DataType) -> bool:
    is_ = pa.types
    return bool((is_.is_timestamp(data_type) and data_type.unit == "ns") or is_.is_time(data_type))


def _counts(data_type: pa.DataType) -> pa.DataType:
    """Put counts into the type in place of what Spark refuses."""
    is_ = pa.types
    if is_.is_time32(data_type):
        return pa.int32()
    if _is_count(data_type):
        return pa.int64()
    if is_.is_struct(data_type):
        return pa.struct([field.with_type(_counts(field.type)) for field in data_type])
    if is_.is_map(data_type):
        return pa.map_(_counts(data_type.key_type), _counts(data_type.item_type))
    if is_.is_list(data_type) or is_.is_large_list(data_type) or is_.is_fixed_size_list(data_type):
        return pa.list_(data_type.value_field.with_type(_counts(data_type.value_type)))
    return data_type


def _spark_field(spark: SparkSession, field: pa.Field) -> StructField | None:
    """Give the column as Spark reads it; None if it cannot."""
    import pyarrow.parquet as pq

    counted = pa.schema([pa.field(field.name, _counts(field.type))])
    with TemporaryDirectory(prefix="schemac-") as folder:
        path = Path(folder) / "schema.parquet"
        pq.write_table(counted.empty_table(), path, store_schema=False)
        try:
            schema = spark.read.parquet(str(path)).schema
        except PySparkException:
            return None
    spark_field: StructField = schema.fields[0]
    return spark_field


def _marked(spark_type: DataType, data_type: pa.DataType) -> DataType:
    """Give the type as Spark found it, which says where counts are."""
    is_ = pa.types
    if _is_count(data_type):
        return CountType(data_type, spark_type)
    if isinstance(spark_type, StructType) and is_.is_struct(data_type):
        parts = zip(spark_type.fields, data_type, strict=True)
        return StructType(
            [StructField(part.name, _marked(part.dataType, arrow_field.type)) for part, arrow_field in parts]
        )
    if isinstance(spark_type, MapType) and is_.is_map(data_type):
        return MapType(
            _marked(spark_type.keyType, data_type.key_type),
            _marked(spark_type.valueType, data_type.item_type),
        )
    if isinstance(spark_type, ArrayType):
        return ArrayType(_marked(spark_type.elementType, data_type.value_type))
    return spark_type
