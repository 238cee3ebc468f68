"""An Arrow schema into a manifest's values.

Layer: arrow.
Shape: the schema in the standard's long form, as plain values that `schemac.manifest` binds; nested hints stand
next to `kind`.
Errors: SC551 unsupported-arrow-type.
"""

from collections.abc import Callable
from typing import Any

from schemac.arrow.form import forms
from schemac.arrow.lift_metadata import decoded, field_attributes, is_text, schema_attributes
from schemac.arrow.lift_types import (
    dictionary_hint,
    extension_hint,
    kind_of,
    leaf,
)
from schemac.arrow.lower_metadata import EXTENSION_NAME
from schemac.attributes import arrow
from schemac.attributes.family import Family
from schemac.kinds.option import Option
from schemac.logical.model import UnsupportedTypeError
from schemac.logical.path import FieldPath, Part, dotted
from schemac.physical.arrow import ArrowField, ArrowSchema, pa
from schemac.source.catalogue import UNSUPPORTED_ARROW_TYPE
from schemac.source.json_object import Json
from schemac.source.report import Report

Note = Callable[[FieldPath, str], None]
"""Takes what the values cannot say of the field at a path; an empty path is the schema."""


def lift(schema: ArrowSchema, file: str, report: Report, note: Note = lambda _path, _text: None) -> Json:
    """Return the values of `fields` and `extra` for an Arrow schema; what has no word is in the report."""
    lifting = _Lifting(file, report, note)
    fields = [lifting.member(field, (field.name,)) for field in schema]
    extra = schema_attributes(lifting.texts(schema.metadata, ()), lambda text: note((), text))
    return {"fields": [field for field in fields if field is not None], **({"extra": extra} if extra else {})}


class _Lifting:
    def __init__(self, file: str, report: Report, note: Note) -> None:
        self._file = file
        self._report = report
        self._note = note

    def texts(self, metadata: Any, path: FieldPath) -> dict[str, str]:
        """Metadata as text; an entry that is none cannot be in a manifest, and is noted."""
        readable: dict[bytes, bytes] = {}
        for key, value in (metadata or {}).items():
            if is_text(key) and is_text(value):
                readable[key] = value
            else:
                escaped_key = key.decode("ascii", "backslashreplace")
                self._note(path, f"not kept: the metadata {escaped_key}, which is not UTF-8")
        return decoded(readable)

    def member(self, field: ArrowField, path: FieldPath) -> Json | None:
        """Return a column or struct member; None if its type has no kind."""
        converted = self._field(field, path)
        if converted is None:
            return None
        type_, extra = converted
        return {"name": field.name, "type": type_, **({"extra": extra} if extra else {})}

    def _part(self, field: ArrowField, path: FieldPath) -> Json | None:
        """Return a list's item, a map's key or value: hints go next to `kind`."""
        converted = self._field(field, path)
        if converted is None:
            return None
        type_, extra = converted
        return {**type_, "extra": extra} if extra else type_

    def _field(self, field: ArrowField, path: FieldPath) -> tuple[Json, Json] | None:
        metadata = self.texts(field.metadata, path)
        is_nullable = field.nullable
        if pa.types.is_null(field.type) and not is_nullable:
            self._note(path, "a column of nulls may always be null, even if its source declares otherwise")
            is_nullable = True
        try:
            converted = self._type(field.type, metadata, path)
        except UnsupportedTypeError as error:
            message = f"{dotted(path)}: there is no kind for Arrow's {error}"
            help = f"cast it first, or leave the column out with `--skip '{path[0]}'`"
            self._report.add(UNSUPPORTED_ARROW_TYPE, message, file=self._file, path=dotted(path), help=help)
            return None
        if converted is None:
            return None
        type_, hints = converted
        extra = {**hints, **field_attributes(metadata, type_["kind"], lambda text: self._note(path, text))}
        return ({"kind": Option.__name__, "inner": type_} if is_nullable else type_), extra

    def _type(self, type_: Any, metadata: dict[str, str], path: FieldPath) -> tuple[Json, Json] | None:
        """Kind and hints; entries of the metadata that the hints say are taken out of it."""
        if isinstance(type_, pa.BaseExtensionType):
            metadata.setdefault(EXTENSION_NAME, type_.extension_name)
            special = self._special(type_.storage_type, metadata, path)
            if special is not None:
                return special
            del metadata[EXTENSION_NAME]
            if (kind := kind_of(type_)) is not None:
                # A kind may stand for an extension type as a whole.
                return {"kind": kind[0].__name__, **kind[1].properties}, dict(kind[1].hints)
            converted = self._type(type_.storage_type, {}, path)
            if converted is not None and type_.extension_name == "arrow.fixed_shape_tensor":
                # Arrow makes the items of every tensor nullable, whatever the tensor means by them.
                converted[0]["itemType"] = converted[0]["itemType"].get("inner", converted[0]["itemType"])
            return (
                None
                if converted is None
                else (
                    converted[0],
                    {
                        **converted[1],
                        **extension_hint(type_, lambda text: self._note(path, text)),
                    },
                )
            )
        special = self._special(type_, metadata, path)
        if special is not None:
            return special
        if pa.types.is_dictionary(type_):
            converted = leaf(type_.value_type)
            if converted is None:
                raise UnsupportedTypeError(str(type_))
            return converted[0], {**converted[1], **dictionary_hint(type_)}
        return leaf(type_) or self._nested(type_, path)

    def _special(self, type_: Any, metadata: dict[str, str], path: FieldPath) -> tuple[Json, Json] | None:
        """Types that an engine has made of its attributes."""

        def note(text: str) -> None:
            self._note(path, text)

        for form in forms().values():
            converted = form.lift_type(type_, metadata, note)
            if converted is not None:
                return converted
        return None

    def _nested(self, type_: Any, path: FieldPath) -> tuple[Json, Json] | None:
        kind_type = kind_of(type_)
        if kind_type is None:
            raise UnsupportedTypeError(str(type_))
        kind, converted = kind_type
        properties, hints = dict(converted.properties), dict(converted.hints)
        if kind.family is Family.STRUCT:
            members = [self.member(field, (*path, field.name)) for field in type_]
            return {"kind": kind.__name__, "fields": [m for m in members if m is not None]}, {}
        if kind.family is Family.MAP:
            key = self._part(type_.key_field, (*path, Part.KEY))
            value = self._part(type_.item_field, (*path, Part.VALUE))
            if key is None or value is None:
                return None
            hints |= _child_names(key=type_.key_field.name, value=type_.item_field.name)
            return {"kind": kind.__name__, "keyType": key, "valueType": value, **properties}, hints
        if kind.family is Family.LIST:
            item = self._part(type_.value_field, (*path, Part.ITEM))
            hints |= _child_names(item=type_.value_field.name)
            return None if item is None else ({"kind": kind.__name__, "itemType": item, **properties}, hints)
        raise UnsupportedTypeError(str(type_))


def _child_names(**names: str) -> Json:
    """Return the hint for parts with unusual names."""
    unusual = {part: name for part, name in names.items() if part != name}
    return {arrow.CHILD_NAMES.key: unusual} if unusual else {}
