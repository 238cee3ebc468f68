"""Bool, the integers and the floating-point numbers: kinds that have no properties and one Arrow type each.

Layer: kinds.
Source: RFC-016; Arrow's columnar format.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

from schemac.attributes.arrow import ArrowDefaults, Hints
from schemac.logical.model import LogicalType
from schemac.physical.arrow import ArrowField, ArrowType, pa


class PlainType(LogicalType):
    """A kind that stands for one Arrow type."""

    arrow_name: ClassVar[str]

    def to_arrow(self, children: Sequence[ArrowField], hints: Hints, defaults: ArrowDefaults) -> ArrowType:
        """The one Arrow type of this kind."""
        factory = getattr(pa, self.arrow_name)
        arrow_type: ArrowType = factory()
        return arrow_type


class Bool(PlainType):
    """True or false."""

    kind: Literal["Bool"] = "Bool"
    arrow_name: ClassVar[str] = "bool_"
    example: ClassVar[str] = "Bool"


class Int8(PlainType):
    """Whole numbers from -128 to 127."""

    kind: Literal["Int8"] = "Int8"
    arrow_name: ClassVar[str] = "int8"
    example: ClassVar[str] = "Int8"


class Int16(PlainType):
    """Whole numbers of 16 bits with sign."""

    kind: Literal["Int16"] = "Int16"
    arrow_name: ClassVar[str] = "int16"
    example: ClassVar[str] = "Int16"


class Int32(PlainType):
    """Whole numbers of 32 bits with sign."""

    kind: Literal["Int32"] = "Int32"
    arrow_name: ClassVar[str] = "int32"
    example: ClassVar[str] = "Int32"


class Int64(PlainType):
    """Whole numbers of 64 bits with sign."""

    kind: Literal["Int64"] = "Int64"
    arrow_name: ClassVar[str] = "int64"
    example: ClassVar[str] = "Int64"


class UInt8(PlainType):
    """Whole numbers from 0 to 255."""

    kind: Literal["UInt8"] = "UInt8"
    arrow_name: ClassVar[str] = "uint8"
    example: ClassVar[str] = "UInt8"


class UInt16(PlainType):
    """Whole numbers of 16 bits without sign."""

    kind: Literal["UInt16"] = "UInt16"
    arrow_name: ClassVar[str] = "uint16"
    example: ClassVar[str] = "UInt16"


class UInt32(PlainType):
    """Whole numbers of 32 bits without sign."""

    kind: Literal["UInt32"] = "UInt32"
    arrow_name: ClassVar[str] = "uint32"
    example: ClassVar[str] = "UInt32"


class UInt64(PlainType):
    """Whole numbers of 64 bits without sign."""

    kind: Literal["UInt64"] = "UInt64"
    arrow_name: ClassVar[str] = "uint64"
    example: ClassVar[str] = "UInt64"


class Float16(PlainType):
    """IEEE 754 half precision."""

    kind: Literal["Float16"] = "Float16"
    arrow_name: ClassVar[str] = "float16"
    example: ClassVar[str] = "Float16"


class Float32(PlainType):
    """IEEE 754 single precision."""

    kind: Literal["Float32"] = "Float32"
    arrow_name: ClassVar[str] = "float32"
    example: ClassVar[str] = "Float32"


class Float64(PlainType):
    """IEEE 754 double precision."""

    kind: Literal["Float64"] = "Float64"
    arrow_name: ClassVar[str] = "float64"
    example: ClassVar[str] = "Float64"
