"""`schemac.dev`: constraints of values, in the words of JSON Schema.

Layer: language.
Shape: on a field, or on any nested type, they hold for every value there that is not null; on the schema, for its rows.
Source: JSON Schema 2020-12, "Validation", section 6; SQL's UNIQUE, FOREIGN KEY and CHECK.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from schemac.language.attributes.attribute import NUMBERS, TEMPORAL, Attribute, Facts, Family, Renaming
from schemac.language.attributes.builtin import DOMAIN
from schemac.text.source.phrases import counted
from schemac.text.syntax.model import AuthoredModel

ORDERED = NUMBERS | TEMPORAL | {Family.DECIMAL}
"""Families whose values have an order that all systems agree on."""
_LENGTHS = frozenset({Family.TEXT, Family.BYTES})
_ITEMS = frozenset({Family.LIST})
_FACTS = Facts("constraint-added", "constraint-removed", "constraint-changed")
Paths = Annotated[list[str], Field(min_length=1)]
"""Fields by their paths, such as `trip.fare`."""


def _plain(value: Any) -> Any:
    """Return a number or a text as it is. Raises ValueError for anything else, booleans included."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("this has to be a number, or a text such as '0.10' or '2020-01-31'")  # noqa: TRY004  a value, not a type
    return value


def _plain_or_truth(value: Any) -> Any:
    """Return a boolean, a number or a text as it is. Raises ValueError for anything else."""
    return value if isinstance(value, bool) else _plain(value)


_PLAIN = Annotated[Any, AfterValidator(_plain), WithJsonSchema({"type": ["number", "string"]})]
_ENUM_VALUE = Annotated[
    Any, AfterValidator(_plain_or_truth), WithJsonSchema({"type": ["boolean", "number", "string"]})
]
_COUNT = Annotated[int, Field(ge=0)]


class Reference(AuthoredModel):
    """Fields whose values are in a row of another dataset."""

    fields: Paths = Field(description="Paths of the fields here.")
    dataset: str = Field(min_length=1, description="The name of the other dataset.")
    to: list[str] | None = Field(None, description="The names in the other dataset, if they differ.")

    @model_validator(mode="after")
    def check_together(self) -> Self:
        """Check that there is one field for each. Raises ValueError."""
        if self.to is not None and len(self.to) != len(self.fields):
            raise ValueError(
                f"`fields` has {counted(len(self.fields), 'field')}, but `to` has {len(self.to)}; both need the same number of fields"
            )
        return self


def _constraint(name: str, others: str, value_type: Any, summary: str, **options: Any) -> Attribute[Any]:
    """Return the attribute of a constraint; `others` are the keys that other systems have for it."""
    foreign_keys = (name, *others.split())
    return Attribute[Any](
        f"{DOMAIN}/{name}", value_type, summary, facts=_FACTS, foreign_keys=foreign_keys, **options
    )


CONDITION_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<number>[0-9]+(?:\.[0-9]+)?)|(?P<quoted>`(?:[^`]|``)+`)"
    r"|(?P<word>[^\W\d]\w*)|(?P<mark><>|!=|==|<=|>=|[=<>+\-*().,]))"
)
"""What a condition is made of: texts, numbers, names and marks."""
CONDITION_TEXT = r"""^(?:[^"'`/;:{}|&%~?@#$\\\[\]^]|'[^']*'|`[^`]*`)*$"""
"""Every condition: outside of texts and names in backticks it has no other signs. It says this for editors, and one sign at a time,
so that looking takes no longer than reading."""
CONDITION_WORDS = frozenset({"and", "or", "not", "is", "null", "in", "between", "true", "false"})
"""Words of conditions; a field that is called like one is in backticks."""


def _renamed_path(path: str, old: str, new: str) -> str | None:
    """Return a path after its column was renamed; None for one of another column."""
    for written in (old, f"`{old.replace('`', '``')}`"):
        if path == written or path.startswith(f"{written}."):
            is_plain = bool(new) and not any(c in new for c in ".`")
            return (new if is_plain else f"`{new.replace('`', '``')}`") + path.removeprefix(written)
    return None


def _renamed_paths(lists: list[list[str]], old: str, new: str, *below: str) -> Iterator[Renaming]:
    """Yield the renamed paths of lists; `below` are the keys between a list and its place among the others."""
    for i, paths in enumerate(lists):
        for j, path in enumerate(paths):
            if (text := _renamed_path(path, old, new)) is not None:
                yield Renaming((i, *below, j), text)


def _renamed_references(references: list[Reference], old: str, new: str) -> Iterator[Renaming]:
    """Yield where references name a renamed column, and what to write there."""
    return _renamed_paths([one.fields for one in references], old, new, "fields")


def _renamed_conditions(conditions: list[str], old: str, new: str) -> Iterator[Renaming]:
    """Yield the conditions that name a renamed column, rewritten; texts, functions and members of structs stay as they are."""
    for i, condition in enumerate(conditions):
        is_word = re.fullmatch(r"[^\W\d]\w*", new) and new.lower() not in CONDITION_WORDS
        written = new if is_word else f"`{new.replace('`', '``')}`"
        parts, at, before = [], 0, ""
        for match in CONDITION_TOKEN.finditer(condition):
            kind = str(match.lastgroup)
            name = {"word": match[kind], "quoted": match[kind][1:-1].replace("``", "`")}.get(kind)
            is_function = condition[match.end() :].lstrip().startswith("(")
            is_keyword = kind == "word" and (is_function or match[kind].lower() in CONDITION_WORDS)
            if name == old and before != "." and not is_keyword:
                parts += [condition[at : match.start(kind)], written]
                at = match.end()
            before = match[kind]
        text = "".join([*parts, condition[at:]])
        if text != condition:
            yield Renaming((i,), text)


MINIMUM = _constraint("minimum", "min minValue ge gte", _PLAIN, "the least value", fits=ORDERED)
MAXIMUM = _constraint("maximum", "max maxValue le lte", _PLAIN, "the greatest value", fits=ORDERED)
EXCLUSIVE_MINIMUM = _constraint(
    "exclusiveMinimum", "gt greaterThan", _PLAIN, "every value is greater than this one", fits=ORDERED
)
EXCLUSIVE_MAXIMUM = _constraint(
    "exclusiveMaximum", "lt lessThan", _PLAIN, "every value is less than this one", fits=ORDERED
)
MULTIPLE_OF = _constraint(
    "multipleOf",
    "divisibleBy",
    _PLAIN,
    "every value is a multiple of this one",
    fits=frozenset({Family.INTEGER, Family.DECIMAL, Family.DURATION}),
)
MIN_LENGTH = _constraint(
    "minLength", "minLen", _COUNT, "the least length: characters of a text, or bytes", fits=_LENGTHS
)
MAX_LENGTH = _constraint(
    "maxLength", "maxLen", _COUNT, "the greatest length: characters of a text, or bytes", fits=_LENGTHS
)
PATTERN = _constraint(
    "pattern",
    "regex regexp matches",
    Annotated[str, Field(min_length=1)],
    "regular expression that matches a part of every text; `^` and `$` match its ends",
    fits=frozenset({Family.TEXT}),
    # A backslash before a letter that stands for no control character, and a quantifier of nothing: `constraints.patterns`
    # says this, and the rest, which is no regular language.
    refused={"type": "string", "pattern": r"^(?:(?:[^\\]|\\[\s\S])*\\[a-eg-mo-qsu-zA-Z0-9]|[*+?])"},
)
ENUM = _constraint(
    "enum",
    "acceptedValues allowedValues oneOf choices",
    Annotated[list[_ENUM_VALUE], Field(min_length=1)],
    "the only values",
    fits=ORDERED | {Family.TEXT, Family.BOOLEAN},
    example="[a, b]",
)
MIN_ITEMS = _constraint("minItems", "minSize", _COUNT, "the least number of items", fits=_ITEMS)
MAX_ITEMS = _constraint("maxItems", "maxSize", _COUNT, "the greatest number of items", fits=_ITEMS)
UNIQUE_ITEMS = _constraint(
    "uniqueItems", "uniqueElements", bool, "`true`: no item occurs twice in a list", fits=_ITEMS
)
BOUNDS = (MINIMUM, MAXIMUM, EXCLUSIVE_MINIMUM, EXCLUSIVE_MAXIMUM)
OF_LENGTH = (MIN_LENGTH, MAX_LENGTH, MIN_ITEMS, MAX_ITEMS)
OF_VALUES = (
    *BOUNDS, MULTIPLE_OF, MIN_LENGTH, MAX_LENGTH, PATTERN, ENUM, MIN_ITEMS, MAX_ITEMS, UNIQUE_ITEMS,
)  # fmt: skip
"""Those of the values at one place."""
KEYS_OF_VALUES = frozenset(attribute.key for attribute in OF_VALUES)


def are_constrained(extra: Mapping[str, Any]) -> bool:
    """Whether one of these attributes is a constraint of values."""
    return not KEYS_OF_VALUES.isdisjoint(extra)


UNIQUE = _constraint(
    "unique",
    "uniqueKeys uniqueTogether",
    Annotated[list[Paths], Field(min_length=1)],
    "lists of fields; no two rows have the same values in all fields of a list",
    on_field=False,
    on_schema=True,
    renamed=_renamed_paths,
    example="[[id]]",
)
REFERENCES = _constraint(
    "references",
    "foreignKey foreignKeys relationships reference",
    Annotated[list[Reference], Field(min_length=1)],
    "fields whose values occur in a row of another dataset",
    on_field=False,
    on_schema=True,
    renamed=_renamed_references,
    example="[{fields: [driver_id], dataset: drivers, to: [id]}]",
)
CHECK = _constraint(
    "check",
    "checks condition assert",
    Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)],
    "conditions of a row, such as `tip <= fare`; a condition that is null, because a value is null, is not broken",
    on_field=False,
    on_schema=True,
    renamed=_renamed_conditions,
    refused={"type": "array", "contains": {"type": "string", "not": {"pattern": CONDITION_TEXT}}},
    example='["ended_at >= started_at"]',
)
OF_ROWS = (UNIQUE, REFERENCES, CHECK)
"""Those of whole rows."""
KEYS_OF_ROWS = tuple(attribute.key for attribute in OF_ROWS)
ATTRIBUTES = (*OF_VALUES, *OF_ROWS)
