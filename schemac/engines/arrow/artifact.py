"""Arrow's IPC schema message.

Layer: engines.
Shape: `arrow/schema.arrow`, one encapsulated IPC message without a body, as `pyarrow.ipc.read_schema` reads it.
Errors: none: whatever passes the checks has an Arrow type; losses SC531.
Source: Arrow's columnar format, "Encapsulated message format".
"""

from typing import Any

from schemac.artifacts.targets import Artifact, ArtifactTarget, Emission
from schemac.engines.arrow import ARROW_LOSS
from schemac.language.logical.model import SchemaField
from schemac.language.physical import pa
from schemac.versions.identity.compilation import Compilation


def emit(compilation: Compilation, emission: Emission) -> list[Artifact]:
    """Return the schema's IPC message."""
    schema = compilation.lowered.to_arrow()
    for field in compilation.lowered.preorder():
        type_: Any = field.arrow.type
        if pa.types.is_map(type_) and (type_.key_field.name, type_.item_field.name) != ("key", "value"):
            # The message has the names, but `pyarrow.ipc.read_schema` makes maps without them.
            names = f"the names {type_.key_field.name} and {type_.item_field.name}"
            emission.lose(field.field, names, "key and value")
        # Tensors make their own storage type, and its items may be null.
        if not isinstance(type_, pa.BaseExtensionType):
            continue
        if field.field.extra and type_.extension_name == "arrow.fixed_shape_tensor":
            emission.lose(field.field, "items that may not be null", "items that may be null")
    return [Artifact("arrow/schema.arrow", schema.serialize().to_pybytes())]


def types(compilation: Compilation, emission: Emission) -> dict[SchemaField, str]:
    """Return the Arrow type of each field as pyarrow writes it."""
    return {
        field.field: f"{field.arrow.type}{'' if field.arrow.nullable else ' not null'}"
        for field in compilation.lowered.preorder()
    }


TARGET = ArtifactTarget("arrow", ARROW_LOSS, emit, types=types)
