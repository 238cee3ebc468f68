"""`--watch`: a command that is carried out again whenever a file changes that its result depends on.

Layer: cli.
Shape: files are looked at several times a second, by their sizes and times. That needs no library, works on every file system, also
those of containers and networks, and takes a few milliseconds for a thousand files.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from schemac.cli.exit_code import ExitCode
from schemac.cli.project import STDIN, out_folder
from schemac.cli.terminal import clear_screen, notify
from schemac.cli.waiting import bar_when_long
from schemac.project.cache import WrongEntryError
from schemac.project.configuration import FILES, Project
from schemac.project.discovery import walk
from schemac.text.source.phrases import counted

_EVERY_SECONDS = 0.25
_SUFFIXES = (".yaml", ".yml", ".lock")
_MOST_NAMES = 3


class Watched(NamedTuple):
    """What a run came to, and what it depended on besides the manifests of its folders."""

    code: int
    project: Project
    files: tuple[Path, ...] = ()


def add_watch(parser: argparse.ArgumentParser) -> None:
    """`--watch`."""
    parser.add_argument(
        "--watch", action="store_true", help="run again whenever a file changes, until Ctrl-C"
    )


def refused(options: argparse.Namespace) -> str | None:
    """Return why these options cannot be watched with."""
    if options.format != "text" or options.output_file is not None:
        return "--watch is for interactive use; leave out --format and --output-file"
    return "--watch cannot read standard input again; name a file" if options.paths == [STDIN] else None


def watch(options: argparse.Namespace, once: Callable[[], Watched]) -> int:
    """Run a command, and again after each change, until it is interrupted."""
    reason = refused(options)
    if reason is not None:
        notify(f"schemac: {reason}")
        return ExitCode.USAGE
    changed: list[str] = []
    try:
        while True:
            clear_screen()
            if changed:
                notify(f"{_listed(changed)} changed")
            # The first screen took the bar of the command away.
            with bar_when_long(options.command, options.format):
                done = _carried_out(options, once)
            before = _state(options, done)
            notify(f"watching {counted(len(before), 'file')}; Ctrl-C ends it")
            changed = _next_change(options, done, before)
    except KeyboardInterrupt:
        notify("stopped watching")
        return ExitCode.CLEAN


def _carried_out(options: argparse.Namespace, once: Callable[[], Watched]) -> Watched:
    try:
        return once()
    except WrongEntryError:
        options.is_cache_forgotten = True
        return once()
    finally:
        options.is_cache_forgotten = False
        sys.stdout.flush()


def _next_change(options: argparse.Namespace, done: Watched, before: Mapping[str, object]) -> list[str]:
    """Wait until files are others than they were, and no longer change; return their paths."""
    after = before
    while True:
        time.sleep(_EVERY_SECONDS)
        now = _state(options, done)
        # An editor may write a file in several steps, and a checkout many files one by one.
        if now != before and now == after:
            return sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))
        after = now


def _state(options: argparse.Namespace, done: Watched) -> dict[str, object]:
    """Return the system's record of each file; None for one that does not exist."""
    states: dict[str, object] = {}
    for path in _paths(options, done):
        try:
            status = os.stat(path)
        except OSError:
            continue
        states[os.fspath(path)] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return states


def _paths(options: argparse.Namespace, done: Watched) -> Iterator[Path]:
    project = done.project
    configured = project.configuration.manifests or (".",)
    base = Path.cwd() if options.paths else project.folder
    for path_text in options.paths or configured:
        path = base / path_text
        if path.is_dir():
            yield from walk(path, out_folder(options, project), _SUFFIXES, project.exclusion)
        else:
            yield from (path, path.with_suffix(".lock"))
    yield from (Path(options.config),) if options.config else (project.folder / name for name in FILES)
    yield from (project.folder / file for file in project.configuration.vocabularies.values())
    yield from (Path(options.overlay),) if options.overlay else ()
    yield from done.files


def _listed(paths: Iterable[str]) -> str:
    names = [os.path.relpath(path) for path in paths]
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
