"""`schemac diff`: what changed.

Layer: cli.
"""

import argparse
from pathlib import Path

from schemac.cli.output import add_paths, add_text_or_json, exit_code, print_status, show
from schemac.cli.project import open_compared
from schemac.cli.terminal import put, wrapped
from schemac.language.physical import numpy_left_out
from schemac.project.comparing import Comparison, ComparisonRequest, compare
from schemac.project.locking import summary
from schemac.project.shared_work import collector_paused
from schemac.text.source.catalogue import MISSING_EXTRA, WRITE_FAILED
from schemac.text.source.files import install_help
from schemac.text.source.phrases import counted, printable
from schemac.text.source.report import Report
from schemac.text.source.text import reason_of
from schemac.versions.evolution.changes import Location


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "against",
        metavar="AGAINST",
        help="what to compare with: lock, lock:N, git:REF, a manifest, or a folder of manifests or artifacts",
    )
    add_paths(parser)
    parser.add_argument("--transitive", action="store_true", help="compare with every locked version")
    parser.add_argument(
        "--html", metavar="FILE", help="also write the changes to one self-contained HTML page"
    )
    add_text_or_json(parser)


@collector_paused(is_last=True)
@numpy_left_out()
def run(options: argparse.Namespace) -> int:
    """Compare; changes are not findings, so the exit code is 0 if both versions can be read."""
    report = Report()
    project, files, folders = open_compared(options, report)
    comparisons: list[Comparison] = []
    if not report.has_errors:
        request = ComparisonRequest(
            options.against, is_transitive=options.transitive, is_project=not options.paths
        )
        comparisons = compare(files, folders, request, project, report)
    project.cache.save()
    for comparison in comparisons:
        report.extend(comparison.rename_findings())
    if options.html is not None and not report.has_errors:
        _write_page(comparisons, options, report)
    diagnostics = report.diagnostics
    if options.format == "json" and not report.has_errors:
        show(
            diagnostics,
            options,
            changes=[
                {**change.to_json(), "from": comparison.old, "to": comparison.new}
                for comparison in comparisons
                for change in comparison.changes
            ],
        )
        return exit_code(diagnostics, options)
    show(diagnostics, options)
    for comparison in comparisons:
        put(printable(f"{comparison.dataset}: {comparison.old or 'nothing'} → {comparison.new or 'nothing'}"))
        for change in comparison.changes:
            places = [_location_text(change.new_location), _location_text(change.old_location)]
            known = [place for place in places if ":" in place and place != comparison.old]
            locations = f"   ({', before '.join(known)})" if known else ""
            put(wrapped("  ", f"{change}{locations}", prefix=" " * 6))
    if not report.has_errors:
        print_status(_summary(comparisons), options)
    return exit_code(diagnostics, options)


def _write_page(comparisons: list[Comparison], options: argparse.Namespace, report: Report) -> None:
    from schemac.project.writing import replace_file  # for start-up time, as below

    try:
        from schemac.documentation.html import comparison_page
    except ModuleNotFoundError as error:
        message = f"the page needs {error.name}, which is not installed"
        report.add(MISSING_EXTRA, message, help=install_help(error))
        return
    try:
        replace_file(Path(options.html), comparison_page(comparisons, options.against, _summary(comparisons)))
    except OSError as error:
        report.add(WRITE_FAILED, f"cannot write {options.html}: {reason_of(error)}", file=options.html)


def _summary(comparisons: list[Comparison]) -> str:
    """All changes in a few words."""
    added, dropped = sum(not c.old for c in comparisons), sum(not c.new for c in comparisons)
    parts = [
        f"{counted(count, 'dataset')} {word}"
        for count, word in ((added, "added"), (dropped, "dropped"))
        if count
    ]
    changes = [change for c in comparisons if c.old and c.new for change in c.changes]
    parts += [summary(changes)] if changes else []
    renames = sum(len(comparison.renames) for comparison in comparisons)
    parts += [counted(renames, "possible rename")] if renames else []
    return ", ".join(parts) or "no changes"


def _location_text(location: Location | None) -> str:
    """Return a place, and where a manifest uses the group that it is in."""
    if location is None:
        return ""
    return str(location) if location.used is None else f"{location}, used at {location.used}"
