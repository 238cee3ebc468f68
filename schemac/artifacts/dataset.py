"""A checked dataset in Python, without what it is to one engine.

Layer: artifacts. `schemac.engines.api` adds the methods of single engines.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from schemac.arrow.lower import LoweringOptions, lower
from schemac.artifacts.emission import Artifact, Compilation, Emission, Loss, load_target
from schemac.attributes.arrow import ArrowDefaults
from schemac.identity.lock import LockedDataset
from schemac.logical.dataset import LogicalDataset
from schemac.logical.model import Schema
from schemac.registry.installed import blamed
from schemac.source.diagnostic import Diagnostic
from schemac.source.report import Report

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from schemac.identity.freeze import Identified


class Numbered(Protocol):
    """A dataset's lock, and what it says of the dataset as it is now."""

    @property
    def dataset(self) -> LockedDataset:
        """What the lock holds."""

    @property
    def found(self) -> "Identified":
        """The ids and numbers of the fields."""

    def compilation(self, plain: Compilation, options: LoweringOptions) -> Compilation:
        """Return what targets see, with the numbers of the lock."""


@dataclass(frozen=True)
class CheckedDataset:
    """A checked dataset, ready to be turned into what an engine takes."""

    _logical: LogicalDataset
    _locked: "Numbered | None" = field(default=None, compare=False, repr=False)
    """What the lock beside its manifest says, if there is one."""
    warnings: tuple[Diagnostic, ...] = field(default=(), compare=False, repr=False)
    """What was found beside errors: warnings and notes about the dataset, and about the text as a whole."""
    _lowering: LoweringOptions = field(default=LoweringOptions(), repr=False)
    """Encodings and metadata as its project settles them."""
    _versions: "Mapping[str, str]" = field(default_factory=dict, repr=False)
    """Versions of engines that the losses are to hold for, where its project names them."""

    @property
    def name(self) -> str:
        """Its name."""
        return self._logical.name

    @property
    def schema(self) -> Schema:
        """Its logical schema."""
        return self._logical.schema

    @cached_property
    def _compilation(self) -> Compilation:
        found = Compilation(self._logical, lower(self._logical, self._lowering))
        if self._locked is not None:
            found = self._locked.compilation(found, self._lowering)
        return replace(found, versions=self._versions)

    def to_arrow(self, *, metadata: bool | None = None, defaults: ArrowDefaults | None = None) -> "pa.Schema":
        """Return the pyarrow schema; `metadata=False` leaves attributes out, `defaults` encode fields without a hint.

        What is not given is as the dataset's project settles it.
        """
        if metadata is None and defaults is None:
            return self._compilation.lowered.to_arrow()
        has_metadata = self._lowering.with_metadata if metadata is None else metadata
        return lower(
            self._logical, LoweringOptions(defaults or self._lowering.defaults, has_metadata)
        ).to_arrow()

    def artifacts(self, target: str) -> dict[str, bytes]:
        """Return the files that `schemac build` writes for a target, by path: `{"lance/schema.binpb": b"…", …}`.

        Raises SchemaError where the target cannot hold the schema, KeyError where there is no such target.
        """
        artifacts, _ = self._emitted(target)
        return {artifact.path: artifact.content for artifact in artifacts}

    def losses(self, target: str) -> tuple[Loss, ...]:
        """Return what a target cannot express of this dataset."""
        return self._emit(target).losses

    def _emit(self, name: str) -> Emission:
        return self._emitted(name)[1]

    def _emitted(self, name: str) -> tuple[list[Artifact], Emission]:
        report = Report()
        target = load_target(name)
        emission = Emission(self._logical, name, target.loss_code, report)
        with blamed(name):
            artifacts = target.emit(self._compilation, emission)
        report.raise_errors()
        return artifacts, emission
