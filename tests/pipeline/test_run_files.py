"""What a run leaves for those who did not watch: a page, metrics and lineage events, each judged by a reader that others wrote."""

import gzip
import importlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from schemac.cli.main import main
from schemac.cli.terminal import ProgressLines, WaitNotice
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.reports.outcome import SCHEMAS, Lineage, RunOutcome, dataset_name, metrics_text
from schemac.pipeline.reports.progress import WAIT_ADVICE, RunStep
from schemac.pipeline.reports.run_html import Offender, lines_of
from schemac.pipeline.reports.run_report import run_page
from schemac.pipeline.runner import RunReport
from schemac.rows.judging.settings import ReasonCount
from schemac.rows.runs.history import CommittedRun
from schemac.rows.runs.identity import RunIdentity
from schemac.text.source.catalogue import TOO_MANY_QUARANTINED
from schemac.text.source.diagnostics import Diagnostic
from tests.disk_faults import failing

NASTY = 'a "b"\\c\n<script>alert(1)</script>\x1b[31m & é'
AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
IDENTITY = RunIdentity("run-1", AT, '{"format": "json", "path": ["/in/a.json"]}', "append")
REASONS = (ReasonCount("fare", "cast", 7), ReasonCount(NASTY, "range", 3), ReasonCount("", "malformed", 1))
REPORT = RunReport(
    "run-1", IDENTITY, 100, 89, 11, REASONS, 2.5, "/out/rides.lance", 14, "/out/rides.quarantine.lance", 9, ()
)
JOB = Job.model_validate(
    {
        "source": {"path": ["/in/a.json", "s3a://bucket/in"]},
        "target": {"path": "s3://key:secret@bucket/rides.lance"},
    }
)
LIMIT = Diagnostic(
    TOO_MANY_QUARANTINED.id, TOO_MANY_QUARANTINED.slug, TOO_MANY_QUARANTINED.severity, NASTY, "p.yaml"
)
GOOD = RunOutcome(NASTY, JOB, REPORT, (), 0, AT, AT)
STOPPED = RunOutcome("p.yaml", JOB, None, (LIMIT,), 1, AT, AT)
UNREAD = RunOutcome("p.yaml", None, None, (LIMIT,), 2, AT, AT)


class Page(HTMLParser):
    """Reads a page as a browser does: its elements, and the text that a person sees."""

    VOID = frozenset({"meta", "rect"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self.elements.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: Any) -> None:
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def page_of(outcome: RunOutcome) -> Page:
    offenders = [
        Offender("items[3].price", "range", NASTY, "file:///in/a.json", NASTY, 17),
        Offender("", "malformed", None, None, None),
    ]
    runs = [CommittedRun(IDENTITY, number, AT, 10 * number, number) for number in range(60, 0, -1)]
    return Page(
        run_page(
            outcome.pipeline,
            outcome.report,
            outcome.diagnostics,
            offenders if outcome.report else (),
            runs,
        )
    )


@pytest.mark.parametrize("outcome", [GOOD, STOPPED, UNREAD], ids=["good", "stopped", "unread"])
def test_page_is_one_file_without_foreign_markup(outcome: RunOutcome) -> None:
    page = page_of(outcome)
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "link", "img", "iframe", "object", "a"}
    for _, attributes in page.elements:
        assert not {"src", "href", "onclick", "onload"} & set(attributes)
    text = "".join(page.texts)
    assert "<script>alert(1)</script>" in text
    assert "\x1b" not in text
    assert "prefers-color-scheme: dark" in text
    assert "url(" not in text
    assert "@import" not in text
    assert ("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}) in page.elements
    assert sum(tag == "rect" for tag, _ in page.elements) == 2 * 40


def test_page_tells_counts_reasons_and_places() -> None:
    text = "".join(page_of(GOOD).texts)
    for told in (
        "100",
        "89",
        "11 (11.00%)",
        "fare",
        "file:///in/a.json, line 17",
        "the record",
        "items[3].price",
    ):
        assert told in text
    assert "Nothing was committed" in "".join(page_of(STOPPED).texts)


@pytest.mark.parametrize("outcome", [GOOD, STOPPED, UNREAD], ids=["good", "stopped", "unread"])
def test_metrics_are_read_by_the_official_parsers(outcome: RunOutcome) -> None:
    parser = importlib.import_module("prometheus_client.openmetrics.parser")
    classic = importlib.import_module("prometheus_client.parser")
    text = metrics_text(outcome)
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in parser.text_string_to_metric_families(text):
        for sample in family.samples:
            labels = {key: held for key, held in sample.labels.items() if key != "pipeline"}
            assert sample.labels["pipeline"] == outcome.pipeline
            found.setdefault(sample.name, {})[tuple(labels.values())] = sample.value
    samples = sum(len(family.samples) for family in classic.text_string_to_metric_families(text))
    assert samples == sum(map(len, found.values()))
    assert found["schemac_run_exit_code"] == {(): outcome.exit_code}
    assert found["schemac_run_end_timestamp_seconds"] == {(): AT.timestamp()}
    assert found["schemac_run_success"] == {(): float(outcome is GOOD)}
    if outcome is GOOD:
        assert found["schemac_run_records"] == {("read",): 100, ("written",): 89, ("quarantined",): 11}
        assert found["schemac_run_reasons"] == {(one.path, one.rule): one.count for one in REASONS}
    else:
        assert found["schemac_run_findings"] == {("SC657",): 1}


@pytest.mark.parametrize("outcome", [GOOD, STOPPED, UNREAD], ids=["good", "stopped", "unread"])
def test_events_are_those_of_the_official_client(outcome: RunOutcome, tmp_path: Path) -> None:
    client = importlib.import_module("openlineage.client.event_v2")
    serde = importlib.import_module("openlineage.client.serde").Serde
    lineage = Lineage(tmp_path / "events.jsonl", outcome.pipeline)
    lineage.started(AT)
    lineage.ended(outcome, pa.schema([("fare", pa.float64())]))
    events = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert [one["eventType"] for one in events] == ["START", "COMPLETE" if outcome is GOOD else "FAIL"]
    assert len({one["run"]["runId"] for one in events}) == 1
    assert "secret" not in str(events)
    for told in events:
        again = client.RunEvent(
            eventTime=told["eventTime"],
            producer=told["producer"],
            eventType=client.RunState(told["eventType"]),
            job=client.Job(**told["job"]),
            run=client.Run(told["run"]["runId"], facets(told["run"]["facets"])),
            inputs=[dataset(client.InputDataset, one, "inputFacets") for one in told["inputs"]],
            outputs=[dataset(client.OutputDataset, one, "outputFacets") for one in told["outputs"]],
        )
        assert without_blanks(json.loads(serde.to_json(again))) == without_blanks(told)


def facets(told: dict[str, Any]) -> dict[str, Any]:
    """Make the facets of the official client, whose classes add the address of their schema."""
    generated = "openlineage.client.generated"
    modules = {
        "schema": "schema_dataset",
        "version": "dataset_version_dataset",
        "outputStatistics": "output_statistics_output_dataset",
        "dataQualityAssertions": "data_quality_assertions_dataset",
        "errorMessage": "error_message_run",
        "processing_engine": "processing_engine_run",
    }
    made = {}
    for label, content in told.items():
        module = importlib.import_module(f"{generated}.{modules[label]}")
        kind = getattr(module, SCHEMAS[label].rpartition("/")[2])
        values = {key: held for key, held in content.items() if not key.startswith("_")}
        if label == "schema":
            values["fields"] = [module.SchemaDatasetFacetFields(**one) for one in values["fields"]]
        if label == "dataQualityAssertions":
            values["assertions"] = [module.Assertion(**one) for one in values["assertions"]]
        made[label] = kind(**values, producer=content["_producer"])
    return made


def dataset(kind: Any, told: dict[str, Any], more: str) -> Any:
    return kind(told["namespace"], told["name"], facets(told[more]), facets=facets(told["facets"]))


def without_blanks(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: without_blanks(held) for key, held in value.items()}
        return {key: held for key, held in kept.items() if held not in (None, {}, [])}
    return [without_blanks(one) for one in value] if isinstance(value, list) else value


def test_datasets_are_named_by_the_conventions_of_openlineage() -> None:
    assert dataset_name("/in/a.json") == {"namespace": "file", "name": "/in/a.json"}
    assert dataset_name("file:///in/a.json") == {"namespace": "file", "name": "/in/a.json"}
    assert dataset_name("s3a://user:secret@bucket/in/a") == {"namespace": "s3://bucket", "name": "in/a"}
    assert dataset_name("gs://bucket") == {"namespace": "gs://bucket", "name": "/"}


def test_records_are_found_at_their_lines(tmp_path: Path) -> None:
    lines = ['{"a": 10}', '  {"a": 1}', '{"a": {"b": 1}}', '{"é": 2}', '{"b": 1}', '[{"c": 1}, {"c": 2}]']
    text = "\r\n".join(lines)
    wanted = {'{"a": 1}': 2, '{"é": 2}': 4, '{"b": 1}': 5, '{"c": 2}': 6}
    for name, content in (
        ("a.json", text.encode()),
        ("b.json.gz", gzip.compress(text.encode())),
        ("c d.json", text.encode("iso-8859-1")),
    ):
        (tmp_path / name).write_bytes(content)
        found = lines_of((tmp_path / name).as_uri(), {*wanted, '{"not": "there"}'})
        assert found == wanted
    assert lines_of("s3://bucket/a.json", set(wanted)) == {}
    assert lines_of("file:///gone.json", set(wanted)) == {}


@pytest.mark.parametrize(
    "words",
    [
        ["--report", "report.pdf"],
        ["--report", "gone/report.html"],
        ["--metrics", "gone/m.prom"],
        ["--lineage", "."],
        ["--dry-run", "--report", "report.html"],
    ],
)
def test_files_that_cannot_be_written_are_told_before_the_run(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "p.yaml", *words]) == 2
    assert words[-1] in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_machine_without_spark_gets_its_files_too(tmp_path: Path) -> None:
    hidden = "import sys; sys.modules['pyspark'] = None; sys.modules['lance'] = None"
    script = f"{hidden}; from schemac.cli.main import main; sys.exit(main(sys.argv[1:]))"
    files = ["--report", "r.html", "--report", "r.json", "--metrics", "m.prom", "--lineage", "l.jsonl"]
    words = [sys.executable, "-c", script, "run", "p.yaml", *files]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "SC681" in "".join(Page((tmp_path / "r.html").read_text()).texts)
    assert 'schemac_run_findings{pipeline="p.yaml",code="SC681"} 1' in (tmp_path / "m.prom").read_text()
    assert json.loads((tmp_path / "r.json").read_text())["run"] is None
    assert len((tmp_path / "l.jsonl").read_text().splitlines()) == 2


@pytest.mark.parametrize("stays_full", [False, True], ids=["once", "full"])
def test_files_of_a_run_fail_at_every_write(
    stays_full: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command says so, each file is whole or not there, and an event is a line or nothing."""
    monkeypatch.chdir(tmp_path)
    reports = [word for ending in ("html", "json", "txt") for word in ("--report", f"r.{ending}")]
    words = ["run", "p.yaml", *reports, "--metrics", "m.prom", "--lineage", "l.jsonl"]
    with failing(tmp_path) as disk:
        assert main(words) == 1
    names = {path.name for path in tmp_path.iterdir()}
    for n in range(1, disk.writes + 1):
        for path in tmp_path.iterdir():
            path.unlink()
        with failing(tmp_path, n, stays_full=stays_full):
            assert main(words) in {1, 2}
        assert "no space left" in capsys.readouterr().err
        assert {path.name for path in tmp_path.iterdir()} <= names
        assert main(words) == 1
        assert {path.name for path in tmp_path.iterdir()} == names
        events = [json.loads(line) for line in (tmp_path / "l.jsonl").read_text().splitlines()]
        assert [event["eventType"] for event in events[-2:]] == ["START", "FAIL"]


def test_a_repeated_run_is_told_as_such() -> None:
    again = replace(REPORT, is_repeat=True)
    text = "".join(Page(run_page("p.yaml", again)).texts)
    assert "Already committed as version 14" in text
    assert "nothing was written now" in again._repr_html_()
    assert "schemac_run_repeat{" in metrics_text(replace(GOOD, report=again))


def test_lines_of_progress_tell_each_step_once(capsys: pytest.CaptureFixture[str]) -> None:
    lines = ProgressLines()
    for step, records in (
        (RunStep.WAITING, 0),
        (RunStep.WRITING, 0),
        (RunStep.WRITING, 5),
        (RunStep.COMMITTING, 1000),
    ):
        lines.notify(step.value, records, records / 2)
    said = [line.partition(" ")[2] for line in capsys.readouterr().err.splitlines()]
    assert said == [
        RunStep.WAITING.value,
        RunStep.WRITING.value,
        f"{RunStep.COMMITTING.value}: 1,000 records, 500 a second",
    ]


def test_say_once_that_a_run_waits_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = [0.0]
    monkeypatch.setattr("schemac.cli.terminal.time.monotonic", lambda: clock[0])
    notice = WaitNotice()

    def look(seconds: float, is_waiting: bool) -> None:
        clock[0] = seconds
        notice.look(is_waiting, WAIT_ADVICE)

    for seconds, is_waiting in ((0, True), (50, True), (55, False), (60, True), (119, True)):
        look(seconds, is_waiting)
    assert not capsys.readouterr().err
    for seconds in (121, 200, 300):
        look(seconds, True)
    said = " ".join(capsys.readouterr().err.split())
    assert said.count("no executor has taken a task for 60 seconds") == 1
    assert "see the logs of the executors" in said


@pytest.mark.spark
def test_a_run_writes_its_files_also_where_it_stops(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rides.yaml").write_text("fields:\n  - {name: fare, type: Float64}\n")
    (tmp_path / "rides.json").write_text('{"fare": 1.5}\n\n{"fare": "high"}\n{"fare": "<b>"}\n{"fare": 2}\n')
    pipeline = "source: {path: rides.json}\nschema: rides.yaml\ntarget: {path: rides.lance, mode: append}\n"
    (tmp_path / "p.yaml").write_text(pipeline)
    files = ["--report", "r.html", "--report", "r.json", "--report", "r.txt"]
    more = ["--metrics", "m.prom", "--lineage", "l.jsonl", "--progress", "plain"]
    assert main(["run", "p.yaml", *files, *more]) == 0
    said = capsys.readouterr()
    assert (tmp_path / "r.txt").read_text() == said.out
    steps = [line.partition(" ")[2] for line in said.err.splitlines()]
    assert steps[0] == "looking at the table"
    assert steps[-1].startswith("comparing the table with its artifact")
    text = "".join(Page((tmp_path / "r.html").read_text()).texts)
    assert "rides.json, line 3" in text
    assert '{"fare": "<b>"}' in text
    assert json.loads((tmp_path / "r.json").read_text())["run"]["records"]["quarantined"] == 2
    assert 'schemac_run_records{pipeline="p.yaml",outcome="written"} 2' in (tmp_path / "m.prom").read_text()
    # The next run stops before Spark: its files say so, and the page still has the run before.
    (tmp_path / "p.yaml").write_text(pipeline.replace("append", "create"))
    (tmp_path / "rides.json").write_text('{"fare": 3}\n')
    assert main(["run", "p.yaml", *files, *more]) == 1
    text = "".join(Page((tmp_path / "r.html").read_text()).texts)
    assert "SC651" in text
    assert "Runs of this table" in text
    assert "schemac_run_success{" in (tmp_path / "m.prom").read_text()
    assert 'schemac_run_success{pipeline="p.yaml"} 0' in (tmp_path / "m.prom").read_text()
    events = [json.loads(line) for line in (tmp_path / "l.jsonl").read_text().splitlines()]
    assert [one["eventType"] for one in events] == ["START", "COMPLETE", "START", "FAIL"]
    assert events[1]["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == 2
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == sorted(
        ["rides.yaml", "rides.json", "p.yaml", "r.html", "r.json", "r.txt", "m.prom", "l.jsonl"]
    )
