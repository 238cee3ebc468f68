"""Models of pydantic, and of LanceDB, as `schemac import` reads them: a file of Python, which is read as text and never run.

Layer: engines.
Shape: a model that no other of the file is made of is a table. What has no kind of its own is any value of JSON, and the manifest says
so in a comment above the field.
Errors: SC552 for a file without models.
Source: the documentation of pydantic 2, "Fields" and "Standard Library Types"; of LanceDB, `LanceModel` and `Vector`.
"""

import ast
import json
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from schemac.attributes.constraints import UNIQUE_ITEMS
from schemac.attributes.odf import DESCRIPTION
from schemac.attributes.own import DEPRECATED, DOMAIN
from schemac.engines.json_values import JSON_TYPE, UUID_TYPE
from schemac.importers.constraining import enumerated, fitting
from schemac.importers.importer import Imported, Importer, Notes, first_line, refuse
from schemac.logical.path import FieldPath, Part
from schemac.source.json_object import Json
from schemac.source.report import Report
from schemac.source.span import Span
from schemac.source.text import decode_text

_BASES = frozenset({"BaseModel", "Record", "LanceModel"})
_PLAIN: dict[str, Json] = {
    "bool": {"kind": "Bool"},
    "int": {"kind": "Int64"},
    "float": {"kind": "Float64"},
    "str": {"kind": "String"},
    "bytes": {"kind": "Binary"},
    "date": {"kind": "Date"},
    "datetime": {"kind": "Timestamp", "unit": "Microsecond"},
    "AwareDatetime": {"kind": "Timestamp", "unit": "Microsecond"},
    "NaiveDatetime": {"kind": "Timestamp", "unit": "Microsecond", "timezone": None},
    "time": {"kind": "Time", "unit": "Microsecond"},
    "timedelta": {"kind": "Duration", "unit": "Microsecond"},
    "None": {"kind": "Null"},
    "UUID": UUID_TYPE,
    **dict.fromkeys(("Any", "object", "JsonValue", "Json", "dict", "Dict"), JSON_TYPE),
    "StrictBool": {"kind": "Bool"},
    "StrictInt": {"kind": "Int64"},
    "StrictFloat": {"kind": "Float64"},
    "FiniteFloat": {"kind": "Float64"},
    "StrictStr": {"kind": "String"},
    "StrictBytes": {"kind": "Binary"},
}
_LISTS = frozenset({"list", "List", "Sequence", "Iterable", "set", "Set", "frozenset", "FrozenSet"})
_MAPS = frozenset({"dict", "Dict", "Mapping", "MutableMapping"})
_SIGNED = {
    "Positive": "exclusiveMinimum",
    "NonNegative": "minimum",
    "Negative": "exclusiveMaximum",
    "NonPositive": "maximum",
}
_PLAIN |= {
    f"{sign}{name}": {"kind": kind, "extra": {f"{DOMAIN}/{rule}": 0}}
    for sign, rule in _SIGNED.items()
    for name, kind in (("Int", "Int64"), ("Float", "Float64"))
}
_READ = frozenset({"strict", "default", "alias", "description", "json_schema_extra", "deprecated"})
"""Arguments of `Field` that are read elsewhere, or say nothing of values."""
_RULES = {
    "ge": "minimum",
    "le": "maximum",
    "gt": "exclusiveMinimum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
    "min_length": "minLength",
    "max_length": "maxLength",
    "pattern": "pattern",
    "regex": "pattern",
    "min_items": "minItems",
    "max_items": "maxItems",
    "unique_items": "uniqueItems",
}
"""Constraints by the arguments of `Field` that say them; of lists, lengths are numbers of items."""
_DEEPEST = 50
_OF_PROGRAMS = (
    "in a program, take `schemac.from_arrow(rides_schema.ARROW_SCHEMA)` of a module of the target `python`"
)


class _UnreadableError(Exception):
    """Why a file has no table."""


def read(path: Path, report: Report) -> Imported | None:
    """Read the models of a file."""
    source = decode_text(path.read_bytes(), str(path), report)
    if source is None:
        return None
    try:
        module = ast.parse(source.content)
    except SyntaxError as error:
        lines = source.content.splitlines(keepends=True)
        at = sum(map(len, lines[: (error.lineno or 1) - 1])) + max((error.offset or 1) - 1, 0)
        reason = f"it is no Python: {error.msg}"
        refuse(path, reason, report, source=source, span=Span(at, min(at + 1, len(source.content))))
        return None
    except (ValueError, RecursionError, MemoryError) as error:
        refuse(path, f"it is no Python: {first_line(error)}", report, source=source)
        return None
    try:
        tables = _Reader(module).tables()
    except _UnreadableError as error:
        refuse(path, str(error), report, help=_OF_PROGRAMS)
        return None
    first, *others = tables
    return Imported(first.schema, first.comments, first.name, first.notes, others=tuple(others))


class _Reader:
    def __init__(self, module: ast.Module) -> None:
        self._aliases: dict[str, ast.expr] = {}
        self._classes: dict[str, ast.ClassDef] = {}
        for statement in module.body:
            if isinstance(statement, ast.ClassDef):
                self._classes[statement.name] = statement
            elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                self._aliases[statement.targets[0].id] = statement.value
            elif (
                isinstance(statement, ast.AnnAssign)
                and isinstance(statement.target, ast.Name)
                and statement.value
            ):
                self._aliases[statement.target.id] = statement.value
        self._notes = Notes()
        self._open: list[str] = []
        self._digits: Json | None = None
        """The type of a Decimal whose digits are said around it."""

    def tables(self) -> list[Imported]:
        """Return the models that no other is made of, in the order of the file."""
        models = [name for name in self._classes if self._is_model(name) and self._fields(name)]
        used = {
            node.id
            for name in models
            for statement in self._fields(name)
            for node in ast.walk(statement.annotation)
            if isinstance(node, ast.Name)
        }
        used |= {base for name in models for base in self._bases(name)}
        found = [self._table(name) for name in models if name not in used]
        if not found:
            raise _UnreadableError("it has no model with fields that stands by itself")
        return found

    def _table(self, name: str) -> Imported:
        self._notes, self._open = Notes(), [name]
        config = self._config(name)
        extra = config.get("json_schema_extra")
        kept = {key: value for key, value in extra.items() if "/" in key} if isinstance(extra, dict) else {}
        told = ast.get_docstring(self._classes[name])
        description = {DESCRIPTION.key: told} if told and not told.startswith("A record of ") else {}
        schema: Json = {"fields": self._members(name, ()), "extra": {**description, **kept}}
        title = config.get("title")
        return Imported(schema, name=title if isinstance(title, str) else name, notes=self._notes)

    def _is_model(self, name: str, depth: int = 0) -> bool:
        bases = self._bases(name)
        return depth < _DEEPEST and any(
            base in _BASES or (base in self._classes and self._is_model(base, depth + 1)) for base in bases
        )

    def _bases(self, name: str) -> list[str]:
        return [_name(base) for base in self._classes[name].bases]

    def _fields(self, name: str) -> list[ast.AnnAssign]:
        """Return the fields of a model, those of its bases first."""
        inherited = [
            f
            for base in self._bases(name)
            if base in self._classes and base not in _BASES
            for f in self._fields(base)
        ]
        own = [
            statement
            for statement in self._classes[name].body
            if isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and not statement.target.id.startswith("_")
            and "ClassVar" not in ast.dump(statement.annotation)
            and statement.target.id != "model_config"
        ]
        found = {f.target.id: f for f in (*inherited, *own) if isinstance(f.target, ast.Name)}
        return list(found.values())

    def _config(self, name: str) -> Json:
        for statement in self._classes[name].body:
            target = (
                statement.targets[0]
                if isinstance(statement, ast.Assign)
                else getattr(statement, "target", None)
            )
            if isinstance(target, ast.Name) and target.id == "model_config":
                value = getattr(statement, "value", None)
                if isinstance(value, ast.Call):
                    return {keyword.arg or "": _literal(keyword.value) for keyword in value.keywords}
                found = _literal(value)
                return found if isinstance(found, dict) else {}
        return {}

    def _members(self, name: str, holder: FieldPath) -> list[Json]:
        return [self._member(statement, holder) for statement in self._fields(name)]

    def _member(self, statement: ast.AnnAssign, holder: FieldPath) -> Json:
        assert isinstance(statement.target, ast.Name)
        settings = _settings(statement.value)
        alias = settings.get("alias")
        path = (*holder, alias if isinstance(alias, str) else statement.target.id)
        more = settings.get("json_schema_extra")
        is_own = isinstance(more, dict) and any("/" in key for key in more)
        tree = self._with_digits(statement.annotation, settings, path)
        tree = self._narrowed(tree, {} if is_own else settings, path)
        extra = tree.pop("extra", {})
        if (told := settings.get("deprecated")) is not None and told is not False:
            extra = {DEPRECATED.key: {"note": told} if isinstance(told, str) else {}, **extra}
        if isinstance(settings.get("description"), str):
            extra = {DESCRIPTION.key: settings["description"], **extra}
        if isinstance(more, dict):
            extra |= {key: value for key, value in more.items() if "/" in key}
        if settings.get("default") is not None:
            self._notes.add(path, f"not kept: the default {settings['default']!r}")
        return {"name": path[-1], "type": tree, **({"extra": extra} if extra else {})}

    def _with_digits(self, node: ast.expr, settings: Json, path: FieldPath) -> Json:
        """Return the type of an annotation, in which a Decimal has the digits that the settings say."""
        before, self._digits = self._digits, _digits(settings) or self._digits
        try:
            return self._type(node, path)
        finally:
            self._digits = before

    def _type(self, node: ast.expr, path: FieldPath) -> Json:
        """Return the type of an annotation, with its attributes as `extra` beside the outermost kind."""
        if len(path) > _DEEPEST:
            raise _UnreadableError("it is nested too deeply")
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                try:
                    return self._type(ast.parse(node.value, mode="eval").body, path)
                except (SyntaxError, ValueError):
                    return self._unknown(node, path)
            return _null() if node.value is None else self._unknown(node, path)
        choices = _choices(node)
        if choices is not None:
            others = [choice for choice in choices if not _is_none(choice)]
            if len(others) != 1:
                return self._unknown(node, path) if others else _null()
            tree = self._type(others[0], path)
            if tree["kind"] == "Option" or len(others) == len(choices):
                return tree
            return _optional(tree)
        if isinstance(node, ast.Subscript):
            return self._generic(node, path)
        if isinstance(node, ast.Call):
            return self._call(node, path)
        return self._named(node, path)

    def _named(self, node: ast.expr, path: FieldPath) -> Json:
        name = _name(node)
        if name in self._aliases:
            return self._inside(name, lambda: self._type(self._aliases[name], path), path)
        if name in self._classes and self._is_model(name):
            return self._inside(name, lambda: {"kind": "Struct", "fields": self._members(name, path)}, path)
        if name in self._classes and any(base.endswith("Enum") for base in self._bases(name)):
            return self._enumeration(name, path)
        if name in _PLAIN:
            if name == "datetime":
                self._notes.add(path, "a datetime, with a zone or without; here it is an instant in UTC")
            return _null() if name == "None" else json.loads(json.dumps(_PLAIN[name]))
        if name == "Decimal" and self._digits is not None:
            return dict(self._digits)
        if name in _LISTS:
            return {"kind": "List", "itemType": json.loads(json.dumps(JSON_TYPE))}
        return self._unknown(node, path)

    def _enumeration(self, name: str, path: FieldPath) -> Json:
        """Return the type of the values of an enumeration, with the values where they are written out."""
        found = [_literal(one.value) for one in self._classes[name].body if isinstance(one, ast.Assign)]
        kind = {frozenset({str}): "String", frozenset({int}): "Int64"}.get(frozenset(map(type, found)))
        if kind is None or any(isinstance(value, str) and "(" in value for value in found):
            self._notes.add(path, f"not kept: the values of {name}")
            return {"kind": kind or "String"}
        return self._constrained({"kind": kind}, enumerated(found), path)

    def _constrained(self, tree: Json, wanted: Json, path: FieldPath) -> Json:
        """Return a type with constraints beside its outermost kind; those that it cannot have are noted."""
        kept, lost = fitting(tree, wanted)
        for key, reason in lost.items():
            self._notes.add(path, f"not kept: {key.rpartition('/')[2]} {wanted[key]!r}: {reason}")
        return {**tree, "extra": {**tree.get("extra", {}), **kept}} if kept else tree

    def _inside(self, name: str, make: Any, path: FieldPath) -> Json:
        if name in self._open:
            self._notes.add(path, f"it contains itself ({name})")
            return json.loads(json.dumps(JSON_TYPE))  # type: ignore[no-any-return]
        self._open.append(name)
        try:
            found: Json = make()
            return found
        finally:
            self._open.pop()

    def _generic(self, node: ast.Subscript, path: FieldPath) -> Json:
        name = _name(node.value)
        arguments = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name == "Annotated":
            return self._annotated(arguments, path)
        if name in _LISTS or (
            name in ("tuple", "Tuple") and len(arguments) == 2 and ast.unparse(arguments[1]) == "..."
        ):
            tree: Json = {"kind": "List", "itemType": self._type(arguments[0], (*path, Part.ITEM))}
            if name.lower() in ("set", "frozenset"):
                return self._constrained(tree, {UNIQUE_ITEMS.key: True}, path)
            if name.lower() not in ("list", "sequence"):
                self._notes.add(path, f"not kept: that it is a {name}")
            return tree
        if name in _MAPS and len(arguments) == 2:
            key, value = (
                self._type(arguments[0], (*path, Part.KEY)),
                self._type(arguments[1], (*path, Part.VALUE)),
            )
            return {"kind": "Map", "keyType": key, "valueType": value}
        if name == "Literal":
            values = [_literal(argument) for argument in arguments]
            if all(isinstance(argument, ast.Constant) for argument in arguments):
                others = [value for value in values if value is not None]
                kind = {frozenset({str}): "String", frozenset({int}): "Int64", frozenset({bool}): "Bool"}.get(
                    frozenset(map(type, others))
                )
                if kind is not None:
                    tree = self._constrained({"kind": kind}, enumerated(others), path)
                    return tree if len(others) == len(values) else _optional(tree)
        return self._unknown(node, path)

    def _annotated(self, arguments: list[ast.expr], path: FieldPath) -> Json:
        settings: Json = {}
        kept: Json = {}
        for argument in arguments[1:]:
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                kept |= _kept(argument.value)
            settings |= _settings(argument)
        is_leaf = "kind" in kept and kept["kind"] != "Map"
        extra = kept.pop("extra", {})
        tree = dict(kept) if is_leaf else {**self._with_digits(arguments[0], settings, path), **kept}
        tree = self._narrowed(tree, {} if is_leaf else settings, path)
        extra = {**tree.pop("extra", {}), **extra}
        return {**tree, "extra": extra} if extra else tree

    def _narrowed(self, tree: Json, settings: Json, path: FieldPath) -> Json:
        """Return a type with what `Field` says of its values; the rest is noted."""
        inner = tree["inner"] if tree["kind"] == "Option" else tree
        least, most = settings.get("min_length"), settings.get("max_length")
        settings = {key: value for key, value in settings.items() if key not in _READ and value is not None}
        if inner["kind"] == "List" and isinstance(least, int) and least == most and least > 0:
            inner["fixedLength"] = least
            del settings["min_length"], settings["max_length"]
        wanted: Json = {}
        for key, value in settings.items():
            rule = _RULES.get(key)
            if rule is not None:
                rule = rule.replace("Length", "Items") if inner["kind"] == "List" else rule
                wanted[f"{DOMAIN}/{rule}"] = value
            elif key not in ("max_digits", "decimal_places") or inner["kind"] != "Decimal":
                self._notes.add(path, f"not kept: {key} {value!r}")
        return self._constrained(tree, wanted, path)

    def _call(self, node: ast.Call, path: FieldPath) -> Json:
        """Read `Vector(128)` of LanceDB and `condecimal(max_digits=…)`; of other calls, what they narrow."""
        name = _name(node.func)
        settings = {keyword.arg: _literal(keyword.value) for keyword in node.keywords if keyword.arg}
        if name == "Vector" and node.args:
            length = _literal(node.args[0])
            if isinstance(length, int) and length > 0:
                return {"kind": "List", "itemType": {"kind": "Float32"}, "fixedLength": length}
        if name.startswith("con") and name[3:] in ("int", "float", "str", "bytes", "date"):
            return self._narrowed(dict(_PLAIN[name[3:]]), settings, path)
        if name == "condecimal" and (digits := _digits(settings)) is not None:
            return self._narrowed(dict(digits), settings, path)
        if name in ("conlist", "conset", "confrozenset") and node.args:
            tree: Json = {"kind": "List", "itemType": self._type(node.args[0], (*path, Part.ITEM))}
            settings |= {} if name == "conlist" else {"unique_items": True}
            return self._narrowed(tree, settings, path)
        return self._unknown(node, path)

    def _unknown(self, node: ast.expr, path: FieldPath) -> Json:
        self._notes.add(path, f"any value of JSON; not kept: the type {ast.unparse(node)[:200]}")
        found: Json = json.loads(json.dumps(JSON_TYPE))
        return found


def _digits(settings: Json) -> Json | None:
    """Return the type of a Decimal of which both numbers of digits are said."""
    precision, scale = settings.get("max_digits"), settings.get("decimal_places")
    if not isinstance(precision, int) or not isinstance(scale, int) or not 0 <= scale <= precision <= 76:
        return None
    return {"kind": "Decimal", "precision": precision, "scale": scale} if precision else None


def _optional(tree: Json) -> Json:
    """Return a type that may be null; its attributes stand beside the outermost kind."""
    extra = tree.pop("extra", {})
    return {"kind": "Option", "inner": tree, **({"extra": extra} if extra else {})}


def _null() -> Json:
    return {"kind": "Option", "inner": {"kind": "Null"}}


def _choices(node: ast.expr) -> list[ast.expr] | None:
    """Return what a type is one of: `A | B`, `Optional[A]`, `Union[A, B]`; None for a type that is no choice."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [*(_choices(node.left) or [node.left]), *(_choices(node.right) or [node.right])]
    if isinstance(node, ast.Subscript):
        name = _name(node.value)
        arguments = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name == "Optional":
            return [arguments[0], ast.Constant(None)]
        if name == "Union":
            return [part for argument in arguments for part in (_choices(argument) or [argument])]
    return None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _name(node: ast.expr) -> str:
    """Return the last part of a name: `datetime` of `datetime.datetime`."""
    if isinstance(node, ast.Subscript):
        return _name(node.value)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _settings(node: ast.expr | None) -> Json:
    """Return the arguments of `Field`; of a plain default, that."""
    if isinstance(node, ast.Call) and _name(node.func) in ("Field", "StringConstraints"):
        found = {keyword.arg: _literal(keyword.value) for keyword in node.keywords if keyword.arg is not None}
        if node.args and ast.unparse(node.args[0]) != "...":
            found["default"] = _literal(node.args[0])
        return found
    if isinstance(node, ast.Constant):
        return {} if isinstance(node.value, str) and _kept(node.value) else {"default": node.value}
    return {}


def _kept(text: str) -> Json:
    """Return the metadata that the compiler wrote; nothing for any other text."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    is_ours = isinstance(found, dict) and (
        isinstance(found.get("kind"), str) or isinstance(found.get("extra"), dict)
    )
    return found if is_ours else {}


def _written(node: ast.Call) -> str | None:
    """Return a number or a date that a call makes, as a manifest writes it; None for any other call."""
    arguments = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
    if len(arguments) < len(node.args):
        return None
    if _name(node.func) == "Decimal" and len(arguments) == 1:
        return str(arguments[0])
    makers: Mapping[str, Callable[..., date | datetime | time]] = {
        "date": date,
        "datetime": datetime,
        "time": time,
    }
    maker = makers.get(_name(node.func))
    zones = {keyword.arg: ast.unparse(keyword.value).rpartition(".")[2].upper() for keyword in node.keywords}
    if maker is None or (zones and zones != {"tzinfo": "UTC"}):
        return None
    try:
        return f"{maker(*arguments).isoformat()}{'Z' if zones else ''}"
    except (TypeError, ValueError):
        return None


def _literal(node: ast.expr | None) -> Any:
    """Return the value of an expression that is one; its text for any other."""
    if node is None:
        return None
    if isinstance(node, ast.Call) and (written := _written(node)) is not None:
        return written
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return ast.unparse(node)


IMPORTER = Importer("pydantic", "file of Python with models of pydantic", read)
