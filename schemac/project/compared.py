"""Comparisons, and what is kept of them.

Layer: project.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from schemac.cache.findings import findings_of_json, findings_to_json
from schemac.evolution.changes import Change, Place
from schemac.evolution.facts import facts
from schemac.evolution.ownership import Concern, Rule
from schemac.evolution.undeclared_renames import Successor, UndeclaredRename
from schemac.evolution.verdict import Judgement, Outcome, Verdict
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

    def to_json(self) -> list[Any]:
        """Return what is kept of it."""
        verdicts = [
            [self.changes.index(v.change), v.engine, _judgement(v.old_data), _judgement(v.old_readers)]
            for v in self.verdicts
        ]
        changes = [_change(change) for change in self.changes]
        touched = [_concern(concern) for concern in self.concerns]
        return [
            self.dataset,
            self.old,
            self.new,
            changes,
            verdicts,
            touched,
            [_rename(r) for r in self.renames],
        ]

    @classmethod
    def of_json(cls, value: Any) -> "Comparison":
        """Return what was kept. Raises ValueError, KeyError, TypeError or IndexError for anything else."""
        dataset, old, new, change_data, judged, concerns, renames = value
        changes = tuple([_change_of(change) for change in change_data])
        verdicts = [
            Verdict(changes[number], str(engine), _judgement_of(data), _judgement_of(readers))
            for number, engine, data, readers in judged
        ]
        touched = tuple([_concern_of(concern) for concern in concerns])
        renamed = tuple([_rename_of(rename) for rename in renames])
        return cls(str(dataset), str(old), str(new), changes, tuple(verdicts), touched, renamed)


@dataclass(frozen=True, slots=True)
class ComparedFile:
    """What came of the comparisons of one manifest."""

    comparisons: tuple[Comparison, ...]
    """Those with changes."""
    names: tuple[str, ...]
    """All datasets that it has now."""
    diagnostics: tuple[Diagnostic, ...] = ()

    def to_json(self) -> list[Any]:
        """Return what is kept of it."""
        return [[c.to_json() for c in self.comparisons], self.names, findings_to_json(self.diagnostics)]

    @classmethod
    def of_json(cls, value: Any) -> "ComparedFile":
        """Return what was kept. Raises ValueError, KeyError, TypeError or IndexError for anything else."""
        comparisons, names, diagnostics = value
        parsed_comparisons = tuple([Comparison.of_json(comparison) for comparison in comparisons])
        return cls(parsed_comparisons, tuple(map(str, names)), findings_of_json(diagnostics))


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


def _change(change: Change) -> list[Any]:
    places = (_place(change.old_place), _place(change.new_place))
    return [str(change.fact), change.dataset, change.path, change.old, change.new, *places, change.key]


def _change_of(value: Any) -> Change:
    fact, dataset, path, old, new, old_place, new_place, key = value
    places = (_place_of(old_place), _place_of(new_place))
    return Change(facts()[fact], str(dataset), str(path), old, new, *places, key=str(key))


def _concern(concern: Concern) -> list[Any]:
    return [str(concern.rule), concern.path, concern.old, concern.new, _place(concern.place)]


def _concern_of(value: Any) -> Concern:
    rule, path, old, new, place = value
    return Concern(Rule(rule), str(path), str(old), str(new), _place_of(place))


def _rename(rename: UndeclaredRename) -> list[Any]:
    successors = [[one.path, one.type, _place(one.place)] for one in rename.successors]
    return [rename.path, rename.type, rename.old_name, successors, rename.has_lock]


def _rename_of(value: Any) -> UndeclaredRename:
    path, type, old_name, successors, has_lock = value
    new = tuple([Successor(str(at), str(text), _place_of(place)) for at, text, place in successors])
    return UndeclaredRename(str(path), str(type), str(old_name), new, bool(has_lock))


def _place(place: Place | None) -> list[Any] | None:
    if place is None:
        return None
    used = [] if place.used is None else [_place(place.used)]
    return [place.file, place.line, place.column, *used]


def _place_of(value: Any) -> Place | None:
    if value is None:
        return None
    file, line, column, *used = value
    return Place(str(file), int(line), int(column), _place_of(used[0]) if used else None)


def _judgement(judgement: Judgement) -> list[str]:
    return [str(judgement.outcome), judgement.reason, judgement.way_out]


def _judgement_of(value: Any) -> Judgement:
    outcome, reason, way_out = value
    return Judgement(Outcome(outcome), str(reason), str(way_out))
