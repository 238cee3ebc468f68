"""`schemac breaking`: what each change means for each engine, and which promises it breaks.

Layer: cli.
Errors: SC431 early-removal, SC432 lost-classification, SC433 declassified.
"""

import argparse
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from itertools import chain, groupby
from operator import attrgetter

from schemac.cli.output import (
    add_engines,
    add_output_arguments,
    add_paths,
    add_versions,
    exit_code,
    print_status,
    show,
    versions_of,
)
from schemac.cli.project import open_compared
from schemac.cli.terminal import GREEN, RED, YELLOW, painted, put_rendered, wrapped
from schemac.language.attributes.builtin import CLASSIFICATION, DEPRECATED
from schemac.language.physical import numpy_left_out
from schemac.project.comparing import Comparison, ComparisonRequest, compare
from schemac.project.shared_work import collector_paused
from schemac.text.source.catalogue import DECLASSIFIED, EARLY_REMOVAL, LOST_CLASSIFICATION
from schemac.text.source.diagnostic import Code, Diagnostic, Label
from schemac.text.source.phrases import counted, printable
from schemac.text.source.report import Report
from schemac.text.source.span import WHOLE_FILE
from schemac.versions.evolution.changes import OF_DATA, OF_READERS, Judgement, Outcome, Verdict
from schemac.versions.evolution.judge import JUDGE, judged_engines
from schemac.versions.evolution.ownership import Promise


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_paths(parser)
    parser.add_argument(
        "--against",
        required=True,
        metavar="WHAT",
        help="lock, lock:N, git:REF, a manifest, or a folder of manifests or artifacts",
    )
    parser.add_argument("--transitive", action="store_true", help="compare with every locked version")
    help = "show verdicts for this engine only; may be repeated ({}; default: the project's targets)"
    add_engines(parser, "--engine", JUDGE, "has no verdicts", help)
    parser.add_argument(
        "--ignore-readers",
        action="store_true",
        help="leave out the verdicts for programs that still use the old schema",
    )
    parser.add_argument(
        "--as-of",
        type=_day,
        metavar="DAY",
        help="check removals of deprecated fields as of this day, such as 2027-03-31 (default: today, or SOURCE_DATE_EPOCH)",
    )
    add_versions(parser)
    add_output_arguments(parser)


def _day(text: str) -> date:
    """Return a day of ISO 8601; argparse reports any other text."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a day; write one such as 2027-03-31") from None


@collector_paused(is_last=True)
@numpy_left_out()
def run(options: argparse.Namespace) -> int:
    """Print the verdicts; exit with 1 if an engine refuses a change, or old readers break."""
    report = Report()
    project, files, folders = open_compared(options, report)
    comparisons: list[Comparison] = []
    if not report.has_errors:
        engines = tuple(options.engine or (e for e in judged_engines() if e in project.configuration.targets))
        request = ComparisonRequest(
            options.against,
            engines,
            options.transitive,
            is_asked_outright=bool(options.engine),
            versions=versions_of(options, project),
            are_targets_named=project.configuration.are_targets_named,
            is_project=not options.paths,
        )
        comparisons = compare(files, folders, request, project, report)
    could_read = not report.has_errors
    # The day that was named, that of reproducible builds, or today in UTC.
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now(UTC)
    day = options.as_of or now.date()
    judged = [(one, promise_findings(one, day), one.rename_findings()) for one in comparisons]
    for comparison, *findings in judged:
        _report(comparison, options, report)
        report.extend(chain.from_iterable(findings))
    project.cache.save()
    diagnostics = report.diagnostics
    if options.format == "json" and could_read:
        show(diagnostics, options, **_document(judged))
    elif options.format == "text" and could_read:
        for comparison, *findings in judged:
            lines = [_text(comparison, options)]
            for one in chain.from_iterable(findings):
                start = f"  {one.severity:<14} [{one.code}]  "
                lines.append(printable(wrapped(start, f"{one.message}; {one.help}"), keep="\n"))
            put_rendered("\n".join(lines) + "\n")
    else:
        show(diagnostics, options)
    if could_read:
        print_status(_summary(comparisons, options), options)
    return exit_code(diagnostics, options)


def _report(comparison: Comparison, options: argparse.Namespace, report: Report) -> None:
    """One finding a change and judgement, with all engines that agree on its reason and its way out."""
    for _, group in groupby(comparison.verdicts, attrgetter("change")):
        verdicts = list(group)
        agreed: dict[Judgement, list[str]] = {}
        for verdict in verdicts:
            agreed.setdefault(verdict.old_data, []).append(verdict.engine)
        for judgement, engines in agreed.items():
            if judgement.outcome in OF_DATA:
                code = OF_DATA[judgement.outcome]
                _add(report, comparison, verdicts[0], code, judgement, f" ({', '.join(engines)})", options)
        readers = verdicts[0].old_readers
        if not options.ignore_readers and readers.outcome in OF_READERS:
            _add(report, comparison, verdicts[0], OF_READERS[readers.outcome], readers, "", options)


def _add(
    report: Report,
    comparison: Comparison,
    verdict: Verdict,
    code: Code,
    judgement: Judgement,
    who: str,
    options: argparse.Namespace,
) -> None:
    """Report a judgement of a change at its new place; of what is gone, at the new or else the old file as a whole."""
    change = verdict.change
    # What is gone is told of where it was missed: the line of another commit is none of this one.
    location = change.new_location
    then = comparison.old.removeprefix(f"{options.against.removeprefix('git:')}:")
    report.add(
        code,
        f"{change}: {judgement.reason}{who}",
        file=location.file if location is not None else comparison.new or then,
        at=location.region if location is not None else WHOLE_FILE,
        path=change.path,
        help=judgement.way_out,
        labels=()
        if location is None or location.used is None
        else (Label("in a group, used here", location.used.file, *location.used.region),),
    )


def _text(comparison: Comparison, options: argparse.Namespace) -> str:
    """Return a comparison for people: its heading, and below each change a row per engine and one of old readers."""
    lines = [
        printable(f"{comparison.dataset}: {comparison.old or 'nothing'} → {comparison.new or 'nothing'}")
    ]
    for _, group in groupby(comparison.verdicts, attrgetter("change")):
        verdicts = list(group)
        lines.append(printable(wrapped("  ", str(verdicts[0].change), prefix=" " * 6), keep="\n"))
        lines += [_row(v.engine, v.old_data, OF_DATA, options) for v in verdicts]
        readers = verdicts[0].old_readers
        if not options.ignore_readers and readers.outcome is not Outcome.SAFE:
            lines.append(_row("old readers", readers, OF_READERS, options))
    return "\n".join(lines)


def _document(
    judged: Sequence[tuple[Comparison, Sequence[Diagnostic], Sequence[Diagnostic]]],
) -> dict[str, object]:
    """Return the verdicts and the promises that are broken, for programs."""
    verdicts = [
        {**verdict.to_json(), "from": one.old, "to": one.new}
        for one, _, _ in judged
        for verdict in one.verdicts
    ]
    promises = [
        {
            "dataset": one.dataset,
            "field": d.path,
            "code": d.code,
            "severity": str(d.severity),
            "message": d.message,
            "from": one.old,
            "to": one.new,
        }
        for one, broken, _ in judged
        for d in broken
    ]
    return {"verdicts": verdicts, "promises": promises}


def _row(who: str, judgement: Judgement, codes: Mapping[Outcome, Code], options: argparse.Namespace) -> str:
    """Return one line of a judgement: who, the outcome in colour, its code in brackets, the reason and the way out."""
    code = codes.get(judgement.outcome)
    mark = f"[{code.id}]" if code else ""
    reason = "; ".join(part for part in (judgement.reason, judgement.way_out) if part)
    line = printable(wrapped(f"    {who:<12} {judgement.outcome:<16} {mark:<8} ", reason), keep="\n")
    start, outcome, rest = line.partition(judgement.outcome)
    return f"{start}{painted(outcome, _COLOURS.get(judgement.outcome, GREEN), options)}{rest}"


_COLOURS = {Outcome.REFUSED: RED, Outcome.DATA: YELLOW, Outcome.REWRITE: YELLOW}


def _summary(comparisons: list[Comparison], options: argparse.Namespace) -> str:
    """Return how many changes there are, how many of each grave outcome for any engine, and how many possible renames."""
    changes = sum(len(comparison.changes) for comparison in comparisons)
    if not changes:
        return "no changes"
    outcomes: dict[Outcome, set[tuple[str, str, str]]] = {}
    for comparison in comparisons:
        for verdict in comparison.verdicts:
            change = (comparison.dataset, comparison.old, str(verdict.change))
            outcomes.setdefault(verdict.old_data.outcome, set()).add(change)
            if not options.ignore_readers:
                outcomes.setdefault(verdict.old_readers.outcome, set()).add(change)
    counts = [
        (len(outcomes.get(outcome, ())), outcome)
        for outcome in (Outcome.REFUSED, Outcome.DATA, Outcome.REWRITE)
    ]
    renames = sum(len(comparison.renames) for comparison in comparisons)
    asked = [counted(renames, "possible rename")] if renames else []
    grave = ", ".join([*(f"{count} {outcome}" for count, outcome in counts if count), *asked])
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
        location = concern.location
        report.add(
            code,
            message.format_map(texts),
            file=location.file if location is not None else comparison.new or comparison.old,
            at=location.region if location is not None else WHOLE_FILE,
            path=concern.path,
            help=help.format_map(texts),
        )
    return report.diagnostics
