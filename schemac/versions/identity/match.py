"""Matches the fields of a new schema with those of the old one.

Layer: versions.
Shape: the id of each field that was in the old version. A field keeps its id under its name, or under the name that
its `schemac.dev/renamedFrom` gives, be it that of a sibling or a path from the top; nothing is guessed. What is declared
counts more than a name: if another field declares that it was `a`, a field called `a` is new. An old name may also be one
that a field had in an earlier version, for another branch may have renamed it since.
Errors: SC404 unknown-old-name, SC420 ambiguous-old-name, SC429 late-rename.
"""

import dataclasses
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from schemac.arrow.metadata import compact
from schemac.language.attributes.builtin import RENAMED_FROM
from schemac.language.logical.dataset import Findings
from schemac.language.logical.model import SchemaField, Segment, dotted, preorder
from schemac.text.source.catalogue import AMBIGUOUS_OLD_NAME, LATE_RENAME, UNKNOWN_OLD_NAME
from schemac.text.source.phrases import closest
from schemac.versions.identity.lock import FieldState, LockedDataset, paths_of

Ids = dict[SchemaField, int]
Places = Mapping[tuple[int | None, Segment], int]
"""Fields by the id of what is around them and their names there."""


@dataclass
class Matcher:
    """Finds the fields of one old version among new fields."""

    states: Collection[FieldState]
    columns: Sequence[SchemaField]
    renamed: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Old paths by new ones, in addition to the attributes."""
    locked: LockedDataset = LockedDataset("")
    """The lock with earlier versions, whose names count too."""
    findings: Findings | None = None
    """Get old names in declarations that no field had."""
    _ids: Ids = dataclasses.field(default_factory=dict, init=False)
    _used_ids: set[int] = dataclasses.field(default_factory=set, init=False)

    @cached_property
    def _children(self) -> dict[int | None, dict[Segment, FieldState]]:
        """The old fields by the ids of what is around them and their names there."""
        children: dict[int | None, dict[Segment, FieldState]] = {}
        for state in self.states:
            children.setdefault(state.shape.parent, {})[state.shape.segment] = state
        return children

    def match(self) -> Ids:
        """Return the ids of all fields that the old version has."""
        self._siblings(self.columns, None)
        return self._ids

    def _siblings(self, fields: Sequence[SchemaField], parent: int | None) -> None:
        """Match the children of one parent; a parent that is new has no old children."""
        old = self._children.get(parent, {})
        for field in fields:
            if field.is_member and (self.renamed or RENAMED_FROM.key in field.extra):
                id = self._old_id(field, fields, parent)
                if id is not None:
                    self._assign(field, id)
        for field in fields:
            same = old.get(field.segment)
            if field not in self._ids and same is not None and same.id not in self._used_ids:
                self._assign(field, same.id)
        for field in fields:
            if field.children:
                self._siblings(field.children, self._ids.get(field, -1))

    def _assign(self, field: SchemaField, id: int) -> None:
        """Assign an old id to a field; no other field gets it."""
        self._ids[field] = id
        self._used_ids.add(id)

    def _old_id(self, field: SchemaField, siblings: Sequence[SchemaField], parent: int | None) -> int | None:
        """Return the id that a declaration gives a field."""
        before = self.renamed.get(field.path_text)
        if before is not None:
            id = self._ids_by_path.get(before)
            return id if id not in self._used_ids else None
        name = RENAMED_FROM.read(field.extra)
        old = self._children.get(parent, {})
        same = old.get(field.segment)
        if name is None or (same is not None and _declares(same, name)):
            return None
        sibling = old.get(name)
        id = sibling.id if sibling is not None else self._ids_by_path.get(name)
        former = self._id_of_earlier_name(name, siblings, parent)
        if id is None and former is not None:
            return former
        if id is not None and id not in self._used_ids:
            others = (s for s in siblings if s.segment == name and s is not field)
            heir = next(others, None) if sibling is not None else self._new_fields.get(name)
            is_left = heir is None or _is_renamed_away(heir, self._by_id[id])
            is_new = heir is not None and RENAMED_FROM.key not in heir.extra
            if is_left or (is_new and same is None and former in (None, id)):
                return id
        self._report_without_effect(field, name, id, former, same)
        return None

    def _id_of_earlier_name(
        self, name: str, siblings: Sequence[SchemaField], parent: int | None
    ) -> int | None:
        """Return the id of a field that had this name in an earlier version, and whose present name is no longer used."""
        places = self._former_places
        id = places.get((parent, name), places.get((None, name)))
        if id is None or id in self._used_ids:
            return None
        shape = self._by_id[id].shape
        is_claimed = shape.parent != parent or any(s.segment == shape.segment for s in siblings)
        return None if is_claimed else id

    def _report_without_effect(
        self, field: SchemaField, name: str, id: int | None, former: int | None, same: FieldState | None
    ) -> None:
        """Report a declaration that has no effect, with the reason."""
        findings = self.findings
        if findings is None:
            return
        path = field.path_text
        late = self._dropped_id(name, field) if id is None else None
        if late is not None:
            restored = shlex.quote(f"{path}={late}")
            code = LATE_RENAME
            message = (
                f"{path} is declared as renamed from '{name}', but an earlier version dropped that field"
            )
            message += f", and {path} was locked as a new one" if same is not None else ""
            help = (
                f"if it is the same field, run `schemac lock {shlex.quote(findings.origins.file)} --restore {restored}`;"
                " if not, remove the attribute"
            )
        elif id is None and same is None:
            parent = self._ids.get(field.parent, -1) if field.parent is not None else None
            siblings = [str(segment) for segment in self._children.get(parent, {})]
            near = closest(name, siblings) or closest(name, self._ids_by_path)
            code = UNKNOWN_OLD_NAME
            message = f"there is no field '{name}' in the previous version, so {path} counts as a new field"
            help = f"did you mean '{near}'?" if near else "remove the attribute"
        elif id is not None:
            heir = next((other.path_text for other, other_id in self._ids.items() if other_id == id), None)
            reason = f"so is {heir}" if heir is not None else f"'{name}' still exists"
            help = "remove the attribute where it is outdated, so that only one field has it"
            if former is not None:
                last_name = next(path for path, other_id in self._ids_by_path.items() if other_id == former)
                reason = reason if heir is not None else f"{last_name} once had that name too"
                help = f"write the last name that it had: `{RENAMED_FROM.key}: {last_name}`"
            code = AMBIGUOUS_OLD_NAME
            message = f"{path} is declared as renamed from '{name}', but {reason}"
        else:
            return
        findings.at_extra(field, RENAMED_FROM.key, code, message, help=help)

    def _dropped_id(self, name: str, field: SchemaField) -> int | None:
        """Return the field of this name, or path, that was dropped in an earlier version; the last one."""
        dropped = lost(self.locked)
        parent = self._ids.get(field.parent, -1) if field.parent is not None else None
        former = former_places(self.locked)
        id = former.get((parent, name), former.get((None, name)))
        if id in dropped:
            return id
        return max((id for id, path in dropped.items() if path == name), default=None)

    @cached_property
    def _former_places(self) -> Places:
        """Earlier places of fields that are still there."""
        return {place: id for place, id in former_places(self.locked).items() if id in self._by_id}

    @cached_property
    def _ids_by_path(self) -> dict[str, int]:
        """The ids of old fields by path, without items of lists."""
        paths = paths_of(self.states)
        return {dotted(path): id for id, path in paths.items() if isinstance(path[-1], str)}

    @cached_property
    def _new_fields(self) -> dict[str, SchemaField]:
        """The new fields that have a name, by their paths."""
        return {field.path_text: field for field in preorder(self.columns) if field.is_member}

    @cached_property
    def _by_id(self) -> dict[int, FieldState]:
        """The old fields by their ids."""
        return {state.id: state for state in self.states}


def are_similar(old_columns: set[str], new_columns: set[str]) -> bool:
    """Whether two datasets may be one: of the one with fewer columns, at least half have the same names in the other."""
    shared = len(old_columns & new_columns)
    return shared > 0 and 2 * shared >= min(len(old_columns), len(new_columns))


def _declares(state: FieldState, name: str) -> bool:
    """Whether a state of the lock already declares this old name: then the rename was made in an earlier version."""
    return f"{compact(RENAMED_FROM.key)}:{compact(name)}" in state.shape.extra


def _is_renamed_away(heir: SchemaField, state: FieldState) -> bool:
    """Whether the field that now has the name of an old one declares that it had another name itself."""
    name = RENAMED_FROM.read(heir.extra)
    return name is not None and not _declares(state, name)


def former_places(locked: LockedDataset) -> dict[tuple[int | None, Segment], int]:
    """Return fields by the paths that they had in earlier versions and no longer have; for a path of several fields, the latest."""
    past = [
        state for state in locked.states if state.last is not None and isinstance(state.shape.segment, str)
    ]
    present = {
        state.id: (state.shape.parent, state.shape.segment) for state in locked.states if state.last is None
    }
    past.sort(key=lambda state: (state.last or 0, state.id))
    places = {(state.shape.parent, state.shape.segment): state.id for state in past}
    return {place: id for place, id in places.items() if present.get(id) != place}


def lost(locked: LockedDataset) -> dict[int, str]:
    """Return the dropped fields by id, each as it was in its last version."""
    newest = locked.newest
    present = {state.id for state in locked.states_of(newest.number)} if newest is not None else set()
    gone: dict[int, str] = {}
    for version in locked.versions:
        for id, path in paths_of(locked.states_of(version.number)).items():
            if id not in present and isinstance(path[-1], str):
                gone[id] = dotted(path)
    return gone
