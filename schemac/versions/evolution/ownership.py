"""What a change does to promises about data: that a deprecated field stays until its day, and how sensitive a field is.

Layer: versions.
Shape: engines do not care, so these are no verdicts; whether a day is over is for those to say who know which day it is.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from schemac.language.attributes.builtin import CLASSIFICATION, DEPRECATED, Classification
from schemac.language.logical.model import Ownership, SchemaField, preorder
from schemac.versions.evolution.changes import SourceLocation
from schemac.versions.evolution.version_pair import SchemaVersion, VersionPair


class Promise(StrEnum):
    """What a change may break."""

    REMOVAL = "removal-of-deprecated"
    """A deprecated field, or a dataset, is not there any more; `old` is the last day on which it was to be there."""
    LOST = "classification-lost"
    """A field no longer has a classification; `old` is what it had."""
    LOWERED = "classification-lowered"
    """A field is said to be less sensitive; `old` and `new` are what it was and is."""


class Concern(NamedTuple):
    """One promise that a change touches."""

    rule: Promise
    path: str
    """The field's path now, or before if it was dropped; empty for the schema as a whole."""
    old: str
    new: str = ""
    location: SourceLocation | None = None
    """Where it is now, if it still exists."""


def concerns(pair: VersionPair) -> tuple[Concern, ...]:
    """Return what a version pair does to promises, in the order of the schemas.

    A classification counts where it changed otherwise than that of what is around its field.
    """
    touched: list[Concern] = []
    for field in preorder(pair.old.dataset.columns):
        is_outermost = field.parent is None or field.parent in pair.after
        if not field.is_member or field in pair.after or not (is_outermost or DEPRECATED.key in field.extra):
            continue
        day = _last_day(field, pair.old)
        if day is not None:
            touched.append(Concern(Promise.REMOVAL, field.path_text, day))
    was, now = _classifications(pair, None, None)
    steps = () if now is None else ("extra", CLASSIFICATION.key)
    touched += _classification_concerns(was, now, "", pair.new.location(None, *steps))
    for field in preorder(pair.new.dataset.columns):
        before = pair.before.get(field)
        if before is not None:
            was, now = _classifications(pair, before, field)
            if _classifications(pair, before.parent, field.parent) != (was, now):
                touched += _classification_concerns(was, now, field.path_text, pair.new.location(field))
    return tuple(touched)


def concerns_of_dropped(old: SchemaVersion) -> tuple[Concern, ...]:
    """Return what it means that a dataset is gone."""
    day = _last_day(None, old)
    return (Concern(Promise.REMOVAL, "", day),) if day is not None else ()


def _last_day(field: SchemaField | None, version: SchemaVersion) -> str | None:
    """Return the last day on which a deprecated field is to be there, of the schema for None; None if there is none."""
    deprecation = Ownership.of(field, version.dataset.schema).deprecation
    return deprecation.remove_after if deprecation is not None else None


def _classifications(
    pair: VersionPair, old: SchemaField | None, new: SchemaField | None
) -> tuple[Classification | None, Classification | None]:
    """Return the old and the new classification of a field, of the schema for None; each None if there is none."""
    was = Ownership.of(old, pair.old.dataset.schema).classification
    return was, Ownership.of(new, pair.new.dataset.schema).classification


def _classification_concerns(
    was: Classification | None, now: Classification | None, path: str, location: SourceLocation
) -> Iterator[Concern]:
    """Yield a concern if a classification was removed or is now less sensitive."""
    if was is not None and now is None:
        yield Concern(Promise.LOST, path, was, location=location)
    elif was is not None and now is not None and now.rank < was.rank:
        yield Concern(Promise.LOWERED, path, was, now, location)
