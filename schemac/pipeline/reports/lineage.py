"""The events of a run as OpenLineage has them, one JSON object in each line of a file.

Layer: pipeline.
Shape: `started` before anything is done, `ended` when all is; both carry one run id, so that a run that was killed shows as one
       that never ended. The file is appended to, as that of OpenLineage's own file transport.
Source: OpenLineage 2-0-2 and the versions of its facets that `SCHEMAS` names. Datasets are named by its conventions:
        namespace `file` and an absolute path, or `s3://bucket` and the key.
"""

import json
import re
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from schemac.physical.arrow import ArrowSchema
from schemac.pipeline.reports.outcome import Outcome
from schemac.rows.runs.identity import without_secrets
from schemac.version import __version__

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
    run_id: str

    @classmethod
    def new(cls, path: Path, job_name: str) -> "Lineage":
        """Name a run that begins now."""
        return cls(path, job_name, str(uuid.uuid4()))

    def started(self, at: datetime) -> None:
        """Append the event of the beginning. Raises OSError."""
        self._append(self._event("START", at, {}, [], []))

    def ended(self, outcome: Outcome, schema: ArrowSchema | None) -> None:
        """Append the event of the end, with what was read and written. Raises OSError."""
        inputs, outputs = _inputs(outcome), _outputs(outcome, schema)
        facets: dict[str, Any] = {}
        if outcome.errors or outcome.report is None:
            error_text = "; ".join(str(one) for one in outcome.errors) or f"exit code {outcome.exit_code}"
            facets = _facet("errorMessage", {"message": error_text, "programmingLanguage": "Python"})
            self._append(self._event("FAIL", outcome.ended, facets, inputs, outputs))
        else:
            self._append(self._event("COMPLETE", outcome.ended, facets, inputs, outputs))

    def _event(
        self, kind: str, at: datetime, facets: dict[str, Any], inputs: list[Any], outputs: list[Any]
    ) -> dict[str, Any]:
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


def _inputs(outcome: Outcome) -> list[dict[str, Any]]:
    if outcome.job is None:
        return []
    facets = {}
    if outcome.report is not None:
        assertions = [
            {"assertion": one.rule, "success": False, "column": one.path or None, "actual": str(one.count)}
            for one in outcome.report.reasons
        ]
        non_null = [{key: value for key, value in one.items() if value is not None} for one in assertions]
        facets = _facet("dataQualityAssertions", {"assertions": non_null}) if non_null else {}
    paths = [path for part in outcome.job.parts for path in part.source.path]
    paths += [path for join in outcome.job.joins.values() for path in join.path]
    paths += [path for table in outcome.job.references.values() if table is not None for path in table.path]
    return [{**dataset_name(path), "facets": {}, "inputFacets": facets} for path in paths]


def _outputs(outcome: Outcome, schema: ArrowSchema | None) -> list[dict[str, Any]]:
    job, report = outcome.job, outcome.report
    if job is None or report is None:
        return []
    fields = [] if schema is None else [{"name": one.name, "type": str(one.type)} for one in schema]
    outputs = [_output(report.table_path, report.table_version, report.rows_written, fields)]
    if report.quarantine_path is not None:
        version = report.quarantine_version or 0
        outputs.append(_output(report.quarantine_path, version, report.rows_quarantined, []))
    return outputs


def _output(path: str, version: int, rows: int, fields: list[dict[str, str]]) -> dict[str, Any]:
    facets = _facet("version", {"datasetVersion": str(version)})
    if fields:
        facets |= _facet("schema", {"fields": fields})
    statistics = _facet("outputStatistics", {"rowCount": rows})
    return {**dataset_name(path), "facets": facets, "outputFacets": statistics}


def _facet(label: str, content: dict[str, Any]) -> dict[str, Any]:
    place = SCHEMAS[label]
    url = f"{SPEC}/{place}.json#/$defs/{place.rpartition('/')[2]}"
    return {label: {"_producer": PRODUCER, "_schemaURL": url, **content}}
