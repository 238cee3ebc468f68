"""Carries a plan out on a Paimon table: writes its next schema files.

Layer: engines.
Shape: a file appears whole or not at all, and never in place of another. Where somebody else has taken its number the
table is read anew: what they did may be what was wanted, or be a version to go on from.
Errors: SC422 failed-check, SC423 table-changed, SC105.
"""

import errno
import os
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from schemac.engines.paimon.tables.live_table import open_paimon_table
from schemac.engines.paimon.tables.plan import PaimonPlan, plan_paimon
from schemac.evolution.version_pair import LockedSchemaVersion
from schemac.identity.lock import LockedDataset
from schemac.source.catalogue import FAILED_CHECK, TABLE_CHANGED, WRITE_FAILED
from schemac.source.report import Report
from schemac.source.text import reason_of

_NO_LINKS = frozenset({errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})


def now_millis() -> int:
    """Return the time as Paimon writes it."""
    return time.time_ns() // 1_000_000


def apply_paimon(
    plan: PaimonPlan,
    locked: LockedDataset,
    new: LockedSchemaVersion,
    report: Report,
    *,
    is_unchecked: bool = False,
    now: Callable[[], int] = now_millis,
) -> bool:
    """Write all files; false after saying why not. `is_unchecked` does without a look at the data."""
    name, folder = plan.table.name, plan.table.folder
    assert folder is not None
    for note in plan.unlooked if not is_unchecked else ():
        report.add(
            FAILED_CHECK,
            f"{note.field}: {note.judgement.reason}, and schemac does not read the data of a Paimon table",
            file=name,
            path=note.field,
            help=f"{note.judgement.way_out}; if there are none, add --unchecked",
        )
    if report.has_errors:
        return False
    for step in plan.steps:
        text = replace(step.schema, time_millis=now()).to_text()
        try:
            is_made = create(folder / step.file, text.encode())
        except OSError as error:
            report.add(WRITE_FAILED, f"cannot write {folder / step.file}: {reason_of(error)}", file=name)
            return False
        if is_made:
            continue
        again = open_paimon_table(name, locked, Report())
        if again is None or again.schema.schema_id < step.schema.schema_id:
            report.add(
                TABLE_CHANGED,
                f"{name} was changed by somebody else in the meantime: {step.file} exists and matches no"
                " locked version",
                file=name,
                help="nothing was overwritten; compare it with `schemac verify`",
            )
            return False
        rest = plan_paimon(again, locked, new, report)
        return rest is not None and apply_paimon(
            rest, locked, new, report, is_unchecked=is_unchecked, now=now
        )
    return True


def create(path: Path, content: bytes) -> bool:
    """Make a file that is not there yet, whole or not at all; false if there is one of this name."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4()}.tmp")
    try:
        _write(temporary, content)
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            return _create_without_links(path, content)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(path.parent)
    return True


def _create_without_links(path: Path, content: bytes) -> bool:
    """Whoever makes the name first has it; a reader may see a part of the file for a moment."""
    try:
        _write(path, content)
    except FileExistsError:
        return False
    return True


def _write(path: Path, content: bytes) -> None:
    """Write a new file that is on disk when this returns; nothing is left of it otherwise."""
    with path.open("xb") as stream:
        try:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        except OSError:
            path.unlink(missing_ok=True)
            raise


def _sync_folder(folder: Path) -> None:
    """Sync the folder, where the system lets folders be opened, so that the name is on disk as well."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
