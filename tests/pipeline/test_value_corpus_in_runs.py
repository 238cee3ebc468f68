"""A run has the outcomes of the value corpus: each token, in each type and place, is written or quarantined with the reasons that stand there.

Each value of the corpus of constraints likewise, which is quarantined with the name of the constraint that it breaks.
"""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from schemac.pipeline.declaration.job import Job
from schemac.pipeline.runner import run
from schemac.rows.samples.written import json_lines
from tests.constraints import corpus as constraint_corpus
from tests.constraints.test_places import ALL, Table, alone
from tests.judging import value_corpus as corpus
from tests.pipeline.conftest import reasons_of

pytestmark = pytest.mark.spark

NOT_IN_LANCE = frozenset({"null"})
"""A column that is always null needs another storage version."""
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "text": {"coerce": "text", "nullValues": list(corpus.NULLS)},
    "berlin": {},
    "second": {"fields": {name: {"epoch": "Second"} for name in corpus._TIMES if name not in NOT_IN_LANCE}},
}
ZONES = {"berlin": "Europe/Berlin"}
PLACES = [("plain", ""), ("text", ""), ("berlin", ""), ("second", ""), ("plain", "list"), ("plain", "map"), ("plain", "struct")]  # fmt: skip
SHARE = 12
"""One token of so many goes through a short run."""


def expected(line: list[Any], field: str) -> str:
    """The outcome of a line of the corpus for a field."""
    outcomes: dict[str, str] = line[3]
    return next(outcome for outcome, names in outcomes.items() if field in names.split())


@pytest.mark.parametrize("share", [SHARE, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize(("settings", "place"), PLACES)
def test_runs_have_the_outcomes_of_the_corpus(
    spark: SparkSession, tmp_path: Path, settings: str, place: str, share: int
) -> None:
    lines = [line for line in corpus.read("tokens") if line[:2] == [settings, place]][::share]
    lines = [line for line in lines if not {"\n", "\r"} & {*line[2]}]
    fields = [field for field in corpus.fields_at(place, settings) if field.name not in NOT_IN_LANCE]
    records = {}
    for line in lines:
        for field in fields:
            value = corpus.TEXTS[place].format(line[2], line[2])
            records[f'{{"{field.name}": {value}}}'] = (field.name, line)
    (tmp_path / "in.json").write_text("".join(f"{text}\n" for text in records), encoding="utf-8")
    source = {"path": str(tmp_path / "in.json"), "format": "json", "options": {"multiLine": False}}
    if settings in ZONES:
        source["timezone"] = ZONES[settings]
    job = {"source": source, "target": {"path": str(tmp_path / "t.lance")}, **SETTINGS[settings]}
    report = run(Job.model_validate(job), pa.schema(fields), spark=spark)
    assert report.rows_in == len(records)
    reasons = reasons_of(report)
    differing = []
    for text, (name, line) in records.items():
        told = [
            corpus.told(path[len(name) :], rule, value, line[2])
            for path, rule, value in reasons.get(text, [])
        ]
        outcome = expected(line, name)
        if "; ".join(told) != ("" if outcome.startswith("=") else outcome):
            differing.append((text, told, outcome))
    assert differing == []


@pytest.mark.parametrize("share", [SHARE, pytest.param(1, marks=pytest.mark.long)])
def test_runs_have_the_verdicts_of_the_corpus_of_constraints(
    spark: SparkSession, tmp_path: Path, share: int
) -> None:
    table = Table.of(ALL[::share], 0)
    schema = table.dataset.to_arrow(metadata=True)
    values = pa.Table.from_arrays(table.written_values(), schema=schema)
    breaks = constraint_corpus.expected(table.cases, values)
    records = {}
    for row, text in enumerate(
        line for batch in values.combine_chunks().to_batches() for line in json_lines(schema, batch)
    ):
        for i, case in enumerate(table.cases):
            records[alone(text, i)] = (f"c{i}", case.kind.attribute.name, breaks[i][row])
    (tmp_path / "in.json").write_text("".join(f"{text}\n" for text in records), encoding="utf-8")
    source = {"path": str(tmp_path / "in.json"), "format": "json", "options": {"multiLine": False}}
    job = {"source": source, "target": {"path": str(tmp_path / "t.lance")}}
    report = run(Job.model_validate(job), schema, spark=spark)
    assert report.rows_in == len(records)
    reasons, compared = reasons_of(report), 0
    differing: list[Any] = []
    for text, (name, rule, is_broken) in records.items():
        told = {(path, broken) for path, broken, _ in reasons.get(text, [])}
        # A value that is none of the type is not compared.
        if (name, rule) in told or not told:
            differing += [(text, told, rule)] if ((name, rule) in told) != is_broken else []
            compared += 1
    assert differing == []
    assert compared > 0.9 * len(records)
