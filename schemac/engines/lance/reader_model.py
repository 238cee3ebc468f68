"""LanceModel: models of lancedb in a Python file.

Layer: engines.
Shape: the file is parsed and never run, so what only running it can tell (the dimensions of an embedding function, fields of a
base class in another file) is reported. Where a program may be run, its `to_arrow_schema()` says the same for `from_arrow`.
Types and nullability are those of `to_arrow_schema`; docstrings and descriptions become descriptions, and all else that a
field is given a comment above it.
Errors: SC551 unsupported-arrow-type, SC552 unreadable-source.
Source: `lancedb.pydantic` of lancedb 0.30.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from schemac.arrow.lift import lift
from schemac.attributes.odf import DESCRIPTION
from schemac.engines.lance.model_types import Types, UnknownTypeError, last_name
from schemac.importers.importer import Imported, Importer, Notes, refuse
from schemac.logical.path import dotted
from schemac.physical.arrow import ArrowField, pa
from schemac.source.catalogue import UNREADABLE_SOURCE, UNSUPPORTED_ARROW_TYPE
from schemac.source.json_object import Json
from schemac.source.report import Report
from schemac.source.span import Region
from schemac.source.text import SourceText, decode_text

_BASE = "LanceModel"
_MODELS = frozenset({_BASE, "BaseModel"})
_RULES = ("validator", "field_validator", "root_validator", "model_validator", "computed_field")


def read(path: Path, report: Report) -> Imported | None:
    """Return every model of a file."""
    source = decode_text(path.read_bytes(), str(path), report)
    if source is None:
        return None
    try:
        tree = ast.parse(source.content)
    except SyntaxError as error:
        at = Region.within(error.lineno or 1, error.offset or 1, (error.offset or 1) + 1)
        message = f"cannot read {path}: it is not valid Python: {error.msg}"
        report.add(UNREADABLE_SOURCE, message, file=str(path), at=at)
        return None
    except (ValueError, RecursionError, MemoryError) as error:
        refuse(path, f"it is not valid Python: {error}", report)
        return None
    module = _Module(tree)
    found = [_dataset(node, module, source, report) for node in module.models()]
    if not found:
        refuse(path, f"it has no class with the base {_BASE} outside of functions", report)
        return None
    first, *others = found
    return Imported(first.schema, first.comments, first.name, first.notes, others=tuple(others))


def _top(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a module, also those that depend on a condition; what functions do is not looked at."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            for name in ("body", "orelse", "finalbody"):
                yield from _top(getattr(node, name, []))
            for handler in getattr(node, "handlers", []):
                yield from _top(handler.body)


class _Member(NamedTuple):
    """A field of a model."""

    name: str
    annotation: ast.expr
    value: ast.expr | None


class _Module:
    """The classes and the constants of a file."""

    def __init__(self, tree: ast.Module) -> None:
        self.classes: dict[str, ast.ClassDef] = {}
        self.constants: dict[str, int] = {}
        self._bases = {_BASE}
        for node in _top(tree.body):
            if isinstance(node, ast.ClassDef):
                self.classes[node.name] = node
            elif isinstance(node, ast.ImportFrom):
                self._bases |= {name.asname or name.name for name in node.names if name.name == _BASE}
            elif isinstance(node, ast.Assign):
                self._take_constant(node)

    def _take_constant(self, node: ast.Assign) -> None:
        """Enter an integer under its names; a name that is given something else as well stands for none."""
        number = node.value.value if isinstance(node.value, ast.Constant) else None
        for target in node.targets:
            if not isinstance(target, ast.Name):
                continue
            if type(number) is int and self.constants.get(target.id, number) == number:
                self.constants[target.id] = number
            else:
                self.constants.pop(target.id, None)

    def models(self) -> Iterator[ast.ClassDef]:
        """Yield the classes that have the base, directly or through others of the file."""
        for node in self.classes.values():
            if any(last_name(base) in self._bases for held in self.lineage(node) for base in held.bases):
                yield node

    def lineage(self, node: ast.ClassDef) -> list[ast.ClassDef]:
        """Return the classes of the file that a class has its fields from, the most basic first."""
        found: list[ast.ClassDef] = []

        def enter(held: ast.ClassDef, above: tuple[str, ...]) -> None:
            for base in reversed(held.bases):
                below = self.classes.get(last_name(base))
                if below is not None and below.name not in above:
                    enter(below, (*above, below.name))
            if held not in found:
                found.append(held)

        enter(node, (node.name,))
        return found

    def foreign_bases(self, node: ast.ClassDef) -> list[str]:
        """Return the bases that are in another file."""
        names = [last_name(base) for held in self.lineage(node) for base in held.bases]
        known = self._bases | _MODELS | self.classes.keys() | {"Generic", "ABC", "object"}
        return [name for name in dict.fromkeys(names) if name and name not in known]

    def members(self, node: ast.ClassDef) -> list[_Member]:
        """Return the fields of a class, those of its bases first; a field that is declared again keeps its place."""
        found: dict[str, _Member] = {}
        for held in self.lineage(node):
            for statement in held.body:
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    member = _Member(statement.target.id, statement.annotation, statement.value)
                    is_variable = last_name(member.annotation) == "ClassVar"
                    if not member.name.startswith("_") and member.name != "model_config" and not is_variable:
                        found[member.name] = member
        return list(found.values())


def _dataset(node: ast.ClassDef, module: _Module, source: SourceText, report: Report) -> Imported:
    notes = Notes()
    descriptions: dict[str, str] = {}
    fields: list[ArrowField] = []
    types = Types(module.classes, module.constants, lambda held: _fields_of(held, module, types))
    for member in module.members(node):
        _note(member, notes, descriptions)
        try:
            fields.append(_field(member, types))
        except UnknownTypeError as error:
            message = f"{dotted((member.name,))}: there is no kind for {error}"
            help = f"leave it out with `--skip '{member.name}'`, or pass `{node.name}.to_arrow_schema()` to `schemac.from_arrow`"
            place = _region(member.annotation, source)
            report.add(
                UNSUPPORTED_ARROW_TYPE,
                message,
                file=source.name,
                at=place,
                path=dotted((member.name,)),
                help=help,
            )
    tree: Json = lift(pa.schema(fields), source.name, report, notes.add)
    for field in tree["fields"]:
        if field["name"] in descriptions:
            field["extra"] = {DESCRIPTION.key: descriptions[field["name"]], **field.get("extra", {})}
    if description := ast.get_docstring(node):
        tree["extra"] = {DESCRIPTION.key: description}
    return Imported(tree, tuple(_comments(node, module)), node.name, notes)


def _fields_of(node: ast.ClassDef, module: _Module, types: Types) -> list[ArrowField]:
    """Return the members of a struct, which is a model inside a model."""
    return [_field(member, types) for member in module.members(node)]


def _field(member: _Member, types: Types) -> ArrowField:
    type_, is_nullable = types.of(member.annotation, _zone(member))
    return pa.field(member.name, type_, is_nullable)


def _comments(node: ast.ClassDef, module: _Module) -> list[str]:
    comments = [f"from the {_BASE} {node.name}"]
    foreign = module.foreign_bases(node)
    if foreign:
        comments.append(f"not read: fields of its bases in other files, {', '.join(foreign)}")
    for held in module.lineage(node):
        for statement in held.body:
            if isinstance(statement, ast.FunctionDef) and any(
                last_name(decorator) in _RULES for decorator in statement.decorator_list
            ):
                comments.append(f"not kept: {statement.name}, which checks or computes values")
            elif isinstance(statement, ast.ClassDef) and statement.name == "Config":
                comments.append("not kept: its Config")
            elif isinstance(statement, ast.Assign | ast.AnnAssign) and "model_config" in ast.unparse(
                statement
            ):
                comments.append(f"not kept: {ast.unparse(statement)}")
    return comments


def _keywords(member: _Member) -> dict[str, ast.expr]:
    """Return what `Field` is called with."""
    if isinstance(member.value, ast.Call) and last_name(member.value) == "Field":
        return {word.arg: word.value for word in member.value.keywords if word.arg is not None}
    return {}


def _zone(member: _Member) -> str | None:
    """Return the zone of a timestamp, which lancedb takes from the schema's extras."""
    extras = _keywords(member).get("json_schema_extra")
    if isinstance(extras, ast.Dict):
        for key, value in zip(extras.keys, extras.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == "tz" and isinstance(value, ast.Constant):
                return str(value.value)
    return None


def _note(member: _Member, notes: Notes, descriptions: dict[str, str]) -> None:
    """Keep a field's description; its default and rules are notes."""
    path = (member.name,)
    value = member.value
    if value is None or (isinstance(value, ast.Constant) and value.value is None):
        return
    if not (isinstance(value, ast.Call) and last_name(value) == "Field"):
        notes.add(path, f"not kept: default={ast.unparse(value)}")
        return
    for positional in value.args:
        if not (isinstance(positional, ast.Constant) and positional.value in (None, ...)):
            notes.add(path, f"not kept: default={ast.unparse(positional)}")
    for name, argument in _keywords(member).items():
        if name == "description" and isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            descriptions[member.name] = argument.value
        elif (
            name == "json_schema_extra"
            and isinstance(argument, ast.Dict)
            and len(argument.keys) == 1
            and _zone(member)
        ):
            continue  # which is in the type
        elif not (name == "default" and isinstance(argument, ast.Constant) and argument.value is None):
            notes.add(path, f"not kept: {name}={ast.unparse(argument)}")


def _region(node: ast.expr, source: SourceText) -> Region:
    """Return where an expression begins; Python counts its columns in bytes."""
    before = source.line(node.lineno).encode()[: node.col_offset].decode(errors="replace")
    column = len(before) + 1
    return Region.within(node.lineno, column, column + len(ast.unparse(node)))


IMPORTER = Importer("lancemodel", "Python file with models of lancedb", read)
