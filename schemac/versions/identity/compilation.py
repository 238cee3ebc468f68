"""What a target sees of a dataset: what was meant, what it was lowered to, and the ids that its lock gives.

Layer: versions.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    # For start-up time: every command asks which targets there are, and not all of them make anything.
    from schemac.arrow.to_arrow import ArrowOptions
    from schemac.language.logical.dataset import LogicalDataset
    from schemac.language.logical.schema_fields import SchemaField
    from schemac.language.physical import LoweredSchema
    from schemac.versions.identity.freeze import Identified
    from schemac.versions.identity.lock import LockedDataset, Numbers, Version


class Numbered(Protocol):
    """A dataset's lock, with the ids of its present fields."""

    @property
    def dataset(self) -> "LockedDataset":
        """What the lock holds."""

    @property
    def identities(self) -> "Identified":
        """The ids and numbers of the fields."""

    def numbered(self, plain: "Compilation", options: "ArrowOptions") -> "Compilation":
        """Return a compilation with the numbers of the lock, and with its past versions, lowered alike."""

    def with_version(self, plain: "LoweredSchema") -> "LoweredSchema":
        """Return the Arrow fields with the number of the locked version."""


@dataclass(frozen=True, slots=True)
class Compilation:
    """All that a target may see: what was meant, and what it was lowered to."""

    dataset: "LogicalDataset"
    lowered: "LoweredSchema"
    numbers: "Mapping[SchemaField, Numbers] | None" = None
    """How the lock numbers the fields; without a lock the engines' own order counts."""
    version: "Version | None" = None
    """The locked version that this is, or would be the next time."""
    past: "Callable[[], Sequence[Compilation]]" = tuple
    """The versions before it, rebuilt for those targets that write them all."""
    versions: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Versions of engines, where somebody named one."""
    optional_artifacts: frozenset[str] = frozenset()
    """Those of the engines' `optional_artifacts` that are asked for, by path."""
    ids: "Mapping[SchemaField, int] | None" = None
    """The lock's own ids of the fields, for engines that number every field as it does; None without a lock."""

    @property
    def table_record(self) -> str | None:
        """The locked version as tables keep it; None without a lock, and for a schema that is not locked yet."""
        return self.version.table_record if self.version is not None and self.version.digest else None

    @classmethod
    def of(
        cls,
        dataset: "LogicalDataset",
        options: "ArrowOptions",
        versions: Mapping[str, str],
        locked: Numbered | None = None,
    ) -> "Compilation":
        """Return what targets see of a checked dataset: lowered, with versions of engines, and with the numbers of its lock."""
        from schemac.arrow.to_arrow import to_arrow_fields  # for start-up time, as above

        plain = cls(dataset, to_arrow_fields(dataset, options), versions=versions)
        return plain if locked is None else locked.numbered(plain, options)
