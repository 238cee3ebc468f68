"""`schemac plan`, `schemac apply` and `schemac verify`: the steps that change a table, and whether it is what its schema says.

Layer: cli.
"""

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from schemac.cli import arguments
from schemac.cli.output import print_status, show
from schemac.cli.project import find_dataset
from schemac.cli.terminal import ExitCode, ask, progress_bar, put, wrapped
from schemac.project.configuration import Project
from schemac.project.locking import numbered_by_lock, open_lock, report_unlocked
from schemac.project.targets import engines_of, is_left_out
from schemac.registry.engine import Engine, Trait, blamed, engine, engines, with_trait
from schemac.text.source.catalogue import UNCHECKED_REFERENCE, UNKNOWN_REFERENCE, UNUSABLE_TABLE
from schemac.text.source.diagnostics import Report
from schemac.text.source.json_object import Json
from schemac.text.source.phrases import listed, one_of
from schemac.versions.evolution.tables import (
    SPREAD,
    TABLES,
    PlanLine,
    PlannedChange,
    Spread,
    TableChange,
    refuse_rounding,
)
from schemac.versions.evolution.version_pair import LockedSchemaVersion, locked_schema_version
from schemac.versions.identity.freeze import freeze
from schemac.versions.identity.lock import LockedDataset

SPREAD_FROM = 20_000_000
"""Rows from which on another engine rewrites a column; below, it takes longer to start than it saves."""

Work = Callable[[Project, LockedDataset, argparse.Namespace, Json, Report], str | None]
"""Does what a command is for; returns the sentence for its end, or None if it was refused. The members of JSON go into the document."""


def _run_on_dataset(options: argparse.Namespace, work: Work, *, is_lock_needed: bool = True) -> int:
    """Carry a command out on a dataset with its lock, and print what it has come to."""
    report = Report()
    opened = _open_locked(options, report, is_needed=is_lock_needed)
    document: Json = {}
    summary = work(*opened, options, document, report) if opened is not None else ""
    code = show(report.diagnostics, options, **document)
    if summary:
        print_status(summary, options)
    return ExitCode.FINDINGS if summary is None and not report.diagnostics else code


def _open_locked(
    options: argparse.Namespace, report: Report, *, is_needed: bool
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
    locked = numbered_by_lock(dataset, lock_file.lock, report)
    if not is_needed and lock_file.text is None:
        return project, freeze(locked)
    report_unlocked(locked, report, is_error=True)
    return None if report.has_errors else (project, locked.lock)


def _locked_version(locked: LockedDataset, number: int | None, report: Report) -> LockedSchemaVersion | None:
    """Return one locked version, the newest without a number; None after reporting that there is no such version."""
    assert locked.newest is not None
    version_number = locked.newest.number if number is None else number
    if locked.version(version_number) is None:
        message = f"{locked.name} has no version {version_number}"
        report.add(UNKNOWN_REFERENCE, message, help=f"its versions are 1 to {locked.newest.number}")
        return None
    return locked_schema_version(locked, version_number)


# Tables


def _table_change(
    locked: LockedDataset, new: LockedSchemaVersion, options: argparse.Namespace, **more: Any
) -> TableChange:
    """Return the change of a table that the options ask for, with what a command knows besides."""
    rounded, references = frozenset(options.rounded), dict(options.references)
    return TableChange(locked, new, options.table or "", rounded=rounded, references=references, **more)


def _table_engines() -> list[Engine]:
    """Return the engines with tables of their own."""
    return [one for one in engines() if TABLES.is_of(one) and not one.alters]


def _owner_of(path: str) -> Engine | None:
    """Return the engine that knows a path as a table of its own; None if none does."""
    for one in _table_engines():
        # Without its own library, which is an extra, none of an engine's tables can be opened anyway.
        with suppress(ModuleNotFoundError):
            if TABLES.of(one).is_table(path):
                return one
    return None


def _owner_or_first(path: str) -> Engine:
    """Return the engine of a table; the first one says what is wrong with a path, and opens paths that are not in a file system."""
    return _owner_of(path) or _table_engines()[0]


# Arguments


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `plan` and `apply` but for the table and its versions."""
    arguments.add_dataset(parser)
    arguments.add_text_or_json(parser)
    help = (
        f"round this field's values to the nearest ones of the new type, on a {listed(with_trait(Trait.ROUNDS), 'or')}"
        " table; may be repeated (numbers: ties to even; dates and times are truncated)"
    )
    arguments.add_repeatable(parser, "--allow-rounding", "FIELD", help, dest="rounded")
    _add_references(parser)


def _add_references(parser: argparse.ArgumentParser, when: str = "") -> None:
    """Add `--reference`, which names the tables of referenced datasets; `when` says when they are used."""
    help = f"{when}the table of a dataset that the schema refers to; may be repeated"
    arguments.add_repeatable(
        parser, "--reference", "DATASET=PATH", help, dest="references", type=_parse_reference
    )


def _parse_reference(text: str) -> tuple[str, str]:
    """Return a dataset's name and a path from `DATASET=PATH`; argparse reports any other text."""
    dataset, equals, path = text.partition("=")
    if not (dataset and equals and path):
        raise argparse.ArgumentTypeError("expected DATASET=PATH, such as drivers=tables/drivers")
    return dataset, path


def _add_table(parser: argparse.ArgumentParser, *others: str) -> None:
    """Add the argument for the table that a command is about; `others` are what it takes besides tables of engines."""
    kinds = [*(one.table_help for one in _table_engines() if one.table_help), *others]
    parser.add_argument("--table", required=True, metavar="PATH", help=", or ".join(kinds))


def _add_version(parser: argparse.ArgumentParser, dest: str, *names: str, help: str) -> None:
    """Add an option for the number of a locked version."""
    parser.add_argument(*names, dest=dest, type=int, metavar="N", help=help)


# plan


def add_plan_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `schemac plan`."""
    _add_arguments(parser)
    parser.add_argument("--table", metavar="PATH", help="plan from the current state of this table")
    help = (
        "plan from this locked version; with --table, the version to assume if the table does not record one"
    )
    _add_version(parser, "old", "--from", help=help)
    _add_version(parser, "new", "--to", help="plan to this locked version (default: the newest)")
    help = "plan for this engine only; may be repeated ({}; default: that of the table, else the project's targets)"
    arguments.add_engines(parser, "--engine", TABLES, "has no tables to plan for", help)
    arguments.add_versions(parser)


def run_plan(options: argparse.Namespace) -> int:
    """Plan; exit with 1 if an engine refuses."""
    return _run_on_dataset(options, _plan_table)


def _plan_table(
    project: Project, locked: LockedDataset, options: argparse.Namespace, document: Json, report: Report
) -> str:
    """Print the steps from the old version to the new one for each engine, or report what prevents planning."""
    new = _locked_version(locked, options.new, report)
    if new is None:
        return ""
    stated = options.old if options.table is not None else None
    if stated is not None and _locked_version(locked, stated, report) is None:
        return ""
    if options.table is not None:
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
        old = _locked_version(locked, before, report)
    if report.has_errors:
        return ""
    lines = [f"{locked.name}: {old.label} → {new.label}"] if options.table is None and old is not None else []
    reasons = [TABLES.of(engine(name)).why_no_rounding for name in names] or ["there is no plan for a table"]
    if all(reasons):
        refuse_rounding(options.rounded, reasons[0], report)
    summary = ""
    if not names:
        summary = f"there is nothing to plan: none of the targets has tables; name another with `--engine {TABLES.names(engines())[0]}`"
    versions = arguments.versions_of(options, project)
    for name in names:
        is_alone, version = names == [name], versions.get(name)
        change = _table_change(
            locked, new, options, old=old, stated=stated, version=version, is_alone=is_alone
        )
        with blamed(name):
            planned = TABLES.of(engine(name)).plan(change, report)
        if planned is None:
            continue
        if engine(name).alters and change.path and change.is_alone:
            lines.append(change.heading(change.path))
        lines += [planned.title, _lines_text(planned.lines)]
        document |= planned.document
        summary = planned.summary or summary
    if lines and options.format != "json":
        put("\n".join(lines))
    return summary


def _of_table(
    options: argparse.Namespace, locked: LockedDataset, report: Report
) -> tuple[list[str], LockedSchemaVersion | None]:
    """Return the engines to plan for, and what a table is now where one of them alters tables of another."""
    path: str = options.table
    owner = _owner_or_first(path)
    able = [one for one in engines() if TABLES.is_of(one)]
    possible = [one.name for one in able if one is owner or one.alters == owner.name]
    names = [one.name for one in able if one.name in (options.engine or (owner.name,))]
    for name in names:
        if name not in possible:
            message = f"{path} is not a table that {name} can change"
            help = f"possible engines: {one_of(possible)}"
            report.add(UNUSABLE_TABLE, message, file=path, help=help)
    if report.has_errors or names == [owner.name]:
        return names, None
    with blamed(owner.name):
        return names, TABLES.of(owner).open(path, locked, report, options.old)


def _lines_text(lines: Sequence[PlanLine], *, with_details: bool = True) -> str:
    """Return the lines of a plan as text for people, wrapped at the width of the terminal."""
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


# apply


def add_apply_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `schemac apply`."""
    _add_arguments(parser)
    _add_table(parser)
    help = "the locked version to assume if the table does not record one; its fields are then matched by name and type"
    _add_version(parser, "old", "--from", help=help)
    _add_version(parser, "new", "--to", help="a locked version (default: the newest)")
    arguments.add_flag(parser, "--dry-run", "show the plan without changing anything")
    spreading = _spreading_engines()
    default = f"on {spreading[0].title} from {SPREAD_FROM:,} rows" if spreading else "here"
    parser.add_argument(
        "--on",
        choices=("auto", "here", *(one.name for one in spreading)),
        default="auto",
        help=f"where columns are rewritten (default: {default})",
    )
    arguments.add_flag(parser, "--yes", "do not ask before data is written (schemac asks only in a terminal)")
    unread = listed(with_trait(Trait.IS_NOT_READ), "or")
    help = f"assume that values fit where the data cannot be checked, as in a {unread} table"
    arguments.add_flag(parser, "--unchecked", help)


def run_apply(options: argparse.Namespace) -> int:
    """Apply; exit with 1 if nothing, or not everything, could be done."""
    return _run_on_dataset(options, _apply_plan)


def _apply_plan(
    _: Project, locked: LockedDataset, options: argparse.Namespace, document: Json, report: Report
) -> str | None:
    """Change a table, and return what was verified; None if not everything that was asked for is done."""
    owner = _owner_or_first(options.table)
    with blamed(owner.name):
        tables = TABLES.of(owner)
        if tables.why_no_rounding:
            refuse_rounding(options.rounded, tables.why_no_rounding, report)
        new = _locked_version(locked, options.new, report) if not report.has_errors else None
        if options.old is not None:
            _locked_version(locked, options.old, report)
        if new is None or report.has_errors:
            return None
        change = _table_change(locked, new, options, stated=options.old, is_unchecked=options.unchecked)
        planned = tables.plan(change, report)
        if planned is None:
            return None
        document |= {**planned.document, "applied": False, "unlooked": list(planned.unlooked)}
        if options.format == "text":
            put(planned.title)
            put(_lines_text(planned.lines, with_details=False))
        if options.dry_run:
            return ""
        if planned.is_done:
            tables.verify(options.table, locked, new, report)
            return "" if not report.has_errors else None
        # A script agrees by its call that data is written.
        has_person = sys.stdin is not None and sys.stdin.isatty()
        is_asked = bool(planned.question) and not options.yes and options.format == "text" and has_person
        if is_asked and not ask(planned.question):
            print_status("nothing was changed", options)
            return None
        assert planned.apply is not None, "tables have engines that change them"
        with progress_bar(options.format == "text" and sys.stderr.isatty()) as progress:
            if not planned.apply(report, progress, _spread_for(planned, options)):
                return None
        document |= {"applied": True}
        state = tables.verify(options.table, locked, new, report)
        if state is None:
            return None
        document |= state.document
        verified = "verified"
        if planned.unlooked:
            verified = f"its schema is verified; the rows were not checked for: {'; '.join(planned.unlooked)}"
        return f"done: {options.table} {state.text}, and {verified}" if not report.has_errors else None


def _spreading_engines() -> list[Engine]:
    """Return the engines that can rewrite columns in many processes."""
    return [one for one in engines() if SPREAD.is_of(one)]


def _spread_for(planned: PlannedChange, options: argparse.Namespace) -> Spread | None:
    """Return another engine for the work if it is large, or requested; its libraries are loaded only then."""
    is_large = options.on == "auto" and planned.rows_rewritten >= SPREAD_FROM
    able = [one for one in _spreading_engines() if is_large or one.name == options.on]
    spread: Spread | None = SPREAD.of(able[0]) if able and planned.question else None
    return spread


# verify


def add_verify_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `schemac verify`."""
    arguments.add_dataset(parser)
    arguments.add_text_or_json(parser)
    _add_table(parser, "Parquet or Arrow files")
    _add_version(parser, "new", "--to", "--version", help="a locked version (default: the newest)")
    arguments.add_flag(parser, "--data", "also check the stored rows against the constraints of the schema")
    _add_references(parser, "with --data: ")


def run_verify(options: argparse.Namespace) -> int:
    """Verify; exit with 1 on drift."""
    return _run_on_dataset(options, _verify_path, is_lock_needed=False)


def _verify_path(
    _: Project, locked: LockedDataset, options: argparse.Namespace, document: Json, report: Report
) -> str:
    """Compare whatever is at the path; return the summary to print, which is empty if something differs."""
    version = _locked_version(locked, options.new, report)
    if version is None:
        return ""
    compare = _verify_table if _owner_of(options.table) is not None else _verify_files
    summary = compare(options, locked, version, report)
    return "" if report.has_errors else summary


def _verify_files(
    options: argparse.Namespace, locked: LockedDataset, version: LockedSchemaVersion, report: Report
) -> str:
    """Compare Parquet or Arrow files, or report what is there instead; return the summary if nothing differs."""
    from schemac.importers.sources import detect  # for start-up time, as below
    from schemac.rows.validation.stored import (  # `--help` needs no Arrow
        StoredComparison,
        open_rows,
        reader_of,
    )

    path: str = options.table
    if reader_of(path) is not None:
        rows = open_rows(path, report)
        if rows is not None:
            compared = StoredComparison(path, rows, version)
            if options.data:
                compared.report_broken(dict(options.references), report)
            else:
                compared.columns(report)
        of_rows = f", and their values and rows satisfy it{_unchecked_note(report)}" if options.data else ""
        return f"the columns of {path} can be read as {version.label} of {version.dataset.name}{of_rows}"
    exists = os.path.exists(path)
    format = detect(Path(path)) if exists or "://" not in path else None
    if format is None:
        # The first engine says what is wrong with the path, or opens it where it is on no disk.
        return _verify_table(options, locked, version, report)
    message, help = f"there is no file or folder {path}", "check the path"
    if exists:
        message = f"{path} cannot be verified: there is no reader for rows of the format {format}"
        help = (
            f"compare the schemas with `schemac import {shlex.quote(path)} --out found.yaml` and"
            f" `schemac diff found.yaml {shlex.quote(options.dataset)}`,"
            " or read the rows into an Arrow table and pass it to `Dataset.validate`"
        )
    report.add(UNUSABLE_TABLE, message, file=path, help=help)
    return ""


def _verify_table(
    options: argparse.Namespace, locked: LockedDataset, version: LockedSchemaVersion, report: Report
) -> str:
    """Compare a table of an engine; return the summary if nothing differs."""
    owner = _owner_or_first(options.table)
    with blamed(owner.name):
        tables = TABLES.of(owner)
        is_compared = tables.verify(options.table, locked, version, report) is not None
        if options.data and is_compared:
            tables.verify_data(options.table, locked, version, dict(options.references), report)
    constraints_note = (
        f", and its rows satisfy the constraints{_unchecked_note(report)}" if options.data else ""
    )
    return f"{options.table} matches {version.label} of {locked.name}{constraints_note}"


def _unchecked_note(report: Report) -> str:
    """Return the part of the rows that was not compared, as the end of the summary's sentence."""
    is_whole = all(diagnostic.code != UNCHECKED_REFERENCE.id for diagnostic in report.diagnostics)
    return "" if is_whole else ", except for references to tables that are not named"
