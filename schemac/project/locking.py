"""Lock files next to their manifests, and those that two branches changed.

Layer: project.
Shape: `trips.lock` next to `trips.yaml` holds the datasets of that manifest. It is written whole or not at all, and
never over what another process has written in the meantime.
Errors: SC401 unlocked-change, SC402, SC403, SC405 possible-rename, SC406 lock-contention, SC407 merge-choice, SC418 returned-name.
"""

import errno
import fcntl
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from schemac.language.logical.dataset import Findings, LogicalDataset
from schemac.language.logical.facts import Fact
from schemac.project.discovery import lock_name, lock_path, manifests_of_lock
from schemac.project.writing import replace_files, write_file
from schemac.text.source import catalogue
from schemac.text.source.diagnostics import Report, Severity
from schemac.text.source.text import read_file, reason_of
from schemac.versions.evolution.changes import Change
from schemac.versions.evolution.renames import UndeclaredRename, undeclared_renames
from schemac.versions.evolution.version_pair import LockedSchemaVersion, SchemaVersion, VersionPair
from schemac.versions.identity.compilation import Locked
from schemac.versions.identity.freeze import RestoreError, identify, restored
from schemac.versions.identity.lock import Lock
from schemac.versions.identity.lockfile import read_lock, report_unreadable, write_lock
from schemac.versions.identity.match import lost
from schemac.versions.identity.opening import open_version


class LockFile(NamedTuple):
    """A lock file on disk, with the lock in it, or the one that it is to have."""

    path: Path
    name: str
    """How it is spoken of."""
    text: str | None
    """None if there is no file yet."""
    lock: Lock


def open_lock(manifest: Path, manifest_name: str, report: Report) -> LockFile | None:
    """Return the lock of a manifest, empty if there is none; None after reporting what is wrong with it."""
    path, name = lock_path(manifest), lock_name(manifest_name)
    try:
        text = _present_text(path)
        if text is None:
            return LockFile(path, name, None, Lock())
    except (OSError, UnicodeDecodeError) as error:
        report_unreadable(error, name, report)
        return None
    lock = read_lock(text, name, report)
    return None if lock is None else LockFile(path, name, text, lock)


def save_locks(
    locks: Sequence[LockFile],
    report: Report,
    texts: Mapping[Path, bytes] = MappingProxyType({}),
    names: Mapping[Path, str] = MappingProxyType({}),
) -> bool:
    """Write locks in place of those that were read, if that is still what is there, and with them the bytes of other files.

    All are written, or none. False if nothing was written: the report has an error then, or there was nothing to write. `names` say
    how the other files are spoken of.
    """
    changed = [(file, text) for file in locks if (text := write_lock(file.lock)) != file.text]
    # Locks come first: a text that is new already needs the new ids.
    contents = {**{file.path: text.encode() for file, text in changed}, **texts}
    names = {**names, **{file.path: file.name for file, _ in changed}}
    if not contents:
        return False
    try:
        with ExitStack() as stack:
            folders = {file.path.parent for file, _ in changed}
            free = {path: stack.enter_context(_folder_lock(path)) for path in folders}
            for file, _ in changed:
                if not free[file.path.parent] or _present_text(file.path) != file.text:
                    message = f"another process is writing {file.name}, or has just written it; nothing was written here"
                    report.add(
                        catalogue.LOCK_CONTENTION, message, file=file.name, help="run the command again"
                    )
                    return False
            replace_files(contents)
    except OSError as error:
        name = names.get(Path(error.filename or ""), error.filename or "")
        report.add(catalogue.WRITE_FAILED, f"cannot write {name}: {reason_of(error)}", file=name)
        for note in getattr(error, "__notes__", ()):
            report.add(catalogue.WRITE_FAILED, note, file=name)
        return False
    return True


@contextmanager
def _folder_lock(path: Path) -> Iterator[bool]:
    """Hold a folder of locks, one process at a time; the system frees it when a process dies."""
    folder = os.open(path, os.O_RDONLY)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
    finally:
        os.close(folder)


def _present_text(path: Path) -> str | None:
    """Return the text of a lock with `\\n` as line ends; None without a file. A dangling link is an OSError."""
    try:
        return read_file(path).decode("utf-8").replace("\r\n", "\n")
    except FileNotFoundError:
        if path.is_symlink():
            # Without its lock a dataset would get new ids for everything.
            raise OSError(errno.ENOENT, "it is a link that leads nowhere") from None
        return None


def locked_datasets(
    manifest: Path, name: str, datasets: Sequence[LogicalDataset], report: Report, *, is_error: bool
) -> dict[str, Locked]:
    """Return the datasets of a manifest with their locks; changes that are not locked are reported."""
    lock_file = open_lock(manifest, name, report)
    return {} if lock_file is None else datasets_in(lock_file.lock, datasets, report, is_error=is_error)


def datasets_in(
    lock: Lock, datasets: Sequence[LogicalDataset], report: Report, *, is_error: bool
) -> dict[str, Locked]:
    """Return the datasets with what a lock has of them; changes that are not locked are reported."""
    locked_by_name: dict[str, Locked] = {}
    for dataset in datasets:
        locked = numbered_by_lock(dataset, lock, report)
        report_unlocked(locked, report, is_error=is_error)
        locked_by_name[dataset.name] = locked
    return locked_by_name


def numbered_by_lock(
    dataset: LogicalDataset, lock: Lock, report: Report, requested_ids: Mapping[str, int] | None = None
) -> Locked:
    """Return a dataset with the ids of its fields by its lock; fields of these paths get the requested ids."""
    findings, versions = Findings(report, dataset.origins), lock.dataset(dataset.name)
    if requested_ids:
        try:
            return restored(dataset, versions, requested_ids, findings)
        except RestoreError as error:
            help = "see the ids in the lock next to the manifest"
            report.add(catalogue.REFUSED_RESTORE, str(error), file=dataset.origins.file, help=help)
    return identify(dataset, versions, findings)


def pair_since(locked: Locked) -> VersionPair:
    """Return the newest locked version, and the present schema."""
    newest = locked.lock.newest
    assert newest is not None, "there is no lock to compare with"
    before = open_version(locked.lock, newest)
    fields = {state.id: field for field, state in before.states.items()}
    old = SchemaVersion(before.logical, f"lock:{newest.number}")
    new = LockedSchemaVersion.of(locked, locked.dataset.origins.file)
    return VersionPair(old, new, {field: fields[id] for field, id in locked.ids.items() if id in fields})


def report_unlocked(locked: Locked, report: Report, *, is_error: bool) -> None:
    """Report that a schema differs from its locked version."""
    if not locked.is_changed:
        return
    dataset = locked.dataset
    name = shlex.quote(dataset.origins.file)
    what, help = "it has no version yet", f"run `schemac lock {name}`"
    if locked.lock.newest:
        from schemac.versions.evolution.diff import diff_of  # for start-up time: a merge of locks needs none

        pair = pair_since(locked)
        changes = diff_of(pair)
        what, help = summary(changes), f"see `schemac diff lock {name}`, then {help}"
        report_undeclared_renames(dataset, undeclared_renames(pair), report)
        report_returned_names(locked, changes, report)
    code = catalogue.UNLOCKED_CHANGE
    code = code._replace(severity=Severity.ERROR if is_error else code.severity)
    message = f"{dataset.name} differs from its lock: {what}"
    Findings(report, dataset.origins).at_dataset(code, message, help)


def report_undeclared_renames(
    dataset: LogicalDataset,
    renames: Sequence[UndeclaredRename],
    report: Report,
    severity: Severity = catalogue.POSSIBLE_RENAME.severity,
) -> None:
    """Ask about the fields that may have been renamed without a declaration."""
    findings, code = Findings(report, dataset.origins), catalogue.POSSIBLE_RENAME._replace(severity=severity)
    for rename in renames:
        message, help = rename.question(dataset.origins.file)
        assert rename.field is not None
        findings.at_name(rename.field, code, message, help=help)


def report_returned_names(locked: Locked, changes: Sequence[Change], report: Report) -> None:
    """Report new fields that have the name of a dropped one, but not its id."""
    gone = {path_text: id for id, path_text in sorted(lost(locked.lock).items())}
    findings = Findings(report, locked.dataset.origins)
    for change in (change for change in changes if change.fact is Fact.FIELD_ADDED):
        field, id = change.new_field, gone.get(change.path)
        if id is not None and field is not None and locked.ids[field] != id:
            restore_argument = shlex.quote(f"{change.path}={id}")
            message = f"{change.path} is a new field without the data of the dropped field of the same name"
            help = f"if it is the same field, run `schemac lock {shlex.quote(locked.dataset.origins.file)} --restore {restore_argument}`"
            findings.at_name(field, catalogue.RETURNED_NAME, message, help=help)


_COUNTED = (
    (Fact.FIELD_ADDED, "added"),
    (Fact.FIELD_DROPPED, "dropped"),
    (Fact.FIELD_RENAMED, "renamed"),
    (Fact.FIELD_MOVED, "moved"),
)


def summary(changes: Sequence[Change]) -> str:
    """Return changes in a few words: `1 field added, 2 changed`."""
    counts = [(sum(change.fact is fact for change in changes), word) for fact, word in _COUNTED]
    rest = {change.path for change in changes if change.fact not in dict(_COUNTED)}
    counts.append((len(rest - {""}), "changed"))
    parts = [f"{count} {'field' if count == 1 else 'fields'} {word}" for count, word in counts if count]
    if "" in rest:
        parts.append("the schema as a whole changed")
    return ", ".join(parts) or "only its spelling changed"


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
        text = _text_of_branch(path, str(path), report)
        lock = read_lock(text, str(path), report) if text else Lock()
        if text is not None and lock is not None:
            locks.append(lock)
    if len(locks) == 2:
        _write_merged(ours, ours.as_posix(), locks[0], locks[1], report)


def resolve(path: Path, name: str, report: Report) -> bool:
    """Resolve a lock with conflict marks; return False if there are none."""
    text = _text_of_branch(path, name, report)
    if text is None or not _CONFLICT.search(text):
        return False
    from schemac.project.git_tree import GitError, git_output  # for start-up time, as above

    # Between the marks stands only what git could not merge; whole are the two sides that it keeps.
    try:
        folder, file = str(path.parent), path.name
        texts = [git_output("-C", folder, "show", f":{stage}:./{file}").decode() for stage in (2, 3)]
    except (OSError, GitError, UnicodeDecodeError):
        texts = [_CONFLICT.sub(rf"\g<{side}>", text) for side in ("ours", "theirs")]
    local_report = Report()
    ours, theirs = (read_lock(side, name, local_report) for side in texts)
    if ours is None or theirs is None:
        message = f"{name} has merge conflict markers, but the two branches can no longer be told apart"
        help = f"restore the conflict with git: git checkout --merge -- {shlex.quote(name)}"
        report.add(catalogue.DAMAGED_LOCK, message, file=name, help=help)
        return False
    return _write_merged(path, name, ours, theirs, report)


def _text_of_branch(path: Path, name: str, report: Report) -> str | None:
    """Return the text of a lock with `\\n` as line ends; None after reporting why it cannot be read."""
    try:
        return read_file(path).decode("utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        report_unreadable(error, name, report)
        return None


def _write_merged(path: Path, name: str, ours: Lock, theirs: Lock, report: Report) -> bool:
    """Write the merge of two locks, and report the choices that it made; return whether it was written."""
    from schemac.versions.identity.merge import merge  # for start-up time, as above

    merged = merge(ours, theirs)
    for choice in merged.choices:
        help = "check that the manifest is as you want it, then lock it"
        if choice.id is not None:
            # Git's driver merges files under names of its own.
            present = manifests_of_lock(path)[:1]
            manifest = [Path(name).with_suffix(one.suffix).as_posix() for one in present]
            command = shlex.join(["schemac", "lock", *manifest, "--restore", f"{choice.name}={choice.id}"])
            help = f"if the manifest keeps it as {choice.name}, lock it so that it keeps its id and its data: `{command}`"
        report.add(catalogue.MERGE_CHOICE, choice.text, file=name, help=help)
    return write_file(path, write_lock(merged.lock).encode(), report, name)
