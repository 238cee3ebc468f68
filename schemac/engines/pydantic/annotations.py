"""Annotations of generated models: types without parts, and constraints as Python writes them.

Layer: engines.
Shape: Constraints as Python writes them: calls that make validators, and conditions over the fields of a record: source text over the
      functions of `keeping`; None for what no value of Python can be compared with, which is a loss.
Errors: SC589.
"""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from schemac.artifacts.type_writer import RecordTypeWriter
from schemac.engines import json_values
from schemac.engines.pydantic import PYDANTIC_TYPE
from schemac.engines.python_source import literal
from schemac.language.attributes import builtin
from schemac.language.attributes.attribute import NESTED, Family
from schemac.language.attributes.builtin import is_utc
from schemac.language.constraints import expressions, field_constraints
from schemac.language.constraints.constraint import Constraint, Value
from schemac.language.kinds.temporal import ARROW_UNITS, FRACTION_DIGITS, PER_SECOND
from schemac.language.logical.model import LogicalType, Part, SchemaField
from schemac.text.source.phrases import Help


class Annotation(NamedTuple):
    """What an annotation is made of."""

    type: str
    metadata: tuple[str, ...] = ()
    """What is behind the type in `Annotated`: the one place for validators and constraints."""
    suffix: str = ""
    """Tells it from others of the same type text."""


def _before_validator(type_: str, validator: str, *more: str) -> Annotation:
    """Return a leaf whose first metadata is a `BeforeValidator`, and `more` after it."""
    return Annotation(type_, (f"BeforeValidator({validator})", *more))


_STRICT = ("Field(strict=True)",)
_PLAIN = {
    Family.NULL: Annotation("None", ()),
    Family.BOOLEAN: Annotation("bool", _STRICT),
    Family.TEXT: Annotation("str", _STRICT),
    Family.DATE: _before_validator("date", "day()"),
}
_KEYS = {
    Family.BOOLEAN: "boolean_key",
    **dict.fromkeys((Family.INTEGER, Family.DECIMAL, Family.FLOAT, Family.DURATION), "number_key"),
}
"""What makes values of the texts that the keys of an object are."""


class AnnotationWriter(RecordTypeWriter[Annotation]):
    """Finds the annotation of each field; those of types with parts are left to whoever writes classes."""

    json = Annotation("Any", ("BeforeValidator(present)",), "Json")
    uuid = Annotation("UUID", ("BeforeValidator(uuid())",), "Uuid")

    def key(self, field: SchemaField) -> Annotation | None:
        """Return the annotation of the keys of a map; None after refusing them."""
        if field.type.family in NESTED:
            self.refused(field)
            return None
        leaf = self.leaf(field)
        reader = _KEYS.get(field.type.family)
        # The last of several is asked first.
        validators = () if reader is None else (f"BeforeValidator({reader})",)
        return leaf._replace(metadata=(*leaf.metadata, *validators))

    def refused(self, field: SchemaField) -> Annotation:
        """Report a type that has no annotation."""
        what = "as the key of a map " if field.segment is Part.KEY else ""
        message = f"{field.type.type_text()} {what}has no form in a model of pydantic ({field.path_text})"
        self._refuse(field, message)
        return Annotation("None", ())

    def refuse_depth(self, field: SchemaField) -> None:
        """Report a field whose annotation Python cannot read."""
        message = f"lists and maps are nested too deeply for a model of pydantic ({field.path_text}): Python reads 200 brackets inside each other"
        self._refuse(field, message)

    def _refuse(self, field: SchemaField, message: str) -> None:
        """Report a field that cannot be in a model, with the help to leave pydantic out."""
        help = Help.leave_out("pydantic", builtin.TARGETS_OF.key, "pydantic")
        self.emission.findings.at_type(field, PYDANTIC_TYPE, message, help=help)

    def plain(self, field: SchemaField, type_: Any) -> Annotation | None:
        """Return the annotation of a type without parts; what Python has no type for is a count, which is a loss."""
        match type_.family:
            case Family.INTEGER:
                lowest, highest = json_values.integer_bounds(type_.bits, is_signed=type_.is_signed)
                return _before_validator("int", f"integer({lowest}, {highest})")
            case Family.FLOAT:
                return _before_validator("float", f"floating({type_.bits})")
            case Family.DECIMAL:
                return _before_validator("Decimal", f"decimal({type_.precision}, {type_.scale})")
            case Family.BYTES:
                serializer = 'PlainSerializer(base64_of, when_used="json")'
                return _before_validator("bytes", f"binary({type_.fixed_length})", serializer)
            case Family.TIME:
                validator = f"time_of_day({FRACTION_DIGITS[ARROW_UNITS[type_.unit]]})"
                return self._time(field, type_, "time", validator, "time_text")
            case Family.TIMESTAMP:
                return self._timestamp(field, type_)
            case Family.DURATION:
                self.lose(field, f"a duration in {ARROW_UNITS[type_.unit]}", "its count")
                return _before_validator("int", "count()")
        return _PLAIN.get(type_.family)

    def _timestamp(self, field: SchemaField, type_: Any) -> Annotation:
        """Return the annotation of timestamps: of instants in UTC, or of local times without a zone."""
        digits, zone = FRACTION_DIGITS[ARROW_UNITS[type_.unit]], type_.timezone
        if zone is None:
            return self._time(field, type_, "datetime", f"clock({digits})", "timestamp_text")
        declared = builtin.CLOCK_ZONE.read(field.extra)
        clock = "UTC" if is_utc(declared or zone) else declared
        margin = "0" if is_utc(zone) else "MARGIN"
        read = repr(None) if clock is None else f'"{clock}"'
        leaf = self._time(field, type_, "datetime", f"instant({digits}, {read}, {margin})", "instant_text")
        return leaf._replace(suffix="Clock") if declared else leaf

    def _time(
        self, field: SchemaField, type_: Any, python_type: str, validator: str, writer: str
    ) -> Annotation:
        """Return the annotation of a time; nanoseconds become a count, which is reported as a loss."""
        if type_.unit != "Nanosecond":
            return _before_validator(python_type, validator)
        self.lose(field, f"a {python_type} with nanoseconds", "a count of nanoseconds")
        written = f'PlainSerializer({writer}, when_used="json")'
        return Annotation("Nanoseconds", (f"PlainValidator({validator})", written))


BRAIN_FLOAT = _before_validator("float", "brain_float()")._replace(suffix="Brain")
"""Of the items of a vector of brain floats."""
_EXACT = frozenset({Family.INTEGER, Family.DECIMAL})


def _validator_name(rule: str) -> str:
    """Return the function of `values` that checks a rule: `keeps_multiple_of` for `multipleOf`."""
    return f"keeps_{re.sub('(?=[A-Z])', '_', rule).lower()}"


OF_LISTS = tuple(map(_validator_name, ("minItems", "maxItems", "uniqueItems")))


class UnwritableError(Exception):
    """A value that Python cannot represent."""


def validator(constraint: Constraint) -> str:
    """Return the annotation's metadata that checks a constraint. Raises UnwritableError."""
    return f"AfterValidator({_validator_name(constraint.rule)}({_argument(constraint)}))"


def _argument(constraint: Constraint) -> str:
    """Return the argument of a constraint's validator as source; empty if it has none."""
    type_ = constraint.type
    match constraint:
        case field_constraints.Bound():
            return python_value(type_, constraint.limit)
        case field_constraints.MultipleOf():
            return python_value(type_, constraint.divisor)
        case field_constraints.Enum():
            return _tuple([python_value(type_, one) for one in constraint.values])
        case field_constraints.Pattern():
            return literal(constraint.pattern.java)
        case field_constraints.Size():
            return str(constraint.limit)
        case field_constraints.UniqueItems():
            return ""
    raise AssertionError(f"{type(constraint).__name__} has no validator")


def _tuple(values: list[str]) -> str:
    """Return the source of a tuple of expressions."""
    return f"({values[0]},)" if len(values) == 1 else f"({', '.join(values)})"


def python_value(type_: LogicalType, value: Value) -> str:
    """Return the value that a field of a type has in Python. Raises UnwritableError."""
    match type_.family:
        case Family.TEXT:
            return literal(str(value))
        case Family.DECIMAL:
            assert isinstance(value, Decimal)
            return f'Decimal("{value:f}")'
        case Family.DATE:
            return repr(date(1970, 1, 1) + timedelta(days=int(value))).removeprefix("datetime.")
        case Family.TIME | Family.TIMESTAMP:
            return _time(type_, int(value))
    return repr(value)


def _time(type_: LogicalType, count: int) -> str:
    """Return a time as source, a count for nanoseconds. Raises UnwritableError outside of Python's calendar."""
    unit: str = getattr(type_, "unit")  # noqa: B009  of the family, not of a class
    if unit == "Nanosecond":
        return str(count)
    try:
        at = datetime(1970, 1, 1) + timedelta(microseconds=count * (10**6 // PER_SECOND[unit]))  # noqa: DTZ001  a clock
    except OverflowError as error:
        raise UnwritableError from error
    if type_.family is Family.TIME:
        return repr(at.time()).removeprefix("datetime.")
    if getattr(type_, "timezone", None) is None:
        return repr(at).removeprefix("datetime.")
    written = repr(at.replace(tzinfo=UTC)).removeprefix("datetime.")
    return written.replace("datetime.timezone.utc", "UTC")


Names = Callable[[tuple[str, ...]], tuple[str, ...]]
"""Gives the names that a field has in the models, from the table down."""


def condition(node: expressions.Node, names: Names) -> str:
    """Return a condition of a record, with SQL's three truth values. Raises UnwritableError."""
    match node:
        case expressions.ComparisonNode():
            sides = ", ".join(_operand(part, names) for part in (node.left, node.right))
            return f'applied("{node.operator}", {sides})'
        case expressions.AmongNode():
            values = _tuple([_operand(one, names) for one in node.values])
            return f"among({_operand(node.operand, names)}, {values})"
        case expressions.NullNode():
            return f"{_call_with_field('value_at', node.field, names)} is None"
        case expressions.FieldNode():
            return _call_with_field("value_at", node, names)
        case expressions.NotNode():
            return f"contrary({condition(node.inner, names)})"
        case expressions.LogicNode():
            word = "both" if node.word == "and" else "either"
            return f"{word}({condition(node.left, names)}, {condition(node.right, names)})"
    raise AssertionError(f"{type(node).__name__} has no condition in Python")


def _operand(operand: expressions.Operand, names: Names) -> str:
    """Return the source of an operand; exact numbers are integers and fractions in it."""
    match operand:
        case expressions.LiteralNode() if operand.type.family in _EXACT:
            return (
                f'Fraction("{operand.value:f}")' if isinstance(operand.value, Decimal) else f"{operand.value}"
            )
        case expressions.LiteralNode():
            return python_value(operand.type, operand.value)
        case expressions.LengthNode():
            return _call_with_field("length_at", operand.field, names)
        case expressions.ArithmeticNode():
            sides = ", ".join(_operand(part, names) for part in (operand.left, operand.right))
            return f'applied("{operand.operator}", {sides})'
        case expressions.FieldNode() if operand.type.family in _EXACT:
            return _call_with_field("exact_at", operand, names)
        case expressions.FieldNode():
            return _call_with_field("value_at", operand, names)
    raise AssertionError(f"{type(operand).__name__} has no value in Python")


def _call_with_field(function: str, field: expressions.FieldNode, names: Names) -> str:
    """Return the source of a call that reads a field by the names on its path."""
    return f"{function}(self, {', '.join(map(literal, names(field.path)))})"
