"""The values of a project's settings, with those that count where it says nothing.

Layer: project.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from schemac.language.lint.settings import LintSettings
from schemac.language.logical.dataset import Variant
from schemac.registry.installed import default_targets


@dataclass(frozen=True)
class Configuration:
    """Settings for all manifests of a project."""

    manifests: tuple[str, ...] = ()
    """Files and folders to compile if the command line names none; by default the project's folder."""
    out: str = "build"
    """Folder of the artifacts."""
    targets: tuple[str, ...] = dataclasses.field(default_factory=default_targets)
    are_targets_named: bool = False
    """Whether the project says which targets it has."""
    strict: bool = False
    """Accept only what is in the standard."""
    metadata: bool = True
    """Write attributes into the Arrow metadata."""
    encodings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Encodings of fields without a hint, if they are not Arrow's defaults."""
    system_columns: Variant | None = None
    """Insert the standard's system columns, in this variant of their types."""
    vocabularies: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """JSON Schema files by attribute domain."""
    exclude: tuple[str, ...] | None = None
    """Patterns of files and folders to skip; None for the default ones."""
    extend_exclude: tuple[str, ...] = ()
    """Further patterns of files and folders to skip."""
    import_folders: tuple[str, ...] = ()
    """Folders outside the project and its repository that manifests may import from."""
    versions: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Versions of engines, where the project names one."""
    files: tuple[str, ...] = ()
    """Artifacts that are written only where they are asked for."""
    lint: LintSettings = dataclasses.field(default_factory=LintSettings)
    """Which rules are enabled."""
