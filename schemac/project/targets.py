"""The options of a compilation, the engines that a dataset is emitted for, and those that cannot represent it.

Layer: project.
Shape: an engine that is optional and not mentioned is left out where it refuses a dataset, with a warning; every other refusal is an
      error of the build.
      The options of a compilation, and the overlay of a run: an overlay changes each dataset before it is emitted, for one environment;
      locks, ids and changes are those of the manifest alone.
Errors: SC101 unreadable-file, SC237 invalid-overlay, SC216 duplicate-dataset.
"""

import dataclasses
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from json.encoder import encode_basestring as quoted
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from schemac.artifacts.targets import Artifact, Loss, Target, load_target, run_target, target_names
from schemac.language.attributes.builtin import TARGETS_OF
from schemac.language.attributes.registry import domain_of
from schemac.language.checks.run import check
from schemac.language.logical.dataset import LogicalDataset, Variant
from schemac.language.logical.schema_fields import preorder
from schemac.language.manifest.documents import is_overlay
from schemac.language.manifest.overlay import Overlay, read_overlay
from schemac.project.configuration import Project
from schemac.project.discovery import ManifestFile
from schemac.project.workers import cores, share
from schemac.registry.installed import default_targets, engine, engines
from schemac.text.source.catalogue import DUPLICATE_DATASET, INVALID_OVERLAY
from schemac.text.source.diagnostic import Diagnostic, Severity
from schemac.text.source.help import Help
from schemac.text.source.phrases import closest
from schemac.text.source.report import Report
from schemac.text.source.text import decode_text, read_content
from schemac.text.syntax.document import parse
from schemac.versions.identity.compilation import Compilation

if TYPE_CHECKING:
    from schemac.arrow.to_arrow import LoweringOptions
    from schemac.project.locking import Locked


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
    def lowering(self) -> "LoweringOptions":
        """How schemas become Arrow's."""
        from schemac.arrow.to_arrow import LoweringOptions  # for start-up time, as above
        from schemac.language.attributes.arrow import ArrowDefaults

        return LoweringOptions(ArrowDefaults(**self.encodings), self.has_metadata)


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
        self, dataset: LogicalDataset, locked: "Locked | None", project: Project, report: Report
    ) -> "tuple[LogicalDataset, Locked | None]":
        """Return a dataset and its ids with the overlay; what is wrong with it then is in the report."""
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
                near = closest(dataset, datasets)
                help = Help.did_you_mean(near, dataset) if near else f"the datasets are {', '.join(datasets)}"
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


_REMEMBERED = 1024
"""Losses whose words are kept for further fields; a field may have any number of its own."""


class Emitted(NamedTuple):
    """What became of one dataset."""

    dataset: LogicalDataset
    artifacts: list[Artifact]
    losses: tuple[Loss, ...]
    """What the engines cannot express of it."""


def emit_targets(
    compilation: Compilation, options: CompileOptions, report: Report, *, is_large: bool = False
) -> Emitted:
    """Emit a lowered dataset for all its targets; `is_large` shares them between processes."""
    names = engines_of(compilation.dataset, options.targets, is_named=options.are_targets_named)
    groups = [names[number :: cores()] for number in range(min(cores(), len(names)))] if is_large else [names]
    artifacts: list[Artifact] = []
    lost: dict[str, Sequence[Loss]] = {}
    all_diagnostics: list[Diagnostic] = []
    for made, of_targets, diagnostics in share(
        [partial(_emit, compilation, group, options) for group in groups]
    ):
        artifacts += made
        lost |= of_targets
        all_diagnostics += diagnostics
    has_errors = any(d.severity is Severity.ERROR for d in all_diagnostics)
    # Where nothing is built it does not matter without what.
    report.extend(d for d in all_diagnostics if not (has_errors and d.code in _left_out_codes(names)))
    losses = [loss for name in names for loss in lost[name]]
    artifacts.append(Artifact("losses.json", _losses_json(losses)))
    return Emitted(compilation.dataset, artifacts, tuple(losses))


def _left_out_codes(names: Sequence[str]) -> set[str]:
    codes = [load_target(name).left_out_code for name in names]
    return {code.id for code in codes if code is not None}


def _emit(
    compilation: Compilation, names: Sequence[str], options: CompileOptions
) -> tuple[list[Artifact], dict[str, Sequence[Loss]], tuple[Diagnostic, ...]]:
    """Artifacts, losses by target, and findings of some targets."""
    report = Report()
    artifacts: list[Artifact] = []
    losses: dict[str, Sequence[Loss]] = {}
    for name in names:
        target = load_target(name)
        made, emission, target_report = run_target(name, compilation)
        if (
            target_report.has_errors
            and engine(name).is_optional
            and not (
                target.name in options.asked_for or speaks_of(engine(target.name).domain, compilation.dataset)
            )
        ):
            losses[name] = [_leave_out(target, compilation.dataset, target_report, report)]
            continue
        if target.interop is not None and not target_report.has_errors:
            target.interop(
                compilation,
                emission,
                frozenset(TARGETS_OF.read(compilation.dataset.schema.extra) or options.asked_for),
            )
        artifacts += made
        losses[name] = emission.losses
        is_denied = name in options.denied
        if options.show_losses or is_denied:
            emission.report_losses(Severity.ERROR if is_denied else None)
        report.extend(target_report.diagnostics)
    return artifacts, losses, report.diagnostics


def engines_of(dataset: LogicalDataset, targets: Sequence[str], *, is_named: bool) -> list[str]:
    """Return the engines that a dataset is for, of those that a run or a project has.

    Unless engines were named, an optional engine joins the defaults for a dataset that names it or has an
    attribute of its domain.
    """
    built_for = TARGETS_OF.read(dataset.schema.extra)
    selected = set(targets)
    if not is_named:
        named = {*(built_for or ())}
        domains = _domains_in(dataset)
        selected |= {
            e.name for e in engines() if not e.is_default and (e.name in named or e.domain in domains)
        }
    return [n for n in target_names() if n in selected and (built_for is None or n in built_for)]


def speaks_of(domain: str, dataset: LogicalDataset) -> bool:
    """Whether a schema names its engines, or has an attribute of this one's domain."""
    return TARGETS_OF.key in dataset.schema.extra or domain in _domains_in(dataset)


def _domains_in(dataset: LogicalDataset) -> set[str]:
    """Return the domains of all attributes of a schema."""
    keys = set(dataset.schema.extra).union(*[field.extra for field in preorder(dataset.columns)])
    return {domain_of(key) for key in keys}


def is_left_out(name: str, dataset: LogicalDataset) -> bool:
    """Whether changes of a dataset are not judged for an engine unless it is named."""
    return engine(name).is_judged_on_request and not speaks_of(engine(name).domain, dataset)


def _leave_out(target: Target, dataset: LogicalDataset, target_report: Report, report: Report) -> Loss:
    """Report that a dataset is built without a target, with the first reason."""
    assert target.left_out_code is not None
    first = next(d for d in target_report.diagnostics if d.severity is Severity.ERROR)
    others = ", ".join(name for name in default_targets() if name != target.name)
    message = f"{dataset.name} is built without {target.name}: {first.message}"
    help = Help.add_to_schema(
        f"name the engines that you need: `{TARGETS_OF.key}: [{others}]` under the schema's `extra:`",
        (),
        (TARGETS_OF.key, f"[{others}]"),
    )
    place = dataset.origins.location(("fields",), on_key=True)
    report.extend(
        [
            replace(
                first,
                code=target.left_out_code.id,
                slug=target.left_out_code.slug,
                severity=target.left_out_code.severity,
                message=message,
                help=help,
                fix=place.fix(help) if place is not None else None,
            )
        ]
    )
    return Loss(target.name, first.path, "the dataset as a whole", f"nothing: {first.message}")


def _losses_json(losses: Sequence[Loss]) -> bytes:
    # Many fields lose the same, and then only their paths differ.
    around: dict[tuple[str, str, str, str], tuple[str, str]] = {}
    lines: list[str] = []
    for target, path, lost, becomes, artifact in losses:
        affixes = around.get((target, lost, becomes, artifact))
        if affixes is None:
            affixes = _around(target, lost, becomes, artifact)
            if len(around) < _REMEMBERED:
                around[target, lost, becomes, artifact] = affixes
        start, end = affixes
        lines.append(f"{start}{quoted(path)}{end}")
    body = ",\n  ".join(lines)
    return (f'{{"losses": [\n  {body}\n]}}\n' if lines else '{"losses": []}\n').encode()


def _around(target: str, lost: str, becomes: str, artifact: str) -> tuple[str, str]:
    """Return the JSON of a loss before and after the path of its field."""
    of_file = f'"artifact": {quoted(artifact)}, ' if artifact else ""
    return (
        f'{{{of_file}"becomes": {quoted(becomes)}, "field": ',
        f', "lost": {quoted(lost)}, "target": {quoted(target)}}}',
    )
