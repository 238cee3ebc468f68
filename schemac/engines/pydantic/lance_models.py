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
from pathlib import Path

from schemac.arrow.lift import lift
from schemac.attributes.odf import DESCRIPTION
from schemac.engines.pydantic.expressions import name_of
from schemac.engines.pydantic.lance_types import Types, UnknownTypeError
from schemac.engines.pydantic.modules import Member, Module
from schemac.importers.importer import Imported, Importer, Notes, refuse
from schemac.logical.path import dotted
from schemac.physical.arrow import ArrowField, pa
from schemac.source.catalogue import UNSUPPORTED_ARROW_TYPE
from schemac.source.json_object import Json
from schemac.source.report import Report

_BASE = "LanceModel"
_KNOWN = frozenset({_BASE, "BaseModel", "Generic", "ABC", "object"})
"""Bases that bring no fields."""
_RULES = ("validator", "field_validator", "root_validator", "model_validator", "computed_field")


def read(path: Path, report: Report) -> Imported | None:
    """Return every model of a file."""
    module = Module.read(path, report)
    if module is None:
        return None
    models = [node for node in module.classes.values() if module.descends(node, {_BASE})]
    if not models:
        refuse(path, f"it has no class with the base {_BASE} outside of functions", report)
        return None
    first, *others = [_dataset(node, module, report) for node in models]
    return Imported(first.schema, first.comments, first.name, first.notes, others=tuple(others))


def _dataset(node: ast.ClassDef, module: Module, report: Report) -> Imported:
    notes = Notes()
    descriptions: dict[str, str] = {}
    fields: list[ArrowField] = []
    types = Types(module, lambda one: [_field(member, types) for member in module.members(one)])
    for member in module.members(node):
        _note(member, notes, descriptions)
        try:
            fields.append(_field(member, types))
        except UnknownTypeError as error:
            message = f"{dotted((member.name,))}: there is no kind for {error}"
            help = f"leave it out with `--skip '{member.name}'`, or pass `{node.name}.to_arrow_schema()` to `schemac.from_arrow`"
            report.add(
                UNSUPPORTED_ARROW_TYPE,
                message,
                file=module.source.name,
                at=module.region(member.annotation),
                path=dotted((member.name,)),
                help=help,
            )
    tree: Json = lift(pa.schema(fields), module.source.name, report, notes.add)
    for field in tree["fields"]:
        if field["name"] in descriptions:
            field["extra"] = {DESCRIPTION.key: descriptions[field["name"]], **field.get("extra", {})}
    if description := ast.get_docstring(node):
        tree["extra"] = {DESCRIPTION.key: description}
    return Imported(tree, tuple(_comments(node, module)), node.name, notes)


def _field(member: Member, types: Types) -> ArrowField:
    type_, is_nullable = types.of(member.annotation, _zone(member))
    return pa.field(member.name, type_, is_nullable)


def _comments(node: ast.ClassDef, module: Module) -> list[str]:
    comments = [f"from the {_BASE} {node.name}"]
    lineage = module.lineage(node)
    bases = dict.fromkeys(base for one in lineage for base in module.bases(one) if base)
    foreign = [base for base in bases if base not in _KNOWN and base not in module.classes]
    if foreign:
        comments.append(f"not read: fields of its bases in other files, {', '.join(foreign)}")
    for one in lineage:
        for statement in one.body:
            if isinstance(statement, ast.FunctionDef) and any(
                name_of(decorator) in _RULES for decorator in statement.decorator_list
            ):
                comments.append(f"not kept: {statement.name}, which checks or computes values")
            elif isinstance(statement, ast.ClassDef) and statement.name == "Config":
                comments.append("not kept: its Config")
            elif isinstance(statement, ast.Assign | ast.AnnAssign) and "model_config" in ast.unparse(
                statement
            ):
                comments.append(f"not kept: {ast.unparse(statement)}")
    return comments


def _keywords(member: Member) -> dict[str, ast.expr]:
    """Return what `Field` is called with."""
    if isinstance(member.value, ast.Call) and name_of(member.value) == "Field":
        return {word.arg: word.value for word in member.value.keywords if word.arg is not None}
    return {}


def _zone(member: Member) -> str | None:
    """Return the zone of a timestamp, which lancedb takes from the schema's extras."""
    extras = _keywords(member).get("json_schema_extra")
    if isinstance(extras, ast.Dict):
        for key, value in zip(extras.keys, extras.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == "tz" and isinstance(value, ast.Constant):
                return str(value.value)
    return None


def _note(member: Member, notes: Notes, descriptions: dict[str, str]) -> None:
    """Keep a field's description; its default and rules are notes."""
    path = (member.name,)
    value = member.value
    if value is None or (isinstance(value, ast.Constant) and value.value is None):
        return
    if not (isinstance(value, ast.Call) and name_of(value) == "Field"):
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


IMPORTER = Importer("lancemodel", "Python file with models of lancedb", read)
