"""The types that a field may get while files keep the old one.

Layer: engines.
Source: the Iceberg table specification, "Schema Evolution": the table of valid promotions. pyiceberg 0.12 itself lets the
scale of a decimal change, and text become bytes, which the specification does not have.
"""

from schemac.engines.iceberg.types import FORMAT_3, Decimal, IcebergType, Primitive

_SINCE_FIRST = frozenset({("int", "long"), ("float", "double")})
_SINCE_THIRD = frozenset({("date", "timestamp"), ("date", "timestamp_ns")})


def is_promotion(old: IcebergType, new: IcebergType, format_version: int) -> bool:
    """Whether a table of a format may give a field of one type without parts the other."""
    if isinstance(old, Decimal) and isinstance(new, Decimal):
        return old.scale == new.scale and old.precision < new.precision
    pair = (old.word, new.word)
    if pair in _SINCE_FIRST:
        return True
    if format_version < FORMAT_3:
        return False
    if old == Primitive("unknown"):
        return new != old
    return pair in _SINCE_THIRD


def needs_format_3(old: IcebergType, new: IcebergType) -> bool:
    """Whether only tables of format 3 can do it."""
    return is_promotion(old, new, FORMAT_3) and not is_promotion(old, new, FORMAT_3 - 1)
