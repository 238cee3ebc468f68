"""Run a data pipeline on Spark: read, conform, quarantine what does not fit, write a Lance table, verify it.

Layer: pipeline.
Rooms: `library`, `stream` and `runner` put them together; CONTRIBUTING has a table of them in the order of their imports.
Shape: a run settles records of text in the tasks that read them, wherever nothing about them needs Spark (`settling`):

      a piece of a file (`pieces`, `cutting`)
                │
                ▼
    ┌───────────────────────────┐  proven   ┌─────────────────────────────┐
    │ batch reader: a proof     │ ────────▶ │ packed rows: thousands of   │
    │ over the text, Arrow's    │           │ records in one row of Spark │ ───▶ the sink unpacks them
    │ parsers                   │           │ (`spark.packed`)            │
    └───────────┬───────────────┘           └─────────────▲───────────────┘
                │ not proven                              │ fits
                ▼                                         │
    ┌───────────────────────────┐ ────────────────────────┘
    │ the judge in Python       │
    │ (`schemac.judging`)       │ ───▶ a row with every reason ───▶ the quarantine
    └───────────────────────────┘

Where single records matter (keys, expressions, constraints, columns of folders, formats of Spark, a DataFrame) every record is a row,
and where the judge does not know a field (a date pattern, UUIDs), what is not proven is one.

Three readers turn such rows into typed values. The fast ones never decide that a value is wrong: they take what is
proven to be right, and leave the rest to the next one. Only the last one gives reasons.

      JSON, GeoJSON and CSV with one header,        Parquet, Lance, any Spark format; `nullValues`;
      records as text                               JSON with `coerce: text`; other dialects of CSV
                │                                                     │
                ▼                                                     │
    ┌───────────────────────────┐  a field that it cannot             │
    │ batch reader              │  read (JSON text, a                 │
    │ `batch_reader`: Arrow's   │  position of a list)                │
    │ parsers, in Python        │ ─────────────────────────┐          │
    └───────────┬───────────────┘                          │          │
       proven?  ├── yes: the value of every field read     │          │
                │   no: this record, each of its fields    │          │
                ▼                                          ▼          ▼
    ┌──────────────────────────────────────────────────────────────────────┐
    │ field by field (`projection`)                                        │
    └───────────┬──────────────────────────────────────────────┬───────────┘
      a list or a map of JSON, or a CSV cell                   │  a scalar; anything with `nullValues`;
      that holds JSON; a typed list, map or                    │  a typed column with another type
      struct of the field's own type                           │
                ▼                                              │
    ┌───────────────────────────┐                              │
    │ native reader             │  not proven, or a type       │
    │ `native`: one `from_json`;│  without a native reading    │
    │ `typed_values`: no change │ ───────────────┐             │
    └───────────┬───────────────┘                ▼             ▼
       proven: the value                ┌──────────────────────────────────────┐
                                        │ item by item (`nested`, `scalars`,   │
                                        │ `timestamps`): the value, or a reason│
                                        │ with path and rule for each mistake  │
                                        └──────────────────────────────────────┘

What each proves. The batch reader, for a record: one pattern over its text shows that every value is a token of the kind, and in
a spelling, that its field takes (`forms`); Arrow's parser refuses wrong syntax and keys that stand twice; no value is null
where it may not be or outside the limits of its type (`parts`). The native reader: the same for one value, by the schema of
a variant; for a typed one by its type. Item by item: nothing is assumed of a token, each is converted from its own exact
text; so this is the definition that the other two have to agree with, and `tests/pipeline/test_batch_reader.py` and
`test_batch_records.py` compare them.

The way of a batch, in `batch_reading`: `batch_reader` (Spark calls it) → `json_batches` or `csv_batches` → `parts` → `forms`;
`learning` finds keys that no field takes, `placing` puts the values back where their records stand.

The judge in Python says of a record what item by item says; `tests/pipeline/test_judge.py` compares them, and
`test_batch_records.py` compares runs that settle records with runs that do not.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schemac.pipeline.conformed import Conformed, ConformReport, Rules, conform
    from schemac.pipeline.declaration.job import Job
    from schemac.pipeline.errors import PipelineError
    from schemac.pipeline.library import run, write
    from schemac.pipeline.reports.progress import State, Step
    from schemac.pipeline.reports.run_facts import ReasonCount
    from schemac.pipeline.reports.run_report import RunReport
    from schemac.pipeline.reruns.history import CommittedRun, runs_of
    from schemac.pipeline.reruns.replay import Replay
    from schemac.pipeline.writing.table_sink import register_formats

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
    **dict.fromkeys(("run", "write"), "library"),
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
