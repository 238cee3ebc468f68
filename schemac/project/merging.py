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
from schemac.versions.identity.merge import merge

_CONFLICT = re.compile(
    r"^<<<<<<<[^\n]*\n(?P<ours>.*?)(?:^\|\|\|\|\|\|\|[^\n]*\n.*?)?^=======[^\n]*\n(?P<theirs>.*?)^>>>>>>>[^\n]*\n",
    re.MULTILINE | re.DOTALL,
)


def merge_driver(ours: Path, theirs: Path, report: Report) -> None:
    """Merge two branches of a lock, as git asks for it; the result replaces ours.

    The base is not asked for: the two locks have their versions up to it in common.
    """
    locks: list[Lock] = []
    for path in (ours, theirs):
        text = _text(path, str(path), report)
        lock = read_lock(text, str(path), report) if text else Lock()
        if text is not None and lock is not None:
            locks.append(lock)
    if len(locks) == 2:
        _write_merged(ours, ours.as_posix(), locks[0], locks[1], report)


def resolve(path: Path, name: str, report: Report) -> bool:
    """Resolve a lock with conflict marks; return False if there are none."""
    text = _text(path, name, report)
    if text is None or not _CONFLICT.search(text):
        return False
    # Between the marks stands only what git could not merge; whole are the two sides that it keeps.
    try:
        folder, file = str(path.parent), path.name
        texts = [git_output("-C", folder, "show", f":{stage}:./{file}").decode() for stage in (2, 3)]
    except (OSError, GitError, UnicodeDecodeError):
        texts = [_CONFLICT.sub(rf"\g<{side}>", text) for side in ("ours", "theirs")]
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


def _text(path: Path, name: str, report: Report) -> str | None:
    """Return the text of a lock with `\\n` as line ends; None after reporting why it cannot be read."""
    try:
        return read_file(path).decode("utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        report_unreadable(error, name, report)
        return None


def _write_merged(path: Path, name: str, ours: Lock, theirs: Lock, report: Report) -> bool:
    merged = merge(ours, theirs)
    for choice in merged.choices:
        help = "check that the manifest is as you want it, then lock it"
        if choice.id is not None:
            # Git's driver merges files under names of its own.
            suffixes = [suffix for suffix in (".yaml", ".yml") if path.with_suffix(suffix).exists()]
            manifest = [Path(name).with_suffix(suffix).as_posix() for suffix in suffixes[:1]]
            command = shlex.join(["schemac", "lock", *manifest, "--restore", f"{choice.name}={choice.id}"])
            help = f"if the manifest keeps it as {choice.name}, lock it so that it keeps its id and its data: `{command}`"
        report.add(MERGE_CHOICE, choice.text, file=name, help=help)
    try:
        replace_file(path, write_lock(merged.lock).encode())
    except OSError as error:
        report.add(WRITE_FAILED, f"cannot write {name}: {reason_of(error)}", file=name)
        return False
    return True
