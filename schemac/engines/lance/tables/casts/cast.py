"""Casts values of one plain type to another.

Layer: engines.
Shape: one rule: the new value, brought back, is the old one. What that means for its types, each file says.
"""

import json
from typing import Any

import numpy as np
import pyarrow as pa

from schemac.attributes.family import NUMBERS, TEMPORAL, Family
from schemac.engines.lance.tables.casts.cast_target import Cast, CastTarget, fitting, one_by_one
from schemac.engines.lance.tables.casts.numbers import cast_numbers
from schemac.engines.lance.tables.casts.texts import cast_bytes, read_text, write_out
from schemac.engines.lance.tables.casts.timestamps import cast_temporal

_BYTES = frozenset({Family.TEXT, Family.BYTES})
_NUMBERS = NUMBERS | {Family.BOOLEAN, Family.DECIMAL}


def cast(values: Any, target: CastTarget) -> Cast:
    """Return the values in the new type. Raises ValueError between families that have no rule here."""
    old, new = target.old.family, target.new.family
    if old is Family.NULL:
        return fitting(pa.nulls(len(values), target.type), len(values))
    if values.type.equals(target.type) and target.old.kind == target.new.kind:
        return fitting(values, len(values))
    if target.old.parts() or target.new.parts():
        return fitting(values.cast(target.type), len(values))
    if old in _BYTES and new in _BYTES:
        return cast_bytes(values, target)
    if new is Family.TEXT:
        return write_out(values, target)
    if old is Family.TEXT:
        return read_text(values, target)
    if old in TEMPORAL and new in TEMPORAL:
        return cast_temporal(values, target)
    if old in _NUMBERS and new in _NUMBERS:
        return cast_numbers(values, target)
    raise ValueError(f"no cast from {target.old.type_text()} to {target.new.type_text()}")


def check_json(values: Any) -> Cast:
    """Texts that have to be JSON."""
    parsed = one_by_one(values.cast(pa.large_string()), pa.large_string(), _json_in)
    return Cast(values, np.asarray(parsed.misfits))


def _json_in(text: str) -> str | None:
    def refuse(word: str) -> None:
        raise ValueError(word)

    try:
        json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        return None
    return text
