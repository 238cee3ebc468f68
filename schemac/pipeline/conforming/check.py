"""Checks of a pipeline file before its run: for `schemac run --dry-run`, `schemac check` and editors.

Layer: pipeline.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from schemac.pipeline.conforming.load import LoadedJob, load_job
from schemac.pipeline.conforming.preflight import mistakes
from schemac.project.overlays import RunOverlay
from schemac.source.report import Report


def checked_job(
    path: Path,
    report: Report,
    overlay: RunOverlay | None = None,
    edited: Mapping[str, bytes] = MappingProxyType({}),
    *,
    is_typed: bool = False,
) -> LoadedJob | None:
    """Load a pipeline file as `load_job` does, and say what else keeps it from running: sources, tables, places to write to.

    `is_typed` as for `preflight.mistakes`.
    """
    loaded = load_job(path, report, overlay, edited)
    if loaded is None:
        return None
    for error in mistakes(loaded.job, loaded.arrow_schema, is_typed=is_typed):
        loaded.report(error, report)
    return loaded
