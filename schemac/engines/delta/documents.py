"""JSON around the tables of Delta that is neither a schema nor data.

Layer: engines.
Source: the Delta protocol, "Actions".
"""

from typing import Any

from schemac.importers.foreign_json import ForeignDocument

_DELTA = frozenset(
    {"commitInfo", "metaData", "protocol", "add", "remove", "txn", "cdc", "domainMetadata", "sidecar"}
    | {"checkpointMetadata"}
)


def _is_delta(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and len(value) == 1
        and set(value) <= _DELTA
        and all(isinstance(item, dict) for item in value.values())
    )


DOCUMENTS = (
    ForeignDocument(
        "a commit of a Delta table's log",
        _is_delta,
        "import the table's folder, which contains `_delta_log`",
    ),
)
"""What to import in place of such a file."""
