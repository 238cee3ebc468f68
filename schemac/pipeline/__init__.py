"""Run a data pipeline on Spark: read, conform, quarantine what does not fit, write a Lance table, verify it.

Layer: pipeline.
Rooms: `library`, `stream` and `runner` put them together; the contracts of import-linter in pyproject.toml have them in the order of
their imports.
Shape: the way of a record of JSON to the table. Spark brings batches and takes them away; `schemac.rows` alone says what a value is.

1. `reading` lists the files and cuts them into pieces; a task reads the lines of its pieces, and puts those of small files together: a
   `RecordBatch` of texts, of their files, and of what is wrong with their bytes (`reading.cutting`).
2. `record_tasks.RecordTask` gives each batch to the one `rows.validation.validator`.
3. `rows.judging.json_proofs` takes the records apart into a column of tokens for each field, as `reading.csv_grammar` takes cells.
   A record that its decoder refuses, or in which a key may stand twice, is parsed by itself (`rows.judging.tokens`).
4. Each column is read for its field: a proof takes nearly all values with Arrow's kernels (`text_proofs`; `column_proofs` for columns that
   have a type), the exact reader of the field (`rows.judging.judge`) takes every other one, and gives the reasons.
5. `rows.validation` evaluates constraints over the columns, once for the whole batch.
6. Good records leave the task packed, thousands in one row (`spark.packed`), each of the others is a row with every reason.
7. Records of other sources come to the same task as columns: rows of Parquet where they are read; frames, tables, streams, and
   what Spark computes beside a record, such as expressions, by `mapInArrow`. `conforming.validation` plans which, `run --explain` tells it.
8. `conforming` joins the sources; what needs several records (keys, unique fields, references) is SQL over rows that are typed.
9. `writing` brings good records to the exact types of the table and stages their fragments; the others go to the quarantine.
10. The driver commits the quarantine and then the table, each once, and `reports` counts what came in and where it is.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schemac.pipeline.conformed import Conformed as Conformed
    from schemac.pipeline.conformed import ConformReport as ConformReport
    from schemac.pipeline.conformed import Rules as Rules
    from schemac.pipeline.conformed import conform as conform
    from schemac.pipeline.declaration.job import Job as Job
    from schemac.pipeline.errors import PipelineError as PipelineError
    from schemac.pipeline.library import fill_columns as fill_columns
    from schemac.pipeline.library import replay as replay
    from schemac.pipeline.library import run as run
    from schemac.pipeline.library import write as write
    from schemac.pipeline.reports.progress import RunState as RunState
    from schemac.pipeline.reports.progress import RunStep as RunStep
    from schemac.pipeline.reports.run_report import RunReport as RunReport
    from schemac.pipeline.writing.table_sink import register_formats as register_formats
    from schemac.rows.judging.settings import ReasonCount as ReasonCount
    from schemac.rows.runs.history import CommittedRun as CommittedRun
    from schemac.rows.runs.identity import Replay as Replay
    from schemac.rows.runs.tables import runs_of as runs_of

_HOMES = {
    **dict.fromkeys(("Conformed", "ConformReport", "Rules", "conform"), "pipeline.conformed"),
    "CommittedRun": "rows.runs.history",
    "runs_of": "rows.runs.tables",
    "ReasonCount": "rows.judging.settings",
    "Replay": "rows.runs.identity",
    "RunReport": "pipeline.reports.run_report",
    **dict.fromkeys(("RunState", "RunStep"), "pipeline.reports.progress"),
    **dict.fromkeys(("fill_columns", "replay", "run", "write"), "pipeline.library"),
    "Job": "pipeline.declaration.job",
    "register_formats": "pipeline.writing.table_sink",
    "PipelineError": "pipeline.errors",
}
__all__ = sorted(_HOMES)  # noqa: PLE0605  each has its home above


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used: importing this package loads neither PySpark nor Lance."""
    if name not in _HOMES:
        raise AttributeError(f"module 'schemac.pipeline' has no attribute '{name}'")
    from schemac.text.source.files import extra_named  # for start-up time

    with extra_named():
        return getattr(import_module(f"schemac.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
