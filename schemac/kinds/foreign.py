"""What other systems call a kind.

Layer: kinds.
Shape: names without case and punctuation; what stands in brackets behind a name is read by `manifest.foreign`.
Source: the type names of SQL dialects, Spark, Flink, Iceberg, Arrow, protobuf, Python, Rust and ClickHouse.
"""

from typing import Any

from schemac.kinds.plain import PlainType
from schemac.kinds.registry import KINDS

ARROW_NAMES: dict[str, str] = {
    "null": "Null",
    **{kind.arrow_text: kind.__name__ for kind in KINDS if issubclass(kind, PlainType)},
}
"""Kinds by what pyarrow prints for their one Arrow type."""

ARROW_BUFFERS: dict[str, tuple[str, dict[str, Any]]] = {
    "string": ("String", {}),
    "large_string": ("String", {"kind": "Contiguous", "offsetBitWidth": 64}),
    "string_view": ("String", {"kind": "View", "offsetBitWidth": 32}),
    "binary": ("Binary", {}),
    "large_binary": ("Binary", {"kind": "Contiguous", "offsetBitWidth": 64}),
    "binary_view": ("Binary", {"kind": "View", "offsetBitWidth": 32}),
}
"""Kind and buffer encoding by what pyarrow prints for a type."""

FOREIGN_NAMES: dict[str, str] = {name: kind.__name__ for kind in KINDS for name in kind.foreign_names}
"""What other systems call it, to our kind."""
