"""Run a data pipeline on Spark: read, conform, quarantine what does not fit, write a Lance table, verify it.

Layer: pipeline.
Rooms: `library`, `stream` and `runner` put them together; CONTRIBUTING has a table of them in the order of their imports.
Shape: the way of a record to the table. What fits, and why the rest does not, `schemac.rows.judging` alone says; Spark carries batches to it.

      a piece of a file (`pieces`, `cutting`),      a row of a frame, of Lance, of any Spark format; what Spark
      where nothing but its text is needed          computes beside a record: expressions, cells of CSV, folders
                │                                                     │ `mapInArrow`
                ▼                                                     ▼
    ┌──────────────────────────────────────────────────────────────────────┐
    │ a task (`batch_reading.record_task`), a batch of Arrow at a time     │
    │ texts: the sieve proves most records with a pattern and Arrow's      │
    │ parsers; the others are read one by one (`judging.judge`)            │
    │ columns: a quick proof for all rows (`judging.proofs`), exact        │
    │ reading for the rest (`judging.typed_values`)                        │
    │ constraints: Arrow's functions over the values (`validation`)        │
    └───────────┬──────────────────────────────────────────────┬───────────┘
        good    │ packed: thousands of records in one row      │ a row with every reason
                │ (`spark.packed`), or rows where somebody     │
                ▼ compares them                                ▼
      keys, unique fields, references: SQL over typed rows, then the sink and the quarantine

`conforming.validation.Validation` plans it: where each field is read, and which task reads it; `run --explain FIELD` tells it.

The sieve, for a record: one pattern over its text shows that every value is a token of the kind, and in a spelling, that its field takes
(`forms`); Arrow's parser refuses wrong syntax and keys that stand twice; no value is null where it may not be or outside the limits of its
type (`parts`). It never decides that a value is wrong. `tests/pipeline/sieved.py` holds it against reading one by one, and
`tests/judging/corpus` says what values are. In `batch_reading`: `sieve` → `json_batches` or `csv_batches` → `parts` → `forms`; `learning`
finds keys that no field takes, `placing` puts the values back where their records stand.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schemac.pipeline.conformed import Conformed, ConformReport, Rules, conform
    from schemac.pipeline.declaration.job import Job
    from schemac.pipeline.errors import PipelineError
    from schemac.pipeline.library import fill_columns, run, write
    from schemac.pipeline.reports.progress import State, Step
    from schemac.pipeline.reports.run_facts import ReasonCount
    from schemac.pipeline.reports.run_report import RunReport
    from schemac.pipeline.reruns.history import CommittedRun, runs_of
    from schemac.pipeline.writing.table_sink import register_formats
    from schemac.rows.runs.request import Replay

__all__ = [
    "CommittedRun",
    "ConformReport",
    "Conformed",
    "Job",
    "PipelineError",
    "ReasonCount",
    "Replay",
    "Rules",
    "RunReport",
    "State",
    "Step",
    "conform",
    "fill_columns",
    "register_formats",
    "run",
    "runs_of",
    "write",
]

_HOMES = {
    **dict.fromkeys(("Conformed", "ConformReport", "Rules", "conform"), "conformed"),
    **dict.fromkeys(("CommittedRun", "runs_of"), "reruns.history"),
    "ReasonCount": "reports.run_facts",
    "Replay": "reruns.replay",
    "RunReport": "reports.run_report",
    **dict.fromkeys(("State", "Step"), "reports.progress"),
    **dict.fromkeys(("fill_columns", "run", "write"), "library"),
    "Job": "declaration.job",
    "register_formats": "writing.table_sink",
    "PipelineError": "errors",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used: importing this package loads neither PySpark nor Lance."""
    if name not in _HOMES:
        raise AttributeError(f"module 'schemac.pipeline' has no attribute '{name}'")
    return getattr(import_module(f"schemac.pipeline.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
