"""What a target sees of a dataset: what was meant, what it was lowered to, and the ids that its lock gives.

Layer: versions.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    # For start-up time: every command asks which targets there are, and not all of them make anything.
    from schemac.arrow.to_arrow import ArrowOptions
    from schemac.language.logical.dataset import LogicalDataset
    from schemac.language.logical.model import SchemaField
    from schemac.language.physical import LoweredSchema
    from schemac.versions.identity.lock import FieldShape, LockedDataset, Numbers, Version


class Compilation(NamedTuple):
    """All that a target may see: what was meant, and what it was lowered to."""

    dataset: "LogicalDataset"
    lowered: "LoweredSchema"
    numbers: "Mapping[SchemaField, Numbers] | None" = None
    """How the lock numbers the fields; without a lock the engines' own order counts."""
    version: "Version | None" = None
    """The locked version that this is, or would be the next time."""
    past: "Callable[[], Sequence[Compilation]]" = tuple
    """The versions before it, rebuilt for those targets that write them all."""
    versions: Mapping[str, str] = {}
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
        options: "ArrowOptions | None" = None,
        versions: Mapping[str, str] = MappingProxyType({}),
        identities: "Identities | None" = None,
    ) -> "Compilation":
        """Return what targets see of a checked dataset; a `Locked` one with the versions before it."""
        # For start-up time, as above.
        from schemac.arrow.metadata import with_version
        from schemac.arrow.to_arrow import ArrowOptions, to_arrow_fields

        options = options or ArrowOptions()
        lowered = to_arrow_fields(dataset, options)
        if identities is None:
            return cls(dataset, lowered, versions=versions)
        version = identities.version
        if version.digest:
            # No attribute has it, so it travels where these do not.
            lowered = with_version(lowered, version.table_record)
        past = partial(identities.past, options) if isinstance(identities, Locked) else tuple
        return cls(dataset, lowered, identities.numbers, version, past, versions, ids=identities.ids)


class Identities(Protocol):
    """The ids and numbers of the fields of one version."""

    @property
    def ids(self) -> "Mapping[SchemaField, int]":
        """The lock's own."""

    @property
    def numbers(self) -> "Mapping[SchemaField, Numbers]":
        """Those of the engines."""

    @property
    def version(self) -> "Version":
        """The version; without its digest if it is not locked yet."""


class Locked(NamedTuple):
    """A dataset with its lock, by which its fields have ids and numbers."""

    dataset: "LogicalDataset"
    lock: "LockedDataset"
    ids: "Mapping[SchemaField, int]"
    numbers: "Mapping[SchemaField, Numbers]"
    shapes: "Mapping[SchemaField, FieldShape]"
    version: "Version"
    """The newest version where nothing changed, else the next one, without its digest."""
    is_changed: bool
    """Whether the schema differs from the newest locked version, or there is none."""

    def past(self, options: "ArrowOptions") -> list[Compilation]:
        """Return the versions before this one, the oldest first."""
        from schemac.versions.identity.opening import open_version  # for start-up time, as above

        versions = [one for one in self.lock.versions if one.number < self.version.number]
        opened = [open_version(self.lock, version) for version in versions]
        return [Compilation.of(one.logical, options, identities=one) for one in opened]
