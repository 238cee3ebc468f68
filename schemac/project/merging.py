"""Lock files that two branches changed.

Layer: project.
Errors: SC402, SC407 merge-choice.
"""

import re
import shlex
from pathlib import Path

from schemac.project.git_tree import GitError, git_output
from schemac.project.writing import replace_file
from schemac.text.source.catalogue import DAMAGED_LOCK, MERGE_CHOICE, WRITE_FAILED
from schemac.text.source.report import Report
from schemac.text.source.text import read_file, reason_of
from schemac.versions.identity.lock import Lock
from schemac.versions.identity.lockfile import read_lock, report_unreadable, write_lock
from schemac.versions.identity.merge import Choice, merge

_CONFLICT = re.compile(
    r"^<<<<<<<[^\n]*\n(?P<ours>.*?)(?:^\|\|\|\|\|\|\|[^\n]*\n.*?)?^=======[^\n]*\n(?P<theirs>.*?)^>>>>>>>[^\n]*\n",
    re.MULTILINE | re.DOTALL,
)


def merge_driver(ours: Path, theirs: Path, report: Report) -> None:
    """Merge two branches of a lock, as git asks for it; the result replaces ours.

    The base is not asked for: the two locks have their versions up to it in common.
    """
    locks = [_read(path, report) for path in (ours, theirs)]
    if locks[0] is not None and locks[1] is not None:
        _write_merged(ours, ours.as_posix(), locks[0], locks[1], report)


def resolve(path: Path, name: str, report: Report) -> bool:
    """Resolve a lock with conflict marks; return False if there are none."""
    try:
        text = read_file(path).decode("utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        report_unreadable(error, name, report)
        return False
    if not _CONFLICT.search(text):
        return False
    # Between the marks stands only what git could not merge; whole are the two sides that it keeps.
    texts = _sides_in_git(path) or tuple(_CONFLICT.sub(rf"\g<{side}>", text) for side in ("ours", "theirs"))
    local_report = Report()
    ours, theirs = (read_lock(side, name, local_report) for side in texts)
    if ours is None or theirs is None:
        report.add(
            DAMAGED_LOCK,
            f"{name} has merge conflict markers, but the two branches can no longer be told apart",
            file=name,
            help=f"restore the conflict with git: git checkout --merge -- {shlex.quote(name)}",
        )
        return False
    return _write_merged(path, name, ours, theirs, report)


def _sides_in_git(path: Path) -> tuple[str, ...] | None:
    """Ours and theirs, as git's index has them of a file that is not merged yet."""
    sides: list[str] = []
    for stage in (2, 3):
        try:
            sides.append(git_output("-C", str(path.parent), "show", f":{stage}:./{path.name}").decode())
        except (OSError, GitError, UnicodeDecodeError):
            return None
    return tuple(sides)


def _read(path: Path, report: Report) -> Lock | None:
    try:
        text = read_file(path).decode("utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        report_unreadable(error, str(path), report)
        return None
    return read_lock(text, str(path), report) if text else Lock()


def _advice(choice: Choice, path: Path, name: str) -> str:
    """Return what to do if the manifest should differ from the lock."""
    if choice.id is None:
        return "check that the manifest is as you want it, then lock it"
    # Git's driver merges files under names of its own.
    manifest = next(
        (Path(name).with_suffix(s) for s in (".yaml", ".yml") if path.with_suffix(s).exists()), None
    )
    words = [
        "schemac",
        "lock",
        *([manifest.as_posix()] if manifest else []),
        "--restore",
        f"{choice.name}={choice.id}",
    ]
    return f"if the manifest keeps it as {choice.name}, lock it so that it keeps its id and its data: `{shlex.join(words)}`"


def _write_merged(path: Path, name: str, ours: Lock, theirs: Lock, report: Report) -> bool:
    merged = merge(ours, theirs)
    for choice in merged.choices:
        report.add(MERGE_CHOICE, choice.text, file=name, help=_advice(choice, path, name))
    try:
        replace_file(path, write_lock(merged.lock).encode())
    except OSError as error:
        report.add(WRITE_FAILED, f"cannot write {name}: {reason_of(error)}", file=name)
        return False
    return True
