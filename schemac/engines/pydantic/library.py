"""The parts of `values`, `keeping` and the values of `rows` that a generated module needs.

Layer: engines.
Shape: source text; a part is a statement at the top of these modules, and needs the parts whose names it has.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pkgutil import get_data

_FILES = (("schemac.rows.judging", "values.py"), (__package__, "values.py"), (__package__, "keeping.py"))


class Parts:
    """The statements of modules by the names that they define."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._by_name: dict[str, int] = {}
        self._texts: list[str] = []
        self._needs: list[set[str]] = []
        self._imports: dict[str, str] = {}
        for text in texts:
            _docstring, *statements = ast.parse(text).body
            for statement in statements:
                self._enter(statement, text)

    def _enter(self, statement: ast.stmt, text: str) -> None:
        if isinstance(statement, ast.Import):
            self._imports |= {name.name: f"import {name.name}" for name in statement.names}
            return
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("schemac."):
            return
        if isinstance(statement, ast.ImportFrom):
            line = f"from {statement.module} import "
            self._imports |= {name.name: f"{line}{name.name}" for name in statement.names}
            return
        source = ast.get_source_segment(text, statement) or ""
        if isinstance(statement, ast.Expr):
            # The docstring of the statement before.
            self._texts[-1] += f"\n{source}"
            return
        for name in _defined(statement):
            self._by_name[name] = len(self._texts)
        self._texts.append(re.sub(r"  # noqa\b.*", "", source))
        self._needs.append({node.id for node in ast.walk(statement) if isinstance(node, ast.Name)})

    def needed(self, names: Iterable[str]) -> tuple[list[str], list[str]]:
        """Return the imports and the statements that some names need, in the order of the module."""
        indices: set[int] = set()
        imports: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name in self._imports:
                imports.add(self._imports[name])
            index = self._by_name.get(name)
            if index is not None and index not in indices:
                indices.add(index)
                waiting += self._needs[index]
        return sorted(imports), [self._texts[index] for index in sorted(indices)]


def _defined(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign):
        targets = [node for target in statement.targets for node in ast.walk(target)]
        yield from (node.id for node in targets if isinstance(node, ast.Name))


@cache
def parts() -> Parts:
    """Return the parts of all modules."""
    contents = [get_data(package, name) for package, name in _FILES]
    return Parts(content.decode() for content in contents if content is not None)


def import_lines(lines: Iterable[str]) -> list[str]:
    """Return imports, those of one module on one line."""
    plain = sorted({line for line in lines if line.startswith("import ")})
    froms: dict[str, set[str]] = {}
    for line in lines:
        if line.startswith("from "):
            module, _, name = line.removeprefix("from ").partition(" import ")
            froms.setdefault(module, set()).add(name)
    return [*plain, *_from_lines(froms)]


def _from_lines(froms: Mapping[str, set[str]]) -> Iterator[str]:
    for module in sorted(froms):
        yield f"from {module} import {', '.join(sorted(froms[module]))}"
