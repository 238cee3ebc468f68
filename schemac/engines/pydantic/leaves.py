"""The annotations of types without parts: a type of Python, and what validates it.

Layer: engines.
Errors: SC589.
"""

from typing import Any, NamedTuple

from schemac.artifacts.emission import Emission
from schemac.artifacts.type_writer import TypeTable, TypeWriter
from schemac.attributes import own
from schemac.attributes.attribute import Role
from schemac.attributes.family import NESTED, Family
from schemac.attributes.registry import has_role
from schemac.attributes.zones import is_utc
from schemac.engines import json_values
from schemac.engines.pydantic.codes import PYDANTIC_TYPE
from schemac.kinds.units import FRACTION_DIGITS
from schemac.logical.path import Part
from schemac.logical.schema_fields import SchemaField
from schemac.physical.arrow import pa
from schemac.physical.field import LoweredField
from schemac.source.help import Help


class Leaf(NamedTuple):
    """What an annotation is made of."""

    type: str
    metadata: tuple[str, ...]
    """What is behind the type in `Annotated`: the one place for validators and constraints."""
    suffix: str = ""
    """Tells it from others of the same type text."""


def _before(type_: str, validator: str, *more: str) -> Leaf:
    return Leaf(type_, (f"BeforeValidator({validator})", *more))


def _integer(bits: int, *, is_signed: bool) -> Leaf:
    lowest, highest = json_values.integer_bounds(bits, is_signed=is_signed)
    return _before("int", f"integer({lowest}, {highest})")


def _binary(length: int | None = None) -> Leaf:
    return _before("bytes", f"binary({length})", 'PlainSerializer(base64_of, when_used="json")')


_STRICT = ("Field(strict=True)",)
_TEXT = Leaf("str", _STRICT)
_TABLE: TypeTable[Leaf] = TypeTable(
    same={
        "NA": Leaf("None", ()),
        "BOOL": Leaf("bool", _STRICT),
        **{f"INT{bits}": _integer(bits, is_signed=True) for bits in (8, 16, 32, 64)},
        **{f"UINT{bits}": _integer(bits, is_signed=False) for bits in (8, 16, 32, 64)},
        "HALF_FLOAT": _before("float", "floating(16)"),
        "FLOAT": _before("float", "floating(32)"),
        "DOUBLE": _before("float", "floating(64)"),
        **dict.fromkeys(("STRING", "LARGE_STRING", "STRING_VIEW"), _TEXT),
        **dict.fromkeys(("BINARY", "LARGE_BINARY", "BINARY_VIEW"), _binary()),
        **dict.fromkeys(("DATE32", "DATE64"), _before("date", "day()")),
    },
    other={},
)
_JSON = Leaf("Any", ("BeforeValidator(present)",), "Json")
_UUID = Leaf("UUID", ("BeforeValidator(uuid())",), "Uuid")
_KEYS = {
    Family.BOOLEAN: "boolean_key",
    Family.INTEGER: "number_key",
    Family.DECIMAL: "number_key",
    Family.FLOAT: "number_key",
    Family.DURATION: "number_key",
}
"""What makes values of the texts that the keys of an object are."""


class Leaves(TypeWriter[Leaf]):
    """Finds the annotation of each lowered field that has no parts."""

    def __init__(self, emission: Emission) -> None:
        super().__init__(emission, _TABLE)

    def leaf(self, lowered: LoweredField) -> Leaf | None:
        """Return the annotation; None if there is none but null."""
        leaf = self.type(lowered, lowered.arrow.type)
        return None if leaf.type == "None" else leaf

    def key(self, lowered: LoweredField) -> Leaf | None:
        """Return the annotation of the keys of a map; None after refusing them."""
        field: SchemaField = lowered.field
        if field.type.family in NESTED:
            self.refused(field)
            return None
        leaf = self.type(lowered, lowered.arrow.type)
        reader = _KEYS.get(field.type.family)
        # The last of several is asked first.
        return (
            leaf if reader is None else leaf._replace(metadata=(*leaf.metadata, f"BeforeValidator({reader})"))
        )

    def brain_float(self, lowered: LoweredField) -> Leaf | None:
        """Return the annotation of the items of a vector of brain floats; None for any other list."""
        if not has_role(lowered.field.extra, Role.BRAIN_FLOATS):
            return None
        return _before("float", "brain_float()")._replace(suffix="Brain")

    def type(self, lowered: LoweredField, arrow_type: Any) -> Leaf:
        """Return the annotation of an Arrow type; blobs and extension types have others than their storage."""
        field: SchemaField = lowered.field
        if field.extra and has_role(field.extra, Role.BLOB):
            return _binary()
        if isinstance(arrow_type, pa.BaseExtensionType):
            if arrow_type.extension_name == "arrow.json":
                return _JSON
            return (
                _UUID
                if arrow_type.extension_name == "arrow.uuid"
                else self.type(lowered, arrow_type.storage_type)
            )
        return super().type(lowered, arrow_type)

    def refused(self, field: SchemaField) -> Leaf:
        """Report a type that has no annotation."""
        what = "as the key of a map " if field.segment is Part.KEY else ""
        message = f"{field.type.type_text()} {what}has no form in a model of pydantic ({field.path_text})"
        self._refuse(field, message)
        return Leaf("None", ())

    def refuse_depth(self, field: SchemaField) -> None:
        """Report a field whose annotation Python cannot read."""
        message = f"lists and maps are nested too deeply for a model of pydantic ({field.path_text}): Python reads 200 brackets inside each other"
        self._refuse(field, message)

    def _refuse(self, field: SchemaField, message: str) -> None:
        help = Help.leave_out("pydantic", own.TARGETS_OF.key, "pydantic")
        self.emission.findings.at_type(field, PYDANTIC_TYPE, message, help=help)

    def type_text(self, type_: Leaf) -> str:
        """Return the type of Python."""
        return type_.type

    def decimal(self, lowered: LoweredField, arrow_type: Any) -> Leaf:
        """Return that of decimals with all digits."""
        return _before("Decimal", f"decimal({arrow_type.precision}, {arrow_type.scale})")

    def timestamp(self, lowered: LoweredField, arrow_type: Any) -> Leaf:
        """Return that of instants, which are in UTC, or of readings of a clock without a zone."""
        field: SchemaField = lowered.field
        digits = FRACTION_DIGITS[arrow_type.unit]
        zone = arrow_type.tz
        if zone is None:
            return self._time(lowered, arrow_type, "datetime", f"clock({digits})", "timestamp_text")
        declared = own.CLOCK_ZONE.read(field.extra)
        clock = "UTC" if is_utc(declared or zone) else declared
        margin = "0" if is_utc(zone) else "MARGIN"
        read = repr(None) if clock is None else f'"{clock}"'
        leaf = self._time(
            lowered, arrow_type, "datetime", f"instant({digits}, {read}, {margin})", "instant_text"
        )
        return leaf._replace(suffix="Clock") if declared else leaf

    def time(self, lowered: LoweredField, arrow_type: Any) -> Leaf:
        """Return the annotation of times of day."""
        digits = FRACTION_DIGITS[arrow_type.unit]
        return self._time(lowered, arrow_type, "time", f"time_of_day({digits})", "time_text")

    def _time(self, lowered: LoweredField, arrow_type: Any, type_: str, validator: str, writer: str) -> Leaf:
        if arrow_type.unit != "ns":
            return _before(type_, validator)
        self.lose(lowered, f"a {type_} with nanoseconds", "a count of nanoseconds")
        written = f'PlainSerializer({writer}, when_used="json")'
        return Leaf("Nanoseconds", (f"PlainValidator({validator})", written))

    def duration(self, lowered: LoweredField, arrow_type: Any) -> Leaf:
        """Return that of counts of the unit, as JSON has them."""
        self.lose(lowered, f"a duration in {arrow_type.unit}", "its count")
        return _before("int", "count()")

    def fixed_size_binary(self, lowered: LoweredField, arrow_type: Any) -> Leaf:
        """Return that of bytes of one length."""
        return _binary(arrow_type.byte_width)

    def dictionary(self, lowered: LoweredField, arrow_type: Any) -> Leaf:
        """Return that of the values."""
        # The encoding is kept as an attribute.
        return self.type(lowered, arrow_type.value_type)

    def struct(self, lowered: LoweredField, arrow_type: Any) -> Leaf:
        """Refuse what has parts."""
        return self.refused(lowered.field)

    def list(self, lowered: LoweredField, arrow_type: Any) -> Leaf:
        """Refuse what has parts."""
        return self.refused(lowered.field)

    def fixed_size_list(self, lowered: LoweredField, arrow_type: Any) -> Leaf:
        """Refuse what has parts."""
        return self.refused(lowered.field)

    def map(self, lowered: LoweredField, arrow_type: Any) -> Leaf:
        """Refuse what has parts."""
        return self.refused(lowered.field)
