"""Rules about constraints of values, and about owners and people.

Layer: language.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from schemac.language.attributes import constraints as attributes
from schemac.language.attributes.attribute import Attribute, Family
from schemac.language.attributes.builtin import CLASSIFICATION, DEPRECATED, OWNER
from schemac.language.lint import codes
from schemac.language.lint.rule import Reporter, Subject, Words, field_rule, has_word, rule
from schemac.language.lint.words import PERSONAL, PERSONAL_NAMES, SECRETS, STATES, snake_case
from schemac.language.logical.model import SchemaField
from schemac.text.source.phrases import Help

if TYPE_CHECKING:
    # For start-up time: most manifests have no constraints.
    from schemac.language.constraints.constraint import Constraint

_HASHES = frozenset({"hash", "hashed", "digest", "checksum"})
CONSTRAINTS, OWNERSHIP, PRIVACY = "constraints", "ownership", "privacy"


def _of(attribute: Attribute[Any], constraints: "Sequence[Constraint]") -> Any:
    """Return the constraint of an attribute, None if there is none."""
    return next((one for one in constraints if one.attribute is attribute), None)


@rule(codes.SINGLE_VALUE_ENUM, category=CONSTRAINTS, is_default=True)
def single_value_enum(subject: Subject, report: Reporter) -> None:
    """A field with one possible value carries no information; a list that grows later is a wider constraint."""
    for field, _ in subject.constraints:
        values = field.extra.get(attributes.ENUM.key)
        if isinstance(values, list) and len(values) == 1:
            report.attribute(field, attributes.ENUM.key, f"{field.path_text} has only the value {values[0]}")


@rule(codes.EQUAL_BOUNDS, category=CONSTRAINTS, is_default=True)
def equal_bounds(subject: Subject, report: Reporter) -> None:
    """Often one of the two was copied."""
    for field, constraints in subject.constraints:
        low, high = _of(attributes.MINIMUM, constraints), _of(attributes.MAXIMUM, constraints)
        if low is not None and high is not None and low.limit == high.limit:
            message = f"{field.path_text} has to be {low.text} and {high.text}"
            report.attribute(field, attributes.MAXIMUM.key, message)


@rule(codes.REDUNDANT_CONSTRAINT, category=CONSTRAINTS, is_default=True)
def redundant_constraint(subject: Subject, report: Reporter) -> None:
    """A UInt8 is at least 0 anyway."""
    for field, constraints in subject.constraints:
        from schemac.language.constraints.field_constraints import is_redundant

        for one in constraints:
            if is_redundant(one):
                message = f"every {field.type.type_text()} is {one.text}"
                report.attribute(field, one.attribute.key, message, on_key=True, help=Help.remove())


@rule(codes.UNANCHORED_PATTERN, category=CONSTRAINTS)
def unanchored_pattern(subject: Subject, report: Reporter) -> None:
    """`[0-9]{4}` is found in `x12345`; `^` and `$` are the ends of a text."""
    for field, constraints in subject.constraints:
        text = field.extra.get(attributes.PATTERN.key)
        is_open = isinstance(text, str) and not (text.startswith("^") and text.endswith("$"))
        if is_open and any(one.attribute is attributes.PATTERN for one in constraints):
            message = f"the pattern of {field.path_text} is found in longer texts as well"
            report.attribute(field, attributes.PATTERN.key, message)


@field_rule(codes.OPEN_STATE, category=CONSTRAINTS)
def open_state(field: SchemaField, words: Words, report: Reporter) -> None:
    """Readers of a field `status` need to know all its values."""
    is_listed = attributes.ENUM.key in field.extra or attributes.PATTERN.key in field.extra
    if field.type.family is Family.TEXT and not is_listed and words and words[-1] in STATES:
        help = f"list them in `{attributes.ENUM.key}`"
        report.name(field, f"the values of {field.path_text} are not listed", help=help)


@rule(codes.LONG_ENUM, category=CONSTRAINTS)
def long_enum(subject: Subject, report: Reporter) -> None:
    """It is a dataset of its own, which the field can refer to."""
    most = subject.settings.max_values
    for field, constraints in subject.constraints:
        enum = _of(attributes.ENUM, constraints)
        if enum is not None and len(enum.values) > most:
            message = f"{field.path_text} lists {len(enum.values)} values; {most} are allowed"
            help = f"keep them in a dataset, and name it in `{attributes.REFERENCES.key}`"
            report.attribute(field, attributes.ENUM.key, message, on_key=True, help=help)


@rule(codes.MISSING_OWNER, category=OWNERSHIP)
def missing_owner(subject: Subject, report: Reporter) -> None:
    """People who find an error need to know whom to contact."""
    if OWNER.key not in subject.dataset.schema.extra:
        help = f"write `{OWNER.key}` under the schema's `extra:`"
        report.schema(f"{subject.dataset.name} has no owner", help=help)


@field_rule(codes.DEPRECATED_WITHOUT_SUCCESSOR, category=OWNERSHIP)
def deprecated_without_successor(field: SchemaField, words: Words, report: Reporter) -> None:
    """Readers need to know what to read instead, or why there is nothing."""
    value = DEPRECATED.read(field.extra)
    if value is not None and value.successor is None and value.note is None:
        message = f"{field.path_text} is deprecated, but has no successor and no note"
        help = "write `successor:`, or `note:` with the reason"
        report.attribute(field, DEPRECATED.key, message, on_key=True, help=help)


@field_rule(codes.DEPRECATED_WITHOUT_DAY, category=OWNERSHIP)
def deprecated_without_day(field: SchemaField, words: Words, report: Reporter) -> None:
    """Without a date a deprecated field is never removed."""
    value = DEPRECATED.read(field.extra)
    if value is not None and value.remove_after is None:
        message = f"{field.path_text} is deprecated without a removal date"
        help = "write `removeAfter:` with a day such as 2027-03-31"
        report.attribute(field, DEPRECATED.key, message, on_key=True, help=help)


@rule(codes.UNCLASSIFIED_PERSONAL_DATA, category=PRIVACY)
def unclassified_personal_data(subject: Subject, report: Reporter) -> None:
    """A field that looks like data about people needs a classification."""
    if CLASSIFICATION.key in subject.dataset.schema.extra:
        return
    for field in subject.fields:
        is_personal = has_word(field, PERSONAL) or snake_case(str(field.segment)) in PERSONAL_NAMES
        is_classified = any(CLASSIFICATION.key in one.extra for one in (field, *field.ancestors))
        if is_personal and not is_classified and not field.children:
            help = f"write `{CLASSIFICATION.key}: personal` under its `extra:`, or what it is otherwise"
            report.name(field, f"{field.path_text} looks like data about people", help=help)


@field_rule(codes.STORED_SECRET, category=PRIVACY)
def stored_secret(field: SchemaField, words: Words, report: Reporter) -> None:
    """Passwords and tokens belong into a store for secrets."""
    is_secret = has_word(field, SECRETS) and not has_word(field, _HASHES)
    if is_secret and field.type.family in (Family.TEXT, Family.BYTES):
        message = f"{field.path_text} looks like a secret"
        report.name(field, message, help="keep secrets out of tables, or store a hash")
