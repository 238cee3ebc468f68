"""The project's configuration as JSON Schema, for editors.

Layer: project.
"""

from warnings import catch_warnings, simplefilter

from schemac.manifest.json_schema_words import described, records_of
from schemac.manifest.pydantic_models import json_schema
from schemac.project.settings import Settings
from schemac.registry.installed import version_settings
from schemac.source.json_object import Json
from schemac.syntax.record import camel


def config_schema() -> Json:
    """Return the schema of `schemac.toml`, and of `[tool.schemac]` in pyproject.toml."""
    with catch_warnings():
        # A default that is a record is left out; those of its properties stand there.
        simplefilter("ignore")
        document = json_schema(Settings)
    definitions: Json = document.pop("$defs", {})
    records = {record.__name__: record for record in records_of(Settings)}
    definitions = {name: described(body, records[name]) for name, body in definitions.items()}
    for setting in version_settings().values():
        document["properties"][camel(setting.key)]["description"] = setting.help
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **described(document, Settings),
        "title": "schemac configuration",
        "$defs": definitions,
    }
