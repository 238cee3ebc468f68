"""Rewrites friendly forms into the standard's: names, incomplete types, and system columns.

Layer: language.
Shape: plain values in, plain values out; a standard form is returned as it is. Paths are those of the document. In
strict mode only the short form is rewritten, and every friendly form is an error. Missing system columns are inserted
first, in the standard's order; a finding about an inserted column is at `fields`.
Errors: SC204, SC210 to SC214, SC218.
Source: RFC-016 and its sample; the three spellings are those of the reference implementation. Whether system columns
may be omitted is an open question of RFC-016. The name of a dataset is a folder of the artifacts; the standard allows
an account before a slash.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import takewhile
from typing import Any, Literal, NamedTuple, get_args

from pydantic.fields import FieldInfo

from schemac.language.attributes.attribute import spellings
from schemac.language.attributes.builtin import DESCRIPTION
from schemac.language.kinds.nested import OPTIONAL_NULL, Option
from schemac.language.kinds.registry import BY_NAME, SPELLINGS
from schemac.language.kinds.temporal import ARROW_UNITS
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import TYPE_KEYS, Field, LogicalType, Member, Schema, SchemaField
from schemac.language.logical.names import VARIANTS
from schemac.text.source import catalogue as codes
from schemac.text.source.diagnostics import Report, SourceText
from schemac.text.source.json_object import Json, TreePath
from schemac.text.source.phrases import Help, closest
from schemac.text.syntax.document import Document, parse
from schemac.text.syntax.events import flow
from schemac.text.syntax.model import sort_of

AddFinding = Callable[..., None]


def _properties(kind: type[LogicalType]) -> dict[str, FieldInfo]:
    """Return the properties of a kind, by the keys that manifests write."""
    return {field.alias or name: field for name, field in kind.model_fields.items()}


_TYPE_PARAMETERS = {
    name: tuple(key for key in TYPE_KEYS if key in _properties(kind)) for name, kind in BY_NAME.items()
}
_HAS_UNIT = frozenset(name for name, kind in BY_NAME.items() if "unit" in _properties(kind))
_UNITS = {spelling: unit for unit in ARROW_UNITS for spelling in spellings(unit)}
_PLURALS = {spelling + "s": unit for spelling, unit in _UNITS.items()}


class Standardizer(NamedTuple):
    """Rewrites schema bodies of one document; `add` reports what is wrong with them."""

    document: Document
    is_strict: bool
    add: AddFinding

    def schema(self, value: Any, at: TreePath) -> Any:
        """Return a DataSchema mapping: fields, extra, and our description next to them."""
        if not isinstance(value, dict):
            return value
        body = self._with_description(value, at) if "description" in value else value
        fields = body.get("fields")
        if not isinstance(fields, list):
            return body
        return {**body, "fields": self._standard_fields(fields, (*at, "fields"))}

    def _standard_fields(self, fields: list[Any], at: TreePath) -> list[Any]:
        """Return fields in the form of the standard; those that are no mapping as they are."""
        return [
            self._field(field, (*at, i)) if isinstance(field, dict) else field
            for i, field in enumerate(fields)
        ]

    def _field(self, field: Json, at: TreePath) -> Json:
        """Return a field in the form of the standard; the same object if it is that already."""
        written = field
        if "description" in field:
            field = self._with_description(field, at)
        name = field.get("name")
        if name.__class__ is not str and "name" in field and not isinstance(name, list | dict):
            field = {**field, "name": self._quoted_name(name, (*at, "name"))}
        if "type" not in field:
            return field
        type_ = field["type"]
        standard = self._type(type_, (*at, "type"), is_nested=False)
        if standard is not type_:
            field = dict(field) if field is written else field
            field["type"] = standard
        return field

    def _quoted_name(self, name: Any, at: TreePath) -> str:
        """Return a name that YAML does not read as a text as it is written, after reporting that."""
        location = self.document.location(at)
        written = location.source.excerpt(location.span)
        message = f"YAML reads the name {written or 'here'} as {sort_of(name)}"
        self.add(codes.UNQUOTED_NAME, at, message, help=Help.quote(written))
        return written or "?"

    def _with_description(self, holder: Json, at: TreePath) -> Json:
        """Return `description:` next to the name is the attribute of that name."""
        rest = dict(holder)
        text, extra = rest.pop("description"), holder.get("extra", {})
        if self.is_strict:
            code, message = codes.FRIENDLY_FORM, "the standard has no `description` here"
            help = Help.move_to_extra(f"move it under `extra:` as `{DESCRIPTION.key}`", DESCRIPTION.key)
        elif not isinstance(text, str):
            code, message = codes.WRONG_TYPE, f"a description has to be a text, not {sort_of(text)}"
            help = Help.quote()
        elif isinstance(extra, dict) and DESCRIPTION.key in extra:
            code, message = codes.SECOND_DESCRIPTION, "there are two descriptions"
            help = f"keep this one, or `{DESCRIPTION.key}`"
        else:
            return {**rest, "extra": {DESCRIPTION.key: text, **extra}} if isinstance(extra, dict) else rest
        self.add(code, (*at, "description"), message, help=help, on_key=code is not codes.WRONG_TYPE)
        return rest

    def _type(self, value: Any, at: TreePath, *, is_nested: bool) -> Any:
        """Return a type as a mapping in the spelling of the standard; the same object if it is that already."""
        if value.__class__ is str:
            return {"kind": self._kind(value, at)}
        if value is None:
            return self._null(at, is_nested)
        if not isinstance(value, dict):
            return {"kind": value}
        written = value.get("kind")
        if written.__class__ is not str:
            return self._null((*at, "kind"), is_nested) if written is None and "kind" in value else value
        kind = written
        if self.is_strict or written not in BY_NAME:
            kind = self._kind(written, (*at, "kind"))
        changed: Json = {} if kind is written else {"kind": kind}
        if len(value) == 1:
            return value if kind is written else changed
        for key in _TYPE_PARAMETERS.get(kind, ()):
            if key in value:
                inner = value[key]
                standard = self._type(inner, (*at, key), is_nested=True)
                if standard is not inner:
                    changed[key] = standard
        if kind in _HAS_UNIT and value.get("unit").__class__ is str:
            unit = self._unit(value["unit"], (*at, "unit"))
            if unit is not value["unit"]:
                changed["unit"] = unit
        if kind == "Struct" and isinstance(value.get("fields"), list):
            changed["fields"] = self._standard_fields(value["fields"], (*at, "fields"))
        if self.is_strict and kind == "Timestamp" and value.get("timezone", "") is None:
            message = "the standard has no timestamp without a zone"
            help = Help.write("UTC", key="timezone", is_safe=False)
            self.add(codes.FRIENDLY_FORM, (*at, "timezone"), message, help=help)
        if self.is_strict and value.get("fixedLength", 0) is None:
            message = "in the standard `fixedLength` needs a number"
            help = Help.remove(": a variable length is the default")
            self.add(codes.FRIENDLY_FORM, (*at, "fixedLength"), message, help=help)
        if "extra" in value:
            return self._without_misplaced_extra({**value, **changed}, at, is_nested)
        return {**value, **changed} if changed else value

    def _without_misplaced_extra(self, value: Json, at: TreePath, is_nested: bool) -> Json:
        """Return a type without attributes that belong to its field, or that the standard does not have there, after reporting them."""
        if is_nested and not self.is_strict:
            return value
        message = "the `extra` of a field belongs next to its `name`"
        help = Help.move_to_field("move it one level out, beside `name` and `type`")
        if is_nested:
            message = "the standard has attributes only on fields"
            help = Help.remove(help="remove it, or compile without --strict", is_safe=False)
        self.add(codes.FRIENDLY_FORM, (*at, "extra"), message, help=help, on_key=True)
        return {key: item for key, item in value.items() if key != "extra"}

    def _kind(self, written: str, at: TreePath) -> str:
        """Return a kind as the standard spells it; strict mode reports other spellings, and kinds that the standard does not have."""
        kind = self._word(written, SPELLINGS, at)
        if self.is_strict and kind in BY_NAME and BY_NAME[kind].standard_number is None:
            self.add(
                codes.FRIENDLY_FORM, at, f"the standard has no kind {kind}", help="compile without --strict"
            )
        return kind

    def _unit(self, written: str, at: TreePath) -> str:
        """Return a unit as the standard spells it, in the singular; a plural is reported, and in strict mode any other spelling."""
        singular = _PLURALS.get(written)
        if singular is not None and not self.is_strict:
            message = f"units are written in the singular, not '{written}'"
            self.add(codes.PLURAL_UNIT, at, message, help=Help.write(singular))
            return singular
        return self._word(written, _UNITS, at)

    def _word(self, written: str, words: Mapping[str, str], at: TreePath) -> str:
        """Return a word as the standard spells it, an unknown one as it is; strict mode reports another spelling."""
        word = words.get(written, written)
        if word == written:
            return written
        if self.is_strict:
            message = f"the standard spells '{written}' as {word}"
            self.add(codes.LENIENT_SPELLING, at, message, help=Help.write(word))
        return word

    def _null(self, at: TreePath, is_nested: bool) -> Json:
        """Return Null for a null without quotes, in an Option if it is not in one, after reporting it; an empty type if nothing is written."""
        location = self.document.location(at)
        written = location.source.excerpt(location.span)
        if not written:
            return {}
        inner = {"kind": "Null"}
        inside_option = is_nested and "inner" in at[-2:]
        help = Help.write_in_quotes("Null") if inside_option else Help.write_type(OPTIONAL_NULL)
        self.add(codes.UNQUOTED_NULL, at, f'YAML reads {written} as "no value"', help=help)
        return inner if inside_option else {"kind": "Option", "inner": inner}


def with_system_columns(dataset: LogicalDataset, variant: str) -> LogicalDataset:
    """Return the dataset with all its system columns."""
    names = dataset.naming.names
    present = {field.name for field in dataset.schema.fields}
    types = [BY_NAME[kind](kind=kind) for kind in (*VARIANTS[variant], "Timestamp", "Timestamp")]
    added = [
        Field(name=name, type=type_) for name, type_ in zip(names, types, strict=True) if name not in present
    ]
    if not added or not dataset.is_whole:
        return dataset
    new = [(field, SchemaField(None, Member(field.name, ("fields",), field))) for field in added]
    old = list(zip(dataset.schema.fields, dataset.columns, strict=True))
    leading = list(takewhile(lambda column: column[0].name in names, old))
    positions = [names.index(field.name) for field, _ in leading]
    first = [*new, *leading]
    if positions == sorted(positions):
        first.sort(key=lambda column: names.index(column[0].name))
    fields, schema_fields = zip(*first, *old[len(leading) :], strict=True)
    return replace(dataset, schema=Schema(fields=fields, extra=dataset.schema.extra), columns=schema_fields)


def complete_type(written: Mapping[str, Any]) -> str | None:
    """Return a type with the properties that its author has written, and its kind's example for those that are missing.

    An unknown key is taken for the property with a similar name, or for the only missing part.
    """
    kind = BY_NAME.get(str(written.get("kind")))
    if kind is None:
        return None
    (document,) = parse(SourceText(kind.example, "<example>"), Report())
    example: Any = document.value
    if not isinstance(example, dict):
        return None
    properties = _properties(kind)
    missing = [key for key, field in properties.items() if field.is_required() and key not in written]
    whole = {**{key: example[key] for key in missing if key in example}, **written}
    for key in [key for key in written if key not in properties]:
        value = whole.pop(key)
        alike = [name for name in missing if _are_alike(example.get(name), value)]
        is_doubled = isinstance(value, dict) and value.get("kind") == kind.__name__ == Option.__name__
        parts = [name for name in alike if _is_type(value) and not is_doubled]
        near = None if isinstance(value, dict) else closest(key, alike)
        meant = near or (parts[0] if len(parts) == 1 else None)
        if meant is not None:
            whole[meant] = value
    return flow({key: whole[key] for key in properties if key in whole})


def _are_alike(one: Any, other: Any) -> bool:
    """Whether two values are of one sort: two types, or two numbers."""
    return _is_type(other) if _is_type(one) else type(one) is type(other) and not isinstance(one, str)


def _is_type(value: Any) -> bool:
    """Whether a value is a type, by its outermost kind."""
    kind = value.get("kind") if isinstance(value, dict) else value
    return isinstance(kind, str) and kind in BY_NAME


OtherEventKind = Literal[
    "AddData", "ExecuteTransform", "Seed", "SetPollingSource", "SetTransform", "SetVocab", "SetAttachments", "SetInfo",
    "SetLicense", "AddPushSource", "DisablePushSource", "DisablePollingSource",
]  # fmt: skip
DatasetKind = Literal["Root", "Derivative"]
EVENTS = ("SetDataSchema", *get_args(OtherEventKind))
SOURCE_EVENTS = ("SetPollingSource", "AddPushSource")
"""Events of what is read; its step `read` may have a schema."""
DOCUMENT_KINDS = ("DatasetSnapshot", "MetadataEvent")

# A name is a folder: Windows takes no blank or dot at the end of one.
_PART = r"\w(?:[\w.\- ]*[\w\-])?"
_NAME = re.compile(rf"(?:{_PART}/)?{_PART}")
_START, _END = r"[^\x00-/:-@\[-^`{-\x7f]", r"[^\x00-,./:-@\[-^`{-\x7f]"
_ASCII_PART = rf"{_START}(?:[^\x00-\x1f!-,/:-@\[-^`{{-\x7f]*{_END})?"
_HINT = {"patternErrorMessage": "use letters, digits, dots, dashes and underscores"}
NAME_RULE: Json = {"pattern": f"^(?:{_ASCII_PART}/)?{_ASCII_PART}$", **_HINT}
"""The name of a dataset in JSON Schema, as far as ASCII goes."""
SOURCE_NAME_RULE: Json = {"pattern": rf"^(?:[^\x00-\x1f!-,/:-@\[-^`{{-\x7f]*{_END})?$", **_HINT}
"""The end of such a name."""
_LONGEST_PART = 240
"""Bytes of a folder's name; file systems take 255, and a lock or a backup adds to it."""


def is_dataset_name(name: str) -> bool:
    """Whether a dataset may be called so."""
    return _NAME.fullmatch(name) is not None and not trouble_with(name)[0]


def trouble_with(name: str) -> tuple[str, str]:
    """Return why the folder of a name cannot be made, and the way out; both empty if its characters alone decide."""
    if not _NAME.fullmatch(name):
        return "", ""
    (account, _, last), why = name.casefold().rpartition("/"), "the name becomes the name of a folder"
    if any(len(part.encode()) > _LONGEST_PART for part in name.split("/")):
        return f"it is {len(name.encode())} bytes long", f"use at most {_LONGEST_PART} bytes: {why}"
    if (account or last) == "artifacts.json" or (account and last == "losses.json"):
        return "a build writes a file with this name", f"use another name: {why}"
    return "", ""


def fitted_name(name: str) -> str:
    """Return the name that a dataset may have and that is nearest to one of another system."""
    parts = [re.sub(r"^\W+|[ .\W]+$", "", re.sub(r"[^\w.\- ]+", "_", part)) for part in name.split("/")]
    return "/".join([part for part in parts if part][-2:]) or "dataset"
