"""The interface of a constraint, and Arrow arrays in a form whose values compare exactly, or whose parts can be looked at.

Layer: language.
Shape: a constraint is made of a type and of the value of an attribute. It finds the values of an Arrow array that break
it, and compares itself with another constraint of its class: wider, narrower or neither. Comparable arrays have the
validity of the original: 64-bit integers for integers, days, times and durations, 128-bit decimals, floats of 32 and 64
bits, plain strings and bytes.
Source: Arrow's columnar format. Views, dictionaries, run-end encodings and small decimals lack kernels for some
comparisons.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Context, Decimal
from enum import Enum, auto
from typing import Any, ClassVar, Self

from schemac.language.attributes.attribute import Attribute
from schemac.language.logical.model import LogicalType
from schemac.language.physical.arrow import pa

EXACT = Context(prec=1000)
"""For numbers of at most a few hundred digits, which it never rounds."""
_LOW_WORDS = 18
"""Digits of a decimal whose unscaled value fits into 64 bits."""


def plain(values: Any) -> Any:
    """Return the values without what is only about their layout."""
    type_ = values.type
    if isinstance(type_, pa.BaseExtensionType):
        return plain(values.storage)
    if pa.types.is_dictionary(type_):
        return plain(values.dictionary_decode())
    is_ = pa.types
    if is_.is_string_view(type_) or is_.is_large_string(type_):
        return values.cast(pa.large_string())
    if is_.is_binary_view(type_) or is_.is_large_binary(type_):
        return values.cast(pa.large_binary())
    return values


def comparable_array(values: Any) -> Any:
    """Return the values in a type that Arrow compares: see the module."""
    values = plain(values)
    type_, is_ = values.type, pa.types
    if is_.is_date32(type_) or is_.is_time32(type_):
        return values.view(pa.int32()).cast(pa.int64())
    if is_.is_date64(type_):
        return compute().divide(values.view(pa.int64()), pa.scalar(86_400_000))
    if is_.is_timestamp(type_) or is_.is_time64(type_) or is_.is_duration(type_):
        return values.view(pa.int64())
    if is_.is_float16(type_):
        return values.cast(pa.float32())
    if is_.is_integer(type_) and not is_.is_uint64(type_):
        return values.cast(pa.int64())
    if is_.is_decimal(type_) and type_.bit_width != 128 and type_.precision <= 38:
        return comparable_array(values.cast(pa.decimal128(type_.precision, type_.scale)))
    if is_.is_decimal128(type_) and type_.scale < 0:
        # Arrow compares none with a negative scale, so what they are kept as stands for them.
        whole_type = pa.decimal128(type_.precision, 0)
        return pa.Array.from_buffers(whole_type, len(values), values.buffers(), offset=values.offset)
    return values


def comparable_value(value: Any, scale: int) -> Any:
    """Return a value in the form that `comparable_array` gives values of its type; `scale` is that of a decimal."""
    return value.scaleb(scale, EXACT) if scale < 0 and isinstance(value, Decimal) else value


def scalar_like(values: Any, value: Any, scale: int = 0) -> Any:
    """Return a value as a scalar of a comparable array's type."""
    return pa.scalar(comparable_value(value, scale), values.type)


def unscaled(values: Any) -> list[int | None]:
    """Return the whole numbers that decimals are kept as."""
    scale = values.type.scale
    return [None if value is None else whole(value, scale) for value in values.to_pylist()]


def unscaled_array(values: Any) -> Any:
    """Return the whole numbers that 128-bit decimals of up to 18 digits are kept as; None if they have more."""
    if values.type.precision > _LOW_WORDS:
        return None
    if not len(values):
        return pa.array([], pa.int64())
    import numpy as np

    words = np.frombuffer(values.buffers()[1], dtype="<i8")[::2]
    words_of_values = words[values.offset : values.offset + len(values)]
    return pa.array(words_of_values, mask=np.asarray(values.is_null()))


def compute() -> Any:
    """Return Arrow's functions, which are loaded when values are looked at and not before."""
    import pyarrow.compute

    return pyarrow.compute


def lists_of(lists: Any, items: Any, type_: Any = None) -> Any:
    """Return lists of other items, as many in each as there were."""
    offsets = _offsets(compute().list_value_length(lists))
    return pa.ListArray.from_arrays(offsets, items, type_, mask=mask_of(lists))


def compact(lists: Any) -> Any:
    """Return lists with nothing below null, for which `list_parent_indices` has as many numbers as `flatten` has items."""
    return lists_of(lists, lists.flatten()) if lists.null_count else lists


def entries_of(maps: Any) -> Any:
    """Return maps as lists of their entries, which is how Arrow keeps them."""
    entries = pa.StructArray.from_arrays([maps.keys, maps.items], ["key", "value"])
    buffers = maps.buffers()[:2]
    lists = pa.ListArray.from_buffers(
        pa.list_(entries.type), len(maps), buffers, offset=maps.offset, children=[entries]
    )
    return compact(lists)


def mask_of(array: Any) -> Any:
    """Return which values are null; None if none is."""
    return array.is_null() if array.null_count else None


def _offsets(lengths: Any) -> Any:
    """Return offsets of lists that lie close together."""
    ends = compute().cumulative_sum(compute().fill_null(lengths, 0).cast(pa.int64()))
    return pa.concat_arrays([pa.array([0], pa.int64()), ends]).cast(pa.int32())


def whole(value: Decimal, scale: int) -> int:
    """Return the whole number that a decimal of a scale is kept as."""
    return int(value.scaleb(scale, EXACT))


class Turn(Enum):
    """How a constraint changed."""

    SAME = auto()
    NARROWED = auto()
    """Some values are no longer allowed, and no others are."""
    WIDENED = auto()
    CHANGED = auto()
    """Some values are no longer allowed, others are for the first time; or nobody can tell."""


@dataclass(frozen=True)
class Constraint(ABC):
    """One constraint of the values at one place; null breaks none."""

    type: LogicalType
    attribute: ClassVar[Attribute[Any]]

    @classmethod
    @abstractmethod
    def read(cls, type_: LogicalType, authored: Any) -> Self:
        """Return the constraint that an attribute's value means for a type. Raises UnfitValueError or PatternError."""

    @abstractmethod
    def broken(self, values: Any) -> Any:
        """Return which of the values break it: an array of booleans; those of null may be null."""

    @abstractmethod
    def turn(self, new: Self) -> Turn:
        """Return how a new constraint of this class differs."""

    @property
    @abstractmethod
    def text(self) -> str:
        """What every value has to be, as the end of a sentence: "at least 3"."""

    @property
    def rule(self) -> str:
        """The name of the rule that is broken: that of the attribute."""
        return self.attribute.name

    def violations(self, values: Any) -> Any:
        """Return a mask of the values that break it."""
        return compute().fill_null(self.broken(values), False)


def turn_of(narrowed: bool, widened: bool) -> Turn:
    """Return how a constraint changed, by whether it forbids what was allowed, and allows what was forbidden."""
    if narrowed:
        return Turn.CHANGED if widened else Turn.NARROWED
    return Turn.WIDENED if widened else Turn.SAME
