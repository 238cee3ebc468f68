"""From arguments to a project and its manifests, and `--watch`.

Layer: cli.
Shape: `--watch` carries a command out again whenever a file changes that its result depends on. Files are looked at several times a
      second, by their sizes and times. That needs no library, works on every file system, also those of containers and networks, and
      takes a few milliseconds for a thousand files.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from schemac.cli.terminal import ExitCode, carry_out, clear_screen, notify
from schemac.project.cache.store import FOLDER, NO_CACHE, Cache, tracked_files
from schemac.project.configuration import SETTINGS_FILES, Project, find_project
from schemac.project.discovery import SUFFIXES, ManifestFile, find_manifests, walk
from schemac.project.imported import FolderFiles
from schemac.project.manifests import CompiledFile, read_manifests
from schemac.project.options import CompileOptions
from schemac.text.source.catalogue import NOTHING_TO_COMPILE, TRACKED_CACHE, UNREADABLE_FILE
from schemac.text.source.diagnostics import Report
from schemac.text.source.phrases import Help, counted
from schemac.text.source.text import MAX_BYTES

if TYPE_CHECKING:
    from schemac.language.logical.dataset import LogicalDataset
    from schemac.project.overlays import RunOverlay

STDIN = "-"
"""The PATH of standard input."""


def open_project(
    options: argparse.Namespace, report: Report, *, is_builder: bool = False
) -> tuple[Project, list[ManifestFile]]:
    """Return the project that the working folder is in, and the manifests that this run is about.

    A command that writes into the folder anyway may create a cache without a sign of a project.
    """
    project = _find_project(options, report)
    if is_builder and not options.no_cache and not project.cache.is_persistent:
        project = replace(project, cache=_open_cache(options)(project.folder))
    if report.has_errors:
        return project, []
    if options.paths == [STDIN]:
        # The file that it is taken for, for its name, its imports and its lock.
        name = getattr(options, "stdin_filename", None) or "<stdin>"
        try:
            # Python has none where the shell closed it.
            content = sys.stdin.buffer.read(MAX_BYTES + 1) if sys.stdin is not None else None
        except OSError:
            content = None
        if content is not None:
            path = Path(name)
            return project, [ManifestFile(path, path.as_posix(), is_named=True, provided_content=content)]
        help = "redirect a file with `<`, such as `schemac check - < trips.yaml`, or name the file"
        report.add(UNREADABLE_FILE, "the standard input cannot be read: it is closed", file=name, help=help)
        return project, []
    base, paths = _searched_paths(options, project)
    return project, find_manifests(paths, base, out_folder(options, project), report, project.exclusion)


def _searched_paths(options: argparse.Namespace, project: Project) -> tuple[Path, Sequence[str]]:
    """Return the paths of manifests that a run is about, and the folder that they are relative to."""
    if options.paths:
        return Path.cwd(), options.paths
    return project.folder, project.configuration.manifests or (".",)


def edited_of(files: list[ManifestFile]) -> dict[str, bytes]:
    """Return the texts that replace files, by path: standard input, if it is the manifest."""
    return {
        os.path.abspath(file.path): file.provided_content
        for file in files
        if file.provided_content is not None
    }


def _find_project(options: argparse.Namespace, report: Report) -> Project:
    """Return the project of the working folder or of `--config`, after reporting a cache that git tracks."""
    explicit = Path(options.config) if options.config else None
    project = find_project(Path.cwd(), report, explicit, _open_cache(options))
    if project.cache.is_persistent and (tracked := tracked_files(project.cache.folder)):
        # What somebody else has put there would decide what this run finds.
        message = f"git tracks {tracked[0]}, which holds cached results of somebody else's runs"
        report.add(TRACKED_CACHE, message, file=tracked[0], help=f"run `git rm -r --cached {FOLDER}`")
    return replace(project, has_custom_rules=not getattr(options, "no_project_rules", False))


def _open_cache(options: argparse.Namespace) -> Callable[[Path], Cache]:
    """Return what makes the cache of a project's folder; with `--no-cache` it keeps nothing."""
    return (lambda _: NO_CACHE) if options.no_cache else partial(Cache, is_fresh=options.is_cache_forgotten)


def find_dataset(
    options: argparse.Namespace, report: Report
) -> "tuple[Project, CompiledFile, LogicalDataset] | None":
    """Return the one dataset of a command: by its name, or by its manifest; None after reporting why not."""
    options.paths = [options.dataset] if os.path.isfile(options.dataset) else []
    project, files = open_project(options, report)
    compiled = read_manifests(files, project, report) if not report.has_errors else []
    if report.has_errors:
        return None
    by_name = {named.name: (file, n) for file in compiled for n, named in enumerate(file.named)}
    dataset_name = next(iter(by_name)) if options.paths and len(by_name) == 1 else options.dataset
    if dataset_name not in by_name:
        message = f"no manifest has a dataset {options.dataset}"
        help = Help.nearest(options.dataset, by_name, f"the datasets are {', '.join(by_name)}", mark="")
        report.add(NOTHING_TO_COMPILE, message, help=help)
        return None
    file, n = by_name[dataset_name]
    project.cache.save()
    return project, file, file.datasets[n]


def open_compared(
    options: argparse.Namespace, report: Report
) -> tuple[Project, list[ManifestFile], list[Path]]:
    """Return the project, the manifests that are compared, and the folders that are compared with all that they held.

    A path that no longer exists can be compared with a commit that has it; it counts as a folder.
    """
    project = _find_project(options, report)
    if report.has_errors:
        return project, [], []
    base, paths = _searched_paths(options, project)
    folders = [base / path for path in paths if (base / path).is_dir() or not options.paths]
    is_of_commit = options.against.startswith("git:")
    missing = [base / path for path in paths if is_of_commit and not (base / path).exists()]
    there = [path for path in paths if base / path not in missing]
    # Whether there is anything at all is known only once the commit is read.
    local_report = Report() if is_of_commit else report
    return project, project.manifests_at(there, base, local_report), list(dict.fromkeys([*folders, *missing]))


def imported_files(files: Sequence[CompiledFile]) -> tuple[Path, ...]:
    """Return the files that manifests imported."""
    places = ((FolderFiles(one.file.path, one.file.name), one.imported) for one in files)
    return tuple([around.place(path) for around, imported in places for path, _ in imported.files])


def report_files(files: Sequence[CompiledFile], project: Project, options: argparse.Namespace) -> None:
    """Print for `--verbose` which settings were used, and which datasets each file has."""
    if not options.verbose:
        return
    notify(f"project: {project.folder}")
    for one in files:
        names = ", ".join(named.name for named in one.named)
        notify(f"{one.file.name}: {names or 'no dataset'}")


def overlay_of(options: argparse.Namespace, report: Report) -> "RunOverlay | None":
    """Return the overlay of a run; None if none is named, and after reporting what is wrong with it."""
    if options.overlay is None:
        return None
    from schemac.project.overlays import load_overlay  # for start-up time: few runs have one

    return load_overlay(options.overlay, report)


def compile_options_of(options: argparse.Namespace, project: Project, report: Report) -> CompileOptions:
    """Return how `check` and `build` compile, by the command line, which goes before the settings of the project."""
    compile_options = CompileOptions.of(
        project,
        options.target,
        strict=options.strict,
        metadata=not options.no_metadata,
        system_columns=options.system_columns,
    )
    return replace(
        compile_options,
        show_losses=options.losses,
        denied=frozenset(name for names in options.deny or () for name in (names or compile_options.targets)),
        has_rules=True,
        locked=options.locked,
        overlay=overlay_of(options, report),
    )


def out_folder(options: argparse.Namespace, project: Project) -> Path:
    """Return where artifacts go: `--out` from the working folder, else the project's setting from its own."""
    out = getattr(options, "out", None)
    return Path.cwd() / out if out else project.folder / project.configuration.out


_EVERY_SECONDS = 0.25
_SUFFIXES = (*SUFFIXES, ".lock")
_MOST_NAMES = 3


class Watched(NamedTuple):
    """What a run came to, and what it depended on besides the manifests of its folders."""

    code: int
    project: Project
    files: tuple[Path, ...] = ()


def watch(options: argparse.Namespace, once: Callable[[], Watched]) -> int:
    """Run a command, and again after each change, until it is interrupted."""
    if options.format != "text" or options.output_file is not None:
        notify("schemac: --watch is for interactive use; leave out --format and --output-file")
        return ExitCode.USAGE
    if options.paths == [STDIN]:
        notify("schemac: --watch cannot read standard input again; name a file")
        return ExitCode.USAGE
    changed: list[str] = []
    try:
        while True:
            clear_screen()
            if changed:
                notify(f"{_first_names(changed)} changed")
            # The first screen took the bar of the command away.
            try:
                done = carry_out(options, once)
            finally:
                options.is_cache_forgotten = False
                sys.stdout.flush()
            before = _file_states(options, done)
            notify(f"watching {counted(len(before), 'file')}; Ctrl-C ends it")
            after = now = before
            # An editor may write a file in several steps, and a checkout many files one by one.
            while now == before or now != after:
                time.sleep(_EVERY_SECONDS)
                after, now = now, _file_states(options, done)
            changed = sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))
    except KeyboardInterrupt:
        notify("stopped watching")
        return ExitCode.CLEAN


def _file_states(options: argparse.Namespace, done: Watched) -> dict[str, object]:
    """Return the system's record of each file; None for one that does not exist."""
    project = done.project
    base, searched = _searched_paths(options, project)
    paths: list[Path] = []
    for path in (base / text for text in searched):
        if path.is_dir():
            paths += walk(path, out_folder(options, project), _SUFFIXES, project.exclusion)
        else:
            paths += [path, path.with_suffix(".lock")]
    paths += [Path(options.config)] if options.config else [project.folder / name for name in SETTINGS_FILES]
    paths += [project.folder / file for file in project.configuration.vocabularies.values()]
    paths += [Path(options.overlay)] if options.overlay else []
    states: dict[str, object] = {}
    for path in (*paths, *done.files):
        with suppress(OSError):
            status = os.stat(path)
            states[os.fspath(path)] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return states


def _first_names(paths: Iterable[str]) -> str:
    """Return the first paths from the working folder, and how many more there are."""
    names = [os.path.relpath(path) for path in paths]
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
