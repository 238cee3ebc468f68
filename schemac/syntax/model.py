"""The base of every pydantic model that describes what an author writes.

Layer: syntax.
"""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


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
