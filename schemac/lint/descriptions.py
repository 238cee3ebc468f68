"""Rules about descriptions.

Layer: lint.
"""

import re
from collections.abc import Iterable

from schemac.attributes.odf import DESCRIPTION
from schemac.lint import codes
from schemac.lint.rule import Reporter, Subject, description_of, rule
from schemac.lint.words import words_of
from schemac.logical.schema_fields import SchemaField
from schemac.manifest.groups import GroupFile
from schemac.source.report import Report

DESCRIPTIONS = "descriptions"
_PLACEHOLDER = re.compile(
    r"(?:todo|tbd|fixme|xxx|n/?a|none|unknown|description|\.{2,}|…|\?+|-+)[\s:.!?]*", re.IGNORECASE
)
_EMPTY_WORDS = frozenset(["the", "a", "an", "of", "this", "is", "it", "field", "column", "value", "for"])


@rule(codes.MISSING_DATASET_DESCRIPTION, category=DESCRIPTIONS)
def missing_dataset_description(subject: Subject, report: Reporter) -> None:
    """One sentence about what a row is."""
    if not subject.dataset.schema.extra.get(DESCRIPTION.key):
        report.schema(
            f"{subject.dataset.name} has no description", help="write `description:` beside `fields:`"
        )


@rule(codes.MISSING_FIELD_DESCRIPTION, category=DESCRIPTIONS)
def missing_field_description(subject: Subject, report: Reporter) -> None:
    """What its values mean, as far as name and type do not say it."""
    for field in subject.fields:
        if not description_of(field):
            report.name(
                field,
                f"{field.path_text} has no description",
                help="write `description:` next to its `name:`",
            )


@rule(codes.MISSING_GROUP_DESCRIPTION, category=DESCRIPTIONS)
def missing_group_description(_subject: Subject, _reporter: Reporter) -> None:
    """What the fields of a group are for together; groups are in texts, not in datasets (`undescribed_groups`)."""


def undescribed_groups(files: Iterable[GroupFile], report: Report) -> None:
    """Report the groups of texts that have no description, wherever they are defined."""
    for file in files:
        for definition in file.groups.values():
            if not definition.group.description:
                report.add(
                    codes.MISSING_GROUP_DESCRIPTION,
                    f"the group '{definition.name}' has no description",
                    location=definition.document.location(definition.path, on_key=True),
                    help="write `description:` next to its `fields:`",
                )


@rule(codes.REPEATING_DESCRIPTION, category=DESCRIPTIONS)
def repeating_description(subject: Subject, report: Reporter) -> None:
    """A description such as `The fare` of a field `fare` says nothing."""
    for field in subject.fields:
        meaningful_words = set(words_of(description_of(field))) - _EMPTY_WORDS
        if meaningful_words and meaningful_words <= set(words_of(str(field.segment))):
            report.description(field, f"the description of {field.path_text} only repeats its name")


@rule(
    codes.PLACEHOLDER_DESCRIPTION,
    category=DESCRIPTIONS,
    is_default=True,
)
def placeholder_description(subject: Subject, report: Reporter) -> None:
    """Texts such as "TODO" are forgotten easily."""
    for field in subject.fields:
        text = description_of(field).strip()
        if text and _PLACEHOLDER.fullmatch(text):
            report.description(field, f"the description of {field.path_text} is a placeholder")


@rule(codes.DUPLICATE_DESCRIPTION, category=DESCRIPTIONS)
def duplicate_description(subject: Subject, report: Reporter) -> None:
    """A copied description was not adapted."""
    first: dict[str, SchemaField] = {}
    for field in subject.fields:
        text = description_of(field).strip().casefold()
        duplicate = first.setdefault(text, field) if text else field
        if duplicate is not field:
            report.description(field, f"{field.path_text} has the same description as {duplicate.path_text}")


RULES = (
    missing_dataset_description,
    missing_field_description,
    missing_group_description,
    repeating_description,
    placeholder_description,
    duplicate_description,
)
