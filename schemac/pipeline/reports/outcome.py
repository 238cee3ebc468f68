"""The outcome of one call of a pipeline, for those who did not watch: report files, OpenLineage events, OpenMetrics.

Layer: pipeline.
Shape: an `RunOutcome` in, files out, each whole or not at all, also for a run that stopped. OpenLineage events are lines that are appended
       to a file: `started` before anything is done, `ended` when all is, with one run id, so that a killed run never ends.
Units: seconds, records; timestamps are seconds since 1970-01-01 in UTC.
Source: OpenLineage 2-0-2 and the versions of its facets that `SCHEMAS` names; datasets are `file` and an absolute path, or
        `s3://bucket` and the key. OpenMetrics 1.0, for the textfile collector of Prometheus.
"""

import json
import re
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from schemac.language.physical import ArrowSchema
from schemac.pipeline.reports.run_report import RunReport, offenders_of, run_page, run_text
from schemac.project.writing import replace_file
from schemac.rows.judging.settings import ReasonCount
from schemac.rows.runs.identity import without_secrets
from schemac.rows.runs.storage import NO_STORAGE
from schemac.text.source.diagnostics import Diagnostic, envelope
from schemac.version import __version__

if TYPE_CHECKING:
    from schemac.pipeline.declaration.job import Job

REPORT_ENDINGS = (".html", ".json", ".txt")


@dataclass(frozen=True)
class RunOutcome:
    """A call of `schemac run` that has come to its end."""

    pipeline: str
    """The pipeline file, as it was named."""
    job: "Job | None"
    """None if the file could not be read."""
    report: RunReport | None
    """None if nothing was committed."""
    diagnostics: tuple[Diagnostic, ...]
    exit_code: int
    started: datetime
    ended: datetime

    @property
    def seconds(self) -> float:
        """How long it took."""
        return (self.ended - self.started).total_seconds()

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The findings that stopped it."""
        return tuple(one for one in self.diagnostics if one.is_error)

    def to_json(self) -> dict[str, Any]:
        """Give the document that `--format json` prints."""
        run = None if self.report is None else self.report.to_json()
        return envelope("run", self.diagnostics, {"run": run})


def write_report(outcome: RunOutcome, path: Path) -> None:
    """Write the report in the form of the file's name ending. Raises OSError."""
    ending = path.suffix.lower()
    if ending == ".html":
        from schemac.rows.runs.tables import runs_of  # for those who ask for a page

        storage = NO_STORAGE if outcome.job is None else outcome.job.storage_options
        offenders = () if outcome.report is None else offenders_of(outcome.report, storage)
        try:
            runs = () if outcome.job is None else runs_of(outcome.job.target.path, storage_options=storage)
        except (OSError, ValueError, ImportError):
            runs = ()  # there is no table yet, or nothing that could read it
        text = run_page(Path(outcome.pipeline).name, outcome.report, outcome.diagnostics, offenders, runs)
    elif ending == ".json":
        text = json.dumps(outcome.to_json(), ensure_ascii=False, indent=2) + "\n"
    else:
        from schemac.text.source.rendering import render_text

        text = render_text(outcome.diagnostics)
        text += "" if outcome.report is None else run_text(outcome.report) + "\n"
    replace_file(path, text.encode("utf-8", "backslashreplace"))


PRODUCER = f"https://schemac.dev/{__version__}"
SPEC = "https://openlineage.io/spec"
EVENT = f"{SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent"
SCHEMAS = {
    "schema": "facets/1-2-0/SchemaDatasetFacet",
    "version": "facets/1-0-1/DatasetVersionDatasetFacet",
    "outputStatistics": "facets/1-0-2/OutputStatisticsOutputDatasetFacet",
    "dataQualityAssertions": "facets/1-1-0/DataQualityAssertionsDatasetFacet",
    "errorMessage": "facets/1-0-1/ErrorMessageRunFacet",
    "processing_engine": "facets/1-1-1/ProcessingEngineRunFacet",
}


@dataclass(frozen=True)
class Lineage:
    """Writes the events of one run; `job_name` is the pipeline file as it was named."""

    path: Path
    job_name: str
    run_id: str = field(default_factory=lambda: str(uuid.uuid4()))

    def started(self, at: datetime) -> None:
        """Append the event of the beginning. Raises OSError."""
        self._append(self._event("START", at, {}, [], []))

    def ended(self, outcome: RunOutcome, schema: ArrowSchema | None) -> None:
        """Append the event of the end, with what was read and written. Raises OSError."""
        job, report = outcome.job, outcome.report
        outputs = []
        if job is not None and report is not None:
            fields = [] if schema is None else [{"name": one.name, "type": str(one.type)} for one in schema]
            outputs.append(_output(report.table_path, report.table_version, report.rows_written, fields))
            if report.quarantine_path is not None:
                version = report.quarantine_version or 0
                outputs.append(_output(report.quarantine_path, version, report.rows_quarantined, []))
        facets: dict[str, Any] = {}
        has_failed = bool(outcome.errors) or outcome.report is None
        if has_failed:
            error_text = "; ".join(str(one) for one in outcome.errors) or f"exit code {outcome.exit_code}"
            facets = _facet("errorMessage", {"message": error_text, "programmingLanguage": "Python"})
        kind = "FAIL" if has_failed else "COMPLETE"
        self._append(self._event(kind, outcome.ended, facets, _inputs(outcome), outputs))

    def _event(
        self, kind: str, at: datetime, facets: dict[str, Any], inputs: list[Any], outputs: list[Any]
    ) -> dict[str, Any]:
        """Return an event of OpenLineage for this run, of a kind such as START."""
        engine = _facet("processing_engine", {"name": "schemac", "version": __version__})
        return {
            "eventTime": at.astimezone(UTC).isoformat(),
            "eventType": kind,
            "producer": PRODUCER,
            "schemaURL": EVENT,
            "job": {"namespace": "schemac", "name": self.job_name, "facets": {}},
            "run": {"runId": self.run_id, "facets": {**engine, **facets}},
            "inputs": inputs,
            "outputs": outputs,
        }

    def _append(self, event: dict[str, Any]) -> None:
        """Write an event as one line at the end of the file, or leave the file as it was. Raises OSError."""
        line = f"{json.dumps(event)}\n".encode()
        with self.path.open("ab", buffering=0) as file:
            end = file.tell()
            try:
                while line:
                    line = line[file.write(line) :]
            except OSError:
                # The next event needs a line of its own.
                file.truncate(end)
                raise


def dataset_name(path: str) -> dict[str, str]:
    """Name a dataset by OpenLineage's conventions."""
    path = without_secrets(path)
    if "://" not in path:
        return {"namespace": "file", "name": str(Path(path).absolute())}
    parts = urlsplit(path)
    scheme = re.sub(r"^s3[an]$", "s3", parts.scheme)
    if scheme == "file":
        return {"namespace": "file", "name": parts.path}
    return {"namespace": f"{scheme}://{parts.netloc}", "name": parts.path.strip("/") or "/"}


def _inputs(outcome: RunOutcome) -> list[dict[str, Any]]:
    """Return the datasets that a run reads, with the broken rules as assertions; none if there is no job."""
    if outcome.job is None:
        return []
    facets = {}
    if outcome.report is not None:
        assertions = [
            {"assertion": one.rule, "success": False}
            | ({"column": one.path} if one.path else {})
            | {"actual": str(one.count)}
            for one in outcome.report.reasons
        ]
        facets = _facet("dataQualityAssertions", {"assertions": assertions}) if assertions else {}
    paths = [path for part in outcome.job.parts for path in part.source.path]
    paths += [path for join in outcome.job.joins.values() for path in join.path]
    paths += [path for table in outcome.job.references.values() if table is not None for path in table.path]
    return [{**dataset_name(path), "facets": {}, "inputFacets": facets} for path in paths]


def _output(path: str, version: int, rows: int, fields: list[dict[str, str]]) -> dict[str, Any]:
    """Return a dataset that a run has written, without a schema if it has no fields."""
    facets = _facet("version", {"datasetVersion": str(version)})
    if fields:
        facets |= _facet("schema", {"fields": fields})
    statistics = _facet("outputStatistics", {"rowCount": rows})
    return {**dataset_name(path), "facets": facets, "outputFacets": statistics}


def _facet(label: str, content: dict[str, Any]) -> dict[str, Any]:
    """Return a facet of OpenLineage under its label, with the URL of its definition."""
    place = SCHEMAS[label]
    url = f"{SPEC}/{place}.json#/$defs/{place.rpartition('/')[2]}"
    return {label: {"_producer": PRODUCER, "_schemaURL": url, **content}}


Samples = list[tuple[Mapping[str, str], float]]


def write_metrics(outcome: RunOutcome, path: Path) -> None:
    """Write the file. Raises OSError."""
    replace_file(path, metrics_text(outcome).encode())


def metrics_text(outcome: RunOutcome) -> str:
    """Write all families with their samples; a family that is not known for a run that stopped is left out."""
    lines: list[str] = []
    for label, help, samples in _families(outcome):
        if not samples:
            continue
        unit = label.rpartition("_")[2]
        lines += [f"# TYPE {label} gauge"]
        lines += [f"# UNIT {label} {unit}"] if unit in ("seconds", "records") else []
        lines += [f"# HELP {label} {_escaped(help)}"]
        for more, value in samples:
            labels = {"pipeline": outcome.pipeline, **more}
            label_text = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
            lines.append(f"{label}{{{label_text}}} {value:.15g}")
    return "\n".join([*lines, "# EOF"]) + "\n"


def _families(outcome: RunOutcome) -> Iterator[tuple[str, str, Samples]]:
    """Yield the name, help text and samples of each metric; those of records only after a commit."""
    report = outcome.report
    success = "1 if the last run was committed and its table matches its schema."
    yield "schemac_run_success", success, [({}, float(report is not None and not outcome.errors))]
    yield "schemac_run_exit_code", "Exit code of the last run.", [({}, outcome.exit_code)]
    yield "schemac_run_duration_seconds", "How long the last run took.", [({}, outcome.seconds)]
    yield "schemac_run_end_timestamp_seconds", "When the last run ended.", [({}, outcome.ended.timestamp())]
    codes: Samples = [
        ({"code": code}, count)
        for code, count in sorted(Counter(d.code for d in outcome.diagnostics).items())
    ]
    yield "schemac_run_findings", "Findings of the last run, by code.", codes
    if report is None:
        return
    repeat = "1 if the last run had been committed before; its records are those of that commit."
    yield "schemac_run_repeat", repeat, [({}, float(report.is_repeat))]
    rows = {"read": report.rows_in, "written": report.rows_written, "quarantined": report.rows_quarantined}
    records: Samples = [({"outcome": what}, count) for what, count in rows.items()]
    yield "schemac_run_records", "Records of the last run.", records
    often = "How often a field broke a rule; the most frequent ones."
    yield "schemac_run_reasons", often, _samples(report.reasons)
    warned = "How often a record that was written broke a rule that warns."
    yield "schemac_run_warnings", warned, _samples(report.warnings)
    yield "schemac_table_version", "Version of the table after the last run.", [({}, report.table_version)]


def _samples(reasons: Iterable[ReasonCount]) -> Samples:
    """Return how often each reason came."""
    return [({"field": one.path, "rule": one.rule}, one.count) for one in reasons]


def _escaped(text: str) -> str:
    """Return a text with backslashes, quotes and line feeds escaped for OpenMetrics."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
