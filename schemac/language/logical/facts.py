"""The facts that can be said about two versions of a schema: a closed set, in which each engine has a part of its own.

Layer: language. Values only.
"""

from enum import StrEnum
from typing import Self


class AnyFact(StrEnum):
    """A sort of change: one of `Fact`, or one that an engine brings for its own attributes."""


class Fact(AnyFact):
    """The facts of the core, each with the group of facts that judges give one verdict; a new fact is in none."""

    group: str

    def __new__(cls, text: str, group: str = "") -> Self:
        """Make a fact with a group."""
        fact = str.__new__(cls, text)
        fact._value_, fact.group = text, group
        return fact

    FIELD_ADDED = "field-added"
    FIELD_DROPPED = "field-dropped"
    FIELD_RENAMED = "field-renamed"
    FIELD_MOVED = "field-moved"
    FIELDS_REORDERED = "fields-reordered"
    BECAME_OPTIONAL = "became-optional"
    BECAME_REQUIRED = "became-required"
    DESCRIPTION_ADDED = "description-added", "description"
    DESCRIPTION_CHANGED = "description-changed", "description"
    DESCRIPTION_REMOVED = "description-removed", "description"

    INTEGER_WIDENED = "integer-widened", "type"
    INTEGER_NARROWED = "integer-narrowed", "type"
    SIGN_CHANGED = "sign-changed", "type"
    FLOAT_WIDENED = "float-widened", "type"
    FLOAT_NARROWED = "float-narrowed", "type"
    NUMBER_FAMILY_CHANGED = "number-family-changed", "type"
    PRECISION_RAISED = "precision-raised", "type"
    PRECISION_LOWERED = "precision-lowered", "type"
    SCALE_RAISED = "scale-raised", "type"
    SCALE_LOWERED = "scale-lowered", "type"
    TIME_UNIT_REFINED = "time-unit-refined", "type"
    TIME_UNIT_COARSENED = "time-unit-coarsened", "type"
    ZONE_ADDED = "zone-added", "type"
    ZONE_REMOVED = "zone-removed", "type"
    ZONE_CHANGED = "zone-changed", "type"
    TEMPORAL_TYPE_CHANGED = "temporal-type-changed", "type"
    TEXT_AND_BYTES_SWAPPED = "text-and-bytes-swapped", "type"
    BYTE_LENGTH_CHANGED = "byte-length-changed", "type"
    LIST_SIZE_CHANGED = "list-size-changed", "type"
    LIST_SIZE_FIXED = "list-size-fixed", "type"
    LIST_SIZE_FREED = "list-size-freed", "type"
    SORTED_KEYS_CHANGED = "sorted-keys-changed", "type"
    TYPE_REPLACED = "type-replaced", "type"

    OFFSET_WIDTH_CHANGED = "offset-width-changed", "layout"
    BUFFER_LAYOUT_CHANGED = "buffer-layout-changed", "layout"
    DATE_ENCODING_CHANGED = "date-encoding-changed", "layout"
    DECIMAL_WIDTH_CHANGED = "decimal-width-changed", "layout"
    DICTIONARY_ADDED = "dictionary-added", "layout"
    DICTIONARY_REMOVED = "dictionary-removed", "layout"
    DICTIONARY_CHANGED = "dictionary-changed", "layout"
    EXTENSION_TYPE_CHANGED = "extension-type-changed", "property"
    CHILD_NAMES_CHANGED = "child-names-changed", "layout"
    ARROW_METADATA_CHANGED = "arrow-metadata-changed", "property"

    PRIMARY_KEY_ADDED = "primary-key-added", "key"
    PRIMARY_KEY_REMOVED = "primary-key-removed", "key"
    PRIMARY_KEY_MOVED = "primary-key-moved", "key"
    CLUSTERING_KEY_CHANGED = "clustering-key-changed", "key"
    PACKED_STRUCT_CHANGED = "packed-struct-changed", "storage"
    BLOB_ADDED = "blob-added", "storage"
    BLOB_REMOVED = "blob-removed", "storage"
    FLOAT_ENCODING_CHANGED = "float-encoding-changed", "storage"
    JSON_CHANGED = "json-changed", "storage"
    STORAGE_VERSION_CHANGED = "storage-version-changed", "storage"

    ODF_TYPE_CHANGED = "odf-type-changed", "property"
    ARCHETYPE_CHANGED = "archetype-changed", "property"
    UNIT_CHANGED = "unit-changed"
    TARGETS_CHANGED = "targets-changed", "property"

    ATTRIBUTE_ADDED = "attribute-added", "attribute"
    ATTRIBUTE_REMOVED = "attribute-removed", "attribute"
    ATTRIBUTE_CHANGED = "attribute-changed", "attribute"

    CONSTRAINT_ADDED = "constraint-added", "constraint"
    CONSTRAINT_REMOVED = "constraint-removed", "constraint"
    CONSTRAINT_NARROWED = "constraint-narrowed", "constraint"
    CONSTRAINT_WIDENED = "constraint-widened", "constraint"
    CONSTRAINT_CHANGED = "constraint-changed", "constraint"

    DATASET_ADDED = "dataset-added", "dataset"
    DATASET_DROPPED = "dataset-dropped", "dataset"
