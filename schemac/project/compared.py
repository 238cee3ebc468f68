"""Comparisons, and what is kept of them.

Layer: project.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, replace

from schemac.cache.entries import read_with
from schemac.evolution.changes import Change
from schemac.evolution.facts import facts
from schemac.evolution.ownership import Concern
from schemac.evolution.undeclared_renames import UndeclaredRename
from schemac.evolution.verdict import Verdict
from schemac.logical.facts import AnyFact
from schemac.source.diagnostic import Diagnostic


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
    """What came of the comparisons of one manifest."""

    comparisons: tuple[Comparison, ...]
    """Those with changes."""
    names: tuple[str, ...]
    """All datasets that it has now."""
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """What to compare with, and whom to ask."""

    against: str
    engines: tuple[str, ...] = ()
    is_transitive: bool = False
    """Compare with every locked version, not with one."""
    is_asked_outright: bool = False
    """Ask these engines even for datasets that are built for others."""
    versions: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Versions of engines, where somebody named one."""
    are_targets_named: bool = False
    """Whether the project says which targets it has; where it does not, Paimon is asked only by those who speak of it."""
    is_project: bool = False
    """Compare the project as a whole, for no path was named."""


def light(change: Change) -> Change:
    """Return the change without the fields, which only this process knows."""
    return replace(change, old_field=None, new_field=None)


def light_rename(rename: UndeclaredRename) -> UndeclaredRename:
    """Return the same without fields."""
    return rename._replace(successors=tuple([one._replace(field=None) for one in rename.successors]))


read_with(AnyFact, lambda text: facts()[text])
