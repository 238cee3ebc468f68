"""The rules that a project enables, and where.

Layer: language.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

DEFAULT = "default"
"""The rules that are on by default."""
ALL = "all"


@dataclass(frozen=True)
class LintSettings:
    """The table `[lint]` of a project. Rules are named by code, by the beginning of codes, by slug or by category."""

    select: tuple[str, ...] = (DEFAULT,)
    """Rules to enable; `all`, or `default` for those that are on by default."""
    extend_select: tuple[str, ...] = ()
    """Rules to enable in addition."""
    ignore: tuple[str, ...] = ()
    """Rules to disable."""
    severity: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Severity of the findings of rules, if not a warning."""
    per_path: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    """Rules to disable in some manifests, by patterns of paths from the project's folder."""
    rules: tuple[str, ...] = ()
    """Python files with rules of the project's own."""
    max_name_length: int = 63
    """Characters of a name; the most that PostgreSQL keeps."""
    max_fields: int = 200
    """Fields of a dataset, with those of its structs."""
    max_depth: int = 4
    """Levels of nesting, including the column."""
    max_precision: int = 38
    """Digits of a decimal; the most that Spark, Paimon and Iceberg have."""
    max_key_fields: int = 4
    """Fields of a primary key."""
    max_values: int = 50
    """Values of an enumeration."""
