"""`spark.apache.org`: where Spark has a richer word, and what changes of it are.

Layer: engines. Values only.
"""

from typing import Annotated

from pydantic import Field

from schemac.language.attributes.attribute import Attribute, Facts, Family, Role
from schemac.language.logical.facts import AnyFact


class SparkFact(AnyFact):
    """Types and properties of Spark tables."""

    TYPE_CHANGED = "spark-type-changed"
    TABLE_PROPERTY_SET = "table-property-set"
    TABLE_PROPERTY_REMOVED = "table-property-removed"


DOMAIN = "spark.apache.org"
TYPE_PATTERN = r"^(varchar\([1-9][0-9]{0,9}\)|char\([1-9][0-9]{0,9}\)|variant)$"


def _keeping(type_: str, length: int | None) -> str | None:
    """Return the type of a text with a length, and of a VARIANT."""
    if length is None:
        return "variant" if type_ == "variant" else None
    return f"{type_}({length})" if type_ in ("char", "varchar") else None


TYPE = Attribute[str](
    f"{DOMAIN}/type",
    Annotated[str, Field(pattern=TYPE_PATTERN)],
    "Spark's type, if it is more specific than the kind: varchar(n), char(n), variant",
    fits=frozenset({Family.TEXT}),
    keeps=_keeping,
    facts=Facts.all(SparkFact.TYPE_CHANGED),
)
TABLE_PROPERTIES = Attribute[dict[str, str]](
    f"{DOMAIN}/tableProperties",
    dict[str, str],
    "table properties (TBLPROPERTIES)",
    on_field=False,
    on_schema=True,
    role=Role.OPTIONS,
    facts=Facts(SparkFact.TABLE_PROPERTY_SET, SparkFact.TABLE_PROPERTY_REMOVED, SparkFact.TABLE_PROPERTY_SET),
    example="{comment: 'rides by day'}",
)
ATTRIBUTES = (TYPE, TABLE_PROPERTIES)
