"""The kinds of changes between two versions of a schema.

Layer: versions. Values only.
Shape: a change is one fact at one field, with the old and the new value, and without a judgement. The facts here are a closed set; engines
add theirs by `evolution.facts`. One edit may be several facts: a decimal with more digits and another scale is two. Groups of facts
shorten the tables of judges; `tests/evolution/rules.txt` lists the rule of each judge for every fact.
"""

import dataclasses
import json
from dataclasses import dataclass
from typing import Any

from schemac.language.logical.facts import AnyFact
from schemac.language.logical.facts import Fact as Fact  # noqa: PLC0414 — an explicit re-export, for the change and its fact belong together
from schemac.language.logical.schema_fields import SchemaField
from schemac.text.source.json_object import Json
from schemac.text.source.phrases import counted
from schemac.text.source.span import Region

DESCRIPTION_FACTS = frozenset(
    {
        Fact.DESCRIPTION_ADDED,
        Fact.DESCRIPTION_CHANGED,
        Fact.DESCRIPTION_REMOVED,
    }
)
"""Its traits."""

TYPE_FACTS = frozenset(
    {
        Fact.INTEGER_WIDENED,
        Fact.INTEGER_NARROWED,
        Fact.SIGN_CHANGED,
        Fact.FLOAT_WIDENED,
        Fact.FLOAT_NARROWED,
        Fact.NUMBER_FAMILY_CHANGED,
        Fact.PRECISION_RAISED,
        Fact.PRECISION_LOWERED,
        Fact.SCALE_RAISED,
        Fact.SCALE_LOWERED,
        Fact.TIME_UNIT_REFINED,
        Fact.TIME_UNIT_COARSENED,
        Fact.ZONE_ADDED,
        Fact.ZONE_REMOVED,
        Fact.ZONE_CHANGED,
        Fact.TEMPORAL_TYPE_CHANGED,
        Fact.TEXT_AND_BYTES_SWAPPED,
        Fact.BYTE_LENGTH_CHANGED,
        Fact.LIST_SIZE_CHANGED,
        Fact.LIST_SIZE_FIXED,
        Fact.LIST_SIZE_FREED,
        Fact.SORTED_KEYS_CHANGED,
        Fact.TYPE_REPLACED,
    }
)
"""Changes of a type that no attribute makes."""

LAYOUT_FACTS = frozenset(
    {
        Fact.OFFSET_WIDTH_CHANGED,
        Fact.BUFFER_LAYOUT_CHANGED,
        Fact.DATE_ENCODING_CHANGED,
        Fact.DECIMAL_WIDTH_CHANGED,
        Fact.DICTIONARY_ADDED,
        Fact.DICTIONARY_REMOVED,
        Fact.DICTIONARY_CHANGED,
        Fact.CHILD_NAMES_CHANGED,
    }
)
"""Changes of how the same values are in memory."""

KEY_FACTS = frozenset(
    {
        Fact.PRIMARY_KEY_ADDED,
        Fact.PRIMARY_KEY_REMOVED,
        Fact.PRIMARY_KEY_MOVED,
        Fact.CLUSTERING_KEY_CHANGED,
    }
)
"""Which fields identify rows, and which they are sorted by."""

STORAGE_FACTS = frozenset(
    {
        Fact.PACKED_STRUCT_CHANGED,
        Fact.BLOB_ADDED,
        Fact.BLOB_REMOVED,
        Fact.FLOAT_ENCODING_CHANGED,
        Fact.JSON_CHANGED,
        Fact.STORAGE_VERSION_CHANGED,
    }
)
"""How a table keeps values: its layout, and types that Arrow has no word for."""

ATTRIBUTE_FACTS = frozenset(
    {
        Fact.ATTRIBUTE_ADDED,
        Fact.ATTRIBUTE_REMOVED,
        Fact.ATTRIBUTE_CHANGED,
    }
)
"""Attributes of other domains, and those of one engine as the others are told of them."""

CONSTRAINT_FACTS = frozenset(
    {
        Fact.CONSTRAINT_ADDED,
        Fact.CONSTRAINT_REMOVED,
        Fact.CONSTRAINT_NARROWED,
        Fact.CONSTRAINT_WIDENED,
        Fact.CONSTRAINT_CHANGED,
    }
)
"""Which values are allowed, of those that the type has."""

DATASET_FACTS = frozenset(
    {
        Fact.DATASET_ADDED,
        Fact.DATASET_DROPPED,
    }
)
"""A dataset comes or goes."""

PROPERTY_FACTS = (
    DESCRIPTION_FACTS
    | LAYOUT_FACTS
    | KEY_FACTS
    | STORAGE_FACTS
    | ATTRIBUTE_FACTS
    | CONSTRAINT_FACTS
    | {
        Fact.EXTENSION_TYPE_CHANGED,
        Fact.ARROW_METADATA_CHANGED,
        Fact.ODF_TYPE_CHANGED,
        Fact.ARCHETYPE_CHANGED,
        Fact.TARGETS_CHANGED,
    }
)
"""What a schema says of its fields besides their types; a format of messages has it as a property, or not at all."""


@dataclass(frozen=True, slots=True)
class Location:
    """A location in a file; line 0 for a source without lines."""

    file: str
    line: int = 0
    column: int = 0
    used: "Location | None" = None
    """Where the dataset's manifest uses the group that this is in."""

    @property
    def region(self) -> Region:
        """Its line and column, as in a finding."""
        return Region.point(self.line, self.column)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Change:
    """One fact."""

    fact: AnyFact
    dataset: str
    path: str
    """The field's path now; for a dropped field, its former path. Empty for the schema as a whole."""
    old: Any = None
    """The old value as JSON; None if there was none."""
    new: Any = None
    old_location: Location | None = dataclasses.field(default=None, compare=False)
    new_location: Location | None = dataclasses.field(default=None, compare=False)
    old_field: SchemaField | None = dataclasses.field(default=None, compare=False, repr=False)
    new_field: SchemaField | None = dataclasses.field(default=None, compare=False, repr=False)
    key: str = ""
    """The attribute or option that changed; empty for other changes."""

    @property
    def fields(self) -> tuple[SchemaField, SchemaField]:
        """The field before and after, of a change of a field that stays."""
        assert self.old_field is not None
        assert self.new_field is not None
        return self.old_field, self.new_field

    @property
    def current_field(self) -> SchemaField:
        """The field now."""
        assert self.new_field is not None
        return self.new_field

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        about = f" {self.key}" if self.key else ""
        if self.old is None and self.new is None:
            return f"{where}{self.fact}{about}"
        if self.fact in (Fact.FIELD_ADDED, Fact.FIELD_DROPPED):
            return f"{where}{self.fact}: {_formatted(self.new if self.old is None else self.old)}"
        return f"{where}{self.fact}{about}: {_formatted(self.old)} → {_formatted(self.new)}"

    def to_json(self) -> Json:
        """Return the change as JSON; `newUsed` and `oldUsed` are present for a field in a group."""
        locations = (("newUsed", self.new_location), ("oldUsed", self.old_location))
        return {
            "change": str(self.fact),
            "dataset": self.dataset,
            "field": self.path,
            "key": self.key,
            "new": self.new,
            "newPlace": str(self.new_location) if self.new_location else None,
            "old": self.old,
            "oldPlace": str(self.old_location) if self.old_location else None,
            **{
                key: str(location.used)
                for key, location in locations
                if location is not None and location.used is not None
            },
        }


class Changes(tuple[Change, ...]):
    """All changes from one version to another: a tuple that notebooks show as a table."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "no changes"

    def _repr_html_(self) -> str:
        from schemac.text.source.render.fragment import html_table  # for start-up time: programs show nothing

        rows = [
            (
                change.path or "the schema",
                f"{change.fact} {change.key}".strip(),
                _cell(change.old),
                _cell(change.new),
            )
            for change in self
        ]
        caption = counted(len(self), "change")
        return html_table(caption, ("field", "change", "before", "after"), rows)


def _cell(value: Any) -> str:
    return "" if value is None else _formatted(value)


def _formatted(value: Any) -> str:
    if value is None:
        return "nothing"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
