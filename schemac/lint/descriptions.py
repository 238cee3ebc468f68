"""Rules about descriptions.

Layer: lint.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from schemac.attributes.odf import DESCRIPTION
from schemac.lint import codes
from schemac.lint.rule import Say, Subject, description_of, rule
from schemac.lint.words import words_of
from schemac.logical.slots import Slot

DESCRIPTIONS = "descriptions"
_PLACEHOLDER = re.compile(
    r"(?:todo|tbd|fixme|xxx|n/?a|none|unknown|description|\.{2,}|…|\?+|-+)[\s:.!?]*", re.IGNORECASE
)
_EMPTY_WORDS = frozenset(["the", "a", "an", "of", "this", "is", "it", "field", "column", "value", "for"])


@rule(codes.MISSING_DATASET_DESCRIPTION, category=DESCRIPTIONS)
def missing_dataset_description(subject: Subject, say: Say) -> None:
    """One sentence about what a row is."""
    if not subject.dataset.schema.extra.get(DESCRIPTION.key):
        say.schema(f"{subject.dataset.name} has no description", help="write `description:` beside `fields:`")


@rule(codes.MISSING_FIELD_DESCRIPTION, category=DESCRIPTIONS)
def missing_field_description(subject: Subject, say: Say) -> None:
    """What its values mean, as far as name and type do not say it."""
    for field in subject.fields:
        if not description_of(field):
            say.name(
                field, f"{field.path_text} has no description", help="write `description:` beside its `name:`"
            )


@rule(codes.MISSING_GROUP_DESCRIPTION, category=DESCRIPTIONS)
def missing_group_description(subject: Subject, say: Say) -> None:
    """What the fields of a group are for together; asked where the group stands beside the fields of a dataset."""
    for name, group in _groups(subject):
        if not group.get("description"):
            message = f"the group '{name}' has no description"
            say.schema(message, "groups", name, on_key=True, help="write `description:` beside its `fields:`")


def _groups(subject: Subject) -> Iterator[tuple[str, Mapping[str, Any]]]:
    document = subject.dataset.origins.document
    value: Any = document.written if document is not None else None
    for step in subject.dataset.origins.base:
        value = value[step]
    groups = value.get("groups") if isinstance(value, dict) else None
    for name, group in groups.items() if isinstance(groups, dict) else ():
        if isinstance(group, dict):
            yield name, group


@rule(codes.REPEATING_DESCRIPTION, category=DESCRIPTIONS)
def repeating_description(subject: Subject, say: Say) -> None:
    """A description such as `The fare` of a field `fare` says nothing."""
    for field in subject.fields:
        said = set(words_of(description_of(field))) - _EMPTY_WORDS
        if said and said <= set(words_of(str(field.segment))):
            say.description(field, f"the description of {field.path_text} says no more than its name")


@rule(
    codes.PLACEHOLDER_DESCRIPTION,
    category=DESCRIPTIONS,
    is_default=True,
)
def placeholder_description(subject: Subject, say: Say) -> None:
    """Texts such as "TODO" are forgotten easily."""
    for field in subject.fields:
        text = description_of(field).strip()
        if text and _PLACEHOLDER.fullmatch(text):
            say.description(field, f"the description of {field.path_text} is still to be written")


@rule(codes.DUPLICATE_DESCRIPTION, category=DESCRIPTIONS)
def duplicate_description(subject: Subject, say: Say) -> None:
    """A copied description was not adapted."""
    first: dict[str, Slot] = {}
    for field in subject.fields:
        text = description_of(field).strip().casefold()
        twin = first.setdefault(text, field) if text else field
        if twin is not field:
            say.description(field, f"{field.path_text} has the same description as {twin.path_text}")


RULES = (
    missing_dataset_description,
    missing_field_description,
    missing_group_description,
    repeating_description,
    placeholder_description,
    duplicate_description,
)
