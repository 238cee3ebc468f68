"""Run a data pipeline on Spark: read, conform, quarantine what does not fit, write a Lance table, verify it.

Layer: pipeline.
Shape: three readers turn records into typed values. The fast ones never decide that a value is wrong: they take what is
proven to be right, and leave the rest to the next one. Only the last one gives reasons.

      JSON and GeoJSON, without                      CSV, Parquet, Lance, any Spark format;
    `coerce: text` and `nullValues`                    JSON with one of the two settings
                │                                                     │
                ▼                                                     │
    ┌───────────────────────────┐  a field whose rules                │
    │ whole-record reader       │  Spark's JSON reader                │
    │ `whole_record`:           │  does not have ──────────┐          │
    │ `from_json` for all fields│  (JSON text, a position) │          │
    └───────────┬───────────────┘                          │          │
       proven?  ├── yes: the value of every field read     │          │
                │   no: this record, each of its fields    │          │
                ▼                                          ▼          ▼
    ┌──────────────────────────────────────────────────────────────────────┐
    │ field by field (`projection`)                                        │
    └───────────┬──────────────────────────────────────────────┬───────────┘
      a list or a map of JSON, or a CSV cell                   │  a scalar; a typed column;
      that holds JSON; without `nullValues`                    │  anything with `nullValues`
                ▼                                              │
    ┌───────────────────────────┐                              │
    │ native reader             │  not proven, or a type       │
    │ `native`: one `from_json` │  without a native reading    │
    │ for this value            │ ───────────────┐             │
    └───────────┬───────────────┘                ▼             ▼
       proven: the value                ┌──────────────────────────────────────┐
                                        │ item by item (`nested`, `scalars`,   │
                                        │ `timestamps`): the value, or a reason│
                                        │ with path and rule for each mistake  │
                                        └──────────────────────────────────────┘

What each proves. The whole-record reader, for a record: the kinds of all tokens are those of the fields (one pattern over
the schema of the parsed variant; with `unexpected: reject` no other key is there), Spark's JSON reader found nothing corrupt, and
no value is null where it may not be or outside the limits of its type. The native reader: the same for one value. Item by item:
nothing is assumed of a token, each is converted from its own exact text; so this is the definition that the other two have to
agree with, and `tests/pipeline/test_whole.py` compares them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schemac.pipeline.conformed import Conformed, ConformReport, Rules, conform
    from schemac.pipeline.errors import PipelineError
    from schemac.pipeline.history import CommittedRun, runs_of
    from schemac.pipeline.job import Job
    from schemac.pipeline.library import run, write
    from schemac.pipeline.progress import State, Step
    from schemac.pipeline.run_facts import ReasonCount
    from schemac.pipeline.runner import RunReport
    from schemac.pipeline.table_sink import register_formats

__all__ = [
    "CommittedRun",
    "ConformReport",
    "Conformed",
    "Job",
    "PipelineError",
    "ReasonCount",
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
    **dict.fromkeys(("CommittedRun", "runs_of"), "history"),
    "ReasonCount": "run_facts",
    "RunReport": "runner",
    **dict.fromkeys(("State", "Step"), "progress"),
    **dict.fromkeys(("run", "write"), "library"),
    "Job": "job",
    "register_formats": "table_sink",
    "PipelineError": "errors",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used: importing this package loads neither PySpark nor Lance."""
    if name not in _HOMES:
        raise AttributeError(f"module 'schemac.pipeline' has no attribute '{name}'")
    return getattr(import_module(f"schemac.pipeline.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
