"""Findings about promises that a change breaks.

Layer: project.
Errors: SC431 early-removal, SC432 lost-classification, SC433 declassified.
"""

from datetime import date

from schemac.attributes.own import CLASSIFICATION, DEPRECATED
from schemac.evolution.ownership import Concern, Rule
from schemac.project.compared import Comparison
from schemac.source.catalogue import DECLASSIFIED, EARLY_REMOVAL, LOST_CLASSIFICATION
from schemac.source.diagnostic import Code, Diagnostic
from schemac.source.report import Report
from schemac.source.span import WHOLE_FILE


def promise_findings(comparison: Comparison, today: date) -> tuple[Diagnostic, ...]:
    """Return what there is to say of one comparison on a day."""
    report = Report()
    for concern in comparison.concerns:
        if concern.rule is Rule.REMOVAL and today.isoformat() > concern.old:
            continue
        code, message, help = _broken_promise(concern, comparison.dataset)
        place = concern.place
        report.add(
            code,
            message,
            file=place.file if place is not None else comparison.new or comparison.old,
            at=place.region if place is not None else WHOLE_FILE,
            path=concern.path,
            help=help,
        )
    return report.diagnostics


def _broken_promise(concern: Concern, dataset: str) -> tuple[Code, str, str]:
    what = concern.path or dataset
    again = f"write `{CLASSIFICATION.key}: {concern.old}` under its `extra:`"
    match concern.rule:
        case Rule.REMOVAL:
            return (
                EARLY_REMOVAL,
                f"{what} is removed, but `{DEPRECATED.key}` says that it stays until {concern.old}",
                "keep it until then, or publish an earlier `removeAfter` first, so that readers know",
            )
        case Rule.LOST:
            return (
                LOST_CLASSIFICATION,
                f"{what} was classified as {concern.old}, and has no classification any more",
                f"{again}; if that is intended, write a less sensitive one, such as public",
            )
        case Rule.LOWERED:
            return (
                DECLASSIFIED,
                f"{what} was classified as {concern.old}, and is {concern.new} now",
                "make sure that those who answer for the data agree",
            )
