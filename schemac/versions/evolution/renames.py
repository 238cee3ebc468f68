"""The order of renames, and fields that may have been renamed without a declaration.

Layer: versions.
Shape: a dropped field may have become any added field whose type holds all its values: under any name next to it, under
its own name elsewhere. The members of such a pair are not listed. Pairs that a lock has decided about are left out.
"""

import shlex
from collections.abc import Container, Iterator, Mapping
from typing import NamedTuple

from schemac.language.logical.model import SchemaField, preorder, type_text_of
from schemac.text.source.phrases import closest, listed
from schemac.text.syntax.events import scalar
from schemac.versions.evolution.castability import is_doubtful
from schemac.versions.evolution.changes import SourceLocation
from schemac.versions.evolution.version_pair import LockedSchemaVersion, LockedVersionPair, VersionPair


def rename_order(renames: Mapping[str, str], others: Container[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield renames of siblings, old name and new, in an order in which no new name is still in use.

    Where they go round in a circle one steps aside first, under a name that neither they nor `others` have.
    """
    pending = dict(renames)
    while pending:
        old = next((old for old, new in pending.items() if new not in pending), None)
        if old is not None:
            yield old, pending.pop(old)
            continue
        old, new = next(iter(pending.items()))
        temporary = f"{old}_{new}"
        while temporary in pending or temporary in renames.values() or temporary in others:
            temporary += "_"
        yield old, temporary
        pending[temporary] = pending.pop(old)


class UndeclaredRename(NamedTuple):
    """A field that was removed, and what it may have become."""

    path: str
    type: str
    old_name: str
    """What the `renamedFrom` of a successor has to say."""
    successors: tuple[str, ...]
    """The paths of at least one new field, that of the nearest name first."""
    successor_type: str
    """The type of the first of them."""
    location: SourceLocation
    """Where that is."""
    field: SchemaField | None
    """The same; None if only texts are kept."""
    has_lock: bool
    """Whether there is a lock that can say that they are two fields."""

    def question(self, file: str) -> tuple[str, str]:
        """Return the message and the help that ask the author of the manifest that the field was removed from."""
        first, *others = self.successors
        if others:
            paths = listed(self.successors)
            message = f"{self.path} was removed, and {paths} were added, whose types hold all its values"
        else:
            types = (
                f"both of type {self.type}"
                if self.type == self.successor_type
                else f"whose type {self.successor_type} holds all values of {self.type}"
            )
            message = f"{self.path} was removed and {first} was added, {types}"
        attribute = f"`schemac.dev/renamedFrom: {scalar(self.old_name)}`"
        help = (
            f"write {attribute} under the `extra:` of the one that is the same field"
            if others
            else f"if it is the same field, write under its `extra:` {attribute}"
        )
        if self.has_lock:
            command = f"schemac lock {shlex.quote(file)} --drop {shlex.quote(self.path)}"
            help += f"; if its values are to go, run `{command}`"
        return message, help


def undeclared_renames(pair: VersionPair) -> tuple[UndeclaredRename, ...]:
    """Return the fields that may have been renamed without a declaration, in the order of the old schema."""
    removed = [s for s in preorder(pair.old.dataset.columns) if s.is_member and s not in pair.after]
    if not removed:
        return ()
    new = [
        field for field in preorder(pair.new.dataset.columns) if field.is_member and field not in pair.before
    ]
    candidates: dict[SchemaField, list[SchemaField]] = {}
    renames: list[UndeclaredRename] = []
    for field in removed:
        fit = [
            other
            for other in new
            if _may_have_moved(pair, field, other, candidates)
            and _fits(field, other)
            and not _is_known_to_differ(pair, field, other)
        ]
        if not fit:
            continue
        candidates[field] = fit
        near = closest(str(field.segment), [str(other.segment) for other in fit])
        by_nearness = sorted(fit, key=lambda other: str(other.segment) != near)
        nearest = by_nearness[0]
        are_siblings = all(pair.is_same(field.parent, other.parent) for other in fit)
        renames.append(
            UndeclaredRename(
                field.path_text,
                type_text_of(field),
                str(field.segment) if are_siblings else field.path_text,
                tuple([other.path_text for other in by_nearness]),
                type_text_of(nearest),
                pair.new.location(nearest, "name"),
                nearest,
                isinstance(pair.new, LockedSchemaVersion),
            )
        )
    return tuple(renames)


def _may_have_moved(
    pair: VersionPair, old: SchemaField, new: SchemaField, candidates: dict[SchemaField, list[SchemaField]]
) -> bool:
    """Whether one place may have become the other; values do not move from one list into another."""
    if pair.is_same(old.parent, new.parent):
        return True
    return (
        old.segment == new.segment
        and pair.is_same(_list_around(old), _list_around(new))
        and not any(
            new_parent in candidates.get(old_parent, ())
            for old_parent, new_parent in zip(old.ancestors, new.ancestors, strict=False)
        )
    )


def _list_around(field: SchemaField) -> SchemaField | None:
    """Return the item, key or value that a field is in, the nearest one."""
    return next((above for above in field.ancestors if not above.is_member), None)


def _fits(old: SchemaField, new: SchemaField) -> bool:
    """Whether one type holds all values of the other; of two structs, whether one member of the new one does."""
    if type_text_of(old) == type_text_of(new):
        return True
    if is_doubtful(old, new):
        return False
    if not old.children or not new.children:
        return not old.children and not new.children
    if old.children[0].is_member:
        return any(_fits(one, other) for one in old.children for other in new.children)
    return len(old.children) == len(new.children) and all(map(_fits, old.children, new.children))


def _is_known_to_differ(pair: VersionPair, old: SchemaField, new: SchemaField) -> bool:
    """Whether a lock has it that they are two fields."""
    version = pair.new
    if not isinstance(version, LockedSchemaVersion):
        return False
    if version.ids[new] <= version.locked.highest_id:
        return True
    return isinstance(pair, LockedVersionPair) and not any(
        state.last is None and state.id == pair.old.ids[old] for state in version.locked.states
    )
