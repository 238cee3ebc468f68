"""`schemac plan`: the steps that a change takes, and what they cost.

Layer: cli.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from schemac.attributes import own, paimon
from schemac.cli.output import add_connector, exit_code, say, show
from schemac.cli.planning import (
    OF_PAIMON,
    add_dataset,
    add_rounding,
    is_paimon,
    open_locked,
    paimon_text,
    spark_text,
    steps_text,
    version_side,
)
from schemac.cli.terminal import put, put_json
from schemac.engines.lance.tables.checks import refuse_rounding
from schemac.engines.lance.tables.live_table import LanceTable, open_table
from schemac.engines.lance.tables.plan import plan
from schemac.engines.paimon.tables.live_table import PaimonTable, open_paimon_table
from schemac.engines.paimon.tables.plan import plan_paimon
from schemac.engines.paimon.view import errors_of
from schemac.engines.spark.plan import plan_spark
from schemac.engines.spark.versions import NEWEST_KNOWN, Connector
from schemac.evolution.side import Pair, Side, pair
from schemac.identity.lock import LockedDataset
from schemac.project.compile import speaks_of
from schemac.project.configuration import Project
from schemac.source.catalogue import REFUSED_CHANGE, UNUSABLE_TABLE
from schemac.source.diagnostic import Severity
from schemac.source.render.json import render_json
from schemac.source.report import Report
from schemac.source.suggest import one_of

ENGINES = ("lance", "paimon", "spark")
"""Engines that keep tables, in the order in which their plans are printed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_dataset(parser)
    add_rounding(parser)
    parser.add_argument(
        "--table", metavar="PATH", help="a Lance table or a Paimon table's folder, as it is now"
    )
    parser.add_argument("--from", dest="old", type=int, metavar="N", help="plan from this locked version")
    parser.add_argument("--to", dest="new", type=int, metavar="N", help="to this one (default: the newest)")
    parser.add_argument(
        "--engine",
        action="append",
        choices=ENGINES,
        metavar="NAME",
        help=f"plan for this engine only; may be repeated ({', '.join(ENGINES)}; default: that of the table, else the"
        " project's targets)",
    )
    add_connector(parser)


def run(options: argparse.Namespace) -> int:
    """Plan; exit with 1 where an engine refuses."""
    report = Report()
    opened = open_locked(options, report)
    made = _Made()
    if opened is not None:
        _plan(*opened, options, made, report)
    diagnostics = report.diagnostics
    if options.format == "json" and made.document:
        found = json.loads(render_json(diagnostics))["diagnostics"] if diagnostics else []
        document = {**made.document, **({"diagnostics": found} if found else {})}
        put_json(document)
    else:
        put("\n".join(made.lines)) if made.lines and options.format == "text" else None
        show(diagnostics, options) if options.format == "text" or report.has_errors else None
    say(made.summary, options) if made.summary else None
    return exit_code(diagnostics, options)


@dataclass
class _Made:
    """What is printed, for people and for programs."""

    lines: list[str] = field(default_factory=list)
    document: dict[str, Any] = field(default_factory=dict)
    summary: str = ""

    def add(self, title: str, text: str, document: dict[str, Any]) -> None:
        """The plan of one engine."""
        self.lines += [title, text]
        self.document |= document


def _plan(
    project: Project, locked: LockedDataset, options: argparse.Namespace, made: _Made, report: Report
) -> None:
    new = version_side(locked, options.new, report)
    if new is None:
        return
    if options.table is not None:
        _plan_table(options, project, locked, new, made, report)
        return
    assert locked.newest is not None
    wanted = options.old if options.old is not None else max(1, locked.newest.number - 1)
    old = version_side(locked, wanted, report)
    if old is None:
        return
    made.lines.append(f"{locked.name}: {old.label} → {new.label}")
    engines = _engines(project, new, options.engine)
    if "lance" not in engines:
        refuse_rounding(options.rounded, "no Lance table is planned for", report)
    if "lance" in engines:
        _plan_lance(LanceTable.imagined(old), new, options, made, "Lance", report)
    if "paimon" in engines:
        _plan_paimon_versions(old, locked, new, made, report)
    if "spark" in engines:
        sides = pair(old, new)
        _plan_spark(sides, _connector(options, project), made, report, is_alone=engines == ["spark"])


def _connector(options: argparse.Namespace, project: Project) -> Connector:
    return Connector(options.lance_spark or project.configuration.lance_spark or NEWEST_KNOWN)


def _plan_table(
    options: argparse.Namespace,
    project: Project,
    locked: LockedDataset,
    new: Side,
    made: _Made,
    report: Report,
) -> None:
    """From a table as it is, for its own engine or for those that were asked for."""
    path: str = options.table
    asked: Sequence[str] | None = options.engine
    own_engine = "paimon" if is_paimon(path) else "lance"
    possible = ("paimon",) if own_engine == "paimon" else ("lance", "spark")
    engines = [engine for engine in ENGINES if engine in (asked or (own_engine,))]
    for engine in engines:
        if engine not in possible:
            report.add(
                UNUSABLE_TABLE,
                f"{path} is no table that {engine} could change",
                file=path,
                help=f"it can be planned for {one_of(possible)}",
            )
    if report.has_errors:
        return
    if own_engine == "paimon":
        refuse_rounding(options.rounded, OF_PAIMON, report)
        paimon_table = open_paimon_table(path, locked, report)
        if paimon_table is not None:
            _plan_paimon(paimon_table, locked, new, made, report)
        return
    table = open_table(path, locked, report)
    title = f"{locked.name}: {path} → {new.label}"
    if table is not None and "lance" in engines:
        _plan_lance(table, new, options, made, title, report)
    if table is not None and "spark" in engines:
        if engines == ["spark"]:
            made.lines.append(title)
        sides = pair(table.side, new)
        _plan_spark(sides, _connector(options, project), made, report, is_alone=engines == ["spark"])


def _engines(project: Project, new: Side, asked: Sequence[str] | None) -> list[str]:
    """Those that were asked for; Paimon otherwise only where somebody speaks of it."""
    configuration, dataset = project.configuration, new.dataset
    wanted = asked or own.TARGETS_OF.read(dataset.schema.extra) or configuration.targets
    is_named = asked or "targets" in configuration.model_fields_set or speaks_of(paimon.DOMAIN, dataset)
    return [engine for engine in ENGINES if engine in wanted and (is_named or engine != "paimon")]


def _plan_lance(
    table: LanceTable, new: Side, options: argparse.Namespace, made: _Made, title: str, report: Report
) -> None:
    found = plan(table, new, report, frozenset(options.rounded))
    if found is None:
        return
    text = steps_text(found.steps) if found.steps else "  nothing to do"
    made.add(title, text, {"steps": [step.to_json() for step in found.steps]})
    made.summary = f"{len(found.steps)} step{'s' if len(found.steps) != 1 else ''}"


def _plan_paimon_versions(old: Side, locked: LockedDataset, new: Side, made: _Made, report: Report) -> None:
    """Between two versions."""
    errors = errors_of(old) or errors_of(new)
    if errors:
        side = old if errors_of(old) else new
        reason = f"Paimon cannot hold {side.label}: {errors[0].message}"
        report.add(REFUSED_CHANGE, reason, file=side.label, path=errors[0].path, help=errors[0].help)
        return
    _plan_paimon(PaimonTable.imagined(old), locked, new, made, report)


def _plan_paimon(table: PaimonTable, locked: LockedDataset, new: Side, made: _Made, report: Report) -> None:
    found = plan_paimon(table, locked, new, report)
    if found is None:
        return
    text = paimon_text(found)
    for step in found.steps:
        text += f"\n  {step.file}:\n{step.schema.to_text()}"
    title = (
        "Paimon"
        if table.folder is None
        else f"{locked.name}: {table.name} ({table.side.label}) → {new.label}"
    )
    made.add(title, text, {"paimon": {"steps": [step.to_json() for step in found.steps]}})


def _plan_spark(sides: Pair, connector: Connector, made: _Made, report: Report, *, is_alone: bool) -> None:
    """What Spark has no statement for is an error only where Spark alone was asked; `apply` does it as well."""
    found = plan_spark(sides, connector)
    made.add(f"Spark, with {connector}", spark_text(found), {"spark": found.to_json()})
    for change, said in found.refused if is_alone else ():
        report.add(
            REFUSED_CHANGE,
            f"{change}: {said.reason}",
            file=sides.new.label,
            path=change.path,
            help=said.way_out,
            severity=Severity.ERROR,
        )
