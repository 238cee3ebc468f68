"""The project's configuration as JSON Schema, for editors.

Layer: project.
"""

from schemac.manifest.json_schema_words import json_schema
from schemac.project.settings import Settings
from schemac.source.json_object import Json


def config_schema() -> Json:
    """Return the schema of `schemac.toml`, and of `[tool.schemac]` in pyproject.toml."""
    document = json_schema(Settings)
    definitions: Json = document.pop("$defs", {})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **document,
        "title": "schemac configuration",
        "$defs": definitions,
    }
