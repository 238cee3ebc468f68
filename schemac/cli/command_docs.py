"""`schemac docs`: pages for people who look.

Layer: cli.
"""

import argparse
from pathlib import Path

from schemac.cli.output import add_common, add_paths, print_status, show_all
from schemac.cli.project import open_project
from schemac.project.manifests import read_manifests
from schemac.text.source.catalogue import MISSING_EXTRA
from schemac.text.source.diagnostic import Severity
from schemac.text.source.files import install_help
from schemac.text.source.phrases import counted
from schemac.text.source.report import Report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_paths(parser)
    parser.add_argument(
        "-o", "--out-folder", metavar="FOLDER", default="site", help="folder of the pages (default: site)"
    )
    parser.add_argument(
        "--format",
        dest="pages",
        choices=("html", "markdown"),
        default="html",
        help="a site that any browser opens from the folder (html), or Markdown files",
    )
    parser.add_argument("--title", default="Datasets", help="title of the site (default: Datasets)")
    add_common(parser)
    parser.set_defaults(format="text", max_findings=100, fail_on="error")


def run(options: argparse.Namespace) -> int:
    """Write the pages; nothing is written if manifests have errors."""
    report = Report()
    _write(options, report)
    return show_all(report, options)


def _write(options: argparse.Namespace, report: Report) -> None:
    """Write the pages in the requested format, and print a summary; nothing is written after an error."""
    from schemac.documentation.model import read_site
    from schemac.documentation.pages import write_pages  # for start-up time, as below

    folder = Path(options.out_folder)
    project, files = open_project(options, report)
    local_report = Report()
    compiled = read_manifests(files, project, local_report) if not report.has_errors else []
    # What else there is to say of manifests, `check` says.
    report.extend(d for d in local_report.diagnostics if d.severity is Severity.ERROR)
    if report.has_errors:
        return
    unread = Report()
    site = read_site(options.title, compiled, project, unread)
    project.cache.save()
    report.extend(unread.diagnostics)
    if unread.has_errors:
        return
    if options.pages == "markdown":
        from schemac.documentation.pages import markdown_pages as pages
    else:
        try:
            from schemac.documentation.html import html_pages as pages
        except ModuleNotFoundError as error:
            help = f"{install_help(error)}; or write `--format markdown`"
            report.add(MISSING_EXTRA, f"the site needs {error.name}, which is not installed", help=help)
            return
    changed = write_pages(folder, options.out_folder, pages(site), report)
    if not report.has_errors:
        count = len(site.datasets)
        first = "index.md" if options.pages == "markdown" else "index.html"
        print_status(
            f"{counted(count, 'dataset')}: open {options.out_folder}/{first}; {counted(changed, 'file')} new or changed",
            options,
        )
