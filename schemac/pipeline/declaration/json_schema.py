"""The pipeline file as JSON Schema, for editors.

Layer: pipeline.
"""

from typing import Any

from schemac.pipeline.declaration.job import Job
from schemac.text.source.json_object import Json


def pipeline_schema() -> Json:
    """Return the schema of a pipeline file."""
    document = _without_titles(Job.model_json_schema(by_alias=True))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **document,
        "title": "schemac pipeline",
    }


def _without_titles(value: Any) -> Any:
    """Return a schema without the titles that pydantic generates."""
    if isinstance(value, list):
        return [_without_titles(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _without_titles(item)
        for key, item in value.items()
        if key != "title" or not isinstance(item, str)
    }
