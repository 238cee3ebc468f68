"""Comparisons of datasets, and findings about fields that may have been renamed in them.

Layer: project.
Errors: SC405 possible-rename.
"""

import dataclasses
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from schemac.language.logical.facts import AnyFact
from schemac.language.manifest.write import scalar
from schemac.project.cache.entries import read_with
from schemac.text.source.catalogue import POSSIBLE_RENAME
from schemac.text.source.diagnostic import Diagnostic
from schemac.text.source.phrases import listed
from schemac.text.source.report import Report
from schemac.text.source.span import WHOLE_FILE
from schemac.versions.evolution.changes import Change, Verdict, facts
from schemac.versions.evolution.ownership import Concern
from schemac.versions.evolution.renames import UndeclaredRename


@dataclass(frozen=True, slots=True)
class Comparison:
    """One dataset, from one version to another; empty if there is none."""

    dataset: str
    old: str
    new: str
    changes: tuple[Change, ...]
    verdicts: tuple[Verdict, ...] = ()
    concerns: tuple[Concern, ...] = ()
    """What it does to promises about data."""
    renames: tuple[UndeclaredRename, ...] = ()
    """Fields that may have been renamed without a declaration."""


@dataclass(frozen=True, slots=True)
class ComparedFile:
    """The comparisons of one manifest."""

    comparisons: tuple[Comparison, ...]
    """Those with changes."""
    names: tuple[str, ...]
    """All datasets that it has now."""
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """Which versions to compare with, and which engines judge the changes."""

    against: str
    engines: tuple[str, ...] = ()
    is_transitive: bool = False
    """Compare with every locked version, not with one."""
    is_asked_outright: bool = False
    """Ask these engines even for datasets that are built for others."""
    versions: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Versions of engines, where somebody named one."""
    are_targets_named: bool = False
    """Whether the settings list targets. If they do not, Paimon judges only datasets with an attribute of Paimon."""
    is_project: bool = False
    """Compare the project as a whole, for no path was named."""


def light(change: Change) -> Change:
    """Return the change without the fields, which only this process knows."""
    return replace(change, old_field=None, new_field=None)


def light_rename(rename: UndeclaredRename) -> UndeclaredRename:
    """Return the same without fields."""
    return rename._replace(successors=tuple([one._replace(field=None) for one in rename.successors]))


read_with(AnyFact, lambda text: facts()[text])


class Question(NamedTuple):
    """What an author is asked about a field that was removed."""

    message: str
    help: str


def question(rename: UndeclaredRename, file: str) -> Question:
    """Return the question about a field that was removed from a manifest."""
    first, *others = rename.successors
    if others:
        paths = listed([successor.path for successor in rename.successors])
        message = f"{rename.path} was removed, and {paths} were added, whose types hold all its values"
    else:
        types = (
            f"both of type {first.type}"
            if rename.type == first.type
            else f"whose type {first.type} holds all values of {rename.type}"
        )
        message = f"{rename.path} was removed and {first.path} was added, {types}"
    attribute = f"`schemac.dev/renamedFrom: {scalar(rename.old_name)}`"
    help = (
        f"write {attribute} under the `extra:` of the one that is the same field"
        if others
        else f"if it is the same field, write under its `extra:` {attribute}"
    )
    if rename.has_lock:
        command = f"schemac lock {shlex.quote(file)} --drop {shlex.quote(rename.path)}"
        help += f"; if its values are to go, run `{command}`"
    return Question(message, help)


def rename_findings(comparison: Comparison) -> tuple[Diagnostic, ...]:
    """Return a finding for each pair of fields of a comparison that may be a rename."""
    report = Report()
    for rename in comparison.renames:
        asked, successor = question(rename, comparison.new), rename.successors[0]
        place = successor.location
        report.add(
            POSSIBLE_RENAME,
            asked.message,
            file=place.file if place is not None else comparison.new,
            at=place.region if place is not None else WHOLE_FILE,
            path=successor.path,
            help=asked.help,
        )
    return report.diagnostics
