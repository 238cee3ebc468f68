"""JSON that is neither a schema nor data, and has a StructType inside.

Layer: engines.
Source: the Delta protocol, "Actions".
"""

from typing import Any

from schemac.importers.foreign_json import ForeignDocument
from schemac.source.json_object import Json

_DELTA = frozenset(
    {"commitInfo", "metaData", "protocol", "add", "remove", "txn", "cdc", "domainMetadata", "sidecar"}
    | {"checkpointMetadata"}
)


def _is_delta(value: Any) -> bool:
    return isinstance(value, dict) and len(value) == 1 and set(value) <= _DELTA and _is_object_inside(value)


def _is_object_inside(value: Json) -> bool:
    return all(isinstance(item, dict) for item in value.values())


DOCUMENTS = (
    ForeignDocument(
        "a commit of a Delta table's log",
        _is_delta,
        "save the text in `metaData.schemaString`, which is a Spark StructType, as a file, and import that file",
    ),
)
"""What to import in the place of such a file."""
