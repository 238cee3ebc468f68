"""`schemac plan`: the steps that a change takes, and what they cost; and what `apply` and `verify` have in common with it.

Layer: cli.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field

from schemac.cli.output import (
    add_engines,
    add_no_cache,
    add_text_or_json,
    add_versions,
    exit_code,
    print_status,
    show,
    versions_of,
)
from schemac.cli.project import find_dataset
from schemac.cli.terminal import put, wrapped
from schemac.project.configuration import Project
from schemac.project.locking import identified, open_lock, report_unlocked
from schemac.project.targets import engines_of, is_left_out
from schemac.registry.engine import Engine, Trait
from schemac.registry.installed import blamed, engine, engines, with_trait
from schemac.text.source.catalogue import UNKNOWN_REFERENCE, UNUSABLE_TABLE
from schemac.text.source.json_object import Json
from schemac.text.source.phrases import listed, one_of
from schemac.text.source.report import Report
from schemac.versions.evolution.tables import TABLES, PlanLine, TableChange, refuse_rounding
from schemac.versions.evolution.version_pair import LockedSchemaVersion, locked_schema_version
from schemac.versions.identity.freeze import freeze
from schemac.versions.identity.lock import LockedDataset


def add_dataset(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for the dataset and its table."""
    parser.add_argument("dataset", metavar="DATASET", help="name of the dataset, or its manifest")
    parser.add_argument("--config", metavar="FILE", help=argparse.SUPPRESS)
    add_no_cache(parser)
    add_text_or_json(parser)


def add_table(parser: argparse.ArgumentParser, *others: str) -> None:
    """Add the argument for the table that a command is about; `others` are what it takes besides tables of engines."""
    table_engines = [e for e in engines() if TABLES.is_of(e) and not e.alters]
    parser.add_argument(
        "--table",
        required=True,
        metavar="PATH",
        help=", or ".join([*(e.table_help for e in table_engines if e.table_help), *others]),
    )


def add_stated_version(parser: argparse.ArgumentParser) -> None:
    """Add the argument with the version that a table has."""
    parser.add_argument(
        "--from",
        dest="old",
        type=int,
        metavar="N",
        help="the locked version to assume if the table does not record one; its fields are then matched by name and type",
    )


def owner_of(path: str) -> Engine:
    """Return the engine that a table belongs to; the first that has tables of its own where none knows it.

    The first engine reports what is wrong with a path, and opens paths that are not in a file system.
    """
    table_engines = [e for e in engines() if TABLES.is_of(e) and not e.alters]
    return next((e for e in table_engines if _is_table_of(e, path)), table_engines[0])


def is_table(path: str) -> bool:
    """Whether an engine with tables of its own knows a path as one of these."""
    return any(_is_table_of(e, path) for e in engines() if TABLES.is_of(e) and not e.alters)


def _is_table_of(engine: Engine, path: str) -> bool:
    try:
        return TABLES.of(engine).is_table(path)
    except ModuleNotFoundError:
        # The engine's own library is an extra; without it none of its tables can be opened anyway.
        return False


def add_rounding(parser: argparse.ArgumentParser) -> None:
    """Add the argument for the fields of a table whose values may be rounded."""
    parser.add_argument(
        "--allow-rounding",
        dest="rounded",
        action="append",
        default=[],
        metavar="FIELD",
        help="round this field's values to the nearest ones of the new type, on a"
        f" {listed(with_trait(Trait.ROUNDS), 'or')} table; may be repeated"
        " (numbers: ties to even; dates and times are truncated)",
    )


def add_references(parser: argparse.ArgumentParser, when: str = "") -> None:
    """Add `--reference`, which names the tables of referenced datasets; `when` says when they are used."""
    parser.add_argument(
        "--reference",
        dest="references",
        action="append",
        default=[],
        type=_reference,
        metavar="DATASET=PATH",
        help=f"{when}the table of a dataset that the schema refers to; may be repeated",
    )


def _reference(text: str) -> tuple[str, str]:
    """Return a dataset's name and a path from `DATASET=PATH`; argparse reports any other text."""
    dataset, equals, path = text.partition("=")
    if not (dataset and equals and path):
        raise argparse.ArgumentTypeError("expected DATASET=PATH, such as drivers=tables/drivers")
    return dataset, path


def open_locked(
    options: argparse.Namespace, report: Report, *, is_needed: bool = True
) -> tuple[Project, LockedDataset] | None:
    """Return the project, and the dataset's lock, which has to be up to date; None after reporting what is wrong.

    Without a lock, where none is needed, the present schema counts as the first version.
    """
    opened = find_dataset(options, report)
    if opened is None:
        return None
    project, file, dataset = opened
    lock_file = open_lock(file.file.path, file.file.name, report)
    if lock_file is None:
        return None
    locked = lock_file.lock.dataset(dataset.name)
    if not is_needed and not lock_file.exists:
        return project, freeze(locked, identified(dataset, locked, report))
    report_unlocked(dataset, locked, identified(dataset, locked, report), report, is_error=True)
    return None if report.has_errors else (project, locked)


def requested_version(
    locked: LockedDataset, number: int | None, report: Report
) -> LockedSchemaVersion | None:
    """Return one locked version; the newest without a number."""
    assert locked.newest is not None
    version_number = locked.newest.number if number is None else number
    if locked.version(version_number) is None:
        report.add(
            UNKNOWN_REFERENCE,
            f"{locked.name} has no version {version_number}",
            help=f"its versions are 1 to {locked.newest.number}",
        )
        return None
    return locked_schema_version(locked, version_number)


def lines_text(lines: Sequence[PlanLine], *, with_details: bool = True) -> str:
    """Lay the lines of a plan out for people."""
    texts: list[str] = []
    for line in lines:
        if line.is_detail and not with_details:
            continue
        if not line.is_code:
            texts.append(wrapped(line.start, line.text))
            continue
        for code in line.text.split("\n"):
            # Code stays as it is, but comments in it are wrapped.
            indent, dashes, comment = code.partition("-- ")
            is_comment = dashes and not indent.strip()
            start = f"{indent}{dashes}"
            texts.append(wrapped(start, comment, prefix=start) if is_comment else code)
    return "\n".join(texts) or "  nothing to do"


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
        help="plan from this locked version; with --table, the version to assume if the table does not record one",
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
    if made.lines and options.format != "json":
        put("\n".join(made.lines))
    show(diagnostics, options, **made.document)
    if made.summary:
        print_status(made.summary, options)
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
    """Add the steps from the old version to the new one for each engine, or report what prevents planning."""
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
        configuration, dataset = project.configuration, new.dataset
        is_named = configuration.are_targets_named
        requested = options.engine or engines_of(dataset, configuration.targets, is_named=is_named)
        names = [
            name
            for name in TABLES.names(engines())
            if name in requested and (options.engine or is_named or not is_left_out(name, dataset))
        ]
        assert locked.newest is not None
        before = options.old if options.old is not None else max(1, locked.newest.number - 1)
        old = requested_version(locked, before, report)
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


def _refuse_rounding(names: Sequence[str], rounded: Sequence[str], report: Report) -> None:
    reasons = [TABLES.of(engine(name)).why_no_rounding for name in names] or ["there is no plan for a table"]
    if all(reasons):
        refuse_rounding(rounded, reasons[0], report)
