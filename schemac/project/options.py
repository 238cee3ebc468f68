"""The options of a compilation.

Layer: project.
"""

import dataclasses
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from schemac.artifacts.targets import target_names
from schemac.language.logical.names import Variant
from schemac.project.configuration import Project
from schemac.project.discovery import ManifestFile
from schemac.registry.engine import default_targets
from schemac.text.source.diagnostics import Report

if TYPE_CHECKING:
    from schemac.arrow.to_arrow import ArrowOptions
    from schemac.project.overlays import RunOverlay


@dataclass(frozen=True)
class CompileOptions:
    """How to compile, from the project and the command line."""

    strict: bool = False
    targets: tuple[str, ...] = dataclasses.field(default_factory=default_targets)
    are_targets_named: bool = False
    """Whether the run or the project names its targets; if not, further engines join for datasets that need them."""
    asked_for: frozenset[str] = frozenset()
    """Those of the targets that somebody named; what cannot be built for the others may be left out."""
    versions: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Versions of engines, where somebody named one."""
    encodings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Encodings of fields without a hint, if they are not Arrow's defaults."""
    has_metadata: bool = True
    """Write attributes into the Arrow metadata."""
    show_losses: bool = False
    locked: bool = False
    """Refuse a schema that is not as it was locked."""
    system_columns: Variant | None = None
    """Insert the standard's system columns, in this variant of their types."""
    has_rules: bool = False
    """Look also for what rules find, and for comments that ignore nothing."""
    denied: frozenset[str] = frozenset()
    """The engines whose losses are errors."""
    optional_artifacts: frozenset[str] = frozenset()
    """Files that are written only where somebody asks for them, and that somebody asked for."""
    edited: Mapping[str, bytes] = dataclasses.field(default_factory=dict, compare=False)
    """What is read in place of files, by absolute path: edits that are not written. Keys of the cache have what is read instead."""
    overlay: "RunOverlay | None" = None
    """What is laid over the datasets before they are emitted."""

    @classmethod
    def of(
        cls,
        project: Project,
        targets: Collection[str] | None = None,
        *,
        strict: bool = False,
        metadata: bool = True,
        system_columns: Variant | None = None,
    ) -> "CompileOptions":
        """Return how the manifests of a project are compiled, by its settings and those of a run.

        `targets` count in place of the project's, `strict` and `system_columns` in addition to its own; without `metadata`,
        attributes are left out also where the project has them.
        """
        configuration = project.configuration
        requested = configuration.targets if targets is None else targets
        is_named = targets is not None or configuration.are_targets_named
        return cls(
            strict=strict or configuration.strict,
            targets=tuple(name for name in target_names() if name in requested),
            are_targets_named=is_named,
            asked_for=frozenset(requested if is_named else ()),
            versions=configuration.versions,
            optional_artifacts=frozenset(configuration.files),
            encodings=configuration.encodings,
            has_metadata=configuration.metadata and metadata,
            system_columns=system_columns or configuration.system_columns,
        )

    def read(self, file: ManifestFile, report: Report) -> bytes | None:
        """Return the bytes of a manifest, or None after reporting why it cannot be read."""
        content = self.edited.get(os.path.abspath(file.path)) if self.edited else None
        return file.content(report) if content is None else content

    def name(self, dataset: str) -> str:
        """Return what a dataset is called in the output."""
        return dataset if self.overlay is None else self.overlay.overlay.name(dataset)

    @cached_property
    def arrow_options(self) -> "ArrowOptions":
        """The encodings and metadata of Arrow schemas."""
        from schemac.arrow.to_arrow import ArrowOptions  # for start-up time, as above
        from schemac.language.attributes.arrow import ArrowDefaults

        return ArrowOptions(ArrowDefaults(**self.encodings), self.has_metadata)
