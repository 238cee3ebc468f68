"""Bool, integers, binary floats and decimals.

Layer: engines.
Shape: a value fits where the nearest value of the new type, brought back to the nearest value of the old one, is the old
one. NaN is equal to itself, and -0.0 to 0. Where rounding is allowed, the nearest value is taken, of two the even one; what
is outside the new type's range fits never.
"""

from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from typing import Any

import numpy as np

from schemac.attributes.family import Family
from schemac.engines.lance.tables.casts.cast_target import (
    Cast,
    CastTarget,
    array_of,
    fitting,
    numbers_of,
    one_by_one,
)
from schemac.evolution.castability import castability
from schemac.logical.castability import Castability

EXACT = Context(prec=1600, rounding=ROUND_HALF_EVEN, Emax=10**6, Emin=-(10**6))
"""Room for all digits of a binary float, and for the texts that people write."""


def cast_numbers(values: Any, target: CastTarget) -> Cast:
    """Between any two kinds of numbers; Bool counts as 0 and 1."""
    if Family.DECIMAL in (target.old.family, target.new.family):
        return _cast_decimals(values, target)
    numbers, there = numbers_of(values)
    if target.new.family is Family.BOOLEAN:
        return array_of(numbers, there, (numbers == 0) | (numbers == 1), target.type)
    with np.errstate(all="ignore"):
        convert = _to_float if target.new.family is Family.FLOAT else _to_integer
        made, fits = convert(numbers, _numpy_type(target.new), target.is_rounded)
    return array_of(made, there, fits, target.type)


def _numpy_type(type_: Any) -> Any:
    """Return numpy's type of an integer or a binary float."""
    sort = "f" if type_.family is Family.FLOAT else "i" if type_.is_signed else "u"
    return np.dtype(f"{sort}{type_.bits // 8}")


def _to_integer(numbers: Any, type_: Any, is_rounded: bool) -> tuple[Any, Any]:
    bounds = np.iinfo(type_)
    if numbers.dtype.kind == "f":
        wide = numbers.astype(np.float64)
        near = np.rint(wide)
        # The bound itself may have no float; the power of two above it has.
        fits = (near >= float(bounds.min)) & (near < float(int(bounds.max) + 1))
        if not is_rounded:
            fits &= near == wide
        return np.where(fits, near, 0).astype(type_), fits
    here = np.iinfo(numbers.dtype)
    low, high = max(int(here.min), int(bounds.min)), min(int(here.max), int(bounds.max))
    fits = (numbers >= numbers.dtype.type(low)) & (numbers <= numbers.dtype.type(high))
    return numbers.astype(type_), fits


def _to_float(numbers: Any, type_: Any, is_rounded: bool) -> tuple[Any, Any]:
    made = numbers.astype(type_)
    if numbers.dtype.kind == "f":
        fits = ~np.isinf(made) | np.isinf(numbers)
        return made, fits if is_rounded else fits & ((made == numbers) | np.isnan(numbers))
    if is_rounded:
        return made, np.isfinite(made)
    bounds, wide = np.iinfo(numbers.dtype), made.astype(np.float64)
    fits = (wide >= float(bounds.min)) & (wide < float(int(bounds.max) + 1))
    return made, fits & (np.where(fits, wide, 0).astype(numbers.dtype) == numbers)


def _cast_decimals(values: Any, target: CastTarget) -> Cast:
    old, new = target.old, target.new
    if old.kind == new.kind and castability(old, new) <= Castability.LOSSLESS:
        return fitting(values.cast(target.type), len(values))
    if new.family is Family.DECIMAL:
        return one_by_one(values, target.type, lambda value: to_decimal(value, target))
    if new.family is Family.FLOAT:
        return one_by_one(values, target.type, lambda value: to_float(value, old.scale, target))
    bounds = np.iinfo(_numpy_type(new)) if new.family is Family.INTEGER else None
    low, high = (int(bounds.min), int(bounds.max)) if bounds is not None else (0, 1)

    def to_integer(value: Decimal) -> int | bool | None:
        whole = int(value.to_integral_value(ROUND_HALF_EVEN))
        is_in_range = low <= whole <= high and (target.is_rounded or whole == value)
        return None if not is_in_range else whole if bounds is not None else bool(whole)

    return one_by_one(values, target.type, to_integer)


def to_decimal(value: Any, target: CastTarget) -> Decimal | None:
    """Return a number as a decimal of the given precision and scale; None if it does not fit."""
    exact = Decimal(value)
    if not exact.is_finite():
        return None
    near = at_scale(exact, target.new.scale)
    if near is None or abs(near) >= Decimal(10) ** (target.new.precision - target.new.scale):
        return None
    if target.is_rounded or near == exact:
        return near
    is_same = target.old.family is Family.FLOAT and nearest_float(near, target.old) == value
    return near if is_same else None


def to_float(value: Decimal, scale: int, target: CastTarget) -> float | None:
    """Return a decimal number as a binary one; None if that, rounded to the scale, is another decimal."""
    near = nearest_float(value, target.new)
    if near in (float("inf"), float("-inf")):
        return None
    if target.is_rounded:
        return near
    if near == 0 or value == 0:
        return near if near == value else None
    # Of two decimals as near, either will do: which one is written is a matter of taste.
    half = Decimal((0, (5,), -scale - 1))
    return near if abs(EXACT.subtract(Decimal(near), value)) <= half else None


def at_scale(value: Decimal, scale: int) -> Decimal | None:
    """Return a decimal with so many digits after the point; None if it would have more than anybody writes."""
    try:
        return value.quantize(Decimal((0, (1,), -scale)), context=EXACT)
    except InvalidOperation:
        return None


def nearest_float(value: Decimal, type_: Any) -> float:
    """Return the nearest number of a binary float, which may be infinite; of two, the even one."""
    near = float(value)
    if type_.bits == 64 or near in (float("inf"), float("-inf")):
        return near
    if Decimal(near) != value and np.float64(near).view(np.int64) % 2 == 0:
        # Rounded twice, a number may come to lie on the wrong side; an odd last digit keeps it from that.
        near = float(np.nextafter(near, np.inf if Decimal(near) < value else -np.inf))
    with np.errstate(over="ignore"):
        return float(_numpy_type(type_).type(near))
