"""`schemac plan`: the steps that a change takes, and what they cost.

Layer: cli.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field

from schemac.cli.output import (
    add_engines,
    add_versions,
    exit_code,
    print_status,
    show,
    show_document,
    versions_of,
)
from schemac.cli.planning import (
    add_dataset,
    add_references,
    add_rounding,
    lines_text,
    open_locked,
    owner_of,
    requested_version,
)
from schemac.cli.terminal import put
from schemac.project.configuration import Project
from schemac.project.targets import engines_of, is_left_out
from schemac.registry.installed import blamed, engine, engines
from schemac.text.source.catalogue import UNUSABLE_TABLE
from schemac.text.source.json_object import Json
from schemac.text.source.phrases import one_of
from schemac.text.source.report import Report
from schemac.versions.evolution.tables import TABLES, TableChange, refuse_rounding
from schemac.versions.evolution.version_pair import LockedSchemaVersion
from schemac.versions.identity.lock import LockedDataset


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_dataset(parser)
    add_rounding(parser)
    add_references(parser)
    parser.add_argument("--table", metavar="PATH", help="plan from the current state of this table")
    parser.add_argument(
        "--from",
        dest="old",
        type=int,
        metavar="N",
        help="plan from this locked version; with --table, the version of the table if it has none recorded",
    )
    parser.add_argument(
        "--to", dest="new", type=int, metavar="N", help="plan to this locked version (default: the newest)"
    )
    help = "plan for this engine only; may be repeated ({}; default: that of the table, else the project's targets)"
    add_engines(parser, "--engine", TABLES, "has no tables to plan for", help)
    add_versions(parser)


def run(options: argparse.Namespace) -> int:
    """Plan; exit with 1 if an engine refuses."""
    report = Report()
    opened = open_locked(options, report)
    made = _Made()
    if opened is not None:
        _plan(*opened, options, made, report)
    diagnostics = report.diagnostics
    if options.format == "json":
        show_document(diagnostics, options, **made.document)
    else:
        put("\n".join(made.lines)) if made.lines else None
        show(diagnostics, options)
    print_status(made.summary, options) if made.summary else None
    return exit_code(diagnostics, options)


@dataclass
class _Made:
    """What is printed, for people and for programs."""

    lines: list[str] = field(default_factory=list)
    document: Json = field(default_factory=dict)
    summary: str = ""


def _plan(
    project: Project, locked: LockedDataset, options: argparse.Namespace, made: _Made, report: Report
) -> None:
    new = requested_version(locked, options.new, report)
    if new is None:
        return
    stated = None
    if options.table is not None:
        stated = options.old
        if stated is not None and requested_version(locked, stated, report) is None:
            return
        names, old = _of_table(options, locked, report)
    else:
        names = _of_versions(project, new, options.engine)
        old = requested_version(locked, _version_before(locked, options.old), report)
    if report.has_errors:
        return
    if options.table is None and old is not None:
        made.lines.append(f"{locked.name}: {old.label} → {new.label}")
    _refuse_rounding(names, options.rounded, report)
    if not names:
        made.summary = f"there is nothing to plan: none of the targets has tables; name another with `--engine {TABLES.names(engines())[0]}`"
    versions = versions_of(options, project)
    for name in names:
        change = TableChange(
            locked,
            new,
            options.table or "",
            old,
            stated,
            frozenset(options.rounded),
            versions.get(name),
            dict(options.references),
            is_alone=names == [name],
        )
        _plan_for(name, change, made, report)


def _plan_for(name: str, change: TableChange, made: _Made, report: Report) -> None:
    with blamed(name):
        planned = TABLES.of(engine(name)).plan(change, report)
    if planned is None:
        return
    if engine(name).alters and change.path and change.is_alone:
        made.lines.append(change.heading(change.path))
    made.lines += [planned.title, lines_text(planned.lines)]
    made.document |= planned.document
    made.summary = planned.summary or made.summary


def _version_before(locked: LockedDataset, asked: int | None) -> int:
    assert locked.newest is not None
    return asked if asked is not None else max(1, locked.newest.number - 1)


def _of_table(
    options: argparse.Namespace, locked: LockedDataset, report: Report
) -> tuple[list[str], LockedSchemaVersion | None]:
    """Return the engines to plan for, and what a table is now where one of them alters tables of another."""
    path: str = options.table
    owner = owner_of(path)
    able = [e for e in engines() if TABLES.is_of(e)]
    possible = [e.name for e in able if e is owner or e.alters == owner.name]
    names = [e.name for e in able if e.name in (options.engine or (owner.name,))]
    for name in names:
        if name not in possible:
            report.add(
                UNUSABLE_TABLE,
                f"{path} is not a table that {name} can change",
                file=path,
                help=f"possible engines: {one_of(possible)}",
            )
    if report.has_errors or names == [owner.name]:
        return names, None
    with blamed(owner.name):
        return names, TABLES.of(owner).open(path, locked, report, options.old)


def _of_versions(project: Project, new: LockedSchemaVersion, asked: Sequence[str] | None) -> list[str]:
    """Return the named engines, else the targets; an optional engine only if the manifest mentions it."""
    configuration, dataset = project.configuration, new.dataset
    is_named = configuration.are_targets_named
    requested = asked or engines_of(dataset, configuration.targets, is_named=is_named)
    return [
        name
        for name in TABLES.names(engines())
        if name in requested and (asked or is_named or not is_left_out(name, dataset))
    ]


def _refuse_rounding(names: Sequence[str], rounded: Sequence[str], report: Report) -> None:
    reasons = [TABLES.of(engine(name)).why_no_rounding for name in names] or ["there is no plan for a table"]
    if all(reasons):
        refuse_rounding(rounded, reasons[0], report)
