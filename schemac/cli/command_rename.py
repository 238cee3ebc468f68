"""`schemac rename`: another name for a field, with its id and its data.

Floor: 12 (cli).
"""

import argparse
from pathlib import Path

from schemac.cli.output import add_output_arguments, exit_code, say, show
from schemac.cli.project import open_project
from schemac.logical.dataset import LogicalDataset
from schemac.project.compile import CompiledFile, read_manifests
from schemac.project.renaming import rename
from schemac.source.catalogue import NOTHING_TO_COMPILE
from schemac.source.report import Report
from schemac.source.suggest import closest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("dataset", metavar="DATASET", help="name of the dataset, or its manifest")
    parser.add_argument("old", metavar="OLD", help="the field's path, such as fare or stops.item.name")
    parser.add_argument("new", metavar="NEW", help="its new name")
    parser.add_argument("--config", metavar="FILE", help=argparse.SUPPRESS)
    add_output_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Rename; manifest and lock change together, or neither."""
    report = Report()
    options.paths = [options.dataset] if Path(options.dataset).is_file() else []
    project, files = open_project(options, report)
    compiled = read_manifests(files, project, report) if not report.has_errors else []
    found = None if report.has_errors else _find(compiled, options, report)
    if found is not None:
        file, dataset = found
        renamed = rename(file, dataset, options.old, options.new, project, report)
        if renamed is not None:
            locked = (
                f", version {renamed.version} in its lock" if renamed.version else "; there is no lock yet"
            )
            say(f"{renamed.manifest}: {options.old} is now {options.new}{locked}", options)
    diagnostics = report.diagnostics
    show(diagnostics, options)
    return exit_code(diagnostics, options)


def _find(
    compiled: list[CompiledFile], options: argparse.Namespace, report: Report
) -> tuple[CompiledFile, LogicalDataset] | None:
    """The dataset that is meant, and the file it stands in."""
    by_name = {dataset.name: (file, dataset) for file in compiled for dataset in file.datasets}
    if options.paths and len(by_name) == 1:
        return next(iter(by_name.values()))
    if options.dataset not in by_name:
        near = closest(options.dataset, by_name)
        report.add(
            NOTHING_TO_COMPILE,
            f"no manifest has a dataset {options.dataset}",
            help=f"did you mean {near}?" if near else f"the datasets are {', '.join(by_name)}",
        )
    return by_name.get(options.dataset)
