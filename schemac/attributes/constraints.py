"""`schemac.dev`: constraints of values, in the words of JSON Schema.

Layer: attributes.
Shape: on a field, or on any nested type, they hold for every value there that is not null; on the schema, for its rows.
Source: JSON Schema 2020-12, "Validation", section 6; SQL's UNIQUE, FOREIGN KEY and CHECK.
"""

from typing import Annotated, Any

from schemac.attributes.attribute import Attribute, AttributeValue, Facts
from schemac.attributes.family import NUMBERS, TEMPORAL, Family
from schemac.attributes.own import DOMAIN
from schemac.syntax.reading import Bounds, Rule

ORDERED = NUMBERS | TEMPORAL | {Family.DECIMAL}
"""Families whose values have an order that all systems agree on."""
_LENGTHS = frozenset({Family.TEXT, Family.BYTES})
_ITEMS = frozenset({Family.LIST})
_FACTS = Facts("constraint-added", "constraint-removed", "constraint-changed")
Paths = Annotated[list[str], Bounds(min_length=1)]
"""Fields by their paths, such as `trip.fare`."""


def _plain(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("this has to be a number, or a text such as '0.10' or '2020-01-31'")  # noqa: TRY004  a value, not a type
    return value


def _plain_or_truth(value: Any) -> Any:
    return value if isinstance(value, bool) else _plain(value)


_PLAIN = Annotated[Any, Rule(_plain, {"type": ["number", "string"]})]
_ENUM_VALUE = Annotated[Any, Rule(_plain_or_truth, {"type": ["boolean", "number", "string"]})]
_COUNT = Annotated[int, Bounds(ge=0)]


class Reference(AttributeValue):
    """Fields whose values stand in a row of another dataset."""

    fields: Paths
    dataset: Annotated[str, Bounds(min_length=1)]
    to: list[str] | None = None
    """Their names in the other dataset, if they are others there."""

    def check_together(self) -> None:
        """Check that there is one field for each. Raises ValueError."""
        if self.to is not None and len(self.to) != len(self.fields):
            raise ValueError(
                f"`fields` has {len(self.fields)} fields, but `to` has {len(self.to)}; each needs its like"
            )


def _of_values(name: str, value_type: Any, fits: frozenset[Family], summary: str) -> Attribute[Any]:
    return Attribute[Any](f"{DOMAIN}/{name}", value_type, summary, fits=fits, facts=_FACTS)


def _of_rows(name: str, value_type: Any, summary: str) -> Attribute[Any]:
    return Attribute[Any](
        f"{DOMAIN}/{name}", value_type, summary, on_field=False, on_schema=True, facts=_FACTS
    )


MINIMUM = _of_values("minimum", _PLAIN, ORDERED, "the least value")
MAXIMUM = _of_values("maximum", _PLAIN, ORDERED, "the greatest value")
EXCLUSIVE_MINIMUM = _of_values("exclusiveMinimum", _PLAIN, ORDERED, "every value is greater than this one")
EXCLUSIVE_MAXIMUM = _of_values("exclusiveMaximum", _PLAIN, ORDERED, "every value is less than this one")
MULTIPLE_OF = _of_values(
    "multipleOf",
    _PLAIN,
    frozenset({Family.INTEGER, Family.DECIMAL, Family.DURATION}),
    "every value is a multiple of this one",
)
MIN_LENGTH = _of_values("minLength", _COUNT, _LENGTHS, "the least length: characters of a text, or bytes")
MAX_LENGTH = _of_values("maxLength", _COUNT, _LENGTHS, "the greatest length: characters of a text, or bytes")
PATTERN = _of_values(
    "pattern",
    Annotated[str, Bounds(min_length=1)],
    frozenset({Family.TEXT}),
    "regular expression that is found in every text; `^` and `$` are its ends",
)
ENUM = _of_values(
    "enum",
    Annotated[list[_ENUM_VALUE], Bounds(min_length=1)],
    ORDERED | {Family.TEXT, Family.BOOLEAN},
    "the only values",
)
MIN_ITEMS = _of_values("minItems", _COUNT, _ITEMS, "the least number of items")
MAX_ITEMS = _of_values("maxItems", _COUNT, _ITEMS, "the greatest number of items")
UNIQUE_ITEMS = _of_values("uniqueItems", bool, _ITEMS, "`true`: no item stands twice in a list")
OF_VALUES = (
    MINIMUM, MAXIMUM, EXCLUSIVE_MINIMUM, EXCLUSIVE_MAXIMUM, MULTIPLE_OF, MIN_LENGTH, MAX_LENGTH, PATTERN, ENUM,
    MIN_ITEMS, MAX_ITEMS, UNIQUE_ITEMS,
)  # fmt: skip
"""Those of the values at one place."""
UNIQUE = _of_rows(
    "unique",
    Annotated[list[Paths], Bounds(min_length=1)],
    "lists of fields; no two rows have the same values in all fields of a list",
)
REFERENCES = _of_rows(
    "references",
    Annotated[list[Reference], Bounds(min_length=1)],
    "fields whose values stand in a row of another dataset",
)
CHECK = _of_rows(
    "check",
    Annotated[list[Annotated[str, Bounds(min_length=1)]], Bounds(min_length=1)],
    "conditions of a row, such as `tip <= fare`; one that is null, for want of a value, holds",
)
OF_ROWS = (UNIQUE, REFERENCES, CHECK)
"""Those of whole rows."""
ATTRIBUTES = (*OF_VALUES, *OF_ROWS)
