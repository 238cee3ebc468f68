"""What a field has from what is around it: its owner, its tags, how sensitive it is, whether it is deprecated.

Layer: logical.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, Self, TypeVar

from schemac.attributes.attribute import Attribute, Extra, Inheritance
from schemac.attributes.own import CLASSIFICATION, DEPRECATED, OWNER, TAGS, Classification, Deprecation
from schemac.logical.model import Schema
from schemac.logical.schema_fields import SchemaField

T = TypeVar("T")
ATTRIBUTES = (OWNER, TAGS, CLASSIFICATION, DEPRECATED)


def inherited(attribute: Attribute[T], field: SchemaField | None, schema: Schema) -> T | None:
    """Return what an attribute is for a field, or for the schema as a whole."""
    values: list[Any] = [
        value for extra in _around(field, schema) if (value := attribute.read(extra)) is not None
    ]
    if not values:
        return None
    if attribute.inheritance is Inheritance.ADDED:
        added: Any = list(dict.fromkeys(item for value in reversed(values) for item in value))
        return added  # type: ignore[no-any-return]
    nearest: T = values[0]
    return nearest


def _around(field: SchemaField | None, schema: Schema) -> Iterator[Extra]:
    """Yield the attributes of a field and of what is around it, from the inside."""
    while field is not None:
        yield field.extra
        field = field.parent
    yield schema.extra


class Ownership(NamedTuple):
    """What is known of one field, or of a schema as a whole."""

    owner: str | None
    tags: tuple[str, ...]
    classification: Classification | None
    deprecation: Deprecation | None

    @classmethod
    def of(cls, field: SchemaField | None, schema: Schema) -> Self:
        """Return what holds for a field with all that is around it."""
        classification = inherited(CLASSIFICATION, field, schema)
        tags = inherited(TAGS, field, schema)
        return cls(
            inherited(OWNER, field, schema),
            tuple(tags or ()),
            Classification(classification) if classification is not None else None,
            inherited(DEPRECATED, field, schema),
        )
