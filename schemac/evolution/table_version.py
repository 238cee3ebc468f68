"""Determines the locked version of a table.

Layer: evolution.
Shape: names and types leave some versions of the lock. Where a field was dropped and another one of its name was added, or names were
       swapped, these mean different fields; then the table's own record decides, which whoever made the table has written. Ids decide
       only for the newest of these versions, and only if no new table could have them; all else is for the user to say.
Errors: SC421 unusable-table.
"""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from schemac.evolution.version_pair import LockedSchemaVersion
from schemac.logical.schema_fields import preorder
from schemac.source.catalogue import UNUSABLE_TABLE
from schemac.source.report import Report


@dataclass(frozen=True)
class Candidate:
    """A locked version whose names and types a table has."""

    version: LockedSchemaVersion
    has_ids: bool
    """Whether the table gives its fields the ids that this version gives them."""
    identity: tuple[Any, ...]
    """What tells which field each of the table's is, and which values it has: the same for versions that need not be told apart."""


@dataclass(frozen=True)
class TableRecord:
    """What is known of a table besides its names and types."""

    name: str
    """The table, as the user named it."""
    recorded: str | None
    """The version that the table says it has, as it is written there; None if it says none."""
    ids: tuple[int, ...]
    """The ids that it gives its fields, in pre-order."""
    is_fresh: bool
    """Whether its engine gives these ids to any new table."""
    ids_then: str | None
    """The digest of the ids that it had when it was said which version it has; None if these were the lock's, or those of a new table."""
    is_replaced: bool = False
    """Whether all of it may have been replaced since by somebody who left standing what it says of its version."""
    stated: int | None = None
    """The version that the user says it has."""


def lock_ids(version: LockedSchemaVersion) -> tuple[int, ...]:
    """Return the lock's ids of all fields in pre-order, which all candidates of a table share."""
    return tuple([version.ids[field] for field in preorder(version.dataset.columns)])


def digest_of_ids(ids: Iterable[int]) -> str:
    """Return a digest of the ids that a table gives its fields, in pre-order."""
    return sha256(",".join(map(str, ids)).encode()).hexdigest()[:16]


def choose_version(table: TableRecord, candidates: Sequence[Candidate], report: Report) -> Candidate | None:
    """Return the version that a table has, of candidates with the newest first; None after saying that there is no telling.

    There has to be a candidate, and the stated version among them where one is stated.
    """
    if table.stated is not None:
        return next(c for c in candidates if c.version.number == table.stated)
    recorded = next((c for c in candidates if c.version.version.is_recorded_as(table.recorded)), None)
    if len({candidate.identity for candidate in candidates}) == 1:
        return recorded or candidates[0]
    numbered = [] if table.is_fresh else [c for c in candidates if c.has_ids]
    if recorded is None:
        if numbered and numbered[0].identity == candidates[0].identity:
            return candidates[0]
    elif table.is_replaced and recorded.identity != candidates[0].identity:
        pass
    elif table.is_fresh or recorded.has_ids or table.ids_then == digest_of_ids(table.ids):
        return recorded
    labels = " or ".join(candidate.version.label for candidate in candidates)
    doubt = "nothing in the table shows which one it is"
    if recorded is not None:
        reason = (
            "it may have been replaced since"
            if table.is_replaced
            else "its ids are not those of a table of that version"
        )
        doubt = f"it records version {recorded.version.number}, but {reason}"
    elif table.recorded is not None:
        doubt = f"it records version {table.recorded}, which is not one of them"
    report.add(
        UNUSABLE_TABLE,
        f"{table.name} may be at {labels}: its columns are the same in these versions, and {doubt}",
        file=table.name,
        help=f"specify its version, as in: {state_version(table.name, candidates[0].version)}",
    )
    return None


def state_version(table: str, version: LockedSchemaVersion) -> str:
    """Return the command that says which version a table has."""
    dataset, path = shlex.quote(version.dataset.name), shlex.quote(table)
    return f"schemac apply {dataset} --table {path} --from {version.number}"
