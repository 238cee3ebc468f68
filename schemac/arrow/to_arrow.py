"""Logical fields into Arrow fields.

Layer: arrow.
Shape: one lowered field a field, children first; attributes are those that passed the checks.
Source: RFC-016, "ODF Schema from/to Arrow Conversion".
"""

from dataclasses import dataclass
from typing import Any

from schemac.arrow.metadata import (
    EXTENSION_METADATA,
    EXTENSION_NAME,
    deciding,
    extension_metadata,
    field_metadata,
    schema_metadata,
)
from schemac.language.attributes import arrow
from schemac.language.attributes.arrow import NO_HINTS, ArrowDefaults, Hints, read_hints
from schemac.language.attributes.attribute import Extra
from schemac.language.attributes.registry import are_telling
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import Part, SchemaField
from schemac.language.physical import ArrowType, LoweredField, LoweredSchema, arrow_type, pa


@dataclass(frozen=True, slots=True)
class ArrowOptions:
    """Encodings of hint-less fields, and whether attributes travel as Arrow metadata."""

    defaults: ArrowDefaults = ArrowDefaults()
    with_metadata: bool = True


def to_arrow_fields(dataset: LogicalDataset, options: ArrowOptions = ArrowOptions()) -> LoweredSchema:
    """Return the Arrow fields of a dataset that has passed the checks."""
    extra = dataset.schema.extra
    conversion = _ToArrow(options, extra)
    fields = tuple([conversion.field(field) for field in dataset.columns])
    return LoweredSchema(fields, schema_metadata(extra) if options.with_metadata else {})


class _ToArrow:
    """Lowers the fields of one schema."""

    def __init__(self, options: ArrowOptions, schema_extra: Extra) -> None:
        self.options = options
        self.schema_extra = schema_extra
        self.deciding = deciding()
        self.plain_types: dict[str, ArrowType] = {}

    def field(self, field: SchemaField) -> LoweredField:
        """Return a field with its Arrow field and its children."""
        children = tuple([self.field(child) for child in field.children]) if field.children else ()
        segment, extra = field.segment, field.extra
        name = _part_name(field, segment) if isinstance(segment, Part) else segment
        type_ = field.type
        is_telling = bool(extra) and are_telling(extra)
        hints = read_hints(extra) if is_telling else NO_HINTS
        if children or hints is not NO_HINTS:
            arrow_type = type_.to_arrow([child.arrow for child in children], hints, self.options.defaults)
        else:
            # Most fields are leaves without a hint: their types are made once.
            key = type_.type_text()
            cached = self.plain_types.get(key)
            if cached is None:
                cached = self.plain_types[key] = type_.to_arrow((), NO_HINTS, self.options.defaults)
            arrow_type = cached
        if not extra:
            return LoweredField(pa.field(name, arrow_type, field.is_nullable), children, field)
        metadata = field_metadata(extra) if self.options.with_metadata else {}
        if is_telling:
            arrow_type = self.special_type(field, arrow_type, hints, metadata)
        arrow = pa.field(name, arrow_type, field.is_nullable, metadata or None)
        return LoweredField(arrow, children, field, metadata)

    def special_type(
        self, field: SchemaField, storage: ArrowType, hints: Hints, metadata: dict[str, str]
    ) -> ArrowType:
        """Return the dictionary or extension type that the attributes ask for around a storage type; the storage type if they ask for none."""
        extra = field.extra
        if hints.dictionary is not None:
            index = arrow_type(hints.dictionary.index_type.lower())
            return pa.dictionary(index, storage, ordered=hints.dictionary.ordered)
        for key in extra:
            if (form := self.deciding.get(key)) is not None:
                return form.to_arrow(key, storage, metadata, self.schema_extra)
        if hints.extension is not None:
            known = _registered_extension(hints.extension, storage)
            if known is not None:
                metadata.pop(EXTENSION_NAME, None)
                metadata.pop(EXTENSION_METADATA, None)
                return known
            metadata.update(extension_metadata(hints.extension))
        return storage


def _part_name(field: SchemaField, part: Part) -> str:
    """Return the name of a nameless part: Arrow's usual one, unless the list or map asks for another."""
    usual: str = part.value
    if field.parent is None or arrow.CHILD_NAMES.key not in field.parent.extra:
        return usual
    return getattr(arrow.CHILD_NAMES.read(field.parent.extra), usual) or usual


def _registered_extension(extension: arrow.ExtensionType, storage: Any) -> ArrowType | None:
    """Return pyarrow's own type for an extension type that it knows; None for any other, which keeps its storage type."""
    name = extension.name
    if name == "arrow.uuid":
        return pa.uuid()
    if name == "arrow.json":
        return pa.json_(storage)
    if name == "arrow.bool8":
        return pa.bool8()
    if name == "arrow.fixed_shape_tensor":
        shape = arrow.TensorShape.parse(extension.metadata or "")
        assert shape is not None, "the checks let only sound shapes through"
        return pa.fixed_shape_tensor(storage.value_type, *shape)
    if name == "arrow.opaque":
        opaque = arrow.OpaqueName.parse(extension.metadata or "")
        assert opaque is not None, "the checks let only sound names through"
        return pa.opaque(storage, *opaque)
    return None
