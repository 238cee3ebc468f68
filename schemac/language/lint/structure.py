"""Lint rules about the size of a schema, keys, references, descriptions and vocabularies.

Layer: language.
Shape: the rule about vocabularies looks at all texts of a project at once: a domain is used if its name is in one of
them.
"""

import re
from collections.abc import Collection, Iterator

from schemac.language.attributes.attribute import Family, Role
from schemac.language.attributes.builtin import DESCRIPTION
from schemac.language.attributes.constraints import REFERENCES, UNIQUE
from schemac.language.attributes.registry import of_role
from schemac.language.lint import codes
from schemac.language.lint.codes import UNUSED_VOCABULARY
from schemac.language.lint.rule import Reporter, Rule, Subject, Words, description_of, field_rule, rule
from schemac.language.lint.words import words_of
from schemac.language.logical.model import SchemaField

STRUCTURE, KEYS = "structure", "keys"


@rule(codes.DEEP_NESTING, category=STRUCTURE)
def deep_nesting(subject: Subject, report: Reporter) -> None:
    """Deep types are hard to query, and each level costs when it is read."""
    most = subject.settings.max_depth
    for field in subject.all_fields:
        if len(field.path) == most + 1:
            report.type(field, f"{field.path_text} is on level {most + 1}; {most} are allowed")


@rule(codes.MANY_FIELDS, category=STRUCTURE)
def many_fields(subject: Subject, report: Reporter) -> None:
    """It may be several datasets."""
    most, count = subject.settings.max_fields, len(subject.fields)
    if count > most:
        report.schema(f"{subject.dataset.name} has {count} fields; {most} are allowed")


@rule(codes.ALL_NULLABLE, category=STRUCTURE)
def all_nullable(subject: Subject, report: Reporter) -> None:
    """The schema does not declare which values are always present."""
    columns = subject.dataset.columns
    if len(columns) > 1 and all(column.is_nullable for column in columns):
        message = f"every column of {subject.dataset.name} may be null"
        report.schema(message, help="remove Option from those that always have a value")


@rule(codes.NO_FIELDS, category=STRUCTURE, is_default=True)
def no_fields(subject: Subject, report: Reporter) -> None:
    """It has no place for a value, and most formats cannot store it."""
    if not subject.dataset.columns:
        help = "list its fields, or take the schema out until there are some"
        report.schema(f"{subject.dataset.name} has no fields", help=help)


@rule(codes.MISSING_KEY, category=KEYS)
def missing_key(subject: Subject, report: Reporter) -> None:
    """Without a key two rows cannot be distinguished from one that was written twice."""
    if not subject.key and UNIQUE.key not in subject.dataset.schema.extra:
        help = f"mark the fields of its key with `{of_role(Role.KEY_PART)[0].key}`, or list them in `{UNIQUE.key}`"
        report.schema(f"nothing identifies the rows of {subject.dataset.name}", help=help)


@rule(codes.NULLABLE_KEY, category=KEYS)
def nullable_key(subject: Subject, report: Reporter) -> None:
    """Null equals nothing, so rows with it are never the same."""
    for field in _unique_fields(subject):
        if field.is_nullable:
            report.name(field, f"{field.path_text} is a part of a key, and may be null")


@rule(codes.FLOAT_KEY, category=KEYS)
def float_key(subject: Subject, report: Reporter) -> None:
    """Floats that look the same need not be equal."""
    for field in _unique_fields(subject):
        if field.type.family is Family.FLOAT:
            report.type(field, f"{field.path_text} is a part of a key, and a {field.type.kind}")


def _unique_fields(subject: Subject) -> list[SchemaField]:
    """Return the fields of the key, and those of every list of `unique`, each once."""
    lists = UNIQUE.read(subject.dataset.schema.extra)
    if lists is None:
        return list(dict.fromkeys(subject.key))
    from schemac.language.constraints.rows import named_fields  # for start-up time: most manifests have none

    known = named_fields(subject.dataset.columns)
    listed = [known[path] for paths in lists for path in paths if path in known]
    return list(dict.fromkeys([*subject.key, *listed]))


@rule(codes.LATE_KEY, category=KEYS)
def late_key(subject: Subject, report: Reporter) -> None:
    """Who looks at a table looks for the key first; many systems also keep statistics for the first columns only."""
    columns = list(subject.dataset.columns)
    first = columns[: len(subject.key)]
    for field in subject.key:
        if field in columns and field not in first:
            number = columns.index(field) + 1
            report.name(field, f"{field.path_text} is a part of the key, but column number {number}")


@rule(codes.WIDE_KEY, category=KEYS)
def wide_key(subject: Subject, report: Reporter) -> None:
    """Every join has to name all of them."""
    most = subject.settings.max_key_fields
    if len(subject.key) > most:
        report.name(subject.key[most], f"the key has {len(subject.key)} fields; {most} are allowed")


@rule(codes.UNLINKED_ID, category=KEYS)
def unlinked_id(subject: Subject, report: Reporter) -> None:
    """`driver_id` refers to a driver; the schema may name the dataset."""
    references = REFERENCES.read(subject.dataset.schema.extra) or ()
    linked = {path for one in references for path in one.fields}
    dataset_names = {words_of(subject.dataset.name), words_of(subject.dataset.name.removesuffix("s"))}
    for column in subject.dataset.columns:
        words = words_of(str(column.segment))
        is_id = len(words) > 1 and words[-1] == "id" and words[:-1] not in dataset_names
        if is_id and column not in subject.key and str(column.segment) not in linked:
            help = f"write `{REFERENCES.key}: [{{fields: [{column.segment}], dataset: …}}]` under the schema's `extra:`"
            report.name(column, f"it is not specified what {column.path_text} refers to", help=help)


@rule(codes.PARTIAL_REFERENCE, category=KEYS)
def partial_reference(subject: Subject, report: Reporter) -> None:
    """If one of several fields is null the others are not looked up, and may be wrong."""
    references = REFERENCES.read(subject.dataset.schema.extra)
    if references is None:
        return
    from schemac.language.constraints.rows import named_fields  # for start-up time, as above

    known = named_fields(subject.dataset.columns)
    for n, reference in enumerate(references):
        fields = [known[path] for path in reference.fields if path in known]
        if 0 < sum(field.is_nullable for field in fields) < len(fields):
            paths = ", ".join(field.path_text for field in fields if field.is_nullable)
            message = f"of the fields that refer to {reference.dataset}, only {paths} may be null"
            report.schema(message, "extra", REFERENCES.key, n)


DESCRIPTIONS = "descriptions"
_PLACEHOLDER = re.compile(
    r"(?:todo|tbd|fixme|xxx|n/?a|none|unknown|description|\.{2,}|…|\?+|-+)[\s:.!?]*", re.IGNORECASE
)
_EMPTY_WORDS = frozenset(["the", "a", "an", "of", "this", "is", "it", "field", "column", "value", "for"])


@rule(codes.MISSING_DATASET_DESCRIPTION, category=DESCRIPTIONS)
def missing_dataset_description(subject: Subject, report: Reporter) -> None:
    """One sentence about what a row is."""
    if not subject.dataset.schema.extra.get(DESCRIPTION.key):
        help = "write `description:` next to `fields:`"
        report.schema(f"{subject.dataset.name} has no description", help=help)


@field_rule(codes.MISSING_FIELD_DESCRIPTION, category=DESCRIPTIONS)
def missing_field_description(field: SchemaField, words: Words, report: Reporter) -> None:
    """Describe what the values mean beyond name and type."""
    if not description_of(field):
        message = f"{field.path_text} has no description"
        report.name(field, message, help="write `description:` next to its `name:`")


@rule(codes.MISSING_GROUP_DESCRIPTION, category=DESCRIPTIONS)
def missing_group_description(_subject: Subject, _reporter: Reporter) -> None:
    """What the fields of a group are for together; groups are in texts, not in datasets (`lint_groups`)."""


@field_rule(codes.REPEATING_DESCRIPTION, category=DESCRIPTIONS)
def repeating_description(field: SchemaField, words: Words, report: Reporter) -> None:
    """A description such as `The fare` of a field `fare` adds nothing."""
    meaningful_words = set(words_of(description_of(field))) - _EMPTY_WORDS
    if meaningful_words and meaningful_words <= set(words):
        report.description(field, f"the description of {field.path_text} only repeats its name")


@field_rule(codes.PLACEHOLDER_DESCRIPTION, category=DESCRIPTIONS, is_default=True)
def placeholder_description(field: SchemaField, words: Words, report: Reporter) -> None:
    """Texts such as "TODO" are forgotten easily."""
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


UNUSED_VOCABULARY_RULE = Rule(UNUSED_VOCABULARY, STRUCTURE, lambda _subject, _reporter: None, is_default=True)


def unused_domains(domains: Collection[str], texts: Collection[bytes]) -> Iterator[str]:
    """Yield the domains that none of these texts has an attribute of."""
    for domain in domains:
        needle = f"{domain}/".encode()
        if not any(needle in text for text in texts):
            yield domain
