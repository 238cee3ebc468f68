"""`schemac lock` and `schemac rename`: schemas as the next versions of their locks, and another name or place for a field.

Layer: cli.
"""

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from schemac.cli import arguments
from schemac.cli.output import print_status, show
from schemac.cli.project import find_dataset, open_project
from schemac.cli.terminal import ExitCode, notify, put_manifest
from schemac.language.logical.model import preorder
from schemac.language.manifest.write import write_manifest
from schemac.language.physical import numpy_left_out
from schemac.project.configuration import Project
from schemac.project.discovery import content_of, lock_name, lock_path, manifests_of_lock
from schemac.project.lock_index import LostLocks
from schemac.project.locking import (
    LockFile,
    merge_driver,
    numbered_by_lock,
    open_lock,
    pair_since,
    report_returned_names,
    report_undeclared_renames,
    report_unlocked,
    resolve,
    save_locks,
    summary,
)
from schemac.project.manifests import CompiledFile, read_manifests
from schemac.text.source.catalogue import NOTHING_TO_COMPILE, UNKNOWN_COLUMN
from schemac.text.source.diagnostics import Diagnostic, Report, Severity
from schemac.text.source.phrases import Help, counted, listed
from schemac.text.syntax.events import scalar
from schemac.versions.evolution.renames import undeclared_renames
from schemac.versions.identity.freeze import freeze
from schemac.versions.identity.lock import Lock
from schemac.versions.identity.lockfile import write_lock
from schemac.versions.identity.opening import open_version

if TYPE_CHECKING:
    from schemac.project.project_texts import DatasetField, ProjectTexts

# lock


def add_lock_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `schemac lock`."""
    arguments.add_compile_arguments(parser)
    mode = parser.add_mutually_exclusive_group()
    arguments.add_flag(mode, "--check", "write nothing; exit with 4 if a schema differs from its lock")
    arguments.add_flag(mode, "--resolve", "resolve merge conflicts in locks")
    help = "lock, and give a field the id that it had before it was dropped or renamed; may be repeated"
    mode.add_argument("--restore", action="append", type=_parse_field_id, metavar="FIELD=ID", help=help)
    help = "confirm that this field is dropped with its values, although a new field may be its renamed form; may be repeated"
    arguments.add_repeatable(parser, "--drop", "FIELD", help)
    mode.add_argument("--show", type=int, metavar="N", help="print version N as a manifest")
    help = "merge three lock files into OURS; for git: `driver = schemac lock --merge-driver %%O %%A %%B`"
    mode.add_argument("--merge-driver", nargs=3, metavar=("BASE", "OURS", "THEIRS"), help=help)


def _parse_field_id(text: str) -> tuple[str, int]:
    """Return the path and the id of the `FIELD=ID` of `--restore`: `fare=2` is ("fare", 2). argparse reports any other text."""
    path_text, equals, id = text.rpartition("=")
    if not (path_text and equals and id.isascii() and id.isdigit()):
        raise argparse.ArgumentTypeError(
            f"'{text}' does not have the form FIELD=ID, such as fare=2; see the ids with `--show` or in the lock"
        )
    return path_text, int(id)


def run_lock(options: argparse.Namespace) -> int:
    """Lock; return the exit code."""
    if options.drop and (
        options.check or options.resolve or options.show is not None or options.merge_driver
    ):
        notify("schemac lock: argument --drop: it is for the next version, which this command does not write")
        return ExitCode.USAGE
    report = Report()
    with numpy_left_out():
        if options.merge_driver:
            _base, ours, theirs = map(Path, options.merge_driver)
            merge_driver(ours, theirs, report)
        elif options.resolve:
            _resolve_conflicts(options, report)
        else:
            # For start-up time: git starts the merge driver once for each lock.
            from schemac.project.shared_work import collector_paused

            with collector_paused():
                lock_manifests(options, report)
    return show(report.diagnostics, options)


def _resolve_conflicts(options: argparse.Namespace, report: Report) -> None:
    """Resolve the merge conflicts in the locks that the arguments name, or those of the working folder."""
    locks: set[Path] = set()
    for path in map(Path, options.paths or ["."]):
        if path.is_dir():
            # A lock of something else has no manifest beside it.
            inside = (lock for lock in path.rglob("*.lock") if lock.is_file())
            locks |= {lock for lock in inside if manifests_of_lock(lock)}
        else:
            locks.add(path if path.suffix == ".lock" else lock_path(path))
    resolved = [path.as_posix() for path in sorted(locks) if resolve(path, path.as_posix(), report)]
    for name in resolved:
        print_status(f"{name}: resolved; check the manifest, then run `schemac lock`", options)
    if not resolved and not report.has_errors:
        print_status("no lock has merge conflict markers", options)


def lock_manifests(options: argparse.Namespace, report: Report) -> None:
    """Lock the manifests that the arguments name, or compare them with their locks."""
    project, files = open_project(options, report)
    strict = options.strict or project.configuration.strict
    compiled = read_manifests(files, project, report, strict=strict)
    if report.has_errors:
        return
    # All or nothing: a lock is written only once every manifest of the run has its next version.
    unchanged = UnchangedLocks(project)
    planned = _plan_locks(compiled, project, unchanged, options, report)
    if not (options.check or options.show is not None or report.has_errors):
        for next_one in planned:
            if next_one.lock_file is not None and save_locks([next_one.lock_file], report):
                unchanged.keep_written(next_one.file, next_one.lock_file.lock)
                lines = "\n".join(next_one.lines)
                print_status(
                    lines or f"{next_one.name}: the file has the new format; nothing else changed", options
                )
            elif not report.has_errors:
                print_status(f"{next_one.name}: unchanged", options)
    project.cache.save()


class UnchangedLocks:
    """What is kept of manifests whose locks need no new version."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._keys = project.cache.keys("lock", None)
        self.lost_locks = LostLocks(project)

    def key(self, file: CompiledFile) -> bytes | None:
        """Return the key of a manifest with its lock; None if there is no lock."""
        lock = content_of(lock_path(file.file.path))
        return self._key_with(file, lock) if lock is not None else None

    def _key_with(self, file: CompiledFile, lock: bytes) -> bytes:
        """Return the cache key of a manifest with these bytes of a lock."""
        return self._keys.key(file.key, lock, file.named)

    def cached(self, file: CompiledFile) -> tuple[Diagnostic, ...] | None:
        """Return the cached findings of a lock that is up to date; None if it was not checked yet."""
        key, entries = self.key(file), self._project.cache
        entry = entries.get(key, tuple[tuple[Diagnostic, ...], str | None]) if key is not None else None
        if entry is None:
            return None
        findings, searched_locks = entry
        is_current = searched_locks is None or searched_locks == self.lost_locks.digest_for(file.file.path)
        return findings if is_current else None

    def keep(
        self, file: CompiledFile, key: bytes | None, lock_report: Report, searched_locks: str | None
    ) -> None:
        """Keep that a lock is as it should be, if it is still what lay there when the key was made."""
        if key is not None and key == self.key(file) and not lock_report.has_errors:
            self._project.cache.put(key, (lock_report.diagnostics, searched_locks))

    def keep_written(self, file: CompiledFile, lock: Lock) -> None:
        """Store in the cache that a lock which was just written is up to date, with its findings."""
        report = Report()
        if not any(numbered_by_lock(dataset, lock, report).is_changed for dataset in file.datasets):
            key = self._key_with(file, write_lock(lock).encode())
            self.keep(file, key, report, None)


class _NextLock(NamedTuple):
    """What becomes of a lock."""

    name: str
    file: CompiledFile
    lock_file: LockFile | None = None
    """With the lock that it is to have; None if it is known to stay as it is."""
    lines: Sequence[str] = ()
    """What is new in it."""


def _plan_locks(
    compiled: Sequence[CompiledFile],
    project: Project,
    unchanged: UnchangedLocks,
    options: argparse.Namespace,
    report: Report,
) -> list[_NextLock]:
    """Return what becomes of each lock; of those that are known to stay as they are, nothing is asked again."""
    restored_ids = _restored_ids(compiled, dict(options.restore), report) if options.restore else {}
    # Those of `--drop` that no dataset has dropped so far.
    undropped = set(options.drop)
    is_plain = not options.restore and not options.drop and options.show is None
    planned: list[_NextLock] = []
    for file in compiled:
        diagnostics = unchanged.cached(file) if is_plain else None
        if diagnostics is not None:
            report.extend(diagnostics)
            planned.append(_NextLock(lock_name(file.file.name), file))
            continue
        file_report, key = Report(), unchanged.key(file)
        lock_file = open_lock(file.file.path, file.file.name, file_report) if file.named else None
        opened = None if lock_file is None else lock_file.lock
        searched_locks = unchanged.lost_locks.report(file, opened, file_report)
        if lock_file is not None and options.show is not None:
            for dataset in file.datasets:
                locked = lock_file.lock.dataset(dataset.name)
                version = locked.version(options.show)
                if version is None:
                    last = f"the newest is {locked.newest.number}" if locked.newest else "it was never locked"
                    message = f"{dataset.name} has no version {options.show}; {last}"
                    file_report.add(NOTHING_TO_COMPILE, message, file=lock_file.name)
                    continue
                put_manifest(write_manifest(open_version(locked, version).logical), options)
        elif lock_file is not None:
            next_file, lines = _next_lock(file, lock_file, options, restored_ids, undropped, file_report)
            planned.append(_NextLock(lock_file.name, file, next_file, lines))
            if is_plain and write_lock(next_file.lock) == lock_file.text:
                unchanged.keep(file, key, file_report, searched_locks)
        report.extend(file_report.diagnostics)
    datasets = [named.name for file in compiled for named in file.named]
    for path in sorted(undropped):
        message = f"{path} was not removed from {listed(datasets, 'or')} since the last version"
        help = "name a field of the last version that the manifest no longer has"
        report.add(UNKNOWN_COLUMN, message, help=help)
    return planned


def _next_lock(
    file: CompiledFile,
    lock_file: LockFile,
    options: argparse.Namespace,
    restored_ids: Mapping[str, Mapping[str, int]],
    undropped: set[str],
    report: Report,
) -> tuple[LockFile, list[str]]:
    """Return a lock with the next versions of a manifest's datasets and a line for each; with `--check` it only reports them.

    Fields that a dataset has dropped are taken out of `undropped`.
    """
    lock, lines = lock_file.lock, []
    for dataset in file.datasets:
        locked = numbered_by_lock(dataset, lock_file.lock, report, restored_ids.get(dataset.name, {}))
        if options.check:
            report_unlocked(locked, report, is_error=True)
            continue
        after = freeze(locked)
        lock = lock.with_dataset(after)
        if after is locked.lock or after.newest is None:
            continue
        what = counted(len(dataset.columns), "column")
        if locked.lock.newest:
            pair = pair_since(locked)
            removed = (field for field in preorder(pair.old.dataset.columns) if field not in pair.after)
            undropped.difference_update(field.path_text for field in removed)
            undecided = [rename for rename in undeclared_renames(pair) if rename.path not in options.drop]
            report_undeclared_renames(dataset, undecided, report, Severity.ERROR)
            from schemac.versions.evolution.diff import diff_of

            changes = diff_of(pair)
            report_returned_names(locked, changes, report)
            what = summary(changes)
        lines.append(f"{lock_file.name}: version {after.newest.number} of {dataset.name}: {what}")
    return lock_file._replace(lock=lock), lines


def _restored_ids(
    compiled: Sequence[CompiledFile], ids_by_path: Mapping[str, int], report: Report
) -> dict[str, dict[str, int]]:
    """Return the ids that fields are to have, by dataset."""
    restored_ids: dict[str, dict[str, int]] = {}
    paths_by_dataset = {
        dataset.name: {field.path_text for field in preorder(dataset.columns) if field.is_member}
        for file in compiled
        for dataset in file.datasets
    }
    for path_text, id in ids_by_path.items():
        having = [name for name, paths in paths_by_dataset.items() if path_text in paths]
        if len(having) == 1:
            restored_ids.setdefault(having[0], {})[path_text] = id
        elif having:
            message = f"{', '.join(having)} all have a field {path_text}"
            report.add(UNKNOWN_COLUMN, message, help="name the manifest that you mean")
        else:
            known: set[str] = set().union(*paths_by_dataset.values())
            help = Help.nearest(path_text, known, "give the field's current name in the manifest", mark="")
            report.add(UNKNOWN_COLUMN, f"none of these datasets has a field {path_text}", help=help)
    return restored_ids


# rename


def add_rename_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `schemac rename`."""
    arguments.add_dataset(parser)
    parser.add_argument("old", metavar="OLD", help="the field's path, such as fare or stops.item.name")
    parser.add_argument(
        "new",
        metavar="NEW",
        help="its new name, or a path such as price.fare to move it into that struct; to move a field out of a struct"
        " to the top level, its current name",
    )
    arguments.add_output_arguments(parser)


def run_rename(options: argparse.Namespace) -> int:
    """Rename; all texts and locks change together, or none."""
    # For start-up time: to lock takes none of them.
    from schemac.project.project_texts import ProjectTexts
    from schemac.project.renaming import field_called, rename
    from schemac.project.rewriting import write

    report = Report()
    opened = find_dataset(options, report)
    if opened is not None:
        project, file, dataset = opened
        # Rules of the project are programs, which nobody expects a renaming to run.
        texts = ProjectTexts.around(file, replace(project, has_custom_rules=False))
        target = field_called(file, dataset, options.old, texts, report)
        planned = rename(target, options.new, texts, report) if target is not None else None
        if target is not None and planned is not None and write(planned, report):
            renamed, *others = planned.renamed
            locked = (
                f", version {renamed.version} in its lock" if renamed.version else "; there is no lock yet"
            )
            print_status(f"{renamed.file}: {options.old} is now {renamed.path}{locked}", options)
            for other in others:
                locked = f", version {other.version} in its lock" if other.version else ""
                status = f"{other.file} uses the same group: the field is now {other.path}{locked}"
                print_status(status, options)
            for name in (text.name for text in planned.texts):
                if name not in {one.file for one in planned.renamed}:
                    print_status(f"{name}: {options.old} is now {renamed.path} here too", options)
            for hint in _pipeline_hints(target.dataset_field, renamed.path, texts):
                print_status(hint, options)
    return show(report.diagnostics, options)


def _pipeline_hints(renamed: "DatasetField", new: str, texts: "ProjectTexts") -> Iterator[str]:
    """Yield what to look at in the pipelines of a manifest that do not name a column, after it has got another name."""
    from schemac.project.imported import file_at  # for start-up time, as above

    file, _, field = renamed
    manifest, old = os.path.abspath(file.file.path), str(field.segment)
    for path, document in texts.pipelines(file.file.path.name) if field.parent is None else ():
        value: Any = document.value
        schema, fields = value.get("schema"), value.get("fields") or {}
        if isinstance(schema, str) and file_at(path, schema) == manifest and old not in fields:
            name = document.source.name
            yield f"{name}: its records still have {old}; write `{scalar(new)}: {scalar(old)}` under `fields`"
