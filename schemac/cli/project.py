"""From arguments to a project and its manifests.

Floor: 12 (cli).
"""

import argparse
from pathlib import Path

from schemac.project.configuration import Project, find_project
from schemac.project.discovery import ManifestFile, find_manifests
from schemac.source.report import Report


def open_project(options: argparse.Namespace, report: Report) -> tuple[Project, list[ManifestFile]]:
    """The project that the working folder lies in, and the manifests that this run is about."""
    here = Path.cwd()
    project = find_project(here, report, Path(options.config) if options.config else None)
    if report.has_errors:
        return project, []
    if options.paths:
        return project, find_manifests(options.paths, here, out_folder(options, project), report)
    configured = project.configuration.manifests or (".",)
    return project, find_manifests(configured, project.folder, out_folder(options, project), report)


def compared_folders(options: argparse.Namespace, project: Project) -> list[Path]:
    """Folders that a commit is looked through for manifests that are gone."""
    if options.paths:
        return [Path(path) for path in options.paths if Path(path).is_dir()]
    return [project.folder / path for path in project.configuration.manifests or (".",)]


def out_folder(options: argparse.Namespace, project: Project) -> Path:
    """Where artifacts go: `--out` from the working folder, else the project's setting from its own."""
    given = getattr(options, "out", None)
    return Path.cwd() / given if given else project.folder / project.configuration.out
