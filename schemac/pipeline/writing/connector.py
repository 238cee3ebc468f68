"""Has a connector of Spark write the rows of a run, for a table of an engine of ours.

Layer: pipeline.
Shape: the connector appends to a table without rows that the engine makes aside, with the types, the metadata and the numbers of
       the run's table; its files become pieces of the run, which are committed as those of our own tasks. So a run keeps all that it promises, and
       no reader sees what the connector commits.
Rule: which types a connector can write is asked of the connector itself: by the columns that it shows of that table, and by
      what it says when it writes. Nothing here needs more of Spark than the connector does.
Errors: SC656 where the session does not have the connector, SC698 where it cannot write the table.
"""

import re
from collections.abc import Mapping

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from schemac.pipeline.errors import PipelineError
from schemac.pipeline.spark.failures import deepest, known_cause
from schemac.pipeline.writing.column_types import format_differences
from schemac.rows.runs.tables import Place, Sink, StagedRows, TableForm
from schemac.source.catalogue import CONNECTOR, UNWRITABLE_TARGET

NO_CONNECTOR = "DATA_SOURCE_NOT_FOUND"
"""Spark's name of the error for a format that it has no class of."""
ADD_A_CONNECTOR = (
    "does the session have a connector for this format? `spark: {settings: {spark.jars: ...}}` adds one"
)
OWN_WRITER = "change the schema, or leave `connector` out of `target`: schemac's own writer has all types"
PLACE = ("target", "connector")
INSIDE = re.compile(r"(?:, location: |, )?/\S+\.rs:\d.*")
"""Where in its own sources a library found a fault."""


def connector_missing(format: str, place: tuple[str, ...] = PLACE) -> PipelineError:
    """Say that the session has no class of the format."""
    message = f"Spark finds no connector of the format `{format}`"
    return PipelineError(UNWRITABLE_TARGET, message, ADD_A_CONNECTOR, place=place)


def open_staging(frame: DataFrame, connector: str, sink: Sink, place: Place, form: TableForm) -> str:
    """Make the table aside, and compare what the connector sees of it with the columns of the frame."""
    path = sink.open_staging_table(place, form)
    try:
        seen = frame.sparkSession.read.format(connector).load(path).schema
    except (PySparkException, Py4JError) as error:
        raise _refused(error, connector, "cannot read a table of this schema") from error
    differences = format_differences(frame.schema, seen)
    if differences:
        message = (
            f"the connector `{connector}` has different types than the rows: {'; '.join(differences[:5])}"
        )
        raise PipelineError(CONNECTOR, message, OWN_WRITER, place=PLACE)
    return path


def write_staging(
    good: DataFrame, connector: str, path: str, options: Mapping[str, str], sink: Sink, place: Place
) -> StagedRows:
    """Have the connector write all rows, and take them over."""
    rows = good.count()
    if not rows:
        # A connector may take no rows for a mistake.
        return StagedRows([], 0)
    try:
        good.write.format(connector).options(**options).mode("append").save(path)
    except (PySparkException, Py4JError) as error:
        raise _refused(error, connector, "does not write the rows") from error
    written = sink.collect_staging_table(place)
    if written.rows != rows:
        message = f"the connector `{connector}` wrote {written.rows} of {rows} rows"
        raise PipelineError.uncommitted(CONNECTOR, message, place=PLACE)
    return written


def _refused(error: Exception, connector: str, what: str) -> Exception:
    """Say what the connector says; what has another cause stays as it is."""
    text = str(error)
    if NO_CONNECTOR in text:
        return connector_missing(connector)
    if PipelineError.from_text(text) is not None or known_cause(text) is not None:
        return error
    reason = INSIDE.sub("", deepest(text)).rstrip("]. ")
    return PipelineError(CONNECTOR, f"the connector `{connector}` {what}: {reason}", OWN_WRITER, place=PLACE)
