"""What `plan`, `apply` and `verify` have in common.

Layer: cli.
"""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from schemac.cli.output import add_text_or_json, wrapped
from schemac.cli.project import find_dataset
from schemac.engines.lance.tables.steps import Step
from schemac.engines.paimon.sources import schema_files
from schemac.engines.paimon.tables.plan import PaimonPlan
from schemac.engines.spark.plan import SparkPlan
from schemac.evolution.side import Side, side_of_version
from schemac.identity.freeze import freeze
from schemac.identity.lock import LockedDataset
from schemac.project.configuration import Project
from schemac.project.locking import identified, open_lock, report_unlocked
from schemac.source.catalogue import UNKNOWN_REFERENCE
from schemac.source.report import Report


def add_dataset(parser: argparse.ArgumentParser) -> None:
    """The dataset, and its table."""
    parser.add_argument("dataset", metavar="DATASET", help="name of the dataset, or its manifest")
    parser.add_argument("--config", metavar="FILE", help=argparse.SUPPRESS)
    add_text_or_json(parser)


OF_PAIMON = "Paimon casts values when they are read, and does so in its own way"


def add_rounding(parser: argparse.ArgumentParser) -> None:
    """Which values of a Lance table may be rounded."""
    parser.add_argument(
        "--allow-rounding",
        dest="rounded",
        action="append",
        default=[],
        metavar="FIELD",
        help="let this field's values become the nearest ones of a Lance table's new type; may be repeated "
        "(numbers: of two the even one; dates and times are cut to the unit before)",
    )


def open_locked(
    options: argparse.Namespace, report: Report, *, is_needed: bool = True
) -> tuple[Project, LockedDataset] | None:
    """The project, and the dataset's lock, which has to be up to date; None after saying what is wrong.

    Where a lock is not needed and there is none, the schema as it is counts as a first version.
    """
    found = find_dataset(options, report)
    if found is None:
        return None
    project, file, dataset = found
    held = open_lock(file.file.path, file.file.name, report)
    if held is None:
        return None
    locked = held.lock.dataset(dataset.name)
    if not is_needed and not held.exists:
        return project, freeze(dataset, locked, identified(dataset, locked, report))
    report_unlocked(dataset, locked, identified(dataset, locked, report), report, is_error=True)
    return None if report.has_errors else (project, locked)


def version_side(locked: LockedDataset, number: int | None, report: Report) -> Side | None:
    """One locked version; the newest where no number is given."""
    assert locked.newest is not None
    wanted = locked.newest.number if number is None else number
    if locked.version(wanted) is None:
        report.add(
            UNKNOWN_REFERENCE,
            f"{locked.name} has no version {wanted}",
            help=f"its versions are 1 to {locked.newest.number}",
        )
        return None
    return side_of_version(locked, wanted)


def steps_text(steps: Sequence[Step]) -> str:
    """Steps for people, numbered."""
    width = max((len(step.verb) for step in steps), default=0)
    lines = [
        wrapped(f"  {number:>2}. {step.verb:<{width}}  ", f"{step.title}: {step.describe()}  [{step.cost}]")
        for number, step in enumerate(steps, 1)
    ]
    return "\n".join(lines)


def paimon_text(plan: PaimonPlan) -> str:
    """A plan of Paimon for people: operations by file, with what is to be known before."""
    lines: list[str] = []
    for step in plan.steps:
        lines.append(f"  {step.file}, {step.side.label}:")
        rows = [
            ("note", f"{note.field}: {note.describe()}  [{note.judgement.outcome}]") for note in step.notes
        ]
        rows += [(change.action, change.describe()) for change in step.changes]
        width = max((len(verb) for verb, _ in rows), default=0)
        lines += [wrapped(f"    {verb:<{width}}  ", told) for verb, told in rows] or [
            "    says the same once more"
        ]
    return "\n".join(lines) or "  nothing to do"


def spark_text(plan: SparkPlan) -> str:
    """A plan of Spark for people."""
    lines = [f"  {statement};" for statement in plan.statements]
    lines += [f"  -- refused: {change}: {said.reason}; {said.way_out}" for change, said in plan.refused]
    return "\n".join(lines) or "  nothing to do"


def is_paimon(path: str) -> bool:
    """Whether a table's folder is one of Paimon; a Lance table has `_versions`."""
    # Of os.path, which takes a name that no file system has for one that is not there.
    is_candidate = os.path.isdir(path) and not os.path.isdir(os.path.join(path, "_versions"))
    return is_candidate and bool(schema_files(Path(path)))
