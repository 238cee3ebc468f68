"""Writes the frame of a run to a table of an engine, with the engine's own sink or through a connector.

Layer: pipeline.
Shape: a conformed frame in, the numbers of what was written out. Nothing is committed when it raises.
Errors: PipelineError as the sink raised it in Spark's processes; SC613 with the reasons, where a limit was passed.
"""

import json
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from schemac.pipeline.conforming.merge_settings import merge_of
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.declaration.limits import Limits
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading.unchanged import Seen, note
from schemac.pipeline.reports.run_report import top_reasons
from schemac.pipeline.writing.connector_sink import write_through
from schemac.pipeline.writing.sink_options import SinkOptions, encode_options, encode_schema
from schemac.pipeline.writing.sink_report import SinkReport
from schemac.pipeline.writing.table_sink import spark_sink
from schemac.pipeline.writing.workspace import temporary_folder
from schemac.rows.runs.identity import RunIdentity
from schemac.rows.runs.modes import Mode
from schemac.rows.runs.tables import TableForm, sink_engine
from schemac.source.catalogue import TOO_MANY_QUARANTINED


def write_to_engine(
    frame: DataFrame,
    job: Job,
    form: TableForm,
    identity: RunIdentity,
    seen: Seen,
    properties: dict[str, str],
    replay: int = 0,
) -> SinkReport:
    """Write the good rows and the quarantined ones with one job of Spark; `replay` is the version of the quarantine that is read."""
    merge = merge_of(job, form.schema)
    with temporary_folder() as folder:
        report, inputs = folder / "report.json", folder / "inputs.json"
        note(seen, inputs)
        options = SinkOptions(
            path=job.target.path,
            schema=encode_schema(form.schema),
            quarantine=job.quarantine_path,
            run=identity.to_json(),
            report=str(report),
            inputs=str(inputs),
            must_create=job.target.mode is Mode.CREATE,
            keep_rows=not job.target.allow_empty,
            max_quarantined=(Limits() if replay else job.max_quarantined).model_dump_json(),
            storage_version=form.storage_version,
            max_rows_per_file=job.target.max_rows_per_file,
            storage_options=job.storage_options.to_json(),
            native=form.native,
            replay=replay,
            merge=None if merge is None else merge.to_json(),
            properties=json.dumps(properties),
        )
        try:
            _save(frame, job, options)
        except (PySparkException, PipelineError) as error:
            explained = _explained(error, report)
            if explained is error:
                raise
            raise explained from error
        return SinkReport.read(report)


def _save(frame: DataFrame, job: Job, options: SinkOptions) -> None:
    """Write with the engine's own sink, or through a connector."""
    target = job.target
    overwrite = target.mode is Mode.OVERWRITE
    if target.is_through_connector:
        word = target.engine.name
        write_through(frame, word, options, overwrite=overwrite, settings=target.options)
        return
    format = spark_sink(sink_engine(target.format).name).name()
    mode = "overwrite" if overwrite else "append"
    frame.write.format(format).mode(mode).options(**encode_options(options)).save()


def _explained(error: Exception, report: Path) -> Exception:
    """Find the error that the sink raised in Spark's; a limit that was passed comes with its reasons."""
    numbers = SinkReport.read(report) if report.exists() else None
    if numbers is not None and numbers.passed is not None:
        worst = ", ".join(
            f"`{entry.path}` {entry.rule} {entry.count}" for entry in top_reasons(numbers.reasons)[:5]
        )
        return PipelineError(
            TOO_MANY_QUARANTINED,
            f"{numbers.passed.message}; nothing was written",
            f"most of them: {worst}",
            place=("maxQuarantined", *numbers.passed.place),
        )
    return error
