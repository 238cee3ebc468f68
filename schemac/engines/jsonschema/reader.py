"""JSON Schemas as `schemac import` reads them.

Layer: engines.
Shape: an object with properties is a table. What has no kind of its own is any value of JSON, and the manifest says so in a comment
above the field, as it does of every keyword that it does not keep.
Errors: SC552 for what describes no objects.
Source: JSON Schema 2020-12 and draft 7, "Core" and "Validation".
"""

import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from schemac.engines.jsonschema.keywords import TYPE, expressed_attributes, has_annotations, leaf, redundant
from schemac.importers import importer
from schemac.importers.datasets import any_json, enumerated, fitting, member, optional, typed, with_attributes
from schemac.importers.sources import is_json_with
from schemac.language.attributes.attribute import KEY_PATTERN
from schemac.language.attributes.builtin import DEPRECATED, DESCRIPTION
from schemac.language.attributes.constraints import ENUM
from schemac.language.logical.model import FieldPath, Part
from schemac.text.source.diagnostics import Located, Report, Span
from schemac.text.source.json_object import Json
from schemac.text.source.text import decode_text

_KEY = re.compile(KEY_PATTERN)
_SILENT = frozenset(
    ["$schema", "$id", "$anchor", "$dynamicAnchor", "$comment", "$defs", "definitions", "title", "description", "type", "allOf",
     "$ref", "nullable", "deprecated"]
)  # fmt: skip
"""Keywords that are read for every type, or say nothing of values."""
_OF_STRUCTS = frozenset({"properties", "required"})
_OF_A_TYPE = frozenset({"type", "properties", "enum", "const", TYPE})
"""Keywords that tell a type even where there is a choice."""
_CHOICES = ("anyOf", "oneOf")
_DEEPEST = 100


def is_source(path: Path) -> bool:
    """Return whether a `.json` file names a dialect of JSON Schema; the suffix `.schema.json` is enough."""
    if path.suffix.lower() != ".json":
        return False
    return path.name.lower().endswith(".schema.json") or (
        is_json_with(path, b'"$schema":"http') and is_json_with(path, b"json-schema.org")
    )


def read(path: Path, report: Report) -> importer.ImportedSchema | None:
    """Read the schema of a file."""
    source = decode_text(path.read_bytes(), str(path), report)
    if source is None:
        return None
    try:
        document = json.loads(source.content, parse_float=importer.exact_number)
        json.dumps(document, default=str, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        reason = "a name or text in it is not valid Unicode"
        raise importer.UnreadableSourceError(reason) from error
    except (ValueError, RecursionError) as error:
        at = error.pos if isinstance(error, json.JSONDecodeError) else None
        place = None if at is None else Located(source, Span(at, at + 1))
        reason = f"it is not valid JSON: {importer.first_line(error)}"
        raise importer.UnreadableSourceError(reason, place) from error
    if not isinstance(document, dict):
        raise importer.UnreadableSourceError("it is not a JSON Schema of an object")
    return _Reader(document).table()


class _Reader:
    """Reads one document into a dataset in the form of a manifest."""

    def __init__(self, document: Json) -> None:
        self._document = document
        self._notes = importer.ImportNotes()
        self._open: list[str] = []
        """References that are being read."""
        self._null: dict[str, bool] = {}
        """By reference, whether null is a value of what it names; in a circle it is not."""

    def table(self) -> importer.ImportedSchema:
        """Read the whole document."""
        schema, _ = self._resolved(self._document, ())
        if not isinstance(schema.get("properties"), dict) and "items" in schema:
            self._note_rest(schema, (), frozenset({"items"}))
            self._notes.add((), "a record is an item of the list that the schema describes")
            title = schema.get("title")
            schema, _ = self._resolved(schema["items"], ())
            schema = {**({"title": title} if title is not None else {}), **schema}
        if not isinstance(schema.get("properties"), dict):
            reason = "it does not describe an object with properties, which a table has to be"
            raise importer.UnreadableSourceError(reason)
        title = schema.get("title")
        tree = with_attributes({"fields": self._members(schema, ())}, _extra(schema))
        self._note_rest(schema, (), _OF_STRUCTS)
        return importer.ImportedSchema(
            tree, name=title if isinstance(title, str) else None, notes=self._notes
        )

    def _members(self, schema: Json, holder: FieldPath) -> list[Json]:
        """Return the fields of an object's properties; those that it does not require become optional."""
        needed = schema.get("required")
        names = set(needed) if isinstance(needed, list) else set()
        members: list[Json] = []
        for name, inner in schema["properties"].items():
            path, is_needed = (*holder, name), name in names
            tree, is_null = self._field(inner, path)
            if not (is_needed or is_null):
                self._notes.add(path, "it may be absent, but not null; here it may be both")
            members.append(member(name, optional(tree, is_required=is_needed and not is_null)))
        return members

    def _part(self, schema: Any, path: FieldPath) -> Json:
        """Return the tree of an item, key or value, in an Option if it may be null."""
        tree, is_null = self._field(schema, path)
        return optional(tree, is_required=not is_null)

    def _field(self, schema: Any, path: FieldPath) -> tuple[Json, bool]:
        """Return the type of a place without its Option, with its attributes, and whether it may be null."""
        if len(path) > _DEEPEST:
            raise importer.UnreadableSourceError("it is nested too deeply")
        resolved, opened = self._resolved(schema, path)
        self._open += opened
        is_null = self._takes_null(resolved)
        resolved = _without_null(resolved)
        chosen = [key for key in _CHOICES if key in resolved]
        if len(chosen) == 1 and len(resolved[chosen[0]]) == 1 and not _OF_A_TYPE & resolved.keys():
            choice = resolved[chosen[0]][0]
            resolved = {key: value for key, value in resolved.items() if key != chosen[0]}
            tree, _ = self._field(choice, path)
            self._note_rest(resolved, path, frozenset())
        else:
            tree = self._type(resolved, path)
            is_null = is_null or tree["kind"] == "Null"
        del self._open[len(self._open) - len(opened) :]
        return with_attributes(tree, _extra(resolved)), is_null

    def _type(self, schema: Json, path: FieldPath) -> Json:
        """Return the tree of a schema without its null; JSON for what no kind fits."""
        declared_type = schema.get(TYPE)
        kind = declared_type.get("kind") if isinstance(declared_type, dict) else None
        if isinstance(declared_type, dict) and isinstance(kind, str) and kind != "Map":
            extra, _ = self._constraints(schema, dict(declared_type), path)
            return with_attributes(dict(declared_type), extra)
        if isinstance(schema.get("properties"), dict) and schema.get("type", "object") == "object":
            self._note_rest(schema, path, _OF_STRUCTS)
            return {"kind": "Struct", "fields": self._members(schema, path)}
        match schema.get("type"):
            case "object" if isinstance(schema.get("additionalProperties"), dict):
                self._note_rest(schema, path, frozenset({"additionalProperties", "propertyNames"}))
                value = self._part(schema["additionalProperties"], (*path, Part.VALUE))
                if isinstance(declared_type, dict):
                    return {**declared_type, "valueType": value}
                return {"kind": "Map", "keyType": self._key(schema, path), "valueType": value}
            case "array" if isinstance(schema.get("items"), dict):
                least, most = schema.get("minItems"), schema.get("maxItems")
                is_fixed = isinstance(least, int) and least == most and least > 0
                item = self._part(schema["items"], (*path, Part.ITEM))
                tree = {"kind": "List", "itemType": item, **({"fixedLength": least} if is_fixed else {})}
                extra, words = self._constraints(schema, tree, path)
                self._note_rest(schema, path, words | {"items"})
                return with_attributes(tree, extra)
        leaf_type = leaf(_with_inferred_type(schema))
        if leaf_type is None:
            silent = ("description", "title")
            rest = {key: value for key, value in schema.items() if key not in silent and "/" not in key}
            if rest:
                self._notes.add(path, f"any value of JSON; not kept: {_excerpt(rest)}")
            return any_json()
        tree = dict(leaf_type[0])
        extra, words = self._constraints(schema, tree, path)
        self._note_rest(schema, path, leaf_type[1] | words)
        return with_attributes(tree, extra)

    def _key(self, schema: Json, path: FieldPath) -> Json:
        """Return the type of the keys of an object: texts with the constraints of `propertyNames`."""
        names = schema.get("propertyNames")
        if not isinstance(names, dict):
            return {"kind": "String"}
        if names.get("type", "string") != "string":
            self._notes.add(path, f"not kept: {_keyword_text('propertyNames', schema)}")
            return {"kind": "String"}
        return self._part({"type": "string", **names}, (*path, Part.KEY))

    def _constraints(self, schema: Json, tree: Json, path: FieldPath) -> tuple[Json, frozenset[str]]:
        """Return the constraints among the keywords, and which keywords need no note any more."""
        type_ = typed(tree)
        if type_ is None:
            return {}, frozenset()
        expressed = expressed_attributes(schema, type_)
        # An annotation of ours says more exactly what the keyword beside it says.
        requested = {key: value for key, value in expressed.items() if key not in schema}
        if isinstance(values := requested.get(ENUM.key), list):
            requested |= enumerated(values)
        accepted, lost = fitting(tree, requested)
        for key, reason in lost.items():
            self._notes.add(path, f"not kept: {_keyword_text(key.rpartition('/')[2], schema)}: {reason}")
        words = {key.rpartition("/")[2] for key in expressed} | redundant(schema, type_)
        return accepted, frozenset(words | {"const"} if "const" in schema and expressed else words)

    def _note_rest(self, schema: Json, path: FieldPath, handled: frozenset[str]) -> None:
        """Note the keywords that are lost."""
        for key in schema:
            is_silent = key in _SILENT or key in handled or "/" in key
            if not is_silent and not _says_nothing(key, schema):
                self._notes.add(path, f"not kept: {_keyword_text(key, schema)}")
        if schema.get("additionalProperties") is False or schema.get("unevaluatedProperties") is False:
            self._notes.add(path, "not kept: other properties are not allowed")
        needed = schema.get("required") if "required" in handled else None
        for name in needed if isinstance(needed, list) else ():
            if name not in schema["properties"]:
                self._notes.add(path, f"not kept: the property {name} is required")

    def _takes_null(self, schema: Any) -> bool:
        """Whether null is valid for a schema, by its types, values and choices."""
        if not isinstance(schema, dict):
            return schema is True
        named = schema.get("type")
        names = [named] if isinstance(named, str) else named if isinstance(named, list) else []
        answers: list[bool] = [schema.get("nullable") is True or "null" in names] if names else []
        if isinstance(schema.get("enum"), list):
            answers.append(None in schema["enum"])
        if "const" in schema:
            answers.append(schema["const"] is None)
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference.startswith("#"):
            if reference not in self._null:
                self._null[reference] = False
                self._null[reference] = self._takes_null(self._target(reference))
            answers.append(self._null[reference])
        choices = [schema[key] for key in _CHOICES if isinstance(schema.get(key), list)]
        answers += [any(self._takes_null(one) for one in choice) for choice in choices]
        parts = schema["allOf"] if isinstance(schema.get("allOf"), list) else []
        return all([*answers, *(self._takes_null(one) for one in parts)])

    def _resolved(self, schema: Any, path: FieldPath, around: Sequence[str] = ()) -> tuple[Json, list[str]]:
        """Return a schema without references and `allOf`, and the references that it came through, behind those around it."""
        opened: list[str] = []
        while True:
            if not isinstance(schema, dict):
                return ({} if schema is True else {"not": {}}), opened
            reference = schema.get("$ref")
            if isinstance(reference, str) and not reference.startswith("#"):
                self._notes.add(path, f"not kept: {reference}, which is in another document")
                schema = {key: value for key, value in schema.items() if key != "$ref"}
                continue
            if isinstance(reference, str):
                if reference in (*self._open, *around, *opened):
                    self._notes.add(path, f"it contains itself ({reference})")
                    return {}, opened
                rest = {key: value for key, value in schema.items() if key != "$ref"}
                target = self._target(reference)
                opened.append(reference)
                self._note_clashes(rest, target, path)
                schema = {**target, **rest} if isinstance(target, dict) else target
                continue
            parts = schema.get("allOf")
            if not isinstance(parts, list):
                return schema, opened
            merged = {key: value for key, value in schema.items() if key != "allOf"}
            for part in parts:
                resolved, more = self._resolved(part, path, (*around, *opened))
                opened += more
                self._note_clashes(merged, resolved, path)
                merged = _merged(merged, resolved)
            schema = merged

    def _note_clashes(self, one: Json, other: Any, path: FieldPath) -> None:
        """Note the keywords of the second of two schemas to which the first gives another value."""
        for key in other if isinstance(other, dict) and not has_annotations(one) else ():
            is_clash = key in one and one[key] != other[key] and "/" not in key
            are_objects = is_clash and isinstance(one[key], dict) and isinstance(other[key], dict)
            if are_objects and key == "properties":
                # They are put together, but a property that both have is that of the first.
                for name in other[key]:
                    if one[key].get(name, other[key][name]) != other[key][name]:
                        text = _keyword_text(name, other[key])
                        self._notes.add(path, f"not kept of the property {name}: {text}")
            elif is_clash and (key == "type" or key not in _SILENT) and key != "required":
                self._notes.add(path, f"not kept: {_keyword_text(key, other)}")

    def _target(self, reference: str) -> Any:
        """Return the schema that a reference within the document leads to; a draft that is not declared is tried out."""
        # Imported here for start-up time.
        from referencing import Registry
        from referencing.exceptions import Unresolvable
        from referencing.jsonschema import DRAFT4, DRAFT7, DRAFT202012

        for draft in (DRAFT202012, DRAFT7, DRAFT4):
            try:
                registry = Registry().with_resource("", draft.create_resource(self._document))
                return registry.resolver().lookup(reference).contents
            # What stands where a schema should be is taken for one.
            except (Unresolvable, AttributeError, TypeError, ValueError, RecursionError):
                continue
        raise importer.UnreadableSourceError(f"{reference} does not exist")


def _keyword_text(key: str, schema: Json) -> str:
    """Return a keyword with its value."""
    return f"{key} {_excerpt(schema.get(key, schema.get('const')))}"


def _excerpt(value: Any) -> str:
    """Return a value as JSON, cut at 200 characters."""
    text = json.dumps(value, default=float, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:200]}…"


def _merged(one: Json, other: Json) -> Json:
    """Return two schemas merged, if their keywords and properties are different."""
    merged = {**one, **{key: value for key, value in other.items() if key not in one}}
    if isinstance(one.get("properties"), dict) and isinstance(other.get("properties"), dict):
        merged["properties"] = {**other["properties"], **one["properties"]}
    if isinstance(one.get("required"), list) and isinstance(other.get("required"), list):
        merged["required"] = [*one["required"], *other["required"]]
    return merged


def _without_null(schema: Json) -> Json:
    """Return a schema without null: in a list of types, the values, or a choice."""
    named = schema.get("type")
    if isinstance(named, list):
        others = [name for name in named if name != "null"]
        schema = {**schema, "type": others[0] if len(others) == 1 else others or "null"}
    if isinstance(schema.get("enum"), list) and None in schema["enum"]:
        values = [value for value in schema["enum"] if value is not None]
        schema = {**schema, "enum": values} if values else {**schema, "type": "null"}
    for key in _CHOICES:
        choice = schema.get(key)
        if isinstance(choice, list):
            others = [one for one in choice if not (isinstance(one, Mapping) and one.get("type") == "null")]
            schema = {**schema, key: others}
            if not others:
                del schema[key]
    if "const" in schema and schema["const"] is None:
        schema = {**{key: value for key, value in schema.items() if key != "const"}, "type": "null"}
    return schema


def _says_nothing(key: str, schema: Json) -> bool:
    """Whether a keyword is there with a value that every value keeps."""
    if key in ("additionalProperties", "unevaluatedProperties"):
        # False is said in other words.
        return isinstance(schema[key], bool)
    return (key == "required" and schema[key] == []) or (key == "items" and schema[key] is True)


def _with_inferred_type(schema: Json) -> Json:
    """Return a schema whose type is that of its values, where it names none: of `enum` and `const`."""
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if "type" in schema or not isinstance(values, list) or not values:
        return schema
    if all(isinstance(value, str) for value in values):
        return {"type": "string", **schema}
    is_whole = all(isinstance(value, int) and not isinstance(value, bool) for value in values)
    return {"type": "integer", **schema} if is_whole else schema


def _extra(schema: Json) -> Json:
    """Return the attributes among the keywords."""
    description = schema.get("description")
    attributes: Json = {DESCRIPTION.key: description} if isinstance(description, str) else {}
    if schema.get("deprecated") is True:
        attributes[DEPRECATED.key] = {}
    keys = (key for key in schema if "/" in key and key != TYPE and _KEY.fullmatch(key))
    return {**attributes, **{key: _plain(schema[key]) for key in keys}}


def _plain(value: Any) -> Any:
    """Return a value of an attribute, in which a number with a fraction is a float again."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return float(value) if isinstance(value, Decimal) else value


IMPORTER = importer.Importer("jsonschema", "JSON Schema of an object", read)
