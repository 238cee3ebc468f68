"""Arrow schemas into logical fields, and `rawArrowSchema`, the form in which events held their schema before RFC-016.

Layer: arrow.
Shape: the schema in the standard's long form, as plain values that `schemac.language.manifest` binds, with hints next to `kind`. A hint
      is written only if lowering would choose another layout. A metadata entry becomes an attribute if lowering that attribute writes
      the same entry, or, for an attribute of schemac's domains, one with the same value; any other entry is kept in
      `arrow.apache.org/metadata`.
      The bytes of `rawArrowSchema` are Arrow's table Schema as a FlatBuffer of its own. pyarrow reads it inside a message only, so a
      message is put around it; what it then finds wrong with the bytes it says itself. The encodings of the Arrow schema are left out:
      the standard's own upgrade of such an event keeps logical types alone.
Errors: SC551 unsupported-arrow-type.
Source: the inverse of `schemac.arrow.metadata`, `schemac.arrow.to_arrow` and `schemac.language.kinds`.
      RFC-016, "Compatibility" and "Logical Types vs. Encoding"; Arrow's Message.fbs.
"""

import base64
import binascii
import json
import re
import struct
from collections.abc import Callable, Collection, Mapping
from decimal import Decimal
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

from pydantic import ValidationError

from schemac.arrow.metadata import EXTENSION_METADATA, EXTENSION_NAME, compact, field_metadata, forms
from schemac.language.attributes import arrow
from schemac.language.attributes.attribute import KEY_PATTERN, Family, Role
from schemac.language.attributes.builtin import TABLE_RECORD
from schemac.language.attributes.registry import DOMAINS, domain_of, known, of_role
from schemac.language.kinds.nested import Option
from schemac.language.kinds.registry import ARROW_NAMES, BY_NAME, KINDS
from schemac.language.kinds.sequences import ARROW_BUFFERS
from schemac.language.logical.model import FieldPath, LogicalType, Part, UnsupportedTypeError, dotted
from schemac.language.physical import ArrowField, ArrowSchema, ArrowType, pa
from schemac.text.source.catalogue import UNSUPPORTED_ARROW_TYPE
from schemac.text.source.diagnostics import Report
from schemac.text.source.json_object import Json, rewritten, values_in

_KEY = re.compile(KEY_PATTERN)


def decoded(metadata: Mapping[bytes, bytes] | None) -> dict[str, str]:
    """Return pyarrow's metadata as text."""
    return {k.decode(errors="replace"): v.decode(errors="replace") for k, v in (metadata or {}).items()}


def is_text(content: bytes) -> bool:
    """Whether bytes are UTF-8."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


FieldNote = Callable[[str], None]
"""Takes what cannot be said otherwise."""


def field_attributes(metadata: Mapping[str, str], kind: str, note: FieldNote = lambda _: None) -> Json:
    """Return the attributes of a field with this metadata; one that does not fit the kind stays what it is, and is noted."""
    rest = dict(metadata)
    extra: Json = {}
    extension = rest.pop(EXTENSION_NAME, None)
    if extension is not None:
        written = {"name": extension, "metadata": rest.pop(EXTENSION_METADATA, None)}
        extra[arrow.EXTENSION_TYPE.key] = {key: text for key, text in written.items() if text is not None}
    for form in forms().values():
        extra.update(form.from_metadata(rest, kind, note))
    return {**extra, **_attributes_by_key(rest, kind, note)}


def _attributes_by_key(metadata: Mapping[str, str], kind: str | None, note: FieldNote) -> Json:
    """Return the attributes of the entries whose key and JSON value are one, and that of all others; without a kind, those of a schema."""
    extra: Json = {}
    rest = dict(metadata)
    for key, text in metadata.items():
        if not _KEY.fullmatch(key) or domain_of(key) == arrow.DOMAIN:
            continue
        value = _json_value(text, is_ours=known(key) is not None)
        if value is _NONE or not _is_valid(key, value, kind):
            if known(key) is not None:
                note(f"`{key}` in the metadata is not valid for {kind or 'a schema'}: {text}")
            continue
        extra[key] = value
        del rest[key]
    return {**extra, arrow.METADATA.key: rest} if rest else extra


_NONE = object()


def _json_value(text: str, *, is_ours: bool) -> Any:
    """Return the value of a text that is JSON as we write it; of our own attributes, of any JSON that means the same when we write it."""
    try:
        value = json.loads(text)
        if any(len(path) >= _DEEPEST for path, _ in values_in(value)):
            return _NONE
        written = compact(value)
        if written != text and not (is_ours and _with_all_digits(text) == _with_all_digits(written)):
            return _NONE
    except (ValueError, RecursionError):
        return _NONE
    return value


def _with_all_digits(text: str) -> Any:
    """Return the value of JSON with all digits of numbers, and objects as sorted pairs, for a key may occur twice."""
    return json.loads(text, parse_float=Decimal, object_pairs_hook=partial(sorted, key=itemgetter(0)))


_DEEPEST = 100
"""Levels of a value that is taken for an attribute; deeper ones stay the texts that they are."""


def _is_valid(key: str, value: Any, kind: str | None) -> bool:
    """Whether a value may be that of an attribute at a field of a kind; without a kind, at a schema."""
    attribute = known(key)
    if attribute is None:
        return domain_of(key) not in DOMAINS
    if not (attribute.on_schema if kind is None else attribute.on_field):
        return False
    if attribute.fits is not None and kind is not None and BY_NAME[kind].family not in attribute.fits:
        return False
    try:
        attribute.typed(value)
    except ValidationError:
        return False
    # Some attributes of fields do not travel under their own keys.
    return kind is None or key in field_metadata({key: value})


def kind_of(type_: Any) -> tuple[type[LogicalType], Json, Json] | None:
    """Return the kind of an Arrow type, its tree without parts, and its hints; None if there is none.

    Raises UnsupportedTypeError for a type of a kind that a manifest cannot express.
    """
    for kind in KINDS:
        converted = kind.from_arrow(type_)
        if converted is not None:
            return kind, {"kind": kind.__name__, **converted.properties}, dict(converted.hints)
    return None


class KindExtension(NamedTuple):
    """The Arrow extension type of a kind without parts."""

    name: str
    storage: LogicalType
    """The type that its values are stored in."""


def extension_of_kind(type_: LogicalType) -> KindExtension | None:
    """Return the Arrow extension type that a type without parts is; None for any other type."""
    if type_.parts():
        return None
    arrow_type: Any = type_.to_arrow((), arrow.Hints(), arrow.ArrowDefaults())
    if not isinstance(arrow_type, pa.BaseExtensionType):
        return None
    kind = kind_of(arrow_type.storage_type)
    if kind is None:
        return None
    return KindExtension(arrow_type.extension_name, kind[0].model_validate(kind[1]))


def dictionary_hint(type_: Any) -> Json:
    """Return the hint of a dictionary."""
    order = {"ordered": True} if type_.ordered else {}
    return {arrow.DICTIONARY_ENCODING.key: {"indexType": ARROW_NAMES[str(type_.index_type)], **order}}


def extension_hint(type_: Any, note: Callable[[str], None] = lambda _: None) -> Json:
    """Return the attribute of an extension type that pyarrow has registered; metadata that it cannot have is noted."""
    name = type_.extension_name
    of_json = of_role(Role.JSON)
    if name == "arrow.json" and of_json and str(type_.storage_type) in ARROW_BUFFERS:
        return {of_json[0].key: True}
    text = ""
    if name == "arrow.fixed_shape_tensor":
        metadata = {key: getattr(type_, key) for key in ("shape", "dim_names", "permutation")}
        known_metadata = {key: value for key, value in metadata.items() if value is not None}
        text = json.dumps(known_metadata, separators=(",", ":"))
    elif name == "arrow.opaque":
        opaque = {"type_name": type_.type_name, "vendor_name": type_.vendor_name}
        text = json.dumps(opaque, separators=(",", ":"))
    elif isinstance(type_, pa.ExtensionType):
        # Those of programs and of libraries say themselves what their metadata is; Arrow's others have none.
        serialized = type_.__arrow_ext_serialize__()
        if is_text(serialized):
            text = serialized.decode()
        else:
            note(f"not kept: the metadata {EXTENSION_METADATA}, which is not UTF-8")
    return {arrow.EXTENSION_TYPE.key: {"name": name, **({"metadata": text} if text else {})}}


def storage_of(type_: ArrowType) -> Any:
    """Return the storage type of an extension type, any other type itself."""
    return type_.storage_type if isinstance(type_, pa.BaseExtensionType) else type_


Note = Callable[[FieldPath, str], None]
"""Takes what the values cannot say of the field at a path; an empty path is the schema."""


def from_arrow(
    schema: ArrowSchema, file: str, report: Report, note: Note = lambda _path, _text: None
) -> Json:
    """Return an Arrow schema as a manifest tree with `fields` and `extra`; types without a kind are reported."""
    conversion = _FromArrow(file, report, note)
    fields = [conversion.member(field, (field.name,)) for field in schema]
    # But not which locked version it is of.
    metadata = {k: v for k, v in conversion.texts(schema.metadata, ()).items() if k not in TABLE_RECORD}
    extra = _attributes_by_key(metadata, None, partial(note, ()))
    return {"fields": [field for field in fields if field is not None], **({"extra": extra} if extra else {})}


class _FromArrow:
    """Makes manifest trees of the fields of one Arrow schema; types without a kind are in the report."""

    def __init__(self, file: str, report: Report, note: Note) -> None:
        self._file = file
        self._report = report
        self._note = note

    def texts(self, metadata: Any, path: FieldPath) -> dict[str, str]:
        """Return metadata as text; an entry that is not text cannot be in a manifest, and is reported."""
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
        """Return the manifest's type of an Arrow field and its `extra`; None after reporting a type that has no kind."""
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
        extra = {**hints, **field_attributes(metadata, type_["kind"], partial(self._note, path))}
        return ({"kind": Option.__name__, "inner": type_} if is_nullable else type_), extra

    def _type(self, type_: Any, metadata: dict[str, str], path: FieldPath) -> tuple[Json, Json] | None:
        """Return kind and hints, and remove the metadata entries that the hints express."""
        note, is_extension = partial(self._note, path), isinstance(type_, pa.BaseExtensionType)
        if is_extension:
            metadata.setdefault(EXTENSION_NAME, type_.extension_name)
        of_engines = (form.from_arrow(storage_of(type_), metadata, note) for form in forms().values())
        if (special := next(filter(None, of_engines), None)) is not None:
            return special
        if is_extension:
            del metadata[EXTENSION_NAME]
            if (kind := kind_of(type_)) is not None:
                # A kind may stand for an extension type as a whole.
                return kind[1:]
            converted = self._type(type_.storage_type, {}, path)
            if converted is None:
                return None
            if type_.extension_name == "arrow.fixed_shape_tensor":
                # Arrow makes the items of every tensor nullable, whatever the tensor means by them.
                converted[0]["itemType"] = converted[0]["itemType"].get("inner", converted[0]["itemType"])
            return converted[0], {**converted[1], **extension_hint(type_, note)}
        if pa.types.is_dictionary(type_):
            value = type_.value_type
            if pa.types.is_nested(value) and not pa.types.is_union(value):
                raise UnsupportedTypeError(str(type_))
            converted = self._unmarked(value, path)
            return None if converted is None else (converted[0], {**converted[1], **dictionary_hint(type_)})
        return self._unmarked(type_, path)

    def _unmarked(self, type_: Any, path: FieldPath) -> tuple[Json, Json] | None:
        """Return a type that is no extension and no dictionary, and its hints; None if a part has no kind. Raises UnsupportedTypeError."""
        kind_type = None if pa.types.is_union(type_) else kind_of(type_)
        if kind_type is None:
            raise UnsupportedTypeError(str(type_))
        kind, tree, hints = kind_type
        if not pa.types.is_nested(type_):
            return tree, hints
        if kind.family is Family.STRUCT:
            members = [self.member(field, (*path, field.name)) for field in type_]
            return {"kind": kind.__name__, "fields": [m for m in members if m is not None]}, {}
        if kind.family is Family.MAP:
            key = self._part(type_.key_field, (*path, Part.KEY))
            value = self._part(type_.item_field, (*path, Part.VALUE))
            if key is None or value is None:
                return None
            hints |= _child_names(key=type_.key_field.name, value=type_.item_field.name)
            return {"kind": kind.__name__, "keyType": key, "valueType": value, **tree}, hints
        if kind.family is Family.LIST:
            item = self._part(type_.value_field, (*path, Part.ITEM))
            hints |= _child_names(item=type_.value_field.name)
            return None if item is None else ({"kind": kind.__name__, "itemType": item, **tree}, hints)
        raise UnsupportedTypeError(str(type_))


def _child_names(**names: str) -> Json:
    """Return the hint for parts with unusual names."""
    unusual = {part: name for part, name in names.items() if part != name}
    return {arrow.CHILD_NAMES.key: unusual} if unusual else {}


_ENCODINGS = {
    a.key
    for a in (arrow.BUFFER_ENCODING, arrow.DATE_ENCODING, arrow.DECIMAL_ENCODING, arrow.DICTIONARY_ENCODING)
}
_V5, _SCHEMA = 4, 1
"""Arrow's metadata version, and the number of Schema among the headers of a message."""


class MalformedArrowError(ValueError):
    """The bytes are not an Arrow schema; the message says why."""


def decode_raw_arrow(text: Any) -> bytes:
    """Return the bytes of a `rawArrowSchema` in a document. Raises MalformedArrowError."""
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError, AttributeError) as error:
        raise MalformedArrowError("its `rawArrowSchema` is not base64") from error


def read_raw_arrow(content: bytes, file: str, report: Report) -> Json:
    """Return the logical schema of an Arrow schema in a FlatBuffer. Raises MalformedArrowError."""
    # Imported here for start-up time: this part of pyarrow is not loaded with it.
    from pyarrow import ipc

    try:
        schema = ipc.read_schema(pa.py_buffer(_message(content)))
    except (pa.ArrowException, OSError) as error:
        reason = (str(error).splitlines() or ["it cannot be read"])[0].lower()
        raise MalformedArrowError(f"its Arrow schema is malformed: {reason}") from error
    try:
        tree: Json = without_attributes(from_arrow(schema, file, report), _ENCODINGS)
    except UnicodeDecodeError as error:
        # pyarrow decodes names when they are asked for.
        raise MalformedArrowError("its Arrow schema is malformed: a text in it is not UTF-8") from error
    return tree


def _message(content: bytes) -> bytes:
    """Return an encapsulated message whose header is the root table of these bytes."""
    # Imported here for start-up time: most documents hold no bytes.
    from flatbuffers import Builder, encode, packer

    if len(content) < 8:
        raise MalformedArrowError("its Arrow schema is malformed: it is too short")
    root = encode.Get(packer.uoffset, content, 0)
    if root >= len(content):
        raise MalformedArrowError("its Arrow schema is malformed: its root is out of bounds")
    builder = Builder()
    # Filled up, so that what was aligned inside of these bytes stays so.
    vector = builder.CreateByteVector(content + bytes(-len(content) % 8))
    builder.StartObject(5)
    builder.PrependInt64Slot(3, 0, None)
    # Places count from the end; the bytes stand behind the four of their length.
    builder.PrependUOffsetTRelativeSlot(2, vector - 4 - root, 0)
    builder.PrependInt16Slot(0, _V5, 0)
    builder.PrependUint8Slot(1, _SCHEMA, 0)
    builder.Finish(builder.EndObject())
    message = bytes(builder.Output())
    return struct.pack("<Ii", 0xFFFFFFFF, len(message)) + message


def without_attributes(tree: Any, keys: Collection[str]) -> Any:
    """Return a manifest tree without some attributes, at every depth; without an `extra` that has no others."""

    def bare(object: Json) -> Json:
        extra = object.get("extra")
        if not isinstance(extra, dict) or extra.keys().isdisjoint(keys):
            return object
        rest = {key: value for key, value in extra.items() if key not in keys}
        return {key: value for key, value in {**object, "extra": rest}.items() if key != "extra" or rest}

    return rewritten(tree, bare)
