"""A lint rule.

Layer: language.
Shape: a rule looks at one dataset at a time, after all checks, and reports findings at fields. It is a function with a code; the decorator `rule` makes
one, and `field_rule` one of a function that looks at a single field.
"""

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any

from schemac.language.attributes.builtin import DESCRIPTION
from schemac.language.attributes.constraints import are_constrained
from schemac.language.lint.settings import LintSettings
from schemac.language.lint.words import words_of
from schemac.language.logical.dataset import Findings, LogicalDataset, Other, named_key, primary_key
from schemac.language.logical.model import SchemaField, preorder
from schemac.text.source.diagnostics import Code

if TYPE_CHECKING:
    from schemac.language.constraints.constraint import Constraint


@dataclass(frozen=True)
class Subject:
    """A dataset, as rules see it."""

    dataset: LogicalDataset
    settings: LintSettings = dataclasses.field(default_factory=LintSettings)

    @cached_property
    def all_fields(self) -> list[SchemaField]:
        """All places of types."""
        return preorder(self.dataset.columns)

    @cached_property
    def fields(self) -> list[SchemaField]:
        """All fields with a name: columns, and members of structs."""
        return [field for field in self.all_fields if field.is_member]

    @cached_property
    def words(self) -> "list[tuple[SchemaField, Words]]":
        """All places of types, each with the words of its name; items, keys and values have none."""
        return [(field, words_of(str(field.segment)) if field.is_member else ()) for field in self.all_fields]

    @cached_property
    def constraints(self) -> "list[tuple[SchemaField, tuple[Constraint, ...]]]":
        """All constraints of values, by the field that they apply to."""
        constrained = [field for field in self.all_fields if field.extra and are_constrained(field.extra)]
        if not constrained:
            return []
        from schemac.language.constraints.field_constraints import constraints_at

        return [(field, constraints_at(field)) for field in constrained]

    @cached_property
    def key(self) -> tuple[SchemaField, ...]:
        """The fields that identify a row, by whichever attribute."""
        return primary_key(self.dataset.columns) or named_key(self.dataset)

    def siblings(self) -> Iterator[tuple[SchemaField, ...]]:
        """Yield the groups of sibling fields: the columns, and the members of each struct."""
        yield self.dataset.columns
        for field in self.all_fields:
            if field.children and field.children[0].is_member:
                yield field.children


class Reporter:
    """Reports what one rule finds."""

    def __init__(self, code: Code, findings: Findings) -> None:
        self._code = code
        self._findings = findings

    def name(self, field: SchemaField, message: str, *, help: str = "", other: Other | None = None) -> None:
        """Report a finding about the name of a field."""
        self._findings.at_name(field, self._code, message, help=help, other=other)

    def type(self, field: SchemaField, message: str, *steps: str | int, help: str = "") -> None:
        """Report a finding about the type of a field, or about the property of it that `steps` lead to."""
        self._findings.at_type(field, self._code, message, *steps, help=help)

    def description(self, field: SchemaField, message: str, *, help: str = "") -> None:
        """Report a finding about the description of a field."""
        self._findings.at_description(field, self._code, message, help=help)

    def attribute(
        self,
        field: SchemaField,
        key: str,
        message: str,
        *steps: str | int,
        help: str = "",
        on_key: bool = False,
    ) -> None:
        """Report a finding about an attribute of a field, or about the part of its value that `steps` lead to."""
        self._findings.at_extra(field, key, self._code, message, *steps, help=help, on_key=on_key)

    def schema(self, message: str, *steps: str | int, help: str = "", on_key: bool = False) -> None:
        """Report a finding about the dataset as a whole, or about the part of its schema that `steps` lead to."""
        is_there = bool(steps) and self._findings.origins.has(steps)
        place = steps if is_there else ("fields",)
        on_key = on_key or not is_there
        self._findings.at_schema(self._code, message, *place, help=help, on_key=on_key)


Check = Callable[[Subject, Reporter], None]
Words = tuple[str, ...]
"""Those of a field's name, in small letters."""
FieldCheck = Callable[[SchemaField, Words, Reporter], None]


@dataclass(frozen=True, eq=False)
class Rule:
    """A rule, with the code of what it finds."""

    code: Code
    category: str
    check: Check
    is_default: bool = False
    """Whether it is on by default."""


def rule(code: Code, *, category: str, is_default: bool = False) -> Callable[[Check], Rule]:
    """Make a rule of a function that looks at a dataset; the title of the code completes "this schema has …"."""
    return lambda check: Rule(code, category, check, is_default)


def field_rule(
    code: Code, *, category: str, is_default: bool = False, with_parts: bool = False
) -> Callable[[FieldCheck], Rule]:
    """Make a rule of a function that looks at one field at a time; `with_parts` also at items, keys and values, which have no words."""

    def rule_of(check: FieldCheck) -> Rule:
        @wraps(check)
        def check_each(subject: Subject, report: Reporter) -> None:
            for field, words in subject.words:
                if with_parts or field.is_member:
                    check(field, words, report)

        return Rule(code, category, check_each, is_default)

    return rule_of


def description_of(field: SchemaField) -> str:
    """Return the description of a field; empty if it has none."""
    text: Any = field.extra.get(DESCRIPTION.key, "")
    return text if isinstance(text, str) else ""


def has_word(field: SchemaField, words: frozenset[str]) -> bool:
    """Whether the name of a field has one of these words."""
    return field.is_member and not words.isdisjoint(words_of(str(field.segment)))
