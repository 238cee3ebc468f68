"""`schemac diff` and `schemac breaking`: what changed, what it means for each engine, and which promises it breaks.

Layer: cli.
Errors: SC431 early-removal, SC432 lost-classification, SC433 declassified.
"""

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from itertools import chain, groupby
from operator import attrgetter

from schemac.cli import arguments
from schemac.cli.output import exit_code, print_status, show
from schemac.cli.project import open_compared
from schemac.cli.terminal import GREEN, RED, YELLOW, painted, put, put_rendered, wrapped
from schemac.language.attributes.builtin import CLASSIFICATION, DEPRECATED
from schemac.language.physical import numpy_left_out
from schemac.project.comparing import Comparison, ComparisonRequest, compare
from schemac.project.locking import summary
from schemac.project.shared_work import collector_paused
from schemac.project.writing import write_file
from schemac.text.source.catalogue import DECLASSIFIED, EARLY_REMOVAL, LOST_CLASSIFICATION, MISSING_EXTRA
from schemac.text.source.diagnostics import Code, Diagnostic, Label, Report
from schemac.text.source.files import install_help
from schemac.text.source.phrases import counted, printable
from schemac.versions.evolution.changes import OF_DATA, OF_READERS, Judgement, Outcome, SourceLocation
from schemac.versions.evolution.judge import JUDGE, judged_engines
from schemac.versions.evolution.ownership import Promise


def _heading(comparison: Comparison) -> str:
    """Return which versions of which dataset are compared."""
    return printable(f"{comparison.dataset}: {comparison.old or 'nothing'} → {comparison.new or 'nothing'}")


def _possible_renames(comparisons: Sequence[Comparison]) -> list[str]:
    """Return how many renames may not have been declared, for a summary; empty if none."""
    renames = sum(len(comparison.renames) for comparison in comparisons)
    return [counted(renames, "possible rename")] if renames else []


# diff


def add_diff_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `schemac diff`."""
    help = "what to compare with: lock, lock:N, git:REF, a manifest, or a folder of manifests or artifacts"
    parser.add_argument("against", metavar="AGAINST", help=help)
    arguments.add_paths(parser)
    arguments.add_flag(parser, "--transitive", "compare with every locked version")
    parser.add_argument(
        "--html", metavar="FILE", help="also write the changes to one self-contained HTML page"
    )
    arguments.add_text_or_json(parser)


@collector_paused(is_last=True)
@numpy_left_out()
def run_diff(options: argparse.Namespace) -> int:
    """Compare; changes are not findings, so the exit code is 0 if both versions can be read."""
    report = Report()
    project, files, folders = open_compared(options, report)
    request = ComparisonRequest(
        options.against, is_transitive=options.transitive, is_project=not options.paths
    )
    comparisons = compare(files, folders, request, project, report) if not report.has_errors else []
    project.cache.save()
    for comparison in comparisons:
        report.extend(comparison.rename_findings())
    if options.html is not None and not report.has_errors:
        _write_page(comparisons, options, report)
    changes = [
        {**change.to_json(), "from": one.old, "to": one.new} for one in comparisons for change in one.changes
    ]
    code = show(report.diagnostics, options, **({} if report.has_errors else {"changes": changes}))
    if options.format == "text":
        for comparison in comparisons:
            put(_heading(comparison))
            for change in comparison.changes:
                places = [_location_text(change.new_location), _location_text(change.old_location)]
                known = [place for place in places if ":" in place and place != comparison.old]
                locations = f"   ({', before '.join(known)})" if known else ""
                put(wrapped("  ", f"{change}{locations}", prefix=" " * 6))
        if not report.has_errors:
            print_status(_diff_summary(comparisons), options)
    return code


def _write_page(comparisons: list[Comparison], options: argparse.Namespace, report: Report) -> None:
    """Write the comparisons as a page of HTML, or report why it cannot be written."""
    try:
        from schemac.documentation.html import comparison_page  # for start-up time
    except ModuleNotFoundError as error:
        message = f"the page needs {error.name}, which is not installed"
        report.add(MISSING_EXTRA, message, help=install_help(error))
        return
    write_file(
        options.html, comparison_page(comparisons, options.against, _diff_summary(comparisons)), report
    )


def _diff_summary(comparisons: list[Comparison]) -> str:
    """Return how many datasets were added and dropped, and the changes of all others, in a few words."""
    counts = {"added": sum(not c.old for c in comparisons), "dropped": sum(not c.new for c in comparisons)}
    parts = [f"{counted(count, 'dataset')} {word}" for word, count in counts.items() if count]
    changes = [change for c in comparisons if c.old and c.new for change in c.changes]
    parts += [summary(changes)] if changes else []
    return ", ".join([*parts, *_possible_renames(comparisons)]) or "no changes"


def _location_text(location: SourceLocation | None) -> str:
    """Return a place, and where a manifest uses the group that it is in."""
    if location is None:
        return ""
    return str(location) if location.used is None else f"{location}, used at {location.used}"


# breaking


def add_breaking_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `schemac breaking`."""
    arguments.add_paths(parser)
    help = "lock, lock:N, git:REF, a manifest, or a folder of manifests or artifacts"
    parser.add_argument("--against", required=True, metavar="WHAT", help=help)
    arguments.add_flag(parser, "--transitive", "compare with every locked version")
    help = "show verdicts for this engine only; may be repeated ({}; default: the project's targets)"
    arguments.add_engines(parser, "--engine", JUDGE, "has no verdicts", help)
    help = "leave out the verdicts for programs that still use the old schema"
    arguments.add_flag(parser, "--ignore-readers", help)
    help = "check removals of deprecated fields as of this day, such as 2027-03-31 (default: today, or SOURCE_DATE_EPOCH)"
    parser.add_argument("--as-of", type=_parse_day, metavar="DAY", help=help)
    arguments.add_versions(parser)
    arguments.add_output_arguments(parser)


def _parse_day(text: str) -> date:
    """Return a day of ISO 8601; argparse reports any other text."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a day; write one such as 2027-03-31") from None


@collector_paused(is_last=True)
@numpy_left_out()
def run_breaking(options: argparse.Namespace) -> int:
    """Print the verdicts; exit with 1 if an engine refuses a change, or old readers break."""
    report = Report()
    project, files, folders = open_compared(options, report)
    engines = tuple(options.engine or (e for e in judged_engines() if e in project.configuration.targets))
    request = ComparisonRequest(
        options.against,
        engines,
        options.transitive,
        is_asked_outright=bool(options.engine),
        versions=arguments.versions_of(options, project),
        are_targets_named=project.configuration.are_targets_named,
        is_project=not options.paths,
    )
    comparisons = compare(files, folders, request, project, report) if not report.has_errors else []
    could_read = not report.has_errors
    # The day that was named, that of reproducible builds, or today in UTC.
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now(UTC)
    day = options.as_of or now.date()
    judged = [(one, promise_findings(one, day), one.rename_findings()) for one in comparisons]
    for comparison, *findings in judged:
        _report_verdicts(comparison, options, report)
        report.extend(chain.from_iterable(findings))
    project.cache.save()
    if options.format == "text" and could_read:
        for comparison, *findings in judged:
            lines = [*_verdict_lines(comparison, options)]
            for one in chain.from_iterable(findings):
                start = f"  {one.severity:<14} [{one.code}]  "
                lines.append(printable(wrapped(start, f"{one.message}; {one.help}"), keep="\n"))
            put_rendered("\n".join(lines) + "\n")
        print_status(_breaking_summary(comparisons, options), options)
        return exit_code(report.diagnostics, options)
    return show(report.diagnostics, options, **(_verdicts_json(judged) if could_read else {}))


def _report_verdicts(comparison: Comparison, options: argparse.Namespace, report: Report) -> None:
    """One finding a change and judgement, with all engines that agree on its reason and its way out.

    It is at the new place of the change; of what is gone, it is about the new or else the old file as a whole.
    """
    then = comparison.old.removeprefix(f"{options.against.removeprefix('git:')}:")
    for change, group in groupby(comparison.verdicts, attrgetter("change")):
        verdicts = list(group)
        engines_of: dict[Judgement, list[str]] = {}
        for verdict in verdicts:
            engines_of.setdefault(verdict.old_data, []).append(verdict.engine)
        of_data = [(one, OF_DATA.get(one.outcome), f" ({', '.join(who)})") for one, who in engines_of.items()]
        readers = verdicts[0].old_readers
        of_readers = (readers, OF_READERS.get(readers.outcome), "")
        # What is gone is told of where it was missed: the line of another commit is none of this one.
        location = change.new_location or SourceLocation(comparison.new or then)
        used = location.used
        for judgement, code, who in of_data if options.ignore_readers else (*of_data, of_readers):
            if code is not None:
                report.add(
                    code,
                    f"{change}: {judgement.reason}{who}",
                    file=location.file,
                    at=location.region,
                    path=change.path,
                    help=judgement.way_out,
                    labels=() if used is None else (Label("in a group, used here", used.file, *used.region),),
                )


def _verdict_lines(comparison: Comparison, options: argparse.Namespace) -> Iterator[str]:
    """Yield a comparison for people: its heading, and below each change a row per engine and one of old readers."""
    yield _heading(comparison)
    for change, group in groupby(comparison.verdicts, attrgetter("change")):
        verdicts = list(group)
        yield printable(wrapped("  ", str(change), prefix=" " * 6), keep="\n")
        yield from (_verdict_row(v.engine, v.old_data, OF_DATA, options) for v in verdicts)
        readers = verdicts[0].old_readers
        if not options.ignore_readers and readers.outcome is not Outcome.SAFE:
            yield _verdict_row("old readers", readers, OF_READERS, options)


def _verdicts_json(
    judged: Sequence[tuple[Comparison, Sequence[Diagnostic], Sequence[Diagnostic]]],
) -> dict[str, object]:
    """Return the verdicts and the promises that are broken, for programs."""
    verdicts = [
        {**verdict.to_json(), "from": one.old, "to": one.new}
        for one, _, _ in judged
        for verdict in one.verdicts
    ]
    promises = [
        {"dataset": one.dataset, "field": d.path, "code": d.code, "severity": str(d.severity)}
        | {"message": d.message, "from": one.old, "to": one.new}
        for one, broken, _ in judged
        for d in broken
    ]
    return {"verdicts": verdicts, "promises": promises}


def _verdict_row(
    who: str, judgement: Judgement, codes: Mapping[Outcome, Code], options: argparse.Namespace
) -> str:
    """Return one line of a judgement: who, the outcome in colour, its code in brackets, the reason and the way out."""
    code = codes.get(judgement.outcome)
    mark = f"[{code.id}]" if code else ""
    reason = "; ".join(part for part in (judgement.reason, judgement.way_out) if part)
    line = printable(wrapped(f"    {who:<12} {judgement.outcome:<16} {mark:<8} ", reason), keep="\n")
    start, outcome, rest = line.partition(judgement.outcome)
    return f"{start}{painted(outcome, _COLOURS.get(judgement.outcome, GREEN), options)}{rest}"


_COLOURS = {Outcome.REFUSED: RED, Outcome.DATA: YELLOW, Outcome.REWRITE: YELLOW}
"""Those of the grave outcomes, the gravest first."""


def _breaking_summary(comparisons: list[Comparison], options: argparse.Namespace) -> str:
    """Return how many changes there are, how many of each grave outcome for any engine, and how many possible renames."""
    changes = sum(len(comparison.changes) for comparison in comparisons)
    if not changes:
        return "no changes"
    outcomes: dict[Outcome, set[tuple[str, str, str]]] = {outcome: set() for outcome in Outcome}
    for comparison in comparisons:
        for verdict in comparison.verdicts:
            change = (comparison.dataset, comparison.old, str(verdict.change))
            outcomes[verdict.old_data.outcome].add(change)
            if not options.ignore_readers:
                outcomes[verdict.old_readers.outcome].add(change)
    counts = [f"{len(outcomes[outcome])} {outcome}" for outcome in _COLOURS if outcomes[outcome]]
    grave = ", ".join([*counts, *_possible_renames(comparisons)])
    return f"{counted(changes, 'change')}{f': {grave}' if grave else ', none of them critical'}"


_BROKEN = {
    Promise.REMOVAL: (
        EARLY_REMOVAL,
        f"{{what}} is removed before {{old}}, the date that `{DEPRECATED.key}` promises",
        "keep it until then, or publish an earlier `removeAfter` first, so that readers know",
    ),
    Promise.LOST: (
        LOST_CLASSIFICATION,
        "{what} was classified as {old}, and no longer has a classification",
        f"write `{CLASSIFICATION.key}: {{old}}` under its `extra:`; if that is intended, write a less sensitive one, such as public",
    ),
    Promise.LOWERED: (
        DECLASSIFIED,
        "{what} was classified as {old}, and is {new} now",
        "make sure that those who answer for the data agree",
    ),
}
"""What there is to say of a promise that is not kept: its code, its message and its help."""


def promise_findings(comparison: Comparison, today: date) -> tuple[Diagnostic, ...]:
    """Return the findings about promises of one comparison, judged for a day."""
    report = Report()
    for concern in comparison.concerns:
        if concern.rule is Promise.REMOVAL and today.isoformat() > concern.old:
            continue
        code, message, help = _BROKEN[concern.rule]
        texts = {"what": concern.path or comparison.dataset, "old": concern.old, "new": concern.new}
        message, help = message.format_map(texts), help.format_map(texts)
        place = concern.location or SourceLocation(comparison.new or comparison.old)
        report.add(code, message, file=place.file, at=place.region, path=concern.path, help=help)
    return report.diagnostics
