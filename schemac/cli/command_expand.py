"""`schemac expand`: manifests as the standard has them, with every group put in.

Layer: cli.
"""

import argparse
from pathlib import Path

from schemac.cli.output import add_output_arguments, add_paths, exit_code, print_status, show
from schemac.cli.project import open_project
from schemac.cli.terminal import put_manifest
from schemac.project.expanding import expand_files
from schemac.project.writing import replace_file
from schemac.source.catalogue import WRITE_FAILED
from schemac.source.report import Report
from schemac.source.text import reason_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_paths(parser)
    parser.add_argument("--out", metavar="FILE", help="write to this file instead of the terminal")
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Expand; of manifests with errors nothing is shown but these."""
    report = Report()
    out = options.out
    options.out = None
    project, files = open_project(options, report)
    text = expand_files(files, project, report)
    project.cache.save()
    if not report.has_errors and out is not None:
        try:
            replace_file(Path(out), text.encode())
            print_status(f"wrote {out}", options)
        except OSError as error:
            report.add(WRITE_FAILED, f"cannot write {out}: {reason_of(error)}", file=out)
    elif not report.has_errors:
        put_manifest(text, options)
    diagnostics = report.diagnostics
    show(diagnostics, options)
    return exit_code(diagnostics, options)
