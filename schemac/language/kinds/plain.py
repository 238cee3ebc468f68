"""Bool, the integers and the floating-point numbers: kinds that have no properties and one Arrow type each.

Layer: language.
Units: Decimal: exact numbers: precision and scale in decimal digits, widths in bits.
Errors: SC307 decimal-width, SC308 scale-above-precision.
Source: RFC-016; Arrow's columnar format.
      RFC-016; the limits are Arrow's (9, 18, 38 and 76 digits in 32, 64, 128 and 256 bits).
"""

import decimal
import math
import struct
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from schemac.language.attributes.arrow import DECIMAL_ENCODING, ArrowDefaults, Hints, read_hints
from schemac.language.attributes.attribute import Family
from schemac.language.logical.dataset import Findings
from schemac.language.logical.facts import Fact
from schemac.language.logical.model import AuthoredType, Castability, Invariable, LogicalType, SchemaField
from schemac.language.physical import ArrowField, ArrowType, arrow_type, pa
from schemac.registry.engine import Trait, with_trait
from schemac.text.source.catalogue import DECIMAL_WIDTH, SCALE_ABOVE_PRECISION
from schemac.text.source.phrases import Help, listed


class PlainType(Invariable):
    """A kind with exactly one Arrow type."""

    arrow_name: ClassVar[str]
    """Of pyarrow's factory."""
    arrow_text: ClassVar[str]
    """What pyarrow prints for the type."""

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """Return the one Arrow type of this kind."""
        return arrow_type(self.arrow_name)

    @classmethod
    def from_arrow(cls, type_: Any) -> AuthoredType | None:
        """Return the kind, for its one Arrow type."""
        return AuthoredType({}) if str(type_) == cls.arrow_text else None


class IntegerType(PlainType):
    """Integers of a fixed width; the kind's name has the width, and whether they are signed."""

    family: ClassVar[Family] = Family.INTEGER
    bits: ClassVar[int]
    is_signed: ClassVar[bool]

    def __init_subclass__(cls, *, number: int, names: str) -> None:
        """Take the number of the kind in the standard, and its names in other systems, with blanks between them."""
        cls.arrow_name = cls.arrow_text = cls.__name__.lower()
        cls.bits = int(cls.__name__.removeprefix("U").removeprefix("Int"))
        cls.is_signed = not cls.__name__.startswith("U")
        cls.standard_number, cls.foreign_names, cls.example = number, tuple(names.split()), cls.__name__
        super().__init_subclass__()

    def samples(self) -> tuple[int, ...]:
        """Return the bounds of this and of other widths, and of the mantissas of floating-point numbers."""
        value_bits = self.bits - self.is_signed
        low, high = -(2**value_bits) if self.is_signed else 0, 2**value_bits - 1
        powers = (sign * 2**n for n in (7, 8, 11, 15, 16, 24, 31, 32, 53, 63) for sign in (1, -1))
        edges = (power + step for power in powers for step in (-1, 0, 1))
        return tuple(
            sorted({v for v in (*edges, 0, 1, 2, 7, -1, 999, 100000, low, high) if low <= v <= high})
        )


class FloatType(PlainType):
    """Binary floating-point numbers of IEEE 754."""

    family: ClassVar[Family] = Family.FLOAT
    bits: ClassVar[int]
    mantissa: ClassVar[int]
    """Digits of the significand in binary, the hidden one counted."""
    packing: ClassVar[str]
    """The type's letter in Python's `struct`."""

    def __init_subclass__(cls, *, number: int, mantissa: int, arrow_text: str, names: str) -> None:
        """Set what differs between widths; the width is in the kind's name."""
        cls.arrow_name, cls.arrow_text = cls.__name__.lower(), arrow_text
        cls.bits, cls.mantissa = int(cls.__name__.removeprefix("Float")), mantissa
        cls.packing = {16: "<e", 32: "<f", 64: "<d"}[cls.bits]
        cls.standard_number, cls.foreign_names, cls.example = number, tuple(names.split()), cls.__name__
        super().__init_subclass__()

    def samples(self) -> tuple[float, ...]:
        """Return the bounds of this and of other widths, and what decimal fractions become; all of them values of the type."""
        top = 2 ** (self.bits - self.mantissa - 1) - 1
        largest = float((2**self.mantissa - 1) * 2 ** (top - self.mantissa + 1))
        smallest = math.ldexp(1.0, 2 - top - self.mantissa)
        values = (
            0.0, -0.0, 1.0, 2.0, -1.0, 3.5, 255.0, largest, -largest, smallest, math.nan, math.inf, -math.inf, 1e300, 99999.0,
            1.005, 1.5, 2.5, 0.1, 1e-300, 65504.0, 65520.0, 2.0**24 + 1, 2.0**53, 2.0**63, 2.0**64,
        )  # fmt: skip
        return tuple(v for v in values if not math.isfinite(v) or self.nearest(v) == v)

    def nearest(self, value: float) -> float:
        """Return the value of the type that is nearest to a number; infinite beyond the largest one."""
        try:
            rounded: float = struct.unpack(self.packing, struct.pack(self.packing, value))[0]
        except OverflowError:
            return math.inf
        return rounded


class Bool(PlainType):
    """True or false."""

    kind: Literal["Bool"] = "Bool"
    family: ClassVar[Family] = Family.BOOLEAN
    arrow_name: ClassVar[str] = "bool_"
    arrow_text: ClassVar[str] = "bool"
    standard_number: ClassVar[int | None] = 2
    foreign_names: ClassVar[tuple[str, ...]] = ("boolean", "bit", "logical")
    example: ClassVar[str] = "Bool"

    def samples(self) -> tuple[bool, ...]:
        """Return both."""
        return (True, False)


class Int8(IntegerType, number=9, names="tinyint byte i8"):
    """Whole numbers from -128 to 127."""

    kind: Literal["Int8"] = "Int8"


class Int16(IntegerType, number=10, names="smallint short i16 smallserial"):
    """Whole numbers of 16 bits with sign."""

    kind: Literal["Int16"] = "Int16"


class Int32(IntegerType, number=11, names="int integer i32 sint32 sfixed32 serial mediumint"):
    """Whole numbers of 32 bits with sign."""

    kind: Literal["Int32"] = "Int32"


class Int64(IntegerType, number=12, names="bigint long int8byte i64 sint64 sfixed64 bigserial longlong"):
    """Whole numbers of 64 bits with sign."""

    kind: Literal["Int64"] = "Int64"


class UInt8(IntegerType, number=13, names="u8 ubyte unsignedtinyint tinyintunsigned utinyint"):
    """Whole numbers from 0 to 255."""

    kind: Literal["UInt8"] = "UInt8"


class UInt16(IntegerType, number=14, names="u16 ushort unsignedsmallint smallintunsigned usmallint"):
    """Whole numbers of 16 bits without sign."""

    kind: Literal["UInt16"] = "UInt16"


class UInt32(
    IntegerType,
    number=15,
    names="u32 uint unsigned fixed32 intunsigned integerunsigned unsignedint unsignedinteger uinteger",
):
    """Whole numbers of 32 bits without sign."""

    kind: Literal["UInt32"] = "UInt32"


class UInt64(IntegerType, number=16, names="u64 ulong fixed64 bigintunsigned unsignedbigint ubigint"):
    """Whole numbers of 64 bits without sign."""

    kind: Literal["UInt64"] = "UInt64"


class Float16(FloatType, number=6, mantissa=11, arrow_text="halffloat", names="half halffloat f16"):
    """IEEE 754 half precision."""

    kind: Literal["Float16"] = "Float16"


class Float32(FloatType, number=7, mantissa=24, arrow_text="float", names="float real f32 single float4"):
    """IEEE 754 single precision."""

    kind: Literal["Float32"] = "Float32"


class Float64(
    FloatType, number=8, mantissa=53, arrow_text="double", names="double float8 number f64 doubleprecision"
):
    """IEEE 754 double precision."""

    kind: Literal["Float64"] = "Float64"


MOST_DIGITS = {32: 9, 64: 18, 128: 38, 256: 76}
"""Largest precision by width."""


class Decimal(LogicalType):
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
        width = encoding.bit_width if encoding is not None else 256
        if self.precision > MOST_DIGITS[width]:
            message = f"{self.precision} digits do not fit in {width} bits, which hold {MOST_DIGITS[width]}"
            help = Help.write(str(_width(self.precision, at_least=32)), key="bitWidth")
            findings.at_extra(field, DECIMAL_ENCODING.key, DECIMAL_WIDTH, message, "bitWidth", help=help)
        if self.scale > self.precision:
            message = (
                f"{field.path_text} has {self.scale} digits after the point, but only {self.precision} in all"
            )
            refusing = listed(with_trait(Trait.REFUSES_SCALE_ABOVE_PRECISION))
            help = f"{refusing} refuse this; `precision: {self.scale}` would be enough"
            findings.at_type(field, SCALE_ABOVE_PRECISION, message, "scale", help=help)

    def type_text(self) -> str:
        """`Decimal(12, 2)`."""
        return f"Decimal({self.precision}, {self.scale})"

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """Return decimal32, 64, 128 or 256; without a hint the narrower of the last two that holds it."""
        width = hints.decimal.bit_width if hints.decimal is not None else _width(self.precision, at_least=128)
        return arrow_type(f"decimal{width}", self.precision, self.scale)

    @classmethod
    def from_arrow(cls, type_: Any) -> AuthoredType | None:
        """Return precision and scale, and the width as a hint where it is not the default."""
        if not pa.types.is_decimal(type_):
            return None
        properties = {"precision": type_.precision, "scale": type_.scale}
        is_usual = type_.bit_width == _width(type_.precision, at_least=128)
        hint = {} if is_usual else {DECIMAL_ENCODING.key: {"bitWidth": type_.bit_width}}
        return AuthoredType(properties, hint)

    def facts(self, new: Self) -> Iterator[Fact]:
        """Yield how the precision and how the scale changed."""
        if self.precision != new.precision:
            yield Fact.PRECISION_RAISED if new.precision > self.precision else Fact.PRECISION_LOWERED
        if self.scale != new.scale:
            yield Fact.SCALE_RAISED if new.scale > self.scale else Fact.SCALE_LOWERED

    def castability(self, new: Self) -> Castability:
        """Return LOSSLESS if there is room for all digits on both sides of the point, else DEPENDS."""
        if (self.precision, self.scale) == (new.precision, new.scale):
            return Castability.EQUAL
        has_room = new.precision - new.scale >= self.precision - self.scale and new.scale >= self.scale
        return Castability.LOSSLESS if has_room else Castability.DEPENDS

    @classmethod
    def variants(cls) -> tuple[Self, ...]:
        """Return types of every width, with no, some and negative digits after the point."""
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
    """Return the least number of bits that a decimal of so many digits can have."""
    return next(width for width, digits in MOST_DIGITS.items() if width >= at_least and digits >= precision)
