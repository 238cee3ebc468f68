"""The numbers of a run as OpenMetrics text, for the textfile collector of Prometheus and whoever reads the same.

Layer: pipeline.
Source: OpenMetrics 1.0; names and units as its section on naming asks for them.
Units: seconds, records; timestamps are seconds since 1970-01-01 in UTC.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from schemac.pipeline.reports.outcome import Outcome
from schemac.project.writing import replace_file

Samples = list[tuple[Mapping[str, str], float]]


def write_metrics(outcome: Outcome, path: Path) -> None:
    """Write the file. Raises OSError."""
    replace_file(path, metrics_text(outcome).encode())


def metrics_text(outcome: Outcome) -> str:
    """Write all families with their samples; a family that is not known for a run that stopped is left out."""
    lines = []
    for label, help, samples in _families(outcome):
        unit = label.rpartition("_")[2]
        lines += [f"# TYPE {label} gauge"]
        lines += [f"# UNIT {label} {unit}"] if unit in ("seconds", "records") else []
        lines += [f"# HELP {label} {_escaped(help)}"]
        lines += [
            f"{label}{_labels({'pipeline': outcome.pipeline, **more})} {value:.15g}"
            for more, value in samples
        ]
    return "\n".join([*lines, "# EOF"]) + "\n"


def _families(outcome: Outcome) -> Iterator[tuple[str, str, Samples]]:
    yield (
        "schemac_run_success",
        "1 if the last run was committed and its table matches its schema.",
        [({}, float(outcome.report is not None and not outcome.errors))],
    )
    yield "schemac_run_exit_code", "Exit code of the last run.", [({}, outcome.exit_code)]
    yield "schemac_run_duration_seconds", "How long the last run took.", [({}, outcome.seconds)]
    yield "schemac_run_end_timestamp_seconds", "When the last run ended.", [({}, outcome.ended.timestamp())]
    codes = sorted({one.code for one in outcome.diagnostics})
    if codes:
        counts: Samples = [
            ({"code": code}, sum(one.code == code for one in outcome.diagnostics)) for code in codes
        ]
        yield "schemac_run_findings", "Findings of the last run, by code.", counts
    report = outcome.report
    if report is None:
        return
    repeat = "1 if the last run had been committed before; its records are those of that commit."
    yield "schemac_run_repeat", repeat, [({}, float(report.is_repeat))]
    families = (
        ("read", report.rows_in),
        ("written", report.rows_written),
        ("quarantined", report.rows_quarantined),
    )
    yield (
        "schemac_run_records",
        "Records of the last run.",
        [({"outcome": what}, count) for what, count in families],
    )
    reasons: Samples = [({"field": one.path, "rule": one.rule}, one.count) for one in report.reasons]
    if reasons:
        yield "schemac_run_reasons", "How often a field broke a rule; the most frequent ones.", reasons
    warnings: Samples = [({"field": one.path, "rule": one.rule}, one.count) for one in report.warnings]
    if warnings:
        yield "schemac_run_warnings", "How often a record that was written broke a rule that warns.", warnings
    yield "schemac_table_version", "Version of the table after the last run.", [({}, report.table_version)]


def _labels(labels: Mapping[str, str]) -> str:
    return "{" + ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items()) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
