"""Rules about names.

Layer: language.
"""

import re

from schemac.language.attributes.attribute import Family
from schemac.language.lint import codes
from schemac.language.lint.rule import Reporter, Subject, Words, field_rule, rule
from schemac.language.lint.words import (
    ABBREVIATIONS,
    FLAGS,
    GENERIC,
    NEGATIONS,
    TYPE_WORDS,
    is_plural,
    plural_of,
    snake_case,
    words_of,
)
from schemac.language.logical.dataset import Other
from schemac.language.logical.model import SchemaField
from schemac.registry.engine import RESERVED_WORDS, engines

NAMING = "naming"
_SNAKE = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBERED = re.compile(r"(.*?[^0-9_])_?([0-9]+)")
_RENAME = "a field that is locked keeps its id with `schemac rename`"


@field_rule(codes.FIELD_NAME_CASE, category=NAMING)
def field_name_case(field: SchemaField, words: Words, report: Reporter) -> None:
    """Names of fields have small letters, digits, and underscores between words."""
    name = str(field.segment)
    if not _SNAKE.fullmatch(name):
        better = snake_case(name)
        help = f"call it '{better}'; {_RENAME}" if _SNAKE.fullmatch(better) else ""
        report.name(field, f"the name '{name}' is not in snake_case", help=help)


@rule(codes.DATASET_NAME_CASE, category=NAMING)
def dataset_name_case(subject: Subject, report: Reporter) -> None:
    """Names of datasets as those of fields; dots, dashes and an account may part them."""
    name = subject.dataset.name
    if not all(_SNAKE.fullmatch(part) for part in re.split(r"[./\-]", name)):
        report.schema(f"the dataset name '{name}' is not in snake_case", "name")


@rule(codes.LONG_NAME, category=NAMING)
def long_name(subject: Subject, report: Reporter) -> None:
    """PostgreSQL cuts names after 63 bytes, other systems after some more."""
    most = subject.settings.max_name_length
    for field in subject.fields:
        name = str(field.segment)
        if len(name) > most:
            report.name(field, f"the name '{name}' has {len(name)} characters; {most} are allowed")


@field_rule(codes.SHORT_NAME, category=NAMING)
def short_name(field: SchemaField, words: Words, report: Reporter) -> None:
    """A name of one character does not describe its values."""
    if len(str(field.segment)) == 1:
        report.name(field, f"the name '{field.segment}' does not describe what it is")


@rule(codes.RESERVED_WORD, category=NAMING)
def reserved_word(subject: Subject, report: Reporter) -> None:
    """In every query such a name needs quotes."""
    words = {e.title: RESERVED_WORDS.of(e) for e in engines() if RESERVED_WORDS.is_of(e)}
    for field in subject.fields:
        titles = [title for title, reserved in words.items() if str(field.segment).lower() in reserved]
        if titles:
            message = f"'{field.segment}' is a reserved word of {' and '.join(titles)}"
            report.name(field, message, help=_RENAME)


@field_rule(codes.FLAG_WITHOUT_VERB, category=NAMING)
def flag_without_verb(field: SchemaField, words: Words, report: Reporter) -> None:
    """A Bool whose name starts with a verb can be read as a statement."""
    if field.type.family is Family.BOOLEAN and words and words[0] not in FLAGS:
        message = f"'{field.segment}' is true or false; start its name with `is`, `has` or a similar verb"
        report.name(field, message)


@field_rule(codes.NEGATED_FLAG, category=NAMING)
def negated_flag(field: SchemaField, words: Words, report: Reporter) -> None:
    """Who reads `not is_not_paid` has to think twice."""
    if field.type.family is Family.BOOLEAN and not NEGATIONS.isdisjoint(words):
        report.name(field, f"'{field.segment}' is negated; name what is true, and invert its values")


@field_rule(codes.SINGULAR_LIST, category=NAMING)
def singular_list(field: SchemaField, words: Words, report: Reporter) -> None:
    """Lists of variable length hold several things; vectors are one."""
    is_list = field.type.family is Family.LIST and getattr(field.type, "fixed_length", None) is None
    if is_list and words and not is_plural(words[-1]):
        help = f"call it something like '{plural_of(words[-1])}'"
        report.name(field, f"'{field.segment}' is a list", help=help)


@field_rule(codes.PLURAL_VALUE, category=NAMING)
def plural_value(field: SchemaField, words: Words, report: Reporter) -> None:
    """A text or a date named in the plural looks like a list."""
    single = (Family.TEXT, Family.DATE, Family.TIMESTAMP, Family.BOOLEAN)
    if field.type.family in single and words and is_plural(words[-1]) and words[0] not in FLAGS:
        report.name(field, f"'{field.segment}' names several things, but is one {field.type.type_text()}")


@field_rule(codes.ABBREVIATED_NAME, category=NAMING)
def abbreviated_name(field: SchemaField, words: Words, report: Reporter) -> None:
    """Abbreviations are read differently by different people."""
    for word in words:
        if word in ABBREVIATIONS:
            message = f"'{word}' in '{field.segment}' is an abbreviation"
            report.name(field, message, help=f"write '{ABBREVIATIONS[word]}'")


@field_rule(codes.ID_BEFORE_NAME, category=NAMING)
def id_before_name(field: SchemaField, words: Words, report: Reporter) -> None:
    """`ride_id`, so that ids are next to what they identify when names are sorted."""
    if len(words) > 1 and words[0] == "id":
        message = f"the name '{field.segment}' begins with `id`"
        report.name(field, message, help=f"call it '{'_'.join(words[1:])}_id'")


@rule(codes.NEAR_DUPLICATE_NAME, category=NAMING, is_default=True)
def near_duplicate_name(subject: Subject, report: Reporter) -> None:
    """`ride_id` and `rideid` side by side are one of them too many; case alone is SC303."""
    for siblings in subject.siblings():
        first: dict[str, SchemaField] = {}
        for field in siblings:
            name = str(field.segment)
            folded = name.replace("_", "").replace("-", "").replace(" ", "").casefold()
            duplicate = first.setdefault(folded, field)
            if folded and duplicate is not field and str(duplicate.segment).casefold() != name.casefold():
                message = f"'{name}' and '{duplicate.segment}' differ only in separators"
                other = Other(duplicate, "the other one")
                report.name(field, message, help="rename one of the two", other=other)


@field_rule(codes.REPEATED_PREFIX, category=NAMING)
def repeated_prefix(field: SchemaField, words: Words, report: Reporter) -> None:
    """`stop.stop_name` repeats `stop`."""
    above = next((one for one in field.ancestors if one.is_member), None)
    if above is None:
        return
    around = words_of(str(above.segment))
    if len(words) > len(around) and words[: len(around)] == around:
        message = f"'{field.segment}' repeats '{above.segment}'"
        report.name(field, message, help=f"call it '{'_'.join(words[len(around) :])}'")


@field_rule(codes.TYPE_IN_NAME, category=NAMING)
def type_in_name(field: SchemaField, words: Words, report: Reporter) -> None:
    """The schema has the type; a name with a type misleads once the type changes."""
    if len(words) > 1 and (words[-1] in TYPE_WORDS or words[0] in TYPE_WORDS):
        report.name(field, f"the name '{field.segment}' contains its type, which the schema already has")


@field_rule(codes.GENERIC_NAME, category=NAMING)
def generic_name(field: SchemaField, words: Words, report: Reporter) -> None:
    """Names such as `value`, `data` or `col_1` come from tools, not from people."""
    is_generic = all(word in GENERIC or word.isdecimal() for word in words)
    if words and is_generic and len(str(field.segment)) > 1:
        report.name(field, f"the name '{field.segment}' could mean anything")


@field_rule(codes.NAME_NEEDS_QUOTES, category=NAMING)
def name_needs_quotes(field: SchemaField, words: Words, report: Reporter) -> None:
    """Letters of ASCII, digits and underscores need none anywhere."""
    if not _PLAIN.fullmatch(str(field.segment)):
        report.name(field, f"the name '{field.segment}' needs quotes in SQL", help=_RENAME)


@rule(codes.NUMBERED_FIELDS, category=NAMING)
def numbered_fields(subject: Subject, report: Reporter) -> None:
    """`phone1`, `phone2`, `phone3` are a list."""
    for siblings in subject.siblings():
        groups: dict[tuple[str, str], list[SchemaField]] = {}
        for field in siblings:
            match = _NUMBERED.fullmatch(str(field.segment))
            if match is not None:
                groups.setdefault((match[1], field.type.kind), []).append(field)
        for (stem, kind), fields in groups.items():
            if len(fields) > 2:
                stem = stem.rstrip("_")
                help = f"write one field '{plural_of(stem)}' of the type `{{kind: List, itemType: {kind}}}`"
                report.name(fields[0], f"{len(fields)} fields are called '{stem}' and a number", help=help)
