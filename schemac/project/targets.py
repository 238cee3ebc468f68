"""Selects the engines that a dataset is emitted for, and handles those that cannot represent it.

Layer: project.
Shape: an engine that is optional and not mentioned is left out where it refuses a dataset, with a warning; every
other refusal is an error of the build.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from schemac.artifacts.targets import Artifact, ArtifactTarget, Loss, load_target, run_target, target_names
from schemac.language.attributes.builtin import TARGETS_OF
from schemac.language.attributes.registry import domain_of
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import preorder
from schemac.project.options import CompileOptions
from schemac.project.workers import cores, share
from schemac.registry.engine import default_targets, engine, engines
from schemac.text.source.diagnostics import Diagnostic, Report, Severity
from schemac.text.source.phrases import Help
from schemac.versions.identity.compilation import Compilation

_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode
"""Writes a loss on one line."""


class Emitted(NamedTuple):
    """The artifacts and losses of one dataset."""

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
    has_errors = any(d.is_error for d in all_diagnostics)
    # Where nothing is built it does not matter without what.
    left_out = [load_target(name).left_out_code for name in names] if has_errors else []
    codes = {code.id for code in left_out if code is not None}
    report.extend(d for d in all_diagnostics if d.code not in codes)
    losses = [loss for name in names for loss in lost[name]]
    entries = [
        {"target": target, "field": path, "lost": what, "becomes": becomes}
        | ({"artifact": artifact} if artifact else {})
        for target, path, what, becomes, artifact in losses
    ]
    inside = ",\n  ".join(map(_encode, entries))
    body = f"[\n  {inside}\n]" if entries else "[]"
    artifacts.append(Artifact("losses.json", f'{{"losses": {body}}}\n'.encode()))
    return Emitted(compilation.dataset, artifacts, tuple(losses))


def _emit(
    compilation: Compilation, names: Sequence[str], options: CompileOptions
) -> tuple[list[Artifact], dict[str, Sequence[Loss]], tuple[Diagnostic, ...]]:
    """Return the artifacts of some targets, the losses by target, and all findings."""
    report, dataset = Report(), compilation.dataset
    artifacts: list[Artifact] = []
    losses: dict[str, Sequence[Loss]] = {}
    for name in names:
        target = load_target(name)
        made, emission, target_report = run_target(name, compilation)
        may_go = target_report.has_errors and engine(name).is_optional
        if may_go and not (name in options.asked_for or speaks_of(engine(name).domain, dataset)):
            losses[name] = [_leave_out(target, dataset, target_report, report)]
            continue
        if target.interop is not None and not target_report.has_errors:
            asked_for = TARGETS_OF.read(dataset.schema.extra) or options.asked_for
            target.interop(compilation, emission, frozenset(asked_for))
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


def _leave_out(
    target: ArtifactTarget, dataset: LogicalDataset, target_report: Report, report: Report
) -> Loss:
    """Report that a dataset is built without a target, with the first reason."""
    code = target.left_out_code
    assert code is not None
    first = target_report.errors[0]
    others = ", ".join(name for name in default_targets() if name != target.name)
    message = f"{dataset.name} is built without {target.name}: {first.message}"
    help = Help.add_to_schema(
        f"name the engines that you need: `{TARGETS_OF.key}: [{others}]` under the schema's `extra:`",
        (),
        (TARGETS_OF.key, f"[{others}]"),
    )
    place = dataset.origins.location(("fields",), on_key=True)
    fix = place.fix(help) if place is not None else None
    left_out = replace(
        first, code=code.id, slug=code.slug, severity=code.severity, message=message, help=help, fix=fix
    )
    report.extend([left_out])
    return Loss(target.name, first.path, "the dataset as a whole", f"nothing: {first.message}")
