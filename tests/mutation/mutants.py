"""Variants of a module, each with one small mistake in it.

Shape: one mutant a place: an outcome, a castability, a verdict or SAFE becomes another, a condition is negated, a bound moves by one,
an operand of `and` or `or`, a `case`, or an entry of a table at module level is left out. A table's entries are code as well.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from schemac.language.logical.model import Castability
from schemac.versions.evolution.changes import Outcome, depends_on_data, refused

_MEMBERS = {"Outcome": [m.name for m in Outcome], "Castability": [m.name for m in Castability]}
_VERDICTS = (refused.__name__, depends_on_data.__name__)
_BOUNDS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}

Edit = Callable[[], None]


@dataclass(frozen=True)
class Mutant:
    """A module with a mistake."""

    line: int
    what: str
    tree: ast.Module


def mutants_of(module: ModuleType) -> Iterator[Mutant]:
    """All mutants of a module that is loaded."""
    assert module.__file__ is not None
    return mutants(Path(module.__file__).read_text(encoding="utf-8"))


def mutants(source: str) -> Iterator[Mutant]:
    """All mutants of a module, in the order of their places."""
    for number in range(count_of(source)):
        yield mutant_of(source, number)


def count_of(source: str) -> int:
    """Return how many mutants a module has."""
    return len(list(_edits(ast.parse(source))))


def mutant_of(source: str, number: int) -> Mutant:
    """Return the mutant with a number, counted from 0."""
    tree = ast.parse(source)
    line, what, edit = list(_edits(tree))[number]
    edit()
    return Mutant(line, what, ast.fix_missing_locations(tree))


def _edits(tree: ast.Module) -> Iterator[tuple[int, str, Edit]]:
    for statement in tree.body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            for node in ast.walk(statement):
                yield from _in_code(node)
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
            for node in ast.walk(statement.value):
                yield from _in_table(node)
                yield from _in_code(node)


def _in_code(node: ast.AST) -> Iterator[tuple[int, str, Edit]]:
    if isinstance(node, ast.Attribute) and _name(node.value) in _MEMBERS:
        names = _MEMBERS[_name(node.value)]
        if node.attr in names:
            other = names[(names.index(node.attr) + 1) % len(names)]
            yield node.lineno, f"{ast.unparse(node)} becomes {other}", _set(node, "attr", other)
    if isinstance(node, ast.Return) and _name(node.value) == "SAFE":
        safe = ast.unparse(node.value or node)
        other_value = ast.parse(f"{safe}._replace(outcome=type({safe}.outcome).METADATA)", mode="eval").body
        yield node.lineno, "SAFE becomes METADATA", _set(node, "value", other_value)
    if isinstance(node, ast.Call) and _name(node.func) in _VERDICTS:
        name = ast.unparse(node.func)
        safe = f"lambda *texts: {name}(*texts)._replace(outcome=type({name}('').outcome).SAFE)"
        yield node.lineno, f"{name} becomes SAFE", _set(node, "func", ast.parse(safe, mode="eval").body)
    if isinstance(node, (ast.If, ast.IfExp)):
        yield node.test.lineno, f"not: {ast.unparse(node.test)}", _set(node, "test", _negated(node.test))
    if isinstance(node, ast.Match):
        yield from _in_cases(node)
    if isinstance(node, ast.BoolOp):
        for operand in node.values:
            # `a and a` says `a`; an `and` of one operand does not compile.
            rest = [other for other in node.values if other is not operand]
            edit = _set(node, "values", rest if len(rest) > 1 else rest * 2)
            yield operand.lineno, f"without: {ast.unparse(operand)}", edit
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _BOUNDS:
        bound = _BOUNDS[type(node.ops[0])]()
        yield node.lineno, f"{ast.unparse(node)}: {bound.__class__.__name__}", _set(node, "ops", [bound])


def _name(node: ast.AST | None) -> str:
    """Return the name that a node is, with or without the module before it; empty if it is none."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _in_cases(node: ast.Match) -> Iterator[tuple[int, str, Edit]]:
    for case in node.cases:
        line, pattern = case.pattern.lineno, ast.unparse(case.pattern)
        if case.guard is not None:
            yield line, f"not: {ast.unparse(case.guard)}", _set(case, "guard", _negated(case.guard))
        if len(node.cases) > 1:
            yield line, f"without case {pattern}", _without(node.cases, case)


def _in_table(node: ast.AST) -> Iterator[tuple[int, str, Edit]]:
    if isinstance(node, ast.Set) and len(node.elts) > 1:
        for element in node.elts:
            yield element.lineno, f"without {ast.unparse(element)}", _without(node.elts, element)
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if key is not None:
                yield key.lineno, f"without {ast.unparse(key)}", _without_entry(node, key, value)


def _negated(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)


def _set(node: ast.AST, field: str, value: object) -> Edit:
    return lambda: setattr(node, field, value)


def _without(among: list[ast.expr] | list[ast.match_case], one: ast.AST) -> Edit:
    def edit() -> None:
        among[:] = [other for other in among if other is not one]  # type: ignore[misc]

    return edit


def _without_entry(node: ast.Dict, key: ast.expr, value: ast.expr) -> Edit:
    def edit() -> None:
        node.keys.remove(key)
        node.values.remove(value)

    return edit
