"""How well values of one type fit another.

Layer: logical.
"""

from enum import IntEnum


class Castability(IntEnum):
    """From the best to the worst."""

    EQUAL = 0
    """The same values."""
    LOSSLESS = 1
    """Every value has its like in the new type."""
    DEPENDS = 2
    """Some values do not fit, or lose digits."""
    NEVER = 3
    """There is no way from one to the other."""
