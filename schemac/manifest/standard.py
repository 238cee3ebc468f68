"""Friendly forms into the standard ones.

Layer: manifest.
Shape: plain values in, plain values out; what is standard already comes back as it is. Paths are those of the
document. In strict mode nothing is rewritten but the short form, and each friendly form is an error.
Errors: SC204, SC210 to SC214, SC218.
Source: RFC-016 and its sample; the three spellings are those of the reference implementation.
"""

from collections.abc import Callable, Collection
from typing import Any

from schemac.attributes.attribute import spellings
from schemac.attributes.odf import DESCRIPTION
from schemac.kinds.null import OPTIONAL_NULL
from schemac.kinds.registry import BY_NAME, SPELLINGS
from schemac.kinds.units import ARROW_UNITS
from schemac.logical.model import LogicalType
from schemac.source.catalogue import (
    FRIENDLY_FORM,
    LENIENT_SPELLING,
    PLURAL_UNIT,
    SECOND_DESCRIPTION,
    UNQUOTED_NAME,
    UNQUOTED_NULL,
    WRONG_TYPE,
)
from schemac.source.help import Help
from schemac.source.json_object import Json
from schemac.syntax.document import Document, TreePath
from schemac.syntax.model_errors import sort_of

AddFinding = Callable[..., None]


def _written_keys(kind: type[LogicalType]) -> set[str]:
    return {field.alias or name for name, field in kind.model_fields.items()}


_TYPE_PARAMETERS = {
    name: tuple(key for key in ("inner", "itemType", "keyType", "valueType") if key in _written_keys(kind))
    for name, kind in BY_NAME.items()
}
_HAS_UNIT = frozenset(name for name, kind in BY_NAME.items() if "unit" in _written_keys(kind))
_UNITS = {spelling: unit for unit in ARROW_UNITS for spelling in spellings(unit)}
_PLURALS = {spelling + "s": unit for spelling, unit in _UNITS.items()}


class Standardizer:
    """Rewrites schema bodies of one document."""

    def __init__(self, document: Document, is_strict: bool, add: AddFinding) -> None:
        self._document = document
        self._is_strict = is_strict
        self._add = add

    def schema(self, value: Any, at: TreePath) -> Any:
        """Return a DataSchema mapping: fields, extra, and our description next to them."""
        if not isinstance(value, dict):
            return value
        body = self._with_description(value, at) if "description" in value else value
        fields = body.get("fields")
        if not isinstance(fields, list):
            return body
        return {**body, "fields": self._fields(fields, (*at, "fields"))}

    def _fields(self, fields: list[Any], at: TreePath) -> list[Any]:
        return [
            self._field(field, (*at, i)) if isinstance(field, dict) else field
            for i, field in enumerate(fields)
        ]

    def _field(self, field: Json, at: TreePath) -> Json:
        written = field
        if "description" in field:
            field = self._with_description(field, at)
        name = field.get("name")
        if name.__class__ is not str and "name" in field and not isinstance(name, list | dict):
            field = {**field, "name": self._quoted_name((*at, "name"))}
        if "type" not in field:
            return field
        type_ = field["type"]
        standard = self._type(type_, (*at, "type"), is_nested=False)
        if standard is not type_:
            field = dict(field) if field is written else field
            field["type"] = standard
        return field

    def _quoted_name(self, at: TreePath) -> str:
        place = self._document.place(at)
        written = place.source.excerpt(place.span)
        self._add(
            UNQUOTED_NAME,
            at,
            f"YAML reads the name {written or 'here'} as {sort_of(self._value(at))}",
            help=Help.quote(written),
        )
        return written or "?"

    def _value(self, at: TreePath) -> Any:
        value: Any = self._document.value
        for segment in at:
            value = value[segment]
        return value

    def _with_description(self, holder: Json, at: TreePath) -> Json:
        """Return `description:` next to the name is the attribute of that name."""
        rest = dict(holder)
        text, extra = rest.pop("description"), holder.get("extra", {})
        place = (*at, "description")
        if self._is_strict:
            self._add(
                FRIENDLY_FORM,
                place,
                "the standard has no `description` here",
                help=Help.move_to_extra(f"move it under `extra:` as `{DESCRIPTION.key}`", DESCRIPTION.key),
                on_key=True,
            )
        elif not isinstance(text, str):
            self._add(
                WRONG_TYPE,
                place,
                f"a description has to be a text, not {sort_of(text)}",
                help=Help.quote(),
            )
        elif isinstance(extra, dict) and DESCRIPTION.key in extra:
            self._add(
                SECOND_DESCRIPTION,
                place,
                "there are two descriptions",
                help=f"keep this one, or `{DESCRIPTION.key}`",
                on_key=True,
            )
        elif isinstance(extra, dict):
            rest["extra"] = {DESCRIPTION.key: text, **extra}
        return rest

    def _type(self, value: Any, at: TreePath, *, is_nested: bool) -> Any:
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
        if self._is_strict or written not in BY_NAME:
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
            changed["fields"] = self._fields(value["fields"], (*at, "fields"))
        if self._is_strict and kind == "Timestamp" and value.get("timezone", "") is None:
            self._add(
                FRIENDLY_FORM,
                (*at, "timezone"),
                "the standard has no timestamp without a zone",
                help=Help.write("UTC", key="timezone", is_safe=False),
            )
        if self._is_strict and value.get("fixedLength", 0) is None:
            self._add(
                FRIENDLY_FORM,
                (*at, "fixedLength"),
                "in the standard `fixedLength` needs a number",
                help=Help.remove(": a variable length is the default"),
            )
        if "extra" in value:
            return self._without_misplaced_extra({**value, **changed}, at, is_nested)
        return {**value, **changed} if changed else value

    def _without_misplaced_extra(self, value: Json, at: TreePath, is_nested: bool) -> Json:
        if is_nested and not self._is_strict:
            return value
        message = (
            "the standard has attributes only on fields"
            if is_nested
            else "the `extra` of a field belongs beside its `name`"
        )
        help = (
            Help.remove(help="remove it, or compile without --strict", is_safe=False)
            if is_nested
            else Help.move_to_field("move it one level out, beside `name` and `type`")
        )
        self._add(FRIENDLY_FORM, (*at, "extra"), message, help=help, on_key=True)
        return {key: item for key, item in value.items() if key != "extra"}

    def _kind(self, written: str, at: TreePath) -> str:
        kind = self._word(written, BY_NAME, SPELLINGS, at)
        if self._is_strict and kind in BY_NAME and BY_NAME[kind].standard_number is None:
            self._add(FRIENDLY_FORM, at, f"the standard has no kind {kind}", help="compile without --strict")
        return kind

    def _unit(self, written: str, at: TreePath) -> str:
        singular = _PLURALS.get(written)
        if singular is not None and not self._is_strict:
            self._add(
                PLURAL_UNIT,
                at,
                f"units are written in the singular, not '{written}'",
                help=Help.write(singular),
            )
            return singular
        return self._word(written, ARROW_UNITS, _UNITS, at)

    def _word(self, written: str, words: Collection[str], known: dict[str, str], at: TreePath) -> str:
        if written in words:
            return written
        word = known.get(written)
        if word is None:
            return written
        if self._is_strict:
            self._add(
                LENIENT_SPELLING, at, f"the standard spells '{written}' as {word}", help=Help.write(word)
            )
        return word

    def _null(self, at: TreePath, is_nested: bool) -> Json:
        place = self._document.place(at)
        written = place.source.excerpt(place.span)
        if not written:
            return {}
        inner = {"kind": "Null"}
        inside_option = is_nested and "inner" in at[-2:]
        help = Help.write_in_quotes("Null") if inside_option else Help.write_type(OPTIONAL_NULL)
        self._add(UNQUOTED_NULL, at, f'YAML reads {written} as "no value"', help=help)
        return inner if inside_option else {"kind": "Option", "inner": inner}
