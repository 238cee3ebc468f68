"""The options of a compilation, and the overlay of a run.

Layer: project.
Shape: an overlay changes each dataset before it is emitted, for one environment; locks, ids and changes are those of
the manifest alone.
Errors: SC101 unreadable-file, SC237 invalid-overlay, SC216 duplicate-dataset.
"""

import dataclasses
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemac.artifacts.targets import target_names
from schemac.language.attributes.arrow import ArrowDefaults
from schemac.language.checks.run import check
from schemac.language.logical.dataset import LogicalDataset, Variant
from schemac.language.logical.schema_fields import preorder
from schemac.language.manifest.documents import is_overlay
from schemac.language.manifest.overlay import Overlay, read_overlay
from schemac.project.configuration import Project
from schemac.project.discovery import ManifestFile
from schemac.registry.installed import default_targets
from schemac.text.source.catalogue import DUPLICATE_DATASET, INVALID_OVERLAY
from schemac.text.source.help import Help
from schemac.text.source.report import Report
from schemac.text.source.text import decode_text, read_content
from schemac.text.syntax.document import parse
from schemac.versions.identity.compilation import Locked

if TYPE_CHECKING:
    from schemac.arrow.to_arrow import ArrowOptions


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
            versions=project.versions,
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
        return dataset if self.overlay is None else self.overlay.name(dataset)

    @cached_property
    def arrow_options(self) -> "ArrowOptions":
        """The encodings and metadata of Arrow schemas."""
        from schemac.arrow.to_arrow import ArrowOptions  # for start-up time, as above

        return ArrowOptions(ArrowDefaults(**self.encodings), self.has_metadata)


@dataclass(frozen=True)
class RunOverlay:
    """An overlay, and the bytes that it was read from."""

    path: str
    content: bytes
    overlay: Overlay = field(compare=False)

    def name(self, dataset: str) -> str:
        """Return what a dataset is called."""
        return self.overlay.name(dataset)

    def over(
        self, dataset: LogicalDataset, locked: Locked | None, project: Project, report: Report
    ) -> tuple[LogicalDataset, Locked | None]:
        """Return a dataset and its ids with the overlay applied; mistakes that this makes are reported."""
        overlaid = self.overlay.over(dataset, report)
        if overlaid is dataset:
            return dataset, locked
        check(overlaid, report, project.vocabularies)
        if locked is None:
            return overlaid, None
        same = dict(zip(preorder(dataset.columns), preorder(overlaid.columns), strict=True))
        ids = locked.identities
        moved = replace(
            ids,
            ids={same[field]: id for field, id in ids.ids.items()},
            numbers={same[field]: numbers for field, numbers in ids.numbers.items()},
            shapes={same[field]: shape for field, shape in ids.shapes.items()},
        )
        return overlaid, replace(locked, identities=moved)

    def check_names(self, datasets: Collection[str], report: Report, *, is_whole: bool) -> None:
        """Report unknown datasets, and names that are used twice with the overlay."""
        used_names: dict[str, str] = {}
        for dataset in datasets:
            first = used_names.setdefault(self.name(dataset).casefold(), dataset)
            if first is not dataset:
                dataset_name = dataset if dataset in self.overlay.file.datasets else first
                message = f"{first} and {dataset} are both called '{self.name(dataset)}' with this overlay"
                help = "rename one of the two"
                self.overlay.add(
                    ("datasets", dataset_name, "name"), message, help, report, code=DUPLICATE_DATASET
                )
        for dataset in self.overlay.file.datasets if is_whole else ():
            if dataset not in datasets:
                help = Help.nearest(dataset, datasets, f"the datasets are {', '.join(datasets)}")
                self.overlay.add(("datasets", dataset), f"there is no dataset '{dataset}'", help, report)


def load_overlay(path: str, report: Report) -> RunOverlay | None:
    """Return the overlay in a file; None after reporting what is wrong with it."""
    content = read_content(Path(path), path, report)
    return None if content is None else overlay_of(content, path, report)


def overlay_of(content: bytes, path: str, report: Report) -> RunOverlay | None:
    """Return the overlay in the content of a file; None after reporting what is wrong with it."""
    source = decode_text(content, path, report)
    if source is None:
        return None
    documents = parse(source, report)
    if report.has_errors:
        return None
    if len(documents) != 1 or not is_overlay(documents[0].value):
        message = f"{path} is not an overlay: it has to be one mapping with `datasets`"
        report.add(INVALID_OVERLAY, message, file=path, help="write `datasets: {trips: {extra: {…}}}`")
        return None
    overlay = read_overlay(documents[0], report)
    return None if overlay is None else RunOverlay(path, content, overlay)
