"""Decimal: exact numbers.

Layer: kinds.
Units: precision and scale in decimal digits, widths in bits.
Errors: SC307 decimal-width, SC308 scale-above-precision.
Source: RFC-016; the limits are Arrow's (9, 18, 38 and 76 digits in 32, 64, 128 and 256 bits).
"""

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field as Bounds

from schemac.attributes.arrow import DECIMAL_ENCODING, ArrowDefaults, Hints, read_hints
from schemac.logical.findings import Findings
from schemac.logical.model import LogicalType
from schemac.logical.slots import Slot
from schemac.physical.arrow import ArrowField, ArrowType, pa
from schemac.source.catalogue import DECIMAL_WIDTH, SCALE_ABOVE_PRECISION

MOST_DIGITS = {32: 9, 64: 18, 128: 38, 256: 76}
"""Largest precision by width."""


class Decimal(LogicalType):
    """A number with `precision` digits, `scale` of them after the point; a negative scale is legal."""

    kind: Literal["Decimal"] = "Decimal"
    precision: Annotated[int, Bounds(ge=1, le=76)]
    scale: Annotated[int, Bounds(ge=-76, le=76)]
    example: ClassVar[str] = "{kind: Decimal, precision: 12, scale: 2}"

    def check(self, slot: Slot, findings: Findings) -> None:
        """The width has to hold the precision; a scale above it is legal but odd."""
        encoding = read_hints(slot.extra).decimal
        if encoding is not None and self.precision > MOST_DIGITS[encoding.bit_width]:
            findings.at_extra(
                slot,
                DECIMAL_ENCODING.key,
                DECIMAL_WIDTH,
                f"{self.precision} digits do not fit {encoding.bit_width} bits, which hold {MOST_DIGITS[encoding.bit_width]}",
                "bitWidth",
                help=f"write `bitWidth: {_width(self.precision, at_least=32)}`",
            )
        if self.scale > self.precision:
            findings.at_type(
                slot,
                SCALE_ABOVE_PRECISION,
                f"{slot.title} has {self.scale} digits after the point, but only {self.precision} in all",
                "scale",
                help=f"Spark and Paimon refuse this; `precision: {self.scale}` would hold it",
            )

    def title(self) -> str:
        """`Decimal(12, 2)`."""
        return f"Decimal({self.precision}, {self.scale})"

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """decimal32, 64, 128 or 256; without a hint the narrower of the last two that holds it."""
        width = hints.decimal.bit_width if hints.decimal is not None else _width(self.precision, at_least=128)
        arrow_type: ArrowType = getattr(pa, f"decimal{width}")(self.precision, self.scale)
        return arrow_type


def _width(precision: int, at_least: int) -> int:
    return next(width for width, digits in MOST_DIGITS.items() if width >= at_least and digits >= precision)
