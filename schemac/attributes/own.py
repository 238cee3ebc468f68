"""`schemac.dev`: the compiler's own words.

Layer: attributes.
"""

from typing import TYPE_CHECKING, Annotated, Literal

from schemac.attributes.attribute import Attribute, Facts
from schemac.attributes.family import NUMBERS, Family
from schemac.attributes.zones import find_zone
from schemac.registry.installed import engines
from schemac.syntax.reading import Bounds, Rule

DOMAIN = "schemac.dev"

if TYPE_CHECKING:
    TargetName = str
else:
    TargetName = Literal[tuple(engine.name for engine in engines() if engine.artifacts)]
"""Every engine that there is an artifact for, in the order in which they are built."""


def _distinct(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        raise ValueError("a target is listed twice")
    return names


def _known_zone(name: str) -> str:
    if find_zone(name) is None:
        raise ValueError(
            f"there is no time zone '{name}'; write a name such as Europe/Berlin, or an offset such as +05:30"
        )
    return name


RENAMED_FROM = Attribute[str](
    f"{DOMAIN}/renamedFrom",
    Annotated[str, Bounds(min_length=1)],
    "the field's former name; the field keeps its id",
)
UNIT = Attribute[str](
    f"{DOMAIN}/unit",
    Annotated[str, Bounds(min_length=1)],
    "unit of measure of the number, such as `m/s`",
    fits=NUMBERS | frozenset({Family.DECIMAL, Family.LIST}),
    facts=Facts.all("unit-changed"),
)
CLOCK_ZONE = Attribute[str](
    f"{DOMAIN}/clockZone",
    Annotated[str, Bounds(min_length=1), Rule(_known_zone)],
    "time zone of the clock whose readings have no zone",
    fits=frozenset({Family.TIMESTAMP}),
)
TARGETS_OF = Attribute[list[str]](
    f"{DOMAIN}/targets",
    Annotated[list[TargetName], Bounds(min_length=1), Rule(_distinct)],
    "the targets that this dataset is built for, if not all",
    on_field=False,
    on_schema=True,
    facts=Facts.all("targets-changed"),
)
ATTRIBUTES = (RENAMED_FROM, UNIT, CLOCK_ZONE, TARGETS_OF)
