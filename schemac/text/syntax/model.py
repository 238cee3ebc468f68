"""The base of every pydantic model that describes what an author writes.

Layer: text.
"""

from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

T = TypeVar("T")


Items = Annotated[tuple[T, ...], Field(strict=False)]
"""Any number of values, which manifests write as a list."""


class AuthoredModel(BaseModel):
    """A mapping of a manifest or a pipeline file: closed, exact and frozen, with keys in camelCase."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        defer_build=True,
        protected_namespaces=(),
    )


def class_text(model: type) -> str:
    """Return the first paragraph of a class's docstring, on one line."""
    return " ".join((model.__doc__ or "").partition("\n\n")[0].split())
