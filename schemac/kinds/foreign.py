"""What other systems call a kind.

Layer: kinds.
Shape: names without case and punctuation; what is in brackets behind a name is read by `manifest.foreign`.
Source: the type names of SQL dialects, Spark, Flink, Iceberg, Arrow, protobuf, Python, Rust and ClickHouse.
"""

from typing import NamedTuple

from schemac.kinds.plain import PlainType
from schemac.kinds.registry import KINDS
from schemac.kinds.sequences import buffer_hint
from schemac.logical.model import ExtraAttributes

ARROW_NAMES: dict[str, str] = {
    "null": "Null",
    **{kind.arrow_text: kind.__name__ for kind in KINDS if issubclass(kind, PlainType)},
}
"""Kinds by what pyarrow prints for their one Arrow type."""


class ArrowBuffer(NamedTuple):
    """What a type of variable length is in a manifest."""

    kind: str
    extra: ExtraAttributes = {}
    """The encoding of its buffers, where it is not the default."""


ARROW_BUFFERS = {
    "string": ArrowBuffer("String"),
    "large_string": ArrowBuffer("String", buffer_hint(is_large=True)),
    "string_view": ArrowBuffer("String", buffer_hint(is_view=True)),
    "binary": ArrowBuffer("Binary"),
    "large_binary": ArrowBuffer("Binary", buffer_hint(is_large=True)),
    "binary_view": ArrowBuffer("Binary", buffer_hint(is_view=True)),
}
"""Kind and buffer encoding by what pyarrow prints for a type."""

FOREIGN_NAMES: dict[str, str] = {name: kind.__name__ for kind in KINDS for name in kind.foreign_names}
"""What other systems call it, to our kind."""
