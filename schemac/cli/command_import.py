"""`schemac import`: a manifest from what stands already.

Floor: 15 (cli).
"""

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path

from schemac.api import from_tree
from schemac.cli.output import add_output_arguments, exit_code, say, show
from schemac.identity.lock import Lock
from schemac.identity.lockfile import write_lock
from schemac.importers.importer import FORMATS, Imported, import_source
from schemac.logical.dataset import LogicalDataset
from schemac.manifest.write import write_manifest
from schemac.project.locking import lock_name
from schemac.source.catalogue import WRITE_FAILED
from schemac.source.diagnostic import Diagnostic
from schemac.source.report import Report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("source", metavar="SOURCE", help="file or table")
    parser.add_argument(
        "--from", dest="source_format", choices=FORMATS, help="format of the source (default: by its name)"
    )
    parser.add_argument(
        "--skip", action="append", default=[], metavar="COLUMN", help="leave a column out; may be given again"
    )
    parser.add_argument("--name", help="name of the dataset (default: that of the source)")
    parser.add_argument(
        "--out", metavar="FILE", help="file to write (default: standard output); never one that is there"
    )
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Import; the manifest, and the lock where the source has ids, appear only if there was no error."""
    report = Report()
    path = Path(options.source)
    imported = import_source(path, options.source_format, report, options.skip)
    if imported is not None and not report.has_errors:
        name = options.name or imported.name or path.name.partition(".")[0]
        dataset = from_tree(imported.schema, name, options.source, report)
        if dataset is not None:
            _put(dataset, imported, options, report)
    diagnostics = report.diagnostics
    if options.format != "text" or diagnostics:
        _show(diagnostics, options)
    return exit_code(diagnostics, options)


def _put(dataset: LogicalDataset, imported: Imported, options: argparse.Namespace, report: Report) -> None:
    text = write_manifest(dataset, imported.comments, imported.notes.at)
    has_ids = imported.lance is not None or bool(imported.history)
    if options.out is None:
        sys.stdout.write(text)
        if has_ids:
            say("the ids of its fields go into a lock beside the manifest: name that with --out", options)
        return
    files = {options.out: text}
    if has_ids and not options.skip:
        # Imported here for start-up time: most sources have no ids.
        from schemac.project.adopting import adopted

        locked = adopted(
            dataset, imported, lambda tree: from_tree(tree, dataset.name, options.source, report)
        )
        if locked is not None:
            files[lock_name(options.out)] = write_lock(Lock((locked,)))
    if not report.has_errors:
        _write(files, options, report)


def _write(files: dict[str, str], options: argparse.Namespace, report: Report) -> None:
    """All files or none; what is there already stays."""
    written: list[str] = []
    try:
        for name, text in files.items():
            with open(name, "x", encoding="utf-8", newline="\n") as stream:
                written.append(name)
                stream.write(text)
    except FileExistsError as error:
        help = "name another file with --out, or remove it"
        report.add(WRITE_FAILED, f"{error.filename} is there already", file=str(error.filename), help=help)
    except OSError as error:
        report.add(WRITE_FAILED, f"cannot write {error.filename}: {error.strerror}", file=options.out)
    else:
        say(f"wrote {' and '.join(files)}", options)
        return
    for name in written:
        os.unlink(name)


def _show(diagnostics: Sequence[Diagnostic], options: argparse.Namespace) -> None:
    """Findings; beside the manifest on standard output they go to standard error."""
    if options.out is None and options.format == "text":
        with redirect_stdout(sys.stderr):
            show(diagnostics, options)
        return
    show(diagnostics, options)
