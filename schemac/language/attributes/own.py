"""`schemac.dev`: the compiler's own words.

Layer: language.
"""

from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field

from schemac.language.attributes.attribute import NUMBERS, Attribute, Facts, Family, Inheritance
from schemac.language.attributes.zones import find_zone
from schemac.registry.installed import engines
from schemac.text.syntax.model import AuthoredModel

DOMAIN = "schemac.dev"
TABLE_VERSION = "schemac.version"
"""Key under which tables, and what tables are made of, say which locked version they have. It is not an attribute: nobody writes it
in a manifest, and no schema differs by it."""
TABLE_IDS = "schemac.ids"
"""Key of a digest of a table's ids where these are neither those of the lock nor those of any new table: it tells whether what
the table says of its version is said of its present fields."""
TABLE_RECORD = frozenset({TABLE_VERSION, TABLE_IDS})
"""The keys by which a table speaks of itself."""

if TYPE_CHECKING:
    TargetName = str
else:
    TargetName = Literal[tuple(engine.name for engine in engines() if engine.artifacts)]
"""Every engine that there is an artifact for, in the order in which they are built."""


def _distinct(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        raise ValueError("a target is listed twice")
    return names


def _distinct_tags(tags: list[str]) -> list[str]:
    if len(set(tags)) < len(tags):
        raise ValueError("a tag is listed twice")
    return tags


def _calendar_day(text: str) -> str:
    try:
        is_day = date.fromisoformat(text).isoformat() == text
    except ValueError:
        is_day = False
    if not is_day:
        raise ValueError(f"'{text}' is not a day; write the year, the month and the day, such as 2027-03-31")
    return text


def _known_zone(name: str) -> str:
    if find_zone(name) is None:
        raise ValueError(
            f"there is no time zone '{name}'; write a name such as Europe/Berlin, or an offset such as +05:30"
        )
    return name


RENAMED_FROM = Attribute[str](
    f"{DOMAIN}/renamedFrom",
    Annotated[str, Field(min_length=1)],
    "the field's former name; the field keeps its id",
)
UNIT = Attribute[str](
    f"{DOMAIN}/unit",
    Annotated[str, Field(min_length=1)],
    "unit of measure of the number, such as `m/s`",
    fits=NUMBERS | frozenset({Family.DECIMAL, Family.LIST}),
    facts=Facts.all("unit-changed"),
)
CLOCK_ZONE = Attribute[str](
    f"{DOMAIN}/clockZone",
    Annotated[str, Field(min_length=1), AfterValidator(_known_zone)],
    "time zone of the clock that timestamps without a zone were read from",
    fits=frozenset({Family.TIMESTAMP}),
)
TARGETS_OF = Attribute[list[str]](
    f"{DOMAIN}/targets",
    Annotated[list[TargetName], Field(min_length=1), AfterValidator(_distinct)],
    "the targets that this dataset is built for, if not all",
    is_of_storage=True,
    on_field=False,
    on_schema=True,
    facts=Facts.all("targets-changed"),
    example=f"[{next(engine.name for engine in engines() if engine.artifacts)}]",
)


class Classification(StrEnum):
    """How sensitive data is, from the least to the most."""

    PUBLIC = "public"
    INTERNAL = "internal"
    CONFIDENTIAL = "confidential"
    PERSONAL = "personal"
    SENSITIVE = "sensitivePersonal"

    @property
    def rank(self) -> int:
        """Zero for what everybody may see."""
        return list(Classification).index(self)


class Deprecation(AuthoredModel):
    """That readers are to stop using something."""

    remove_after: Annotated[str, AfterValidator(_calendar_day)] | None = Field(
        None, description="The last day on which readers can rely on it, as 2027-03-31."
    )
    successor: Annotated[str, Field(min_length=1)] | None = Field(
        None, description="Path of the field that takes its place."
    )
    note: str | None = Field(None, description="What else readers should know.")


OWNER = Attribute[str](
    f"{DOMAIN}/owner",
    Annotated[str, Field(min_length=1)],
    "the team or person responsible for the data",
    on_schema=True,
    foreign_keys=("owner", "steward"),
    inheritance=Inheritance.NEAREST,
)
TAGS = Attribute[list[str]](
    f"{DOMAIN}/tags",
    Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1), AfterValidator(_distinct_tags)],
    "keywords for finding the data",
    on_schema=True,
    inheritance=Inheritance.ADDED,
    example="[finance]",
)
CLASSIFICATION = Attribute[str](
    f"{DOMAIN}/classification",
    Literal["public", "internal", "confidential", "personal", "sensitivePersonal"],
    "how sensitive the data is; `personal` and `sensitivePersonal` are data about people",
    on_schema=True,
    foreign_keys=("classification", "sensitivity", "pii"),
    inheritance=Inheritance.NEAREST,
)
DEPRECATED = Attribute[Deprecation](
    f"{DOMAIN}/deprecated",
    Deprecation,
    "that readers have to stop using it; with the last day on which it exists, and the field that replaces it",
    on_schema=True,
    foreign_keys=("deprecated",),
    inheritance=Inheritance.NEAREST,
    example="{removeAfter: '2027-03-31', successor: other_field}",
)
ATTRIBUTES = (RENAMED_FROM, UNIT, CLOCK_ZONE, TARGETS_OF, OWNER, TAGS, CLASSIFICATION, DEPRECATED)
