"""The facts that can be said about two versions of a schema: a closed set, in which each engine has a part of its own.

Layer: language. Values only.
"""

from enum import StrEnum


class AnyFact(StrEnum):
    """A sort of change: one of `Fact`, or one that an engine brings for its own attributes."""


class Fact(AnyFact):
    """The facts of the core."""

    FIELD_ADDED = "field-added"
    FIELD_DROPPED = "field-dropped"
    FIELD_RENAMED = "field-renamed"
    FIELD_MOVED = "field-moved"
    FIELDS_REORDERED = "fields-reordered"
    BECAME_OPTIONAL = "became-optional"
    BECAME_REQUIRED = "became-required"
    DESCRIPTION_ADDED = "description-added"
    DESCRIPTION_CHANGED = "description-changed"
    DESCRIPTION_REMOVED = "description-removed"

    INTEGER_WIDENED = "integer-widened"
    INTEGER_NARROWED = "integer-narrowed"
    SIGN_CHANGED = "sign-changed"
    FLOAT_WIDENED = "float-widened"
    FLOAT_NARROWED = "float-narrowed"
    NUMBER_FAMILY_CHANGED = "number-family-changed"
    PRECISION_RAISED = "precision-raised"
    PRECISION_LOWERED = "precision-lowered"
    SCALE_RAISED = "scale-raised"
    SCALE_LOWERED = "scale-lowered"
    TIME_UNIT_REFINED = "time-unit-refined"
    TIME_UNIT_COARSENED = "time-unit-coarsened"
    ZONE_ADDED = "zone-added"
    ZONE_REMOVED = "zone-removed"
    ZONE_CHANGED = "zone-changed"
    TEMPORAL_TYPE_CHANGED = "temporal-type-changed"
    TEXT_AND_BYTES_SWAPPED = "text-and-bytes-swapped"
    BYTE_LENGTH_CHANGED = "byte-length-changed"
    LIST_SIZE_CHANGED = "list-size-changed"
    LIST_SIZE_FIXED = "list-size-fixed"
    LIST_SIZE_FREED = "list-size-freed"
    SORTED_KEYS_CHANGED = "sorted-keys-changed"
    TYPE_REPLACED = "type-replaced"

    OFFSET_WIDTH_CHANGED = "offset-width-changed"
    BUFFER_LAYOUT_CHANGED = "buffer-layout-changed"
    DATE_ENCODING_CHANGED = "date-encoding-changed"
    DECIMAL_WIDTH_CHANGED = "decimal-width-changed"
    DICTIONARY_ADDED = "dictionary-added"
    DICTIONARY_REMOVED = "dictionary-removed"
    DICTIONARY_CHANGED = "dictionary-changed"
    EXTENSION_TYPE_CHANGED = "extension-type-changed"
    CHILD_NAMES_CHANGED = "child-names-changed"
    ARROW_METADATA_CHANGED = "arrow-metadata-changed"

    PRIMARY_KEY_ADDED = "primary-key-added"
    PRIMARY_KEY_REMOVED = "primary-key-removed"
    PRIMARY_KEY_MOVED = "primary-key-moved"
    CLUSTERING_KEY_CHANGED = "clustering-key-changed"
    PACKED_STRUCT_CHANGED = "packed-struct-changed"
    BLOB_ADDED = "blob-added"
    BLOB_REMOVED = "blob-removed"
    FLOAT_ENCODING_CHANGED = "float-encoding-changed"
    JSON_CHANGED = "json-changed"
    STORAGE_VERSION_CHANGED = "storage-version-changed"

    ODF_TYPE_CHANGED = "odf-type-changed"
    ARCHETYPE_CHANGED = "archetype-changed"
    UNIT_CHANGED = "unit-changed"
    TARGETS_CHANGED = "targets-changed"

    ATTRIBUTE_ADDED = "attribute-added"
    ATTRIBUTE_REMOVED = "attribute-removed"
    ATTRIBUTE_CHANGED = "attribute-changed"

    CONSTRAINT_ADDED = "constraint-added"
    CONSTRAINT_REMOVED = "constraint-removed"
    CONSTRAINT_NARROWED = "constraint-narrowed"
    CONSTRAINT_WIDENED = "constraint-widened"
    CONSTRAINT_CHANGED = "constraint-changed"

    DATASET_ADDED = "dataset-added"
    DATASET_DROPPED = "dataset-dropped"
