"""Casts values of one plain type to another.

Layer: engines.
Shape: one rule: the new value, brought back, is the old one. What that means for its types, each file says.
"""

import json
from typing import Any

import numpy as np
import pyarrow as pa

from schemac.engines.lance.tables.casts.numbers import cast_numbers
from schemac.engines.lance.tables.casts.texts import cast_bytes, read_text, write_out
from schemac.engines.lance.tables.casts.timestamps import cast_moments
from schemac.engines.lance.tables.casts.wanted import Cast, Wanted, fitting, one_by_one

_MOMENTS = frozenset({"Date", "Time", "Timestamp", "Duration"})
_BYTES = frozenset({"String", "Binary"})


def cast(values: Any, wanted: Wanted) -> Cast:
    """Return the values in the new type."""
    old, new = wanted.old.kind, wanted.new.kind
    if old == "Null":
        return fitting(pa.nulls(len(values), wanted.type), len(values))
    if values.type.equals(wanted.type) and old == new:
        return fitting(values, len(values))
    if wanted.old.parts() or wanted.new.parts():
        return fitting(values.cast(wanted.type), len(values))
    if old in _BYTES and new in _BYTES:
        return cast_bytes(values, wanted)
    if new == "String":
        return write_out(values, wanted)
    if old == "String":
        return read_text(values, wanted)
    return cast_moments(values, wanted) if old in _MOMENTS else cast_numbers(values, wanted)


def check_json(values: Any) -> Cast:
    """Texts that have to be JSON."""
    found = one_by_one(values.cast(pa.large_string()), pa.large_string(), _json_in)
    return Cast(values, np.asarray(found.misfits))


def _json_in(text: str) -> str | None:
    def refuse(word: str) -> None:
        raise ValueError(word)

    try:
        json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        return None
    return text
