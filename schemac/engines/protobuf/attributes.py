"""`protobuf.dev`: what messages say beyond the types of a schema, so that bytes which were written are read.

Layer: engines.
"""

from typing import Annotated

from pydantic import Field

from schemac.language.attributes.attribute import Attribute, Family

DOMAIN = "protobuf.dev"

TYPE = Attribute[str](
    f"{DOMAIN}/type",
    Annotated[
        str, Field(pattern=r"^(s?fixed(32|64)|sint(32|64)|bytes|google\.protobuf\.[A-Z][A-Za-z0-9]*)$")
    ],
    "the type in messages where it is not the usual one, such as `sint64`, `fixed32` or `google.protobuf.StringValue`",
    fits=frozenset({Family.BOOLEAN, Family.INTEGER, Family.FLOAT, Family.TEXT, Family.BYTES}),
)
ENUM_NUMBERS = Attribute[dict[str, int]](
    f"{DOMAIN}/enum",
    Annotated[dict[str, int], Field(min_length=1)],
    "the enum that the field is in messages: its names with their numbers",
    fits=frozenset({Family.TEXT}),
    example="{RED: 1, BLUE: 2}",
)
ATTRIBUTES = (TYPE, ENUM_NUMBERS)
