"""Has a connector write rows as a run of a pipeline does; a script for a Python of its own, whose pyspark has the connector's jars.

Shape: arguments are the folder of the project's packages and a JSON file with a list of cases: `rows` (a Parquet file of conformed
rows), `schema` (an Arrow schema as IPC bytes), `native` (the engine's own form of it), `path`, `mode`, and for rows that meet those
of the table `merge` (a `Merge` as JSON). Prints a JSON list with what was refused in each case, as code and message, or null.
"""

import json
import sys
from pathlib import Path

sys.path.append(sys.argv[1])

import pyarrow as pa
from pyspark.sql import SparkSession

from schemac.pipeline.errors import PipelineError
from schemac.pipeline.writing.format_sink import open_staging, write_staging
from schemac.rows.runs.identity import RunIdentity, random_id
from schemac.rows.runs.storage import NO_STORAGE
from schemac.rows.runs.tables import Merge, TableForm, sink_of

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.ui.showConsoleProgress": "false",
}


def main(file: str) -> None:
    """Write all cases."""
    builder = SparkSession.builder.master("local[2]")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    print(json.dumps([written(session, **case) for case in json.loads(Path(file).read_text())]))
    session.stop()


def written(
    session: SparkSession, rows: str, schema: str, native: str, path: str, mode: str, merge: str = ""
) -> list[str] | None:
    """Write the rows of one case to its table; the code and the message of what is refused."""
    sink = sink_of("lance")
    run = RunIdentity.new(random_id(), [("parquet", (rows,))], mode)
    form = TableForm(
        sink.written_schema(pa.ipc.read_schema(pa.BufferReader(Path(schema).read_bytes()))), native
    )
    place = sink.prepare(
        path, mode, storage_options=NO_STORAGE, storage_version="2.2", max_rows_per_file=1 << 20, run=run
    )
    frame = session.read.parquet(rows)
    sink.open_staging(place)
    try:
        aside = open_staging(frame, "lance", sink, place, form)
        found = write_staging(frame, "lance", aside, {}, sink, place)
        sink.claim(place, found.fragments)
        if merge:
            told = Merge.parse(merge)
            none = pa.schema([form.schema.field(name) for name in told.columns]).empty_table()
            sink.merge(place, sink.judge(place, form, found.fragments, none, told))
        else:
            sink.commit(place, form, found.fragments)
    except PipelineError as error:
        return [error.code.id, error.message]
    finally:
        sink.close_staging(place)
    return None


main(sys.argv[2])
