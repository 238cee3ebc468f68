"""Tasks of Python over batches of Arrow.

Layer: pipeline.
"""

from collections.abc import Callable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType
from pyspark.util import PythonEvalType

from schemac.pipeline.spark.executors import is_connect

Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def mapped(frame: DataFrame, task: Task, schema: StructType) -> DataFrame:
    """Give what a task makes of the rows of each partition: `DataFrame.mapInArrow`, for which PySpark asks for pandas and needs none."""
    spark = frame.sparkSession
    if is_connect(spark):
        return frame.mapInArrow(task, schema)
    from pyspark.sql.udf import UserDefinedFunction  # the class that runs in this process

    function = UserDefinedFunction(task, schema, evalType=PythonEvalType.SQL_MAP_ARROW_ITER_UDF)
    # A name may have dots in it.
    column = function(*(frame["`" + label.replace("`", "``") + "`"] for label in frame.columns))
    return DataFrame(frame._jdf.mapInArrow(column._jc, False, None), spark)
