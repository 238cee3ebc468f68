"""`spark.apache.org`: where Spark has a richer word.

Layer: attributes.
"""

from typing import Annotated

from pydantic import Field

from schemac.attributes.attribute import Attribute, kinds

DOMAIN = "spark.apache.org"
TYPE_PATTERN = r"^(varchar\([1-9][0-9]{0,9}\)|char\([1-9][0-9]{0,9}\)|variant)$"

TYPE = Attribute[str](
    f"{DOMAIN}/type",
    Annotated[str, Field(pattern=TYPE_PATTERN)],
    "Spark's type where it is richer: varchar(n), char(n), variant",
    fits=kinds("String"),
)
TABLE_PROPERTIES = Attribute[dict[str, str]](
    f"{DOMAIN}/tableProperties", dict[str, str], "TBLPROPERTIES of the table", on_field=False, on_schema=True
)
ATTRIBUTES = (TYPE, TABLE_PROPERTIES)
