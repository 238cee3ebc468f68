"""What Paimon makes of a column whose type was changed.

Layer: engines.
Shape: data files stay as they are, and values are cast when they are read. Types with parts are not cast; what they are
made of is.
Source: `DataTypeCasts` and `CastExecutors` of github.com/apache/paimon, measured with 0.9.0: a change is taken where the
rules allow it and something can carry it out.
"""

from enum import IntEnum

from schemac.engines.paimon.types import LONGEST, Atomic, PaimonType


class Cast(IntEnum):
    """How a type becomes another."""

    NONE = 0
    """Not at all."""
    EXPLICIT = 1
    """Where the table does not forbid it by `disable-explicit-type-casting`."""
    IMPLICIT = 2
    """Always; which does not mean that every value fits."""


_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_DIGITS = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 19}
_MANTISSA = {"FLOAT": 24, "DOUBLE": 53}
_INTEGERS = frozenset(_BITS)
_NUMBERS = frozenset({*_BITS, *_MANTISSA, "DECIMAL"})
_TEXTS = frozenset({"CHAR", "VARCHAR"})
_BYTES = frozenset({"BINARY", "VARBINARY"})
_TIMESTAMPS = frozenset({"TIMESTAMP", "TIMESTAMP_LTZ"})
_TIMES = frozenset({"DATE", "TIME", *_TIMESTAMPS})

_IMPLICIT: dict[str, frozenset[str]] = {
    "BOOLEAN": frozenset(),
    "TINYINT": frozenset({"SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL"}),
    "SMALLINT": frozenset({"INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL"}),
    "INT": frozenset({"BIGINT", "FLOAT", "DOUBLE", "DECIMAL"}),
    "BIGINT": frozenset({"FLOAT", "DOUBLE", "DECIMAL"}),
    "FLOAT": frozenset({"DOUBLE", "DECIMAL"}),
    "DOUBLE": frozenset({"DECIMAL"}),
    "DECIMAL": frozenset({"FLOAT", "DOUBLE"}),
    "CHAR": frozenset({"VARCHAR"}),
    "VARCHAR": frozenset(),
    "BINARY": frozenset({"VARBINARY"}),
    "VARBINARY": frozenset(),
    "DATE": frozenset(),
    "TIME": frozenset(),
    "TIMESTAMP": frozenset({"DATE", "TIME", "TIMESTAMP_LTZ"}),
    "TIMESTAMP_LTZ": frozenset({"TIMESTAMP"}),
}
"""Beside the type's own root, whatever its parameters."""
_EXPLICIT: dict[str, frozenset[str]] = {
    "BOOLEAN": _NUMBERS | _TEXTS,
    **dict.fromkeys(("TINYINT", "SMALLINT"), _INTEGERS | _TEXTS | {"BOOLEAN"}),
    **dict.fromkeys(("INT", "BIGINT"), _INTEGERS | _TEXTS | _TIMESTAMPS | {"BOOLEAN"}),
    "FLOAT": _INTEGERS | _TEXTS,
    "DOUBLE": _INTEGERS | _TEXTS | {"FLOAT"},
    "DECIMAL": _INTEGERS | _TEXTS,
    **dict.fromkeys(_TEXTS, _NUMBERS | _BYTES | _TIMES | {"BOOLEAN", "CHAR"}),
    **dict.fromkeys(_BYTES, _TEXTS | {"BINARY"}),
    **dict.fromkeys(("DATE", "TIME"), _TIMESTAMPS | {"VARCHAR"}),
    "TIMESTAMP": frozenset({"INT", "BIGINT", "VARCHAR"}),
    "TIMESTAMP_LTZ": frozenset({"INT", "BIGINT", "DATE", "TIME", "VARCHAR"}),
}
_TEXT_LENGTH = {
    "BOOLEAN": 5,
    "TINYINT": 4,
    "SMALLINT": 6,
    "INT": 11,
    "BIGINT": 20,
    "DECIMAL": 40,
    "FLOAT": 32,
    "DOUBLE": 32,
    "DATE": 10,
    "TIME": 12,
    "TIMESTAMP": 29,
    "TIMESTAMP_LTZ": 29,
}
"""Characters that every value of a root can be written in."""


def cast(old: PaimonType, new: PaimonType) -> Cast:
    """How one plain type becomes the other."""
    if not isinstance(old, Atomic) or not isinstance(new, Atomic) or old.root not in _IMPLICIT:
        return Cast.IMPLICIT if old.type_text() == new.type_text() else Cast.NONE
    if old.root == new.root or new.root in _IMPLICIT[old.root]:
        return Cast.IMPLICIT
    if new.root not in _EXPLICIT[old.root]:
        return Cast.NONE
    is_cut = old.root in _TIMES and new.root == "VARCHAR" and new.parameters[0] < _TEXT_LENGTH[old.root]
    return Cast.NONE if is_cut else Cast.EXPLICIT


def is_lossless(old: Atomic, new: Atomic) -> bool:
    """Whether every value of a castable type has its like in the other."""
    if old.root == new.root:
        return _has_room(old, new)
    if new.root in _TEXTS:
        if old.root in _TEXTS:
            return new.root == "VARCHAR" and new.parameters[0] >= old.parameters[0]
        return new.root == "VARCHAR" and new.parameters[0] >= _TEXT_LENGTH.get(old.root, LONGEST + 1)
    if old.root in _TEXTS:
        return new == Atomic("VARBINARY", (LONGEST,), is_nullable=new.is_nullable)
    if old.root in _INTEGERS:
        return _holds_integers(_BITS[old.root], _DIGITS[old.root], new)
    if old.root == "BOOLEAN":
        return new.root != "DECIMAL" or new.parameters[0] > new.parameters[1]
    if (old.root, new.root) in (("FLOAT", "DOUBLE"), ("DATE", "TIMESTAMP")):
        return True
    return (old.root, new.root) == ("BINARY", "VARBINARY") and new.parameters[0] >= old.parameters[0]


def _has_room(old: Atomic, new: Atomic) -> bool:
    """Return the same root with other parameters."""
    if old.root == "DECIMAL":
        (precision, scale), (new_precision, new_scale) = old.parameters, new.parameters
        return new_scale >= scale and new_precision - new_scale >= precision - scale
    if old.root == "BINARY":
        # Shorter values are filled up with zeros.
        return old.parameters == new.parameters
    return all(was <= is_ for was, is_ in zip(old.parameters, new.parameters, strict=True))


def _holds_integers(bits: int, digits: int, new: Atomic) -> bool:
    if new.root in _BITS:
        return _BITS[new.root] >= bits
    if new.root in _MANTISSA:
        return _MANTISSA[new.root] >= bits - 1
    return new.root == "DECIMAL" and new.parameters[0] - new.parameters[1] >= digits
