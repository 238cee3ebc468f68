"""What `plan`, `apply` and `verify` have in common.

Layer: cli.
"""

import argparse
from collections.abc import Sequence

from schemac.cli.output import add_no_cache, add_text_or_json
from schemac.cli.project import find_dataset
from schemac.cli.terminal import wrapped
from schemac.project.configuration import Project
from schemac.project.locking import identified, open_lock, report_unlocked
from schemac.registry.engine import Engine, Trait
from schemac.registry.installed import engines, with_trait
from schemac.text.source.catalogue import UNKNOWN_REFERENCE
from schemac.text.source.phrases import listed
from schemac.text.source.report import Report
from schemac.versions.evolution.tables import TABLES, PlanLine
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
        help="the locked version of the table, or of its fields, if the table has no recorded version;"
        " its fields are then identified by name and type",
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
        return project, freeze(dataset, locked, identified(dataset, locked, report))
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
    visible = [line for line in lines if with_details or not line.is_detail]
    texts = [_code(line.text) if line.is_code else wrapped(line.start, line.text) for line in visible]
    return "\n".join(texts) or "  nothing to do"


def _code(text: str) -> str:
    """Return lines of code as they are, but comments in it wrapped."""
    return "\n".join(
        wrapped(
            f"{line[: line.index('-- ')]}-- ", line.lstrip()[3:], prefix=f"{line[: line.index('-- ')]}-- "
        )
        if line.lstrip().startswith("-- ")
        else line
        for line in text.split("\n")
    )
