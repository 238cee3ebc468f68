"""Arrow types as kinds with hints.

Layer: arrow.
Shape: a type in the standard's long form, as plain values, and the attributes that its field needs; hints only where
the layout is not what lowering would choose by itself.
Source: the inverse of `schemac.kinds` and `schemac.arrow.lower`.
"""

import json
from collections.abc import Callable
from typing import Any

from schemac.arrow.lift_metadata import is_text
from schemac.arrow.lower_metadata import EXTENSION_METADATA
from schemac.attributes import arrow
from schemac.attributes.arrow import ArrowDefaults, Hints
from schemac.attributes.attribute import Role
from schemac.attributes.registry import of_role
from schemac.kinds.foreign import ARROW_BUFFERS, ARROW_NAMES
from schemac.kinds.registry import KINDS
from schemac.logical.model import Lifted, LogicalType, UnsupportedTypeError
from schemac.physical.arrow import ArrowType, pa
from schemac.source.json_object import Json


def leaf(type_: Any) -> tuple[Json, Json] | None:
    """Kind and hints of a type without children; None for the others. Raises UnsupportedTypeError."""
    kind_type = None if pa.types.is_nested(type_) else kind_of(type_)
    if kind_type is not None:
        kind, converted = kind_type
        return {"kind": kind.__name__, **converted.properties}, dict(converted.hints)
    if pa.types.is_nested(type_) and not pa.types.is_union(type_):
        return None
    raise UnsupportedTypeError(str(type_))


def kind_of(type_: Any) -> tuple[type[LogicalType], Lifted] | None:
    """Return the kind of an Arrow type, with properties and hints apart from its parts; None if there is none.

    Raises UnsupportedTypeError for a type of a kind that no manifest can say.
    """
    for kind in KINDS:
        converted = kind.lift(type_)
        if converted is not None:
            return kind, converted
    return None


def storage_kind(type_: LogicalType) -> LogicalType | None:
    """Return the type that a type without parts is stored as, if it stands for an extension type of Arrow; else None."""
    if type_.parts():
        return None
    arrow_type: Any = type_.to_arrow((), Hints(), ArrowDefaults())
    if not isinstance(arrow_type, pa.BaseExtensionType):
        return None
    kind = kind_of(arrow_type.storage_type)
    return None if kind is None else kind[0].model_validate({"kind": kind[0].__name__, **kind[1].properties})


def dictionary_hint(type_: Any) -> Json:
    """Return the hint of a dictionary."""
    index = ARROW_NAMES[str(type_.index_type)]
    return {
        arrow.DICTIONARY_ENCODING.key: {"indexType": index, **({"ordered": True} if type_.ordered else {})}
    }


def extension_hint(type_: Any, note: Callable[[str], None] = lambda _: None) -> Json:
    """Return the attribute of an extension type that pyarrow has registered; metadata that it cannot have is noted."""
    name = type_.extension_name
    of_json = of_role(Role.JSON)
    if name == "arrow.json" and of_json and str(type_.storage_type) in ARROW_BUFFERS:
        return {of_json[0].key: True}
    if name == "arrow.fixed_shape_tensor":
        metadata: Json = {"shape": list(type_.shape)}
        if type_.dim_names is not None:
            metadata["dim_names"] = list(type_.dim_names)
        if type_.permutation is not None:
            metadata["permutation"] = list(type_.permutation)
        return {
            arrow.EXTENSION_TYPE.key: {"name": name, "metadata": json.dumps(metadata, separators=(",", ":"))}
        }
    if name == "arrow.opaque":
        opaque = {"type_name": type_.type_name, "vendor_name": type_.vendor_name}
        return {
            arrow.EXTENSION_TYPE.key: {"name": name, "metadata": json.dumps(opaque, separators=(",", ":"))}
        }
    # Those of programs and of libraries say themselves what their metadata is; Arrow's others have none.
    serialized = type_.__arrow_ext_serialize__() if isinstance(type_, pa.ExtensionType) else b""
    if not is_text(serialized):
        note(f"not kept: the metadata {EXTENSION_METADATA}, which is not UTF-8")
        serialized = b""
    metadata_text = {"metadata": serialized.decode()} if serialized else {}
    return {arrow.EXTENSION_TYPE.key: {"name": name, **metadata_text}}


def storage_of(type_: ArrowType) -> Any:
    """Return the storage type of an extension type, any other type itself."""
    return type_.storage_type if isinstance(type_, pa.BaseExtensionType) else type_
