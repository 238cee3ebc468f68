"""The rules of a project on one dataset.

Layer: language.
"""

from collections.abc import Iterable
from dataclasses import replace

from pydantic import ValidationError

from schemac.language.lint.rule import Reporter, Rule, Subject
from schemac.language.lint.selection import Selection
from schemac.language.lint.structure import missing_group_description, undescribed_groups
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.findings import Findings
from schemac.language.manifest.groups import GroupFile
from schemac.registry.engine import EngineError, reason_of
from schemac.text.source.report import Report


def lint(dataset: LogicalDataset, selection: Selection, path: str, report: Report) -> None:
    """Report the findings of the rules that are enabled for a manifest; what a source reads has the names of others.

    Raises EngineError for a rule of others that fails.
    """
    if dataset.is_source or not dataset.is_whole:
        return
    subject = Subject(dataset, selection.settings)
    for rule in selection.rules_for(path):
        report_of_rule = Report()
        _run(rule, subject, Reporter(rule.code, Findings(report_of_rule, dataset.origins)))
        severity = selection.severity(rule)
        report.extend(
            replace(d, severity=severity, excerpt=d.excerpt, fix=d.fix) if severity is not None else d
            for d in report_of_rule.diagnostics
        )


def lint_groups(files: Iterable[GroupFile], selection: Selection, path: str, report: Report) -> None:
    """Report the findings of the rules about groups that are enabled for a manifest: in its own and in those that it imports."""
    for rule in selection.rules_for(path):
        if rule is missing_group_description:
            report_of_rule = Report()
            undescribed_groups(files, report_of_rule)
            severity = selection.severity(rule)
            report.extend(
                replace(d, severity=severity or d.severity, excerpt=d.excerpt)
                for d in report_of_rule.diagnostics
            )


def _run(rule: Rule, subject: Subject, report: Reporter) -> None:
    try:
        rule.check(subject, report)
    except ValidationError:
        # The checks have said which attribute is wrong; what a rule makes of it is known once that is mended.
        return
    except Exception as error:
        if rule.code.id.startswith("SC8"):
            raise
        raise EngineError(f"the rule {rule.code.id} failed: {reason_of(error)}") from error
