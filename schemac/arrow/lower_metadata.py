"""Attributes as Arrow metadata.

Layer: arrow.
Shape: text to text. An attribute travels under its own key with compact JSON as its value, so that the way back
is exact. `arrow.apache.org` is not among them, for the Arrow type says the same; `lance.org` is written in
Lance's own keys, which its writer reads.
Source: Lance's encoding specification and table format.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from schemac.attributes import arrow, lance
from schemac.attributes.odf import DESCRIPTION
from schemac.attributes.registry import domain_of

EXTENSION_NAME = "ARROW:extension:name"
EXTENSION_METADATA = "ARROW:extension:metadata"
PRIMARY_KEY = "lance-schema:unenforced-primary-key"
PRIMARY_KEY_POSITION = "lance-schema:unenforced-primary-key:position"
CLUSTERING_KEY_POSITION = "lance-schema:unenforced-clustering-key:position"
BLOB = "lance-encoding:blob"
BLOB_EXTENSION = "lance.blob.v2"

compact: Callable[[Any], str] = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), sort_keys=True
).encode
"""JSON without blanks, keys sorted."""


def field_metadata(extra: Mapping[str, Any]) -> dict[str, str]:
    """Metadata of a field with these (checked) attributes, keys sorted."""
    if len(extra) == 1 and (text := extra.get(DESCRIPTION.key)) is not None:
        return {DESCRIPTION.key: compact(text)}
    metadata: dict[str, str] = {}
    for key, value in extra.items():
        domain = domain_of(key)
        if domain == lance.DOMAIN:
            metadata.update(_lance_metadata(key, extra))
        elif key == arrow.EXTENSION_TYPE.key:
            metadata.update(_extension_metadata(extra))
        elif key == arrow.METADATA.key:
            metadata.update(value)
        elif domain != arrow.DOMAIN:
            metadata[key] = compact(value)
    return dict(sorted(metadata.items()))


def schema_metadata(extra: Mapping[str, Any]) -> dict[str, str]:
    """Metadata of a schema with these attributes, keys sorted."""
    plain: dict[str, str] = extra.get(arrow.METADATA.key, {})
    written = {key: compact(value) for key, value in extra.items() if key != arrow.METADATA.key}
    return dict(sorted({**plain, **written}.items()))


def _extension_metadata(extra: Mapping[str, Any]) -> dict[str, str]:
    extension = arrow.EXTENSION_TYPE.read(extra)
    assert extension is not None
    metadata = {EXTENSION_NAME: extension.name}
    return metadata if extension.metadata is None else {**metadata, EXTENSION_METADATA: extension.metadata}


def _lance_metadata(key: str, extra: Mapping[str, Any]) -> dict[str, str]:
    if key == lance.PRIMARY_KEY.key and (primary := lance.PRIMARY_KEY.read(extra)) is not None:
        position = {} if primary.position is None else {PRIMARY_KEY_POSITION: str(primary.position)}
        return {PRIMARY_KEY: "true", **position}
    if key == lance.CLUSTERING_KEY.key and (clustering := lance.CLUSTERING_KEY.read(extra)) is not None:
        return {CLUSTERING_KEY_POSITION: str(clustering.position)}
    if key in (lance.ENCODING.key, lance.BLOB.key):
        value = lance.ENCODING.read(extra) if key == lance.ENCODING.key else lance.BLOB.read(extra)
        prefix = "lance-encoding:" if key == lance.ENCODING.key else "lance-encoding:blob-"
        assert value is not None
        return {prefix + name.replace("_", "-"): _word(item) for name, item in value if item is not None}
    return {}


def _word(value: Any) -> str:
    """Lance reads booleans as `true`, numbers in decimal form."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def registered_extension_metadata(type_: Any) -> dict[str, str]:
    """Return what Arrow's C interface says of an extension type that pyarrow knows; it has no metadata in the field."""
    name = type_.extension_name
    if name == "arrow.fixed_shape_tensor":
        serialized = {"shape": type_.shape, "permutation": type_.permutation, "dim_names": type_.dim_names}
        text = _serialized({key: value for key, value in serialized.items() if value is not None})
    elif name == "arrow.opaque":
        text = _serialized({"type_name": type_.type_name, "vendor_name": type_.vendor_name})
    else:
        text = ""
    return {EXTENSION_NAME: name, EXTENSION_METADATA: text}


# In the order of Arrow's own serializer, for the bytes are compared.
_serialized: Callable[[Any], str] = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
