"""LanceModel: models of lancedb in a Python file, and their annotations as Arrow types.

Layer: engines.
Shape: the file is parsed and never run, so what only running it can tell (the dimensions of an embedding function, fields of a base
      class in another file) is reported. Where a program may be run, its `to_arrow_schema()` says the same for `from_arrow`. Types and
      nullability are those of `to_arrow_schema`; docstrings and descriptions become descriptions, and all else that a field is given a
      comment above it.
Errors: SC551 unsupported-arrow-type, SC552 unreadable-source.
Source: `lancedb.pydantic.pydantic_to_schema` of lancedb 0.30; items of lists and vectors may be null, as pyarrow makes them.
"""

import ast
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from schemac.arrow.from_arrow import from_arrow
from schemac.engines.pydantic.modules import ModelField, Module, choices_of, is_none, name_of
from schemac.importers.importer import ImportedSchema, Importer, ImportNotes, UnreadableSourceError, together
from schemac.language.attributes.builtin import DESCRIPTION
from schemac.language.logical.model import dotted
from schemac.language.physical import ArrowField, ArrowType, pa
from schemac.text.source.catalogue import UNSUPPORTED_ARROW_TYPE
from schemac.text.source.diagnostics import Report
from schemac.text.source.json_object import Json

_PLAIN: Mapping[str, Callable[[], ArrowType]] = {
    "int": lambda: pa.int64(),
    "float": lambda: pa.float64(),
    "str": lambda: pa.string(),
    "bool": lambda: pa.bool_(),
    "bytes": lambda: pa.binary(),
    "date": lambda: pa.date32(),
}
_VALUES = frozenset(
    {"float16", "float32", "float64"} | {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
)
"""Functions of pyarrow that give the type of a vector's items."""
_LISTS = ("List", "list", "Tuple", "tuple")
_VECTORS = ("Vector", "vector", "MultiVector")
_ENUMS = frozenset({"Enum", "StrEnum", "IntEnum"})
_LONGEST = 2**31
_DEEPEST = 50


class UnknownTypeError(Exception):
    """An annotation that lancedb refuses, or whose type is known only when the program runs."""


class AnnotationTypes:
    """Resolves the annotations of one file."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._depth = 0

    def field(self, member: ModelField) -> ArrowField:
        """Return a member of a model as an Arrow field. Raises UnknownTypeError."""
        annotation = _evaluated(member.annotation)
        bare = _without_none(annotation)
        is_nullable = bare is not None
        if isinstance(annotation, ast.Call) and name_of(annotation) in _VECTORS:
            flags = [word.value for word in annotation.keywords if word.arg == "nullable"]
            flag = next(iter([*flags, *annotation.args[2:]]), None)
            is_nullable = not (isinstance(flag, ast.Constant) and flag.value is False)
        return pa.field(member.name, self._type(bare or annotation, _zone(member)), is_nullable)

    def _type(self, annotation: ast.expr, zone: str | None) -> ArrowType:
        """Return the Arrow type of an annotation. Raises UnknownTypeError for an unknown or recursive one."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise UnknownTypeError("models that hold each other")
        try:
            return self._resolved(_evaluated(annotation), zone)
        finally:
            self._depth -= 1

    def _resolved(self, annotation: ast.expr, zone: str | None) -> ArrowType:
        """Return the Arrow type of an evaluated annotation. Raises UnknownTypeError for an unknown one."""
        name = name_of(annotation)
        if isinstance(annotation, ast.Call) and name in _VECTORS:
            return self._vector(annotation, name)
        if isinstance(annotation, ast.Subscript) and name in _LISTS:
            parts = annotation.slice
            item = parts.elts[0] if isinstance(parts, ast.Tuple) and parts.elts else parts
            return pa.list_(self._type(_without_none(_evaluated(item)) or item, zone))
        if isinstance(annotation, ast.Name | ast.Attribute):
            if (node := self._module.classes.get(name)) is not None:
                bases = set(self._module.bases(name))
                if bases & _ENUMS:
                    return _enumeration(node, bases)
                return pa.struct([self.field(member) for member in self._module.members(name)])
            if name == "datetime":
                return pa.timestamp("us", zone)
            if name in _PLAIN:
                return _PLAIN[name]()
        raise UnknownTypeError(ast.unparse(annotation))

    def _vector(self, call: ast.Call, name: str) -> ArrowType:
        """Return a fixed-size list, inside a list for MultiVector. Raises UnknownTypeError without a constant dimension."""
        words = {word.arg: word.value for word in call.keywords}
        dimension = call.args[0] if call.args else words.get("dim")
        written = call.args[1] if len(call.args) > 1 else words.get("value_type")
        if isinstance(dimension, ast.Name):
            dimension = self._module.values.get(dimension.id)
        length = dimension.value if isinstance(dimension, ast.Constant) else None
        if type(length) is not int or not 0 < length < _LONGEST:
            message = f"{ast.unparse(call)}, whose dimension is known only when the program runs"
            raise UnknownTypeError(message)
        value = pa.float32()
        if written is not None:
            if name_of(written) not in _VALUES:
                raise UnknownTypeError(ast.unparse(call))
            value = getattr(pa, name_of(written))()
        vector = pa.list_(value, length)
        return pa.list_(vector) if name == "MultiVector" else vector


def _enumeration(node: ast.ClassDef, bases: set[str]) -> ArrowType:
    """Return the type of an enumeration's values, as lancedb has it: a dictionary for texts."""
    values = [statement.value for statement in node.body if isinstance(statement, ast.Assign)]
    sorts = {type(value.value) if isinstance(value, ast.Constant) else None for value in values}
    if values and None in sorts and all(isinstance(v, ast.Call) and name_of(v) == "auto" for v in values):
        sorts = {str} if "StrEnum" in bases else {int}
    if None in sorts:
        raise UnknownTypeError(f"the values of {node.name}, which are known only when the program runs")
    if sorts == {str}:
        return pa.dictionary(pa.int32(), pa.string())
    plain = {int: pa.int64, float: pa.float64, bool: pa.bool_, bytes: pa.binary}
    if len(sorts) == 1 and (make := plain.get(next(iter(sorts)) or object)) is not None:
        return make()
    return pa.string()


def _evaluated(annotation: ast.expr) -> ast.expr:
    """Return an annotation without quotes and without what `Annotated` adds."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            return _evaluated(ast.parse(annotation.value, mode="eval").body)
        except (SyntaxError, ValueError, RecursionError) as error:
            raise UnknownTypeError(repr(annotation.value)) from error
    if isinstance(annotation, ast.Subscript) and name_of(annotation) == "Annotated":
        parts = annotation.slice
        return _evaluated(parts.elts[0] if isinstance(parts, ast.Tuple) and parts.elts else parts)
    return annotation


def _without_none(annotation: ast.expr) -> ast.expr | None:
    """Return what an annotation is if it is not None; None if it cannot be None, or may be several things."""
    choices = choices_of(annotation) or []
    bare = [choice for choice in choices if not is_none(choice)]
    return bare[0] if len(bare) == 1 and len(choices) > 1 else None


_BASE = "LanceModel"
_KNOWN = frozenset({_BASE, "BaseModel", "Generic", "ABC", "object"})
"""Bases that bring no fields."""
_RULES = ("validator", "field_validator", "root_validator", "model_validator", "computed_field")


def is_source(path: Path) -> bool:
    """Return whether a file is Python code with `LanceModel`."""
    if path.suffix.lower() != ".py" or not path.is_file():
        return False
    with path.open("rb") as stream:
        return _BASE.encode() in stream.read(1024 * 1024)


def read(path: Path, report: Report) -> ImportedSchema | None:
    """Return every model of a file."""
    module = Module.read(path, report)
    if module is None:
        return None
    models = [node for node in module.classes.values() if module.descends(node.name, {_BASE})]
    if not models:
        raise UnreadableSourceError(f"it has no class with the base {_BASE} outside of functions")
    return together([_dataset(node, module, report) for node in models])


def _dataset(node: ast.ClassDef, module: Module, report: Report) -> ImportedSchema:
    """Return a model as a dataset; report members whose type is unknown."""
    notes = ImportNotes()
    descriptions: dict[str, str] = {}
    fields: list[ArrowField] = []
    types = AnnotationTypes(module)
    for member in module.members(node.name):
        _note(member, notes, descriptions)
        try:
            fields.append(types.field(member))
        except UnknownTypeError as error:
            path, at = dotted((member.name,)), module.region(member.annotation)
            message = f"{path}: there is no kind for {error}"
            help = f"leave it out with `--skip '{member.name}'`, or pass `{node.name}.to_arrow_schema()` to `schemac.from_arrow`"
            file = module.source.name
            report.add(UNSUPPORTED_ARROW_TYPE, message, file=file, at=at, path=path, help=help)
    tree: Json = from_arrow(pa.schema(fields), module.source.name, report, notes.add)
    for field in tree["fields"]:
        if field["name"] in descriptions:
            field["extra"] = {DESCRIPTION.key: descriptions[field["name"]], **field.get("extra", {})}
    if description := ast.get_docstring(node):
        tree["extra"] = {DESCRIPTION.key: description}
    return ImportedSchema(tree, tuple(_comments(node, module)), node.name, notes)


def _comments(node: ast.ClassDef, module: Module) -> Iterator[str]:
    """Yield one line on the model's name, and one for each base, function or setting that is lost."""
    yield f"from the {_BASE} {node.name}"
    lineage = module.lineage(node.name)
    bases = dict.fromkeys(base for one in lineage for base in module.bases(one.name) if base)
    foreign = [base for base in bases if base not in _KNOWN and base not in module.classes]
    if foreign:
        yield f"not read: fields of its bases in other files, {', '.join(foreign)}"
    for one in lineage:
        for statement in one.body:
            if isinstance(statement, ast.FunctionDef) and any(
                name_of(decorator) in _RULES for decorator in statement.decorator_list
            ):
                yield f"not kept: {statement.name}, which checks or computes values"
            elif isinstance(statement, ast.ClassDef) and statement.name == "Config":
                yield "not kept: its Config"
            elif isinstance(statement, ast.Assign | ast.AnnAssign) and "model_config" in ast.unparse(
                statement
            ):
                yield f"not kept: {ast.unparse(statement)}"


def _keywords(member: ModelField) -> dict[str, ast.expr]:
    """Return what `Field` is called with."""
    if isinstance(member.value, ast.Call) and name_of(member.value) == "Field":
        return {word.arg: word.value for word in member.value.keywords if word.arg is not None}
    return {}


def _zone(member: ModelField) -> str | None:
    """Return the zone of a timestamp, which lancedb takes from the schema's extras."""
    extras = _keywords(member).get("json_schema_extra")
    if isinstance(extras, ast.Dict):
        for key, value in zip(extras.keys, extras.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == "tz" and isinstance(value, ast.Constant):
                return str(value.value)
    return None


def _note(member: ModelField, notes: ImportNotes, descriptions: dict[str, str]) -> None:
    """Keep a field's description; its default and rules are notes."""
    path = (member.name,)
    value = member.value
    if value is None or is_none(value):
        return
    if not (isinstance(value, ast.Call) and name_of(value) == "Field"):
        notes.add(path, f"not kept: default={ast.unparse(value)}")
        return
    for positional in value.args:
        if not (isinstance(positional, ast.Constant) and positional.value in (None, ...)):
            notes.add(path, f"not kept: default={ast.unparse(positional)}")
    for name, argument in _keywords(member).items():
        has_one_key = isinstance(argument, ast.Dict) and len(argument.keys) == 1
        if name == "description" and isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            descriptions[member.name] = argument.value
        elif name == "json_schema_extra" and has_one_key and _zone(member):
            continue  # which is in the type
        elif not (name == "default" and is_none(argument)):
            notes.add(path, f"not kept: {name}={ast.unparse(argument)}")


IMPORTER = Importer("lancemodel", "Python file with models of lancedb", read)
