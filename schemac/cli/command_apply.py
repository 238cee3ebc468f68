"""`schemac apply`: carry a plan out on a table.

Layer: cli.
"""

import argparse
import json
import sys
from typing import Any

from schemac.cli.exit_code import ExitCode
from schemac.cli.output import exit_code, say, show
from schemac.cli.planning import (
    OF_PAIMON,
    add_dataset,
    add_rounding,
    is_paimon,
    open_locked,
    paimon_text,
    steps_text,
    version_side,
)
from schemac.cli.progress import progress_bar
from schemac.cli.terminal import ask, put, put_json
from schemac.engines.lance.tables.apply import apply_plan
from schemac.engines.lance.tables.checks import refuse_rounding
from schemac.engines.lance.tables.fragments import Rewriter
from schemac.engines.lance.tables.live_table import LanceTable, open_table
from schemac.engines.lance.tables.plan import Plan, plan
from schemac.engines.lance.tables.steps import Rewrite
from schemac.engines.lance.tables.verify import report_drift, wanted_of
from schemac.engines.paimon.tables.apply import apply_paimon
from schemac.engines.paimon.tables.live_table import open_paimon_table, report_paimon_drift
from schemac.engines.paimon.tables.plan import plan_paimon
from schemac.engines.paimon.view import table_schema
from schemac.identity.lock import LockedDataset
from schemac.source.render.json import render_json
from schemac.source.report import Report

ON_SPARK_FROM = 20_000_000
"""Rows from which on a column is written anew on Spark; below, a session takes longer to start than it saves."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_dataset(parser)
    add_rounding(parser)
    parser.add_argument(
        "--table", required=True, metavar="PATH", help="the Lance table, or the Paimon table's folder"
    )
    parser.add_argument(
        "--to", dest="new", type=int, metavar="N", help="a locked version (default: the newest)"
    )
    parser.add_argument("--dry-run", action="store_true", help="show the plan and change nothing")
    parser.add_argument(
        "--on",
        choices=("auto", "here", "spark"),
        default="auto",
        help=f"where columns are written anew (default: on Spark from {ON_SPARK_FROM:,} rows)",
    )
    parser.add_argument(
        "--yes", action="store_true", help="do not ask before data is written; only a terminal is asked"
    )
    parser.add_argument(
        "--unchecked",
        action="store_true",
        help="let values of a Paimon table that do not fit be; its data is not read here",
    )


def run(options: argparse.Namespace) -> int:
    """Apply; exit with 1 where nothing, or not everything, could be done."""
    report = Report()
    opened = open_locked(options, report)
    document: dict[str, Any] = {}
    is_refused = False
    if opened is not None:
        _, locked = opened
        apply = _apply_paimon if is_paimon(options.table) else _apply
        is_refused = not apply(locked, options, document, report)
    diagnostics = report.diagnostics
    if options.format == "json":
        found = json.loads(render_json(diagnostics))["diagnostics"]
        put_json({**document, "diagnostics": found})
    else:
        show(diagnostics, options)
    return ExitCode.FINDINGS if is_refused and not diagnostics else exit_code(diagnostics, options)


def _apply(
    locked: LockedDataset, options: argparse.Namespace, document: dict[str, Any], report: Report
) -> bool:
    """Whether everything that was asked for is done; what is not is in the report, or the person knows."""
    new = version_side(locked, options.new, report)
    table = open_table(options.table, locked, report) if new is not None else None
    rounded = frozenset(options.rounded)
    made = plan(table, new, report, rounded) if table is not None and new is not None else None
    if table is None or new is None or made is None:
        return False
    document |= {"steps": [step.to_json() for step in made.steps], "applied": False}
    if options.format == "text":
        put(f"{locked.name}: {made.table.name} → {new.label}")
        put(steps_text(made.steps) if made.steps else "  nothing to do")
    if options.dry_run:
        return True
    if made.is_done and not table.has_notes:
        report_drift(table, wanted_of(table, new), report)
        return not report.has_errors
    if not _is_wanted(made, options):
        say("nothing was changed", options)
        return False
    with progress_bar(options.format == "text" and sys.stderr.isatty()) as progress:
        is_done = apply_plan(made, report, progress, _rewriter(made, table, options))
    after = open_table(options.table, locked, report) if is_done else None
    if after is None:
        return False
    report_drift(after, wanted_of(after, new), report)
    document |= {"applied": True, "version": after.dataset.version}
    if not report.has_errors:
        say(f"done: {options.table} is at version {after.dataset.version}, and verified", options)
    return not report.has_errors


def _is_wanted(made: Plan, options: argparse.Namespace) -> bool:
    """Whether the person at the terminal wants data to be written; a script has said so by calling."""
    written = [step.title for step in made.steps if isinstance(step, Rewrite)]
    if not written or options.yes or options.format != "text" or not sys.stdin.isatty():
        return True
    rows = f"{made.table.row_count:,} rows"
    return ask(f"{', '.join(written)}: written anew for {rows}. Go on?")


def _apply_paimon(
    locked: LockedDataset, options: argparse.Namespace, document: dict[str, Any], report: Report
) -> bool:
    refuse_rounding(options.rounded, OF_PAIMON, report)
    new = version_side(locked, options.new, report) if not report.has_errors else None
    table = open_paimon_table(options.table, locked, report) if new is not None else None
    made = plan_paimon(table, locked, new, report) if table is not None and new is not None else None
    if table is None or new is None or made is None:
        return False
    document |= {"paimon": {"steps": [step.to_json() for step in made.steps]}, "applied": False}
    if options.format == "text":
        put(f"{locked.name}: {table.name} ({table.side.label}) → {new.label}")
        put(paimon_text(made))
    if options.dry_run or not made.steps:
        return True
    if not apply_paimon(made, locked, new, report, is_unchecked=options.unchecked):
        return False
    document["applied"] = True
    report_paimon_drift(options.table, table_schema(new), report)
    if not report.has_errors:
        say(f"done: {options.table} is as {new.label} says, and verified", options)
    return not report.has_errors


def _rewriter(made: Plan, table: LanceTable | None, options: argparse.Namespace) -> Rewriter | None:
    """Spark where that is worth it, or wanted."""
    assert table is not None
    is_worth_it = options.on == "spark" or (options.on == "auto" and table.row_count >= ON_SPARK_FROM)
    if not is_worth_it or not any(isinstance(step, Rewrite) for step in made.steps):
        return None
    # Imported here, for pyspark is an extra that most changes do without.
    from schemac.pipeline.rewrite import rewrite_on_spark

    return rewrite_on_spark
