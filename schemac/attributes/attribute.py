"""What an attribute is.

Layer: attributes.
Source: RFC-016, "Extra Attributes Format": keys are `<domain>/<attribute-name>`, values any JSON.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from pydantic import BeforeValidator, TypeAdapter

from schemac.attributes.family import Family
from schemac.syntax.model import AuthoredModel

T = TypeVar("T")

Extra = Mapping[str, Any]
"""Attributes as they are written: key to JSON value."""

KEY_PATTERN = r"[a-zA-Z0-9.-]+/[a-zA-Z0-9_-]+"
"""Form of a key. Source: the standard's JSON Schema of ExtraAttributes."""


class AttributeValue(AuthoredModel):
    """Base of the objects that attributes take as value; closed, and written in camelCase."""


def spelled(*words: str) -> BeforeValidator:
    """Accept the lowerCamelCase and lowercase spelling of PascalCase words, as RFC-016's enums do."""
    by_folded = {spelling: word for word in words for spelling in spellings(word)}

    def canonical(value: Any) -> Any:
        return by_folded.get(value, value) if isinstance(value, str) else value

    return BeforeValidator(canonical)


def spellings(word: str) -> tuple[str, str, str]:
    """PascalCase, lowerCamelCase and lowercase of a word; `UInt8` is `uInt8` and `uint8`."""
    return (word, word[0].lower() + word[1:], word.lower())


@dataclass(frozen=True)
class Attribute(Generic[T]):
    """One known attribute: its key, the type of its value, and where it may stand."""

    key: str
    value_type: Any
    summary: str
    fits: frozenset[Family] | None = None
    """Families of kinds that it can apply to; None means every kind."""
    on_field: bool = True
    on_schema: bool = False

    @cached_property
    def adapter(self) -> TypeAdapter[T]:
        """The validator of values; raises pydantic's ValidationError."""
        return TypeAdapter(self.value_type)

    def read(self, extra: Extra) -> T | None:
        """Return the typed value, or None where the attribute is absent. The value has to have passed the checks."""
        return self.adapter.validate_python(extra[self.key]) if self.key in extra else None

    @property
    def name(self) -> str:
        """The part after the domain."""
        return self.key.partition("/")[2]
