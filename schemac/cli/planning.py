"""What `plan`, `apply` and `verify` have in common.

Floor: 14 (cli).
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from schemac.cli.output import add_text_or_json
from schemac.cli.project import find_dataset
from schemac.evolution.side import Side, side_of_version
from schemac.identity.lock import LockedDataset
from schemac.project.locking import identified, open_lock, report_unlocked
from schemac.source.catalogue import UNKNOWN_REFERENCE
from schemac.source.report import Report
from schemac.tables.steps import Step


def add_dataset(parser: argparse.ArgumentParser) -> None:
    """The dataset, and its table."""
    parser.add_argument("dataset", metavar="DATASET", help="name of the dataset, or its manifest")
    parser.add_argument("--config", metavar="FILE", help=argparse.SUPPRESS)
    add_text_or_json(parser)


def open_locked(options: argparse.Namespace, report: Report) -> LockedDataset | None:
    """The dataset's lock, which has to be up to date; None after saying what is wrong."""
    found = find_dataset(options, report)
    if found is None:
        return None
    _project, file, dataset = found
    held = open_lock(file.file.path, file.file.name, report)
    if held is None:
        return None
    locked = held.lock.dataset(dataset.name)
    report_unlocked(dataset, locked, identified(dataset, locked, report), report, is_error=True)
    return None if report.has_errors else locked


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
        f"  {number:>2}. {step.verb:<{width}}  {step.title}: {step.describe()}  [{step.cost}]"
        for number, step in enumerate(steps, 1)
    ]
    return "\n".join(lines)


def is_paimon(path: str) -> bool:
    """Whether a table's folder is one of Paimon."""
    return (Path(path) / "schema").is_dir()
