"""Recognizes files that are property files of dbt, and of which database their project is.

Layer: engines.
Source: dbt's documentation, "About profiles.yml": the profile that `dbt_project.yml` names, and in it the target.
"""

from pathlib import Path
from typing import Any

from schemac.importers.declarations import dialect_of
from schemac.importers.sniffing import has_top_keys
from schemac.text.source.report import Report
from schemac.text.source.text import decode_text
from schemac.text.syntax.document import parse

_PROJECT = "dbt_project.yml"
_PROFILES = "profiles.yml"
_LARGEST = 1024 * 1024


def is_properties(path: Path) -> bool:
    """Tell whether a file lists models, sources, seeds or snapshots by their names."""
    if path.name == _PROJECT or path.suffix.lower() == ".json":
        return False
    return has_top_keys(
        path, rb"(?:models|sources|seeds|snapshots)[\"']?\s*:\s*(?:#[^\n]*)?\n\s*(?:#[^\n]*\n\s*)*-\s"
    )


def dialect_of_project(path: Path) -> str | None:
    """Return the format that reads types of the database that a file's project is for; None if that is not known."""
    folder = next((p for p in path.resolve().parents if (p / _PROJECT).is_file()), None)
    if folder is None:
        return None
    project, profiles = _mapping(folder / _PROJECT), _mapping(folder / _PROFILES)
    profile = profiles.get(str(project.get("profile")))
    outputs = profile.get("outputs") if isinstance(profile, dict) else None
    if not isinstance(profile, dict) or not isinstance(outputs, dict):
        return None
    target = profile.get("target")
    # A target that is a template is not known here; all outputs of one system are as good.
    chosen = [outputs[target]] if isinstance(target, str) and target in outputs else list(outputs.values())
    systems = {str(output.get("type")) for output in chosen if isinstance(output, dict)}
    return dialect_of(systems.pop()) if len(systems) == 1 else None


def _mapping(path: Path) -> dict[Any, Any]:
    """Return the mapping in a file; an empty one where there is none."""
    if not path.is_file() or path.stat().st_size > _LARGEST:
        return {}
    source = decode_text(path.read_bytes(), path.name, Report())
    documents = parse(source, Report()) if source is not None else []
    value: Any = documents[0].value if documents else None
    return value if isinstance(value, dict) else {}
