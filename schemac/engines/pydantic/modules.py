"""A file of Python with models: its classes, their fields and the names that it gives; it is parsed and never run.

Layer: engines.
Errors: SC552 for what is no Python.
"""

import ast
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple, Self

from schemac.engines.pydantic.expressions import name_of
from schemac.importers.importer import first_line, refuse
from schemac.source.report import Report
from schemac.source.span import Region, Span
from schemac.source.text import SourceText, decode_text


class Member(NamedTuple):
    """A field of a model."""

    name: str
    annotation: ast.expr
    value: ast.expr | None


class Module:
    """The classes and the names at the top of a file, also those that depend on a condition."""

    def __init__(self, tree: ast.Module, source: SourceText) -> None:
        self.source = source
        self.classes: dict[str, ast.ClassDef] = {}
        self.values: dict[str, ast.expr] = {}
        """What names stand for; a name that is given several things stands for none."""
        self._several: set[str] = set()
        self._imported: dict[str, str] = {}
        """Names of other modules by the names that this one gives them."""
        for node in _top(tree.body):
            if isinstance(node, ast.ClassDef):
                self.classes[node.name] = node
            elif isinstance(node, ast.ImportFrom):
                self._imported |= {name.asname: name.name for name in node.names if name.asname}
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    self._name(target, node.value)
            elif isinstance(node, ast.AnnAssign):
                self._name(node.target, node.value)

    @classmethod
    def read(cls, path: Path, report: Report) -> Self | None:
        """Return the module of a file; None for what is in the report."""
        source = decode_text(path.read_bytes(), str(path), report)
        if source is None:
            return None
        try:
            return cls(ast.parse(source.content), source)
        except SyntaxError as error:
            lines = source.content.splitlines(keepends=True)
            at = sum(map(len, lines[: (error.lineno or 1) - 1])) + max((error.offset or 1) - 1, 0)
            reason = f"it is no Python: {error.msg}"
            refuse(path, reason, report, source=source, span=Span(at, min(at + 1, len(source.content))))
        except (ValueError, RecursionError, MemoryError) as error:
            refuse(path, f"it is no Python: {first_line(error)}", report, source=source)
        return None

    def _name(self, target: ast.expr | None, value: ast.expr | None) -> None:
        """Enter what a name stands for."""
        if not isinstance(target, ast.Name) or value is None:
            return
        if ast.dump(self.values.get(target.id, value)) != ast.dump(value):
            self._several.add(target.id)
        self.values[target.id] = value
        if target.id in self._several:
            del self.values[target.id]

    def bases(self, node: ast.ClassDef) -> list[str]:
        """Return the names of a class's bases, those of other modules by the names that they have there."""
        names = [name_of(base) for base in node.bases]
        return [self._imported.get(name, name) if name not in self.classes else name for name in names]

    def lineage(self, node: ast.ClassDef) -> list[ast.ClassDef]:
        """Return the classes of the file that a class has its fields from, the most basic first."""
        class_defs: list[ast.ClassDef] = []

        def enter(class_def: ast.ClassDef, above: tuple[str, ...]) -> None:
            for base in reversed(self.bases(class_def)):
                below = self.classes.get(base)
                if below is not None and below.name not in above:
                    enter(below, (*above, below.name))
            if class_def not in class_defs:
                class_defs.append(class_def)

        enter(node, (node.name,))
        return class_defs

    def descends(self, node: ast.ClassDef, from_: Collection[str]) -> bool:
        """Whether a class has one of some bases, directly or through others of the file."""
        return any(base in from_ for one in self.lineage(node) for base in self.bases(one))

    def members(self, node: ast.ClassDef) -> list[Member]:
        """Return the fields of a class, those of its bases first; a field that is declared again keeps its place."""
        members: dict[str, Member] = {}
        for one in self.lineage(node):
            for statement in one.body:
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    name = statement.target.id
                    is_variable = "ClassVar" in ast.dump(statement.annotation)
                    if not name.startswith("_") and name != "model_config" and not is_variable:
                        members[name] = Member(name, statement.annotation, statement.value)
        return list(members.values())

    def region(self, node: ast.expr) -> Region:
        """Return where an expression begins; Python counts its columns in bytes."""
        before = self.source.line(node.lineno).encode()[: node.col_offset].decode(errors="replace")
        column = len(before) + 1
        return Region.within(node.lineno, column, column + len(ast.unparse(node)))


def _top(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a module, also those that depend on a condition; what functions do is not looked at."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            for name in ("body", "orelse", "finalbody"):
                yield from _top(getattr(node, name, []))
            for handler in getattr(node, "handlers", []):
                yield from _top(handler.body)
