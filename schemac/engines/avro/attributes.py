"""`avro.apache.org`: what an Avro schema says beyond types.

Layer: engines.
"""

from typing import Annotated, Any

from pydantic import Field

from schemac.language.attributes.attribute import Attribute

DOMAIN = "avro.apache.org"
_NAME = r"[A-Za-z_][A-Za-z0-9_]*"

NAMESPACE = Attribute[str](
    f"{DOMAIN}/namespace",
    Annotated[str, Field(pattern=rf"^{_NAME}(\.{_NAME})*$")],
    "the namespace of the record, such as `com.example`",
    on_field=False,
    on_schema=True,
)
ALIASES = Attribute[list[str]](
    f"{DOMAIN}/aliases",
    Annotated[list[Annotated[str, Field(pattern=f"^{_NAME}$")]], Field(min_length=1)],
    "names that the field has in existing data",
    example="[old_name]",
)
DEFAULT = Attribute[Any](
    f"{DOMAIN}/default", Any, "the value of the field in data without it, as Avro's JSON"
)
ATTRIBUTES = (NAMESPACE, ALIASES, DEFAULT)
