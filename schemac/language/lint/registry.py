"""All rules: the compiler's own, those of other distributions, and those in files of a project.

Layer: language.
Source: a distribution names its rules under the entry point group `schemac.language.lint`, a `Rule` or a tuple of them each:
`acme = "acme_rules:RULES"`. A code of theirs is a word in capitals and a number, such as `ACME801`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from schemac.language.lint import constraints, ignores, naming, structure, types
from schemac.language.lint.rule import Rule
from schemac.registry.codes import builtin_codes
from schemac.registry.engine import EngineError, reason_of
from schemac.registry.installed import entry_points_of

GROUP = "schemac.language.lint"
_ID = re.compile(r"(?!SC\d)[A-Z][A-Z_]*[0-9]+")
_BUILTIN: tuple[Rule, ...] = (
    *ignores.RULES,
    *naming.RULES,
    *structure.DESCRIPTION_RULES,
    *types.RULES,
    *structure.STRUCTURE_RULES,
    *constraints.RULES,
    *structure.VOCABULARY_RULES,
)


def builtin_rules() -> tuple[Rule, ...]:
    """Return the rules that come with the compiler, by code."""
    return tuple(sorted(_BUILTIN, key=lambda rule: rule.code.id))


@cache
def installed_rules() -> tuple[Rule, ...]:
    """Return these and the rules of other distributions. Raises EngineError."""
    rules = list(builtin_rules())
    for point in entry_points_of(GROUP):
        what = f"the rules {point.name} ({point.value})"
        try:
            loaded = point.load()
        except Exception as error:
            raise EngineError(f"{what} cannot be loaded: {reason_of(error)}") from error
        rules += _checked(_rules_in(loaded), what, rules)
    return tuple(rules)


@cache
def all_rules(files: tuple[Path, ...] = ()) -> tuple[Rule, ...]:
    """Return these and the rules in files of a project. Raises EngineError."""
    rules = list(installed_rules())
    for file in files:
        what = f"the rules in {file.name}"
        try:
            module = _module(file)
        except Exception as error:
            raise EngineError(f"{what} cannot be loaded: {reason_of(error)}") from error
        rules += _checked(_rules_in(vars(module).values()), what, rules)
    return tuple(rules)


def _module(file: Path) -> ModuleType:
    module = ModuleType(f"schemac_rules_{file.stem}")
    module.__file__ = str(file)
    # Python's own way would write what it compiles into the project, and take it for the rules of a file that was edited within a second.
    exec(compile(file.read_bytes(), file, "exec"), vars(module))  # noqa: S102 — these are the author's own rules
    return module


def _rules_in(value: Any) -> Iterator[Any]:
    if isinstance(value, Rule):
        yield value
    elif isinstance(value, Iterable) and not isinstance(value, str | bytes):
        yield from dict.fromkeys(item for item in value if isinstance(item, Rule))


def _checked(rules: Iterable[Rule], what: str, before: Sequence[Rule]) -> list[Rule]:
    """Return the rules of another distribution, whose codes have to be new. Raises EngineError."""
    added_rules = list(rules)
    codes = {**builtin_codes(), **{rule.code.id: rule.code for rule in before}}
    slugs = {code.slug for code in codes.values()}
    for rule in added_rules:
        if not _ID.fullmatch(rule.code.id):
            raise EngineError(f"{what} have the code '{rule.code.id}'; write a code like ACME801")
        if rule.code.id in codes or rule.code.slug in slugs:
            raise EngineError(f"{what} have a code {rule.code.id} {rule.code.slug}, which is already used")
    if not added_rules:
        raise EngineError(f"{what}: there is no schemac.language.lint.rule.Rule")
    return added_rules
