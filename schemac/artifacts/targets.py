"""The interface of a target.

Layer: artifacts.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from posixpath import normpath
from typing import TYPE_CHECKING, NamedTuple

from schemac.registry.codes import codes_of
from schemac.registry.engine import Capability, EngineError, blamed, engine, engines
from schemac.text.source.diagnostics import Code, Report, Severity

if TYPE_CHECKING:
    # For start-up time: every command asks which targets there are, and not all of them emit.
    from schemac.language.logical.dataset import LogicalDataset
    from schemac.language.logical.model import SchemaField
    from schemac.versions.identity.compilation import Compilation


class Artifact(NamedTuple):
    """One file of a dataset: its path below the dataset's folder, with `/`, and all its bytes."""

    path: str
    content: bytes


class Loss(NamedTuple):
    """A property of the schema that a target does not keep."""

    target: str
    path: str
    """The field; empty for the schema as a whole."""
    lost: str
    """What the manifest has."""
    becomes: str
    """What the target has instead; empty for nothing."""
    artifact: str = ""
    """The artifact that loses it; empty if all artifacts of the target do."""

    @property
    def text(self) -> str:
        """The loss in words; what becomes nothing is left out."""
        return (
            f"{self.lost} is left out" if self.becomes == "nothing" else f"{self.lost} becomes {self.becomes}"
        )


class Emission:
    """Findings in the manifest and losses that a target reports while it emits."""

    def __init__(self, dataset: "LogicalDataset", target: str, loss_code: Code, report: Report) -> None:
        from schemac.language.logical.dataset import Findings  # for start-up time, as above

        self.findings = Findings(report, dataset.origins)
        self._target = target
        self._loss_code = loss_code
        self._losses: list[tuple[Loss, SchemaField | None]] = []

    def lose(self, field: "SchemaField | None", lost: str, becomes: str, *, artifact: str = "") -> None:
        """Enter a loss at a field, or of the schema as a whole; of one file where the others keep it."""
        path = field.path_text if field is not None else ""
        self._losses.append((Loss(self._target, path, lost, becomes, artifact), field))

    @property
    def losses(self) -> tuple[Loss, ...]:
        """All losses, in the order of the fields."""
        return tuple(loss for loss, _ in self._losses)

    @property
    def entries(self) -> "tuple[tuple[Loss, SchemaField | None], ...]":
        """All losses with their fields, None for the schema as a whole; for a target that is made of another."""
        return tuple(self._losses)

    def report_losses(self, severity: Severity | None = None) -> None:
        """Report a note at the place of each loss, or a finding of another severity."""
        code = self._loss_code if severity is None else self._loss_code._replace(severity=severity)
        for loss, field in self._losses:
            where = f" in {loss.artifact}" if loss.artifact else ""
            message = f"{loss.lost} becomes {loss.becomes}{where}"
            if field is None:
                self.findings.at_schema(code, message)
            else:
                self.findings.at_type(field, code, f"{loss.path}: {message}")


class ArtifactTarget(NamedTuple):
    """An engine: checks what it cannot hold, and writes its files."""

    name: str
    loss_code: Code
    emit: "Callable[[Compilation, Emission], list[Artifact]]"
    """The artifacts; after an error finding they are not used."""
    interop: "Callable[[Compilation, Emission, frozenset[str]], None] | None" = None
    """Reports problems between this engine and other requested engines."""
    of_storage: "Callable[[Compilation, Emission], None] | None" = None
    """Reports findings about its tables, whichever engine creates them."""
    left_out_code: Code | None = None
    """The warning if a dataset is built without an optional engine."""
    types: "Callable[[Compilation, Emission], Mapping[SchemaField, str]] | None" = None
    """What the engine has in place of each field, as its users write types, for those who look at a field. Fields that it
    has nothing for are left out; after an error finding the result is not used."""


ARTIFACTS: Capability[ArtifactTarget] = Capability("artifacts", ArtifactTarget)


def target_names() -> tuple[str, ...]:
    """Return the names of all targets, in the order in which they are built."""
    return ARTIFACTS.names(engines())


@cache
def load_target(name: str) -> ArtifactTarget:
    """Return the target of a name; its module, and with it its libraries, is loaded only now. Raises EngineError."""
    target = ARTIFACTS.of(engine(name))
    if target.name != name:
        raise EngineError(f"the target of the engine {name} is called {target.name}; both need the same name")
    if target.loss_code not in codes_of(engine(name)):
        message = f"the engine {name} reports losses as {target.loss_code.id}, which is not among its `codes`"
        raise EngineError(message)
    return target


class TargetRun(NamedTuple):
    """What a target made of a compilation."""

    artifacts: list[Artifact]
    """Not to be used where the report has errors."""
    emission: Emission
    report: Report
    """The findings in the manifest; losses are no findings unless somebody reports them."""


def run_target(name: str, compilation: "Compilation") -> TargetRun:
    """Emit a compilation for one target. Raises EngineError for a file that is not below the folder of the target's name."""
    target, report = load_target(name), Report()
    emission = Emission(compilation.dataset, name, target.loss_code, report)
    with blamed(name), _deep_recursion():
        artifacts = target.emit(compilation, emission)
    for artifact in artifacts:
        if not artifact.path.startswith(f"{name}/") or normpath(artifact.path) != artifact.path:
            raise EngineError(f"the engine {name} writes {artifact.path}, which is not below {name}/")
    return TargetRun(artifacts, emission, report)


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Raise Python's recursion limit for schemas as deep as a manifest may be; a target takes some calls a level."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _MOST_CALLS))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


_MOST_CALLS = 5000
"""Calls inside each other: 200 levels, and 25 calls for each."""


def types_in_target(
    name: str, compilation: "Compilation"
) -> "tuple[Mapping[SchemaField, str], Report] | None":
    """Return the type of each field in a target, with its findings; None for a target without this capability."""
    target, report = load_target(name), Report()
    if target.types is None:
        return None
    emission = Emission(compilation.dataset, name, target.loss_code, report)
    with blamed(name), _deep_recursion():
        return target.types(compilation, emission), report
