"""What is asked of a cast, and what it gives.

Layer: engines. Values only.
Shape: one result a value. What does not fit is null there, and marked; so nothing is lost without a word.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


@dataclass(frozen=True, slots=True)
class CastTarget:
    """One cast."""

    old: Any
    """The logical type of the values."""
    new: Any
    type: Any
    """The Arrow type of the result: no dictionary, and no extension type."""
    zone: str = ""
    """The clock that readings without a zone were taken from; empty if none is known."""
    is_rounded: bool = False
    """Whether the nearest value will do where there is no equal one. Moments are cut to the unit before."""


@dataclass(frozen=True, slots=True)
class Cast:
    """The new values."""

    values: Any
    """As many as there were; null where there was null, and where nothing fits."""
    misfits: Any
    """A numpy array of booleans: which values do not fit."""


def fitting(values: Any, count: int) -> Cast:
    """Where every value fits."""
    return Cast(values, np.zeros(count, bool))


def numbers_of(values: Any) -> tuple[Any, Any]:
    """Return the stored numbers of an array, and where they are not null; what is under a null is 0."""
    type_ = values.type
    if pa.types.is_boolean(type_):
        values, type_ = values.cast(pa.uint8()), pa.uint8()
    elif pa.types.is_temporal(type_):
        type_ = pa.int32() if type_.bit_width == 32 else pa.int64()
        values = values.view(type_)
    there = np.asarray(values.is_valid().to_numpy(zero_copy_only=False))
    if not len(values):
        return np.zeros(0, _dtype(type_)), there
    whole = np.frombuffer(values.buffers()[1], _dtype(type_))
    return np.where(there, whole[values.offset : values.offset + len(values)], 0), there


def array_of(numbers: Any, there: Any, fits: Any, type_: Any) -> Cast:
    """Return the array whose stored numbers these are; null where nothing was or nothing fits."""
    good = there & fits
    numbers = np.where(good, numbers, 0)
    if pa.types.is_boolean(type_):
        values = pa.array(numbers.astype(bool), type_, mask=~good)
    else:
        bits = pa.array(good, pa.bool_()).buffers()[1]
        data = pa.py_buffer(np.ascontiguousarray(numbers.astype(_dtype(type_))))
        values = pa.Array.from_buffers(type_, len(numbers), [bits, data])
    return Cast(values, there & ~fits)


def one_by_one(values: Any, type_: Any, convert: Callable[[Any], Any]) -> Cast:
    """Each different value by itself; `convert` gives None if a value does not fit."""
    if pa.types.is_float16(values.type):
        values = values.cast(pa.float32())
    coded = values.dictionary_encode()
    new = [convert(value) for value in coded.dictionary.to_pylist()]
    if pa.types.is_float16(type_):
        new = [None if value is None else np.float16(value) for value in new]
    made = pa.array(new, type_)
    converted = made.take(coded.indices)
    misfits = pc.and_(converted.is_null(), values.is_valid())
    return Cast(converted, np.asarray(misfits.to_numpy(zero_copy_only=False)))


def _dtype(type_: Any) -> Any:
    """How numpy has the numbers that a type stores; `to_pandas_dtype` needs pandas in older releases of pyarrow."""
    sort = "f" if pa.types.is_floating(type_) else "u" if pa.types.is_unsigned_integer(type_) else "i"
    return np.dtype(f"{sort}{type_.bit_width // 8}")
