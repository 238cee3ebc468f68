"""`schemac clean`: removes the cache of a project.

Layer: cli.
"""

import argparse
from pathlib import Path

from schemac.cli.output import add_text_or_json, exit_code, print_status, show
from schemac.project.cache.store import NO_CACHE, Cache, remove_cache
from schemac.project.configuration import find_project
from schemac.text.source.catalogue import WRITE_FAILED
from schemac.text.source.report import Report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("--config", metavar="FILE", help=argparse.SUPPRESS)
    add_text_or_json(parser)


def run(options: argparse.Namespace) -> int:
    """Remove the cache; artifacts and locks stay as they are."""
    report = Report()
    removed = None
    here = Path.cwd()
    folders = [here]

    def note(folder: Path) -> Cache:
        folders.append(folder)
        return NO_CACHE

    find_project(here, Report(), Path(options.config) if options.config else None, note)
    for folder in dict.fromkeys(folder.resolve() for folder in folders):
        try:
            size = remove_cache(folder)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            report.add(
                WRITE_FAILED,
                f"cannot remove the cache: {reason}",
                file=f"{folder.name}/.schemac/cache",
            )
            continue
        removed = size if removed is None else removed + (size or 0)
    diagnostics = report.diagnostics
    show(diagnostics, options)
    if not report.has_errors:
        print_status(
            "there is no cache" if removed is None else f"removed the cache: {removed / 1e6:.1f} MB", options
        )
    return exit_code(diagnostics, options)
