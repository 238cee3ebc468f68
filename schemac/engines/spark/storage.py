"""The storage version of the tables that lance-spark makes.

Layer: engines.
Shape: an attribute of the engine whose tables Spark alters.
"""

from functools import cache
from typing import Any

from pydantic import ValidationError

from schemac.engines.spark import ENGINE
from schemac.language.attributes.attribute import Attribute, Extra, Role
from schemac.language.attributes.registry import roles
from schemac.registry.installed import engine
from schemac.text.source.json_object import Json


@cache
def _storage_version_attribute() -> Attribute[str]:
    return roles(engine(ENGINE.alters).domain)[Role.STORAGE_VERSION]


def storage_version(extra: Extra) -> str:
    """Return the version of the data files that a schema is for."""
    attribute = _storage_version_attribute()
    return attribute.read(extra) or str(attribute.default)


def stored_as(version: Any) -> Json:
    """Return the attribute of a version of data files; empty if there is no such version."""
    attribute = _storage_version_attribute()
    try:
        return {attribute.key: attribute.typed(version)}
    except ValidationError:
        return {}
