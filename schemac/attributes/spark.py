"""`spark.apache.org`: where Spark has a richer word.

Layer: attributes.
"""

from typing import Annotated

from pydantic import Field

from schemac.attributes.attribute import Attribute
from schemac.attributes.family import Family

DOMAIN = "spark.apache.org"
TYPE_PATTERN = r"^(varchar\([1-9][0-9]{0,9}\)|char\([1-9][0-9]{0,9}\)|variant)$"

TYPE = Attribute[str](
    f"{DOMAIN}/type",
    Annotated[str, Field(pattern=TYPE_PATTERN)],
    "Spark's type where it says more than the kind: varchar(n), char(n), variant",
    fits=frozenset({Family.TEXT}),
)
TABLE_PROPERTIES = Attribute[dict[str, str]](
    f"{DOMAIN}/tableProperties",
    dict[str, str],
    "table properties (TBLPROPERTIES)",
    on_field=False,
    on_schema=True,
)
ATTRIBUTES = (TYPE, TABLE_PROPERTIES)
