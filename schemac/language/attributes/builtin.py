"""The compiler's own attributes (`schemac.dev`) and those of the standard (`opendatafabric.org`).

Layer: language.
Source: `opendatafabric.org`: words of the standard itself, and of the product that grew it: the standard's attribute list and RFC-016,
      RFC-017.
      Time zones by their names: the IANA time zone database, as the machine or the `tzdata` package has it; Arrow's form of an offset,
      `+05:30`.
"""

import re
from datetime import UTC, date, timedelta, timezone, tzinfo
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field

from schemac.language.attributes.attribute import NUMBERS, Attribute, Facts, Family, Inheritance, spelled
from schemac.registry.engine import engines
from schemac.text.source.json_object import Json
from schemac.text.syntax.model import AuthoredModel

ODF_DOMAIN = "opendatafabric.org"


class LogicalTypeWord(AuthoredModel, extra="allow"):
    """A logical type that is more specific than the kind of the field; `linkType` belongs to ObjectLink.

    The standard also allows any core type here in its long form; those carry properties of their own.
    """

    kind: Annotated[str, spelled("Did", "Multihash", "ObjectLink")] = Field(description="The richer type.")
    link_type: Json | None = Field(None, description="What an ObjectLink leads to.")


class LinkedObjects(AuthoredModel):
    """Size of what a block of data links to."""

    num_objects_naive: int = Field(ge=0, description="How many objects there are, counted with repetitions.")
    size_naive: int = Field(ge=0, description="Their bytes, counted with repetitions.")


DESCRIPTION = Attribute[str](
    f"{ODF_DOMAIN}/description",
    str,
    "a description for readers",
    on_schema=True,
    facts=Facts("description-added", "description-removed", "description-changed"),
)
TYPE = Attribute[LogicalTypeWord](
    f"{ODF_DOMAIN}/type",
    LogicalTypeWord,
    "a richer logical type: Did, Multihash, ObjectLink",
    facts=Facts.all("odf-type-changed"),
    example="{kind: Did}",
)
LINKED_OBJECTS = Attribute[LinkedObjects](
    f"{ODF_DOMAIN}/linkedObjects",
    LinkedObjects,
    "size of linked objects; an attribute of data blocks, not of schemas",
    on_field=False,
    example="{numObjectsNaive: 2, sizeNaive: 4096}",
)
ARCHETYPE = Attribute[str](
    "kamu.dev/archetype",
    Annotated[Literal["Collection", "VersionedFile"], spelled("Collection", "VersionedFile")],
    "the kind of the dataset as a whole",
    on_field=False,
    on_schema=True,
    facts=Facts.all("archetype-changed"),
)
WORDS = frozenset({"Did", "Multihash", "ObjectLink"})
"""Logical types that have String as their kind."""
WORD_FAMILIES = frozenset({Family.TEXT})
ODF_ATTRIBUTES = (DESCRIPTION, TYPE, LINKED_OBJECTS)


_NAMES_OF_UTC = ("GMT", "GMT+0", "GMT-0", "GMT0", "Greenwich", "UCT", "UTC", "Universal", "Zulu")
_UTC = frozenset({"+00:00", "-00:00", *_NAMES_OF_UTC, *(f"Etc/{name}" for name in _NAMES_OF_UTC)})
OFFSET = re.compile(r"([+-])(0[0-9]|1[0-4]):([0-5][0-9])")


def is_utc(name: str | None) -> bool:
    """Whether a zone is UTC, by whichever of its names."""
    return name in _UTC


@cache
def find_zone(name: str) -> tzinfo | None:
    """Return the zone of this name, or of this offset from UTC; None if there is none."""
    if name == "UTC":
        return UTC
    offset = OFFSET.fullmatch(name)
    if offset is not None:
        sign, hours, minutes = offset.groups()
        distance = timedelta(hours=int(hours), minutes=int(minutes))
        return timezone(-distance if sign == "-" else distance)
    # Imported here for start-up time: hardly any manifest names a zone other than UTC.
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


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


def distinct(item: str) -> AfterValidator:
    """Return a validator that refuses a list with the same item twice; `item` is what messages call it, such as "a tag"."""

    def check(items: list[str]) -> list[str]:
        if len(set(items)) < len(items):
            raise ValueError(f"{item} is listed twice")
        return items

    return AfterValidator(check)


def _calendar_day(text: str) -> str:
    """Return a day as it is written. Raises ValueError for what is no day, or in another form than 2027-03-31."""
    try:
        is_day = date.fromisoformat(text).isoformat() == text
    except ValueError:
        is_day = False
    if not is_day:
        raise ValueError(f"'{text}' is not a day; write the year, the month and the day, such as 2027-03-31")
    return text


def _known_zone(name: str) -> str:
    """Return the name of a time zone as it is. Raises ValueError if there is no such zone."""
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
    Annotated[list[TargetName], Field(min_length=1), distinct("a target")],
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
    Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1), distinct("a tag")],
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
    "readers should stop using the field; with its last day and the field that replaces it",
    on_schema=True,
    foreign_keys=("deprecated",),
    inheritance=Inheritance.NEAREST,
    example="{removeAfter: '2027-03-31', successor: other_field}",
)
ATTRIBUTES = (RENAMED_FROM, UNIT, CLOCK_ZONE, TARGETS_OF, OWNER, TAGS, CLASSIFICATION, DEPRECATED)
