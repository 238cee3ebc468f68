"""From arguments to a project and its manifests.

Layer: cli.
"""

import argparse
import os
from pathlib import Path

from schemac.logical.dataset import LogicalDataset
from schemac.project.configuration import Project, find_project
from schemac.project.discovery import ManifestFile, find_manifests
from schemac.project.manifests import CompiledFile, read_manifests
from schemac.source.catalogue import NOTHING_TO_COMPILE
from schemac.source.report import Report
from schemac.source.suggest import closest


def open_project(options: argparse.Namespace, report: Report) -> tuple[Project, list[ManifestFile]]:
    """Return the project that the working folder lies in, and the manifests that this run is about."""
    here = Path.cwd()
    project = find_project(here, report, Path(options.config) if options.config else None)
    if report.has_errors:
        return project, []
    if options.paths:
        return project, find_manifests(options.paths, here, out_folder(options, project), report)
    configured = project.configuration.manifests or (".",)
    return project, find_manifests(configured, project.folder, out_folder(options, project), report)


def find_dataset(
    options: argparse.Namespace, report: Report
) -> tuple[Project, CompiledFile, LogicalDataset] | None:
    """Return the one dataset that a command is about: by its name, or by its manifest; None after saying why not."""
    options.paths = [options.dataset] if os.path.isfile(options.dataset) else []
    project, files = open_project(options, report)
    compiled = read_manifests(files, project, report) if not report.has_errors else []
    if report.has_errors:
        return None
    by_name = {dataset.name: (project, file, dataset) for file in compiled for dataset in file.datasets}
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


def open_compared(
    options: argparse.Namespace, report: Report
) -> tuple[Project, list[ManifestFile], list[Path]]:
    """Return the project, the manifests that are compared, and the folders that are compared with all that they held.

    What is there no more can be compared with a commit that has it: such a path counts as a folder.
    """
    here = Path.cwd()
    project = find_project(here, report, Path(options.config) if options.config else None)
    if report.has_errors:
        return project, [], []
    base = here if options.paths else project.folder
    given = options.paths or project.configuration.manifests or (".",)
    folders = [base / path for path in given if (base / path).is_dir() or not options.paths]
    if not options.against.startswith("git:"):
        return project, find_manifests(given, base, out_folder(options, project), report), folders
    missing = [base / path for path in given if not (base / path).exists()]
    there = [path for path in given if (base / path).exists()]
    # Whether there is anything at all is known only once the commit is read.
    files = find_manifests(there, base, out_folder(options, project), Report())
    return project, files, list(dict.fromkeys([*folders, *missing]))


def out_folder(options: argparse.Namespace, project: Project) -> Path:
    """Where artifacts go: `--out` from the working folder, else the project's setting from its own."""
    given = getattr(options, "out", None)
    return Path.cwd() / given if given else project.folder / project.configuration.out
