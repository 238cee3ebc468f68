"""Models of pydantic as `schemac import` reads them: a file of Python, which is read as text and never run.

Layer: engines.
Shape: a model that no other of the file is made of is a table. What has no kind of its own is any value of JSON, and the manifest says
so in a comment above the field.
Errors: SC552 for a file without models.
Source: the documentation of pydantic 2, "Fields" and "Standard Library Types"; of LanceDB, `LanceModel` and `Vector`.
"""

import ast
import json
from pathlib import Path
from typing import Any

from schemac.engines.pydantic import modules
from schemac.importers import datasets
from schemac.importers.importer import ImportedSchema, Importer, ImportNotes, UnreadableSourceError, together
from schemac.language.attributes.builtin import DEPRECATED, DESCRIPTION, DOMAIN
from schemac.language.attributes.constraints import UNIQUE_ITEMS
from schemac.language.logical.model import FieldPath, Part
from schemac.text.source.diagnostics import Report
from schemac.text.source.json_object import Json

_DEEPEST = 50
_WITH_NONE = frozenset({"Any", "object"})
"""Any value of JSON, also null."""
_OF_PROGRAMS = (
    "in a program, use `schemac.from_arrow(rides_schema.ARROW_SCHEMA)` with a module of the target `python`"
)


def read(path: Path, report: Report) -> ImportedSchema | None:
    """Read the models of a file."""
    module = modules.Module.read(path, report)
    if module is None:
        return None
    return together(_Reader(module).tables())


class _Reader:
    """Reads the models of one module into datasets in the form of a manifest."""

    def __init__(self, module: modules.Module) -> None:
        self._module = module
        self._aliases, self._classes = module.values, module.classes
        self._notes = ImportNotes()
        self._open: list[str] = []
        self._digits: Json | None = None
        """The type of a Decimal whose digits are said around it."""

    def tables(self) -> list[ImportedSchema]:
        """Return the models that no other is made of, in the order of the file."""
        module = self._module
        with_fields = [name for name in self._classes if module.members(name)]
        models = [name for name in with_fields if module.descends(name, modules.BASES)]
        used = {
            node.id
            for name in models
            for member in module.members(name)
            for node in ast.walk(member.annotation)
            if isinstance(node, ast.Name)
        }
        used |= {base for name in models for base in module.bases(name)}
        tables = [self._table(name) for name in models if name not in used]
        if not tables:
            reason = "it has no model with fields that is not part of another model"
            raise UnreadableSourceError(reason, help=_OF_PROGRAMS)
        return tables

    def _table(self, name: str) -> ImportedSchema:
        """Return a model as a dataset, named by the title in its configuration or by its class."""
        self._notes, self._open = ImportNotes(), [name]
        config = self._config(name)
        extra = config.get("json_schema_extra")
        attributes: Json = {}
        docstring = ast.get_docstring(self._classes[name])
        if docstring and not docstring.startswith("A record of "):
            attributes[DESCRIPTION.key] = docstring
        if isinstance(extra, dict):
            attributes |= {key: value for key, value in extra.items() if "/" in key}
        schema: Json = {"fields": self._members(name, ()), "extra": attributes}
        title = config.get("title")
        return ImportedSchema(schema, name=title if isinstance(title, str) else name, notes=self._notes)

    def _config(self, name: str) -> Json:
        """Return the settings of a model: of its head, of `model_config`, and of the class `Config` that pydantic 1 has."""
        class_node = self._classes[name]
        config = modules.keywords_of(class_node)
        for statement in class_node.body:
            if isinstance(statement, ast.ClassDef) and statement.name == "Config":
                config |= {
                    target.id: modules.literal(one.value)
                    for one in statement.body
                    if isinstance(one, ast.Assign)
                    for target in one.targets
                    if isinstance(target, ast.Name)
                }
            (target, *_) = getattr(statement, "targets", [getattr(statement, "target", None)])
            if isinstance(target, ast.Name) and target.id == "model_config":
                value = getattr(statement, "value", None)
                if isinstance(value, ast.Call):
                    config |= {
                        keyword.arg or "": modules.literal(keyword.value) for keyword in value.keywords
                    }
                elif isinstance(settings := modules.literal(value), dict):
                    config |= settings
        return config

    def _members(self, name: str, holder: FieldPath) -> list[Json]:
        """Return the fields of a model; note the validators and settings that are lost."""
        for one in reversed(self._module.lineage(name)):
            if one.name == name or one.name not in modules.BASES:
                self._note_rules(one.name, holder)
        return [self._member(member, holder) for member in self._module.members(name)]

    def _note_rules(self, name: str, holder: FieldPath) -> None:
        """Note the settings and functions of a model about its values."""
        for key, value in self._config(name).items():
            if key not in modules.CONFIG_READ and (key, value) != ("extra", "ignore"):
                self._notes.add(holder, f"not kept: {key}={value!r} of the model {name}")
        functions = [one for one in self._classes[name].body if isinstance(one, ast.FunctionDef)]
        for function, decorator in [
            (one, decorator) for one in functions for decorator in one.decorator_list
        ]:
            word = modules.name_of(decorator)
            if word in modules.VALIDATORS:
                arguments = decorator.args if isinstance(decorator, ast.Call) else []
                fields = [modules.literal(one) for one in arguments] if word != "model_validator" else []
                for field in fields or [None]:
                    path = (*holder, field) if isinstance(field, str) and field != "*" else holder
                    self._notes.add(path, f"not kept: the {word} {function.name}")

    def _member(self, field: modules.ModelField, holder: FieldPath) -> Json:
        """Return a field under its alias, if it has one; note a default that is lost."""
        settings = modules.settings_of(field.value)
        alias = settings.get("alias")
        path = (*holder, alias if isinstance(alias, str) else field.name)
        more = settings.get("json_schema_extra")
        has_attributes = isinstance(more, dict) and any("/" in key for key in more)
        tree = self._with_digits(field.annotation, settings, path)
        tree = self._narrowed(tree, {} if has_attributes else settings, path)
        extra = tree.pop("extra", {})
        if (deprecated := settings.get("deprecated")) is not None and deprecated is not False:
            extra = {DEPRECATED.key: {"note": deprecated} if isinstance(deprecated, str) else {}, **extra}
        if isinstance(settings.get("description"), str):
            extra = {DESCRIPTION.key: settings["description"], **extra}
        if isinstance(more, dict):
            extra |= {key: value for key, value in more.items() if "/" in key}
        if settings.get("default") is not None:
            self._notes.add(path, f"not kept: the default {settings['default']!r}")
        return datasets.member(str(path[-1]), tree, extra)

    def _with_digits(self, node: ast.expr, settings: Json, path: FieldPath) -> Json:
        """Return the type of an annotation, with the digits of a Decimal from the settings."""
        before, self._digits = self._digits, _digits(settings) or self._digits
        try:
            return self._type(node, path)
        finally:
            self._digits = before

    def _type(self, node: ast.expr, path: FieldPath) -> Json:
        """Return the type of an annotation, with its attributes as `extra` next to the outermost kind."""
        if len(path) > _DEEPEST:
            raise UnreadableSourceError("it is nested too deeply", help=_OF_PROGRAMS)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                return self._type(ast.parse(node.value, mode="eval").body, path)
            except (SyntaxError, ValueError):
                return self._unknown(node, path)
        choices = modules.choices_of(node)
        others = [choice for choice in choices or [node] if not modules.is_none(choice)]
        if not others:
            return _optional({"kind": "Null"})
        if choices is not None:
            tree = self._type(others[0], path) if len(others) == 1 else self._unknown(node, path)
            return tree if len(others) == len(choices) else _optional(tree)
        if isinstance(node, ast.Subscript):
            return self._generic(node, path)
        if isinstance(node, ast.Call):
            return self._call(node, path)
        return self._named(node, path)

    def _named(self, node: ast.expr, path: FieldPath) -> Json:
        """Return the tree of an alias, model, enumeration or type; JSON, with a note, for an unknown name."""
        name = modules.name_of(node)
        if name in self._aliases:
            return self._inside(name, lambda: self._type(self._aliases[name], path), path)
        if name in self._classes and self._module.descends(name, modules.BASES):
            return self._inside(name, lambda: datasets.struct(self._members(name, path)), path)
        if name in self._classes and any(base.endswith("Enum") for base in self._module.bases(name)):
            values = [
                modules.literal(one.value) for one in self._classes[name].body if isinstance(one, ast.Assign)
            ]
            kind = {frozenset({str}): "String", frozenset({int}): "Int64"}.get(frozenset(map(type, values)))
            # An expression is a text here, which no enumeration is made of.
            if kind is None or any(isinstance(value, str) and "(" in value for value in values):
                self._notes.add(path, f"not kept: the values of {name}")
                return {"kind": kind or "String"}
            return self._constrained({"kind": kind}, datasets.enumerated(values), path)
        if name in modules.JSON:
            return _optional(datasets.any_json()) if name in _WITH_NONE else datasets.any_json()
        if name in modules.NARROWER:
            self._notes.add(path, f"not kept: that it is a {name}")
            return dict(modules.NARROWER[name])
        if name in modules.PLAIN:
            if name == "datetime":
                self._notes.add(path, "a datetime, with a zone or without; here it is an instant in UTC")
            return datasets.optional(json.loads(json.dumps(modules.PLAIN[name])), is_required=True)
        if name == "Decimal" and self._digits is not None:
            return dict(self._digits)
        if name in modules.LISTS:
            return datasets.list_of(datasets.any_json())
        return self._unknown(node, path)

    def _constrained(self, tree: Json, constraints: Json, path: FieldPath) -> Json:
        """Return a type with constraints next to its outermost kind; those that it cannot have are noted."""
        accepted, lost = datasets.fitting(tree, constraints)
        for key, reason in lost.items():
            self._notes.add(path, f"not kept: {key.rpartition('/')[2]} {constraints[key]!r}: {reason}")
        return datasets.with_attributes(tree, accepted)

    def _inside(self, name: str, make: Any, path: FieldPath) -> Json:
        """Return the result of `make`, or JSON with a note if the name contains itself."""
        if name in self._open:
            self._notes.add(path, f"it contains itself ({name})")
            return datasets.any_json()
        self._open.append(name)
        try:
            tree: Json = make()
            return tree
        finally:
            self._open.pop()

    def _generic(self, node: ast.Subscript, path: FieldPath) -> Json:
        """Return the tree of a type with arguments; JSON, with a note, for an unknown one."""
        name = modules.name_of(node.value)
        arguments = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name == "Annotated":
            return self._annotated(arguments, path)
        if name in modules.LISTS or (
            name in ("tuple", "Tuple") and len(arguments) == 2 and ast.unparse(arguments[1]) == "..."
        ):
            tree = datasets.list_of(self._type(arguments[0], (*path, Part.ITEM)))
            if name.lower() in ("set", "frozenset"):
                return self._constrained(tree, {UNIQUE_ITEMS.key: True}, path)
            if name.lower() not in ("list", "sequence"):
                self._notes.add(path, f"not kept: that it is a {name}")
            return tree
        if name in modules.MAPS and len(arguments) == 2:
            key, value = arguments
            return datasets.map_of(self._type(key, (*path, Part.KEY)), self._type(value, (*path, Part.VALUE)))
        if name == "Literal" and all(isinstance(argument, ast.Constant) for argument in arguments):
            others = [modules.literal(argument) for argument in arguments if not modules.is_none(argument)]
            kinds = {str: "String", int: "Int64", bool: "Bool"}
            kind = next((kind for type_, kind in kinds.items() if {type_} == set(map(type, others))), None)
            if kind is not None:
                tree = self._constrained({"kind": kind}, datasets.enumerated(others), path)
                return tree if len(others) == len(arguments) else _optional(tree)
        return self._unknown(node, path)

    def _annotated(self, arguments: list[ast.expr], path: FieldPath) -> Json:
        """Return the tree of the first argument, with settings and metadata of the others; note what is lost."""
        settings: Json = {}
        metadata: Json = {}
        others: list[str] = []
        for argument in arguments[1:]:
            if isinstance(argument, ast.Name):
                argument = self._aliases.get(argument.id, argument)
            argument_metadata = modules.compiler_metadata(argument)
            metadata |= argument_metadata
            is_read = isinstance(argument, ast.Call) and modules.name_of(argument.func) in modules.SETTERS
            settings |= modules.settings_of(argument) if is_read else {}
            others += [] if is_read or argument_metadata else [ast.unparse(argument)[:200]]
        for other in others if not metadata and "Record" not in self._classes else ():
            self._notes.add(path, f"not kept: {other}")
        is_leaf = "kind" in metadata and metadata["kind"] != "Map"
        extra = metadata.pop("extra", {})
        tree = dict(metadata) if is_leaf else {**self._with_digits(arguments[0], settings, path), **metadata}
        tree = self._narrowed(tree, {} if is_leaf else settings, path)
        return datasets.with_attributes(tree, extra)

    def _narrowed(self, tree: Json, settings: Json, path: FieldPath) -> Json:
        """Return a type with the constraints of `Field`; the rest is noted."""
        inner = tree["inner"] if tree["kind"] == "Option" else tree
        least, most = settings.get("min_length"), settings.get("max_length")
        settings = {
            key: value for key, value in settings.items() if key not in modules.READ and value is not None
        }
        if inner["kind"] == "List" and isinstance(least, int) and least == most and least > 0:
            inner["fixedLength"] = least
            del settings["min_length"], settings["max_length"]
        constraints: Json = {}
        for key, value in settings.items():
            rule = modules.RULES.get(key)
            if rule is not None:
                rule = rule.replace("Length", "Items") if inner["kind"] == "List" else rule
                constraints[f"{DOMAIN}/{rule}"] = value
            elif key not in ("max_digits", "decimal_places") or inner["kind"] != "Decimal":
                self._notes.add(path, f"not kept: {key} {value!r}")
        return self._constrained(tree, constraints, path)

    def _call(self, node: ast.Call, path: FieldPath) -> Json:
        """Read `Vector(128)` of LanceDB and `condecimal(max_digits=…)`; of other calls, what they narrow."""
        name = modules.name_of(node.func)
        settings = modules.keywords_of(node)
        if name == "Vector" and node.args:
            length = modules.literal(node.args[0])
            if isinstance(length, int) and length > 0:
                return {"kind": "List", "itemType": {"kind": "Float32"}, "fixedLength": length}
        if name.startswith("con") and name[3:] in ("int", "float", "str", "bytes", "date"):
            return self._narrowed(dict(modules.PLAIN[name[3:]]), settings, path)
        if name == "condecimal" and (digits := _digits(settings)) is not None:
            return self._narrowed(dict(digits), settings, path)
        if name in ("conlist", "conset", "confrozenset") and node.args:
            settings |= {} if name == "conlist" else {"unique_items": True}
            return self._narrowed(
                datasets.list_of(self._type(node.args[0], (*path, Part.ITEM))), settings, path
            )
        return self._unknown(node, path)

    def _unknown(self, node: ast.expr, path: FieldPath) -> Json:
        """Return JSON for a type without a kind, and note its source."""
        self._notes.add(path, f"any value of JSON; not kept: the type {ast.unparse(node)[:200]}")
        return datasets.any_json()


def _digits(settings: Json) -> Json | None:
    """Return the type of a Decimal with both numbers of digits."""
    precision, scale = settings.get("max_digits"), settings.get("decimal_places")
    if not isinstance(precision, int) or not isinstance(scale, int) or not 0 <= scale <= precision <= 76:
        return None
    return {"kind": "Decimal", "precision": precision, "scale": scale} if precision else None


def _optional(tree: Json) -> Json:
    """Return a type that may be null; its attributes are next to the outermost kind."""
    bare, extra = datasets.split_extra(tree)
    return datasets.with_attributes(datasets.optional(bare, is_required=False), extra)


IMPORTER = Importer("pydantic", "file of Python with models of pydantic", read)
