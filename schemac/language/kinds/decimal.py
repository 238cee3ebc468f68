"""Decimal: exact numbers.

Layer: language.
Units: precision and scale in decimal digits, widths in bits.
Errors: SC307 decimal-width, SC308 scale-above-precision.
Source: RFC-016; the limits are Arrow's (9, 18, 38 and 76 digits in 32, 64, 128 and 256 bits).
"""

import decimal
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from schemac.language.attributes.arrow import DECIMAL_ENCODING, ArrowDefaults, Hints, read_hints
from schemac.language.attributes.attribute import Family
from schemac.language.logical.facts import Fact
from schemac.language.logical.findings import Checked, Findings
from schemac.language.logical.model import Castability, Lifted, LogicalType
from schemac.language.logical.schema_fields import SchemaField
from schemac.language.physical.arrow import ArrowField, ArrowType, pa
from schemac.registry.engine import Trait
from schemac.registry.installed import with_trait
from schemac.text.source.catalogue import DECIMAL_WIDTH, SCALE_ABOVE_PRECISION
from schemac.text.source.help import Help
from schemac.text.source.phrases import listed

MOST_DIGITS = {32: 9, 64: 18, 128: 38, 256: 76}
"""Largest precision by width."""


class Decimal(LogicalType, Checked):
    """A number with `precision` digits, `scale` of them after the point; a negative scale is legal."""

    kind: Literal["Decimal"] = "Decimal"
    precision: int = Field(ge=1, le=76, description="Digits in all, up to 76.")
    scale: int = Field(ge=-76, le=76, description="Digits after the point.")
    family: ClassVar[Family] = Family.DECIMAL
    standard_number: ClassVar[int | None] = 4
    foreign_names: ClassVar[tuple[str, ...]] = (
        "numeric", "money", "decimal32", "decimal64", "decimal128", "decimal256", "dec", "hugeint",
        "int128",
    )  # fmt: skip
    example: ClassVar[str] = "{kind: Decimal, precision: 12, scale: 2}"

    def check(self, field: SchemaField, findings: Findings) -> None:
        """Check that the width holds the precision; a scale above it is legal but odd."""
        encoding = read_hints(field.extra).decimal
        if encoding is not None and self.precision > MOST_DIGITS[encoding.bit_width]:
            findings.at_extra(
                field,
                DECIMAL_ENCODING.key,
                DECIMAL_WIDTH,
                f"{self.precision} digits do not fit in {encoding.bit_width} bits, which hold"
                f" {MOST_DIGITS[encoding.bit_width]}",
                "bitWidth",
                help=Help.write(str(_width(self.precision, at_least=32)), key="bitWidth"),
            )
        if self.scale > self.precision:
            findings.at_type(
                field,
                SCALE_ABOVE_PRECISION,
                f"{field.path_text} has {self.scale} digits after the point, but only {self.precision} in all",
                "scale",
                help=f"{listed(with_trait(Trait.REFUSES_SCALE_ABOVE_PRECISION))} refuse this;"
                f" `precision: {self.scale}` would be enough",
            )

    def type_text(self) -> str:
        """`Decimal(12, 2)`."""
        return f"Decimal({self.precision}, {self.scale})"

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """decimal32, 64, 128 or 256; without a hint the narrower of the last two that holds it."""
        width = hints.decimal.bit_width if hints.decimal is not None else _width(self.precision, at_least=128)
        arrow_type: ArrowType = getattr(pa, f"decimal{width}")(self.precision, self.scale)
        return arrow_type

    @classmethod
    def lift(cls, type_: Any) -> Lifted | None:
        """Precision and scale, and the width where it is not the default."""
        if not pa.types.is_decimal(type_):
            return None
        properties = {"precision": type_.precision, "scale": type_.scale}
        hint = {DECIMAL_ENCODING.key: {"bitWidth": type_.bit_width}}
        return Lifted(properties, hint if type_.bit_width != _width(type_.precision, at_least=128) else {})

    def facts(self, new: Self) -> Iterator[Fact]:
        """Precision and scale change by themselves."""
        if self.precision != new.precision:
            yield Fact.PRECISION_RAISED if new.precision > self.precision else Fact.PRECISION_LOWERED
        if self.scale != new.scale:
            yield Fact.SCALE_RAISED if new.scale > self.scale else Fact.SCALE_LOWERED

    def castability(self, new: Self) -> Castability:
        """There has to be room on both sides of the point."""
        if (self.precision, self.scale) == (new.precision, new.scale):
            return Castability.EQUAL
        has_room = new.precision - new.scale >= self.precision - self.scale and new.scale >= self.scale
        return Castability.LOSSLESS if has_room else Castability.DEPENDS

    @classmethod
    def variants(cls) -> tuple[Self, ...]:
        """Every width, with no, some and negative digits after the point."""
        pairs = ((9, 2), (5, 0), (5, 2), (15, 2), (20, 2), (38, 10), (5, -3), (50, 5))
        return tuple(cls(precision=precision, scale=scale) for precision, scale in pairs)

    def samples(self) -> tuple[Any, ...]:
        """Return the bounds, and what ends in a five."""
        digits = self.precision
        numbers = (0, 1, -1, 5, 150, 12345, 10**digits - 1, 1 - 10**digits, 10 ** (digits - 1) + 1)
        wide = decimal.Context(prec=200)
        decimals = (decimal.Decimal(n).scaleb(-self.scale, wide) for n in numbers if abs(n) < 10**digits)
        return tuple(dict.fromkeys(decimals))


def _width(precision: int, at_least: int) -> int:
    return next(width for width, digits in MOST_DIGITS.items() if width >= at_least and digits >= precision)
