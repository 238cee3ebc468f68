"""`lance.org`: keys, encodings and special types of Lance tables, Lance's own words for them, and what changes of them are.

Layer: engines. Values only.
Units: thresholds and chunk sizes in bytes.
Source: Lance's encoding specification, its table format (keys `lance-encoding:*`, `lance-schema:*`) and its extension types. Lance
      ignores most values it does not understand, so all of them are checked here.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from schemac.language.attributes.attribute import Attribute, Extra, Facts, Family, Role
from schemac.language.logical.facts import AnyFact
from schemac.text.syntax.model import AuthoredModel


class LanceFact(AnyFact):
    """Changes of how new pages of a column are written, and of the size from which values are stored separately."""

    COMPRESSION_CHANGED = "compression-changed"
    STRUCTURAL_ENCODING_CHANGED = "structural-encoding-changed"
    PAGE_ENCODING_CHANGED = "page-encoding-changed"
    BLOB_THRESHOLDS_CHANGED = "blob-thresholds-changed"


DOMAIN = "lance.org"
STORAGE_VERSIONS = ("2.0", "2.1", "2.2", "2.3")
DEFAULT_STORAGE_VERSION = "2.2"
"""What Lance 14 writes when nobody asks for another."""
UNSTABLE_STORAGE_VERSIONS = frozenset({"2.3"})
"""What `LanceFileVersion::is_unstable` is true of: such files change between releases, and are not for production."""

Level = Annotated[int, Field(ge=0, le=22)]
Bytes = Annotated[int, Field(ge=0, le=2**63 - 1)]
PositiveBytes = Annotated[int, Field(gt=0, le=2**63 - 1)]
# YAML writes 1 for 1.0, so the ratios take both.
Ratio = Annotated[float, Field(ge=0, le=1, strict=False)]
PositiveRatio = Annotated[float, Field(gt=0, le=1, strict=False)]


class KeyPosition(AuthoredModel):
    """Place in a composite key, counted from 1; without one the key is ordered by field id."""

    position: Annotated[int, Field(ge=1, le=2**32 - 1)] | None = Field(
        None, description="The place in the key, counted from 1."
    )


class ClusteringPosition(AuthoredModel):
    """Place in the clustering key, counted from 1."""

    position: int = Field(ge=1, le=2**32 - 1, description="The place in the key, counted from 1.")


class Encoding(AuthoredModel):
    """How pages of a column are written. Lance chooses unset properties."""

    compression: Literal["none", "lz4", "zstd", "fsst"] | None = Field(
        None, description="How pages are compressed."
    )
    compression_level: Level | None = Field(None, description="The level of `zstd`.")
    structural_encoding: Literal["miniblock", "fullzip", "sparse"] | None = Field(
        None, description="How values are laid out in pages."
    )
    rle_threshold: Ratio | None = Field(
        None, description="Runs are stored if their share of the values is below this threshold."
    )
    bss: Literal["off", "on", "auto"] | None = Field(
        None, description="Whether the bytes of floats are split into streams before they are compressed."
    )
    dict_divisor: Annotated[int, Field(ge=2)] | None = Field(
        None, description="A dictionary is tried if there are at least this many values per distinct value."
    )
    dict_size_ratio: PositiveRatio | None = Field(
        None, description="The largest size of a dictionary, as a share of that of the values."
    )
    dict_max_size: Bytes | None = Field(None, description="The largest size of a dictionary, in bytes.")
    dict_values_compression: Literal["none", "lz4", "zstd"] | None = Field(
        None, description="How the values of dictionaries are compressed."
    )
    dict_values_compression_level: Level | None = Field(
        None, description="The level of `zstd` for the values of dictionaries."
    )
    minichunk_size: PositiveBytes | None = Field(
        None, description="The size of a small chunk of a page, in bytes."
    )
    packed: bool | None = Field(None, description="Whether the members of a struct are stored together.")

    @model_validator(mode="after")
    def check_together(self) -> Self:
        """Refuse a level without a scheme that has levels."""
        if self.compression_level is not None and self.compression != "zstd":
            raise ValueError("compressionLevel needs `compression: zstd`; other schemes have no levels")
        if self.dict_values_compression_level is not None and self.dict_values_compression != "zstd":
            raise ValueError("dictValuesCompressionLevel needs `dictValuesCompression: zstd`")
        if self.bss == "on" and self.compression in (None, "none"):
            raise ValueError("byte stream split works only with a compression; add `compression: zstd`")
        return self


_LEVEL_ALONE = {
    "anyOf": [
        {
            "properties": {level: {"type": "integer"}},
            "required": [level],
            "not": {"properties": {scheme: {"const": "zstd"}}, "required": [scheme]},
        }
        for level, scheme in (
            ("compressionLevel", "compression"),
            ("dictValuesCompressionLevel", "dictValuesCompression"),
        )
    ],
    "type": "object",
}
"""A level without the scheme that has levels."""


class Blob(AuthoredModel):
    """Values stored outside the column pages, from the sizes of the thresholds on."""

    inline_size_threshold: Bytes | None = Field(
        None, description="Values of up to this many bytes are stored in the page."
    )
    dedicated_size_threshold: PositiveBytes | None = Field(
        None, description="Values of at least this many bytes are stored in a file of their own."
    )
    pack_file_size_threshold: PositiveBytes | None = Field(
        None, description="Bytes of a file for several values."
    )


class FloatEncoding(AuthoredModel):
    """Brain floats: 16 bits with the exponent range of 32."""

    format: Literal["bfloat16"] = Field(description="The format of the floats.")


PACKED = frozenset({Family.STRUCT})
"""Families whose members can be stored together."""
PAGED = frozenset(Family) - PACKED
"""Families whose values have pages of their own."""


PRIMARY_KEY = Attribute[KeyPosition](
    f"{DOMAIN}/primaryKey",
    KeyPosition,
    "part of the table's (unenforced) primary key",
    facts=Facts("primary-key-added", "primary-key-removed", "primary-key-moved"),
    role=Role.KEY_PART,
    example="{position: 1}",
)
CLUSTERING_KEY = Attribute[ClusteringPosition](
    f"{DOMAIN}/clusteringKey",
    ClusteringPosition,
    "part of the table's clustering key",
    facts=Facts.all("clustering-key-changed"),
    role=Role.CLUSTERING_PART,
    example="{position: 1}",
)
ENCODING = Attribute[Encoding](
    f"{DOMAIN}/encoding",
    Encoding,
    "compression and page layout of the column",
    is_of_storage=True,
    refused=_LEVEL_ALONE,
    property_fits={
        str(field.alias): PACKED if name == "packed" else PAGED
        for name, field in Encoding.model_fields.items()
    },
    facts=Facts.all(LanceFact.PAGE_ENCODING_CHANGED),
    property_facts={
        "compression": LanceFact.COMPRESSION_CHANGED,
        "compressionLevel": LanceFact.COMPRESSION_CHANGED,
        "structuralEncoding": LanceFact.STRUCTURAL_ENCODING_CHANGED,
        "packed": "packed-struct-changed",
    },
    example="{compression: zstd}",
)
BLOB = Attribute[Blob](
    f"{DOMAIN}/blob",
    Blob,
    "large values kept outside the pages",
    fits=frozenset({Family.BYTES}),
    facts=Facts("blob-added", "blob-removed", LanceFact.BLOB_THRESHOLDS_CHANGED),
    role=Role.BLOB,
    decides_type=True,
    example="{}",
)
FLOAT_ENCODING = Attribute[FloatEncoding](
    f"{DOMAIN}/floatEncoding",
    FloatEncoding,
    "items of a vector stored as bfloat16",
    fits=frozenset({Family.LIST}),
    facts=Facts.all("float-encoding-changed"),
    role=Role.BRAIN_FLOATS,
    decides_type=True,
    keeps=lambda type_, _: {"format": "bfloat16"} if type_ == "bfloat16" else None,
    example="{format: bfloat16}",
)
JSON = Attribute[bool](
    f"{DOMAIN}/json",
    Literal[True],
    "the text is JSON and is stored as JSON",
    fits=frozenset({Family.TEXT}),
    facts=Facts.all("json-changed"),
    role=Role.JSON,
    decides_type=True,
    keeps=lambda type_, _: True if type_ == "json" else None,
)
STORAGE_VERSION = Attribute[str](
    f"{DOMAIN}/storageVersion",
    Literal[STORAGE_VERSIONS],
    "storage version of the data files",
    on_field=False,
    on_schema=True,
    facts=Facts.all("storage-version-changed"),
    role=Role.STORAGE_VERSION,
    default=DEFAULT_STORAGE_VERSION,
)
ATTRIBUTES = (PRIMARY_KEY, CLUSTERING_KEY, ENCODING, BLOB, FLOAT_ENCODING, JSON, STORAGE_VERSION)


def storage_version(extra: Extra) -> str:
    """Return the version of the data files that a schema is for."""
    return STORAGE_VERSION.read(extra) or DEFAULT_STORAGE_VERSION


def is_packed(extra: Extra) -> bool:
    """Return whether the members of a struct with these attributes are stored together."""
    encoding = ENCODING.read(extra)
    return encoding is not None and bool(encoding.packed)


PRIMARY_KEY_MARK = "lance-schema:unenforced-primary-key"
PRIMARY_KEY_POSITION = "lance-schema:unenforced-primary-key:position"
CLUSTERING_KEY_POSITION = "lance-schema:unenforced-clustering-key:position"
BLOB_MARK = "lance-encoding:blob"
BLOB_EXTENSION = "lance.blob.v2"
BRAIN_FLOAT = "lance.bfloat16"
JSON_EXTENSION = "lance.json"


def has_key_mark(metadata: Mapping[str, str]) -> bool:
    """Return whether metadata marks a part of the primary key, in any word that Lance takes for true."""
    return metadata.get(PRIMARY_KEY_MARK, "").lower() in ("true", "1", "yes", "y", "on")
