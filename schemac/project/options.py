"""How a run is to compile.

Layer: project.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from schemac.arrow.lower import LoweringOptions
from schemac.artifacts.emission import default_targets
from schemac.logical.system import Variant


@dataclass(frozen=True, slots=True)
class Options:
    """How to compile, from the project and the command line."""

    strict: bool = False
    targets: tuple[str, ...] = default_targets()
    asked_for: frozenset[str] = frozenset()
    """Those of the targets that somebody named; what cannot be built for the others may be left out."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Versions of engines, where somebody named one."""
    lowering: LoweringOptions = LoweringOptions()
    show_losses: bool = False
    locked: bool = False
    """Refuse a schema that is not as it was locked."""
    system_columns: Variant | None = None
    """Insert the standard's system columns, in this variant of their types."""
