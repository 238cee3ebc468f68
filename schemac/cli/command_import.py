"""`schemac import`: a manifest from what stands already.

Floor: 12 (cli).
"""

import argparse
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path

from schemac.api import from_tree
from schemac.cli.output import add_output_arguments, exit_code, say, show
from schemac.importers.importer import FORMATS, import_source
from schemac.manifest.write import write_manifest
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
    """Import; the manifest appears only if there was no error."""
    report = Report()
    path = Path(options.source)
    imported = import_source(path, options.source_format, report, options.skip)
    text = ""
    if imported is not None and not report.has_errors:
        name = options.name or imported.name or path.name.partition(".")[0]
        dataset = from_tree(imported.schema, name, options.source, report)
        text = write_manifest(dataset, imported.comments, imported.notes.at) if dataset is not None else ""
    if text and not report.has_errors:
        _write(text, options, report)
    diagnostics = report.diagnostics
    if options.format != "text" or diagnostics:
        _show(diagnostics, options)
    return exit_code(diagnostics, options)


def _write(text: str, options: argparse.Namespace, report: Report) -> None:
    if options.out is None:
        sys.stdout.write(text)
        return
    try:
        with open(options.out, "x", encoding="utf-8") as stream:
            stream.write(text)
        say(f"wrote {options.out}", options)
    except FileExistsError:
        help = "name another file with --out, or remove it"
        report.add(WRITE_FAILED, f"{options.out} is there already", file=options.out, help=help)
    except OSError as error:
        report.add(WRITE_FAILED, f"cannot write {options.out}: {error.strerror}", file=options.out)


def _show(diagnostics: Sequence[Diagnostic], options: argparse.Namespace) -> None:
    """Findings; beside the manifest on standard output they go to standard error."""
    if options.out is None and options.format == "text":
        with redirect_stdout(sys.stderr):
            show(diagnostics, options)
        return
    show(diagnostics, options)
