"""Paimon's types: the one place that knows how they are written.

Layer: engines.
Shape: frozen values; a type is a text or, where it has parts, a JSON object. Nullability belongs to the type.
Units: lengths in code points (CHAR, VARCHAR), bytes (BINARY, VARBINARY) or items (VECTOR), precisions in digits.
Source: `DataTypeJsonParser` and the `asSQLString` of Paimon's types (github.com/apache/paimon); the spellings next to
the canonical ones are those that Java reads, and those that pypaimon writes.
"""

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from schemac.language.logical.schema_fields import SchemaField
from schemac.text.source.json_object import Json

LONGEST = 2**31 - 1
"""Length of STRING and BYTES, which are a VARCHAR and a VARBINARY without a limit."""
VECTOR_ELEMENTS = frozenset({"BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE"})

_BOUNDS: dict[str, tuple[tuple[int, int], ...]] = {
    **dict.fromkeys((*sorted(VECTOR_ELEMENTS), "DATE", "VARIANT", "BLOB"), ()),
    "DECIMAL": ((1, 38), (0, 38)),
    **dict.fromkeys(("CHAR", "VARCHAR", "BINARY", "VARBINARY"), ((1, LONGEST),)),
    **dict.fromkeys(("TIME", "TIMESTAMP", "TIMESTAMP_LTZ"), ((0, 9),)),
}
"""The least and the greatest of each parameter, by root."""
_DEFAULTS: dict[str, tuple[int, ...]] = {
    "DECIMAL": (10, 0),
    **dict.fromkeys(("CHAR", "VARCHAR", "BINARY", "VARBINARY"), (1,)),
    "TIME": (0,),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_LTZ"), (6,)),
}
_UNLIMITED = {"STRING": "VARCHAR", "BYTES": "VARBINARY"}
_ALIASES = {"INTEGER": "INT", "DEC": "DECIMAL", "NUMERIC": "DECIMAL"}


class UnreadablePaimonError(Exception):
    """A place in a schema file that is not as Paimon writes it."""

    def __init__(self, location: str, reason: str) -> None:
        super().__init__(f"{location}: {reason}" if location else reason)


@dataclass(frozen=True, slots=True)
class PaimonType:
    """Base of all types."""

    is_nullable: bool = dataclasses.field(default=True, kw_only=True)

    @property
    def children(self) -> "tuple[PaimonType, ...]":
        """The types that this one is made of."""
        return ()

    @property
    def root(self) -> str:
        """The type's word without parameters, such as DECIMAL; of a type with parts its class's name, such as ARRAY."""
        return type(self).__name__.removesuffix("Type").upper()

    def type_text(self) -> str:
        """Return the type for people, without its nullability."""
        raise NotImplementedError

    def to_json(self) -> Any:
        """Return the type as a schema file has it: a text, or an object with its parts."""
        return self.full_type_text()

    def full_type_text(self) -> str:
        """Return the type for people, with its nullability."""
        return self.type_text() + self._suffix

    def required(self, is_required: bool = True) -> Self:
        """Return the same type with this nullability."""
        return replace(self, is_nullable=not is_required)

    @property
    def _suffix(self) -> str:
        """Return what follows the root of a type that is not nullable; empty for others."""
        return "" if self.is_nullable else " NOT NULL"


@dataclass(frozen=True, slots=True)
class Atomic(PaimonType):
    """A type without parts."""

    word: str
    parameters: tuple[int, ...] = ()

    @property
    def root(self) -> str:
        """VARCHAR for STRING too."""
        return self.word

    def type_text(self) -> str:
        """`DECIMAL(12, 2)`, `STRING`."""
        if self.word == "TIMESTAMP_LTZ":
            return f"TIMESTAMP({self.parameters[0]}) WITH LOCAL TIME ZONE"
        for unlimited, root in _UNLIMITED.items():
            if self.word == root and self.parameters == (LONGEST,):
                return unlimited
        return f"{self.word}({', '.join(map(str, self.parameters))})" if self.parameters else self.word


STRING = Atomic("VARCHAR", (LONGEST,))
BYTES = Atomic("VARBINARY", (LONGEST,))


@dataclass(frozen=True, slots=True)
class Geo(PaimonType):
    """GEOMETRY or GEOGRAPHY, for which there is no kind; the text is kept."""

    text: str

    @property
    def root(self) -> str:
        """The word before the parameters."""
        return self.text.partition("(")[0]

    def type_text(self) -> str:
        """As it is written."""
        return self.text


@dataclass(frozen=True, slots=True)
class Array(PaimonType):
    """Elements of one type; `ARRAY`, or `MULTISET` where each counts."""

    element: PaimonType

    @property
    def children(self) -> tuple[PaimonType, ...]:
        """The element."""
        return (self.element,)

    def type_text(self) -> str:
        """`ARRAY<INT>`."""
        return f"{self.root}<{self.element.full_type_text()}>"

    def to_json(self) -> Any:
        """Return an object with the element."""
        return {"type": self.root + self._suffix, "element": self.element.to_json()}


@dataclass(frozen=True, slots=True)
class Multiset(Array):
    """Elements, each with the number of its occurrences."""


@dataclass(frozen=True, slots=True)
class Vector(PaimonType):
    """Always the same number of plain elements."""

    element: PaimonType
    length: int

    @property
    def children(self) -> tuple[PaimonType, ...]:
        """The element."""
        return (self.element,)

    def type_text(self) -> str:
        """`VECTOR<FLOAT, 3>`."""
        return f"VECTOR<{self.element.full_type_text()}, {self.length}>"

    def to_json(self) -> Any:
        """Return an object with element and length."""
        return {"type": self.root + self._suffix, "element": self.element.to_json(), "length": self.length}


@dataclass(frozen=True, slots=True)
class MapType(PaimonType):
    """Values by key."""

    key: PaimonType
    value: PaimonType

    @property
    def children(self) -> tuple[PaimonType, ...]:
        """The key, then the value."""
        return (self.key, self.value)

    def type_text(self) -> str:
        """`MAP<STRING NOT NULL, INT>`."""
        return f"MAP<{self.key.full_type_text()}, {self.value.full_type_text()}>"

    def to_json(self) -> Any:
        """Return an object with key and value."""
        return {"type": self.root + self._suffix, "key": self.key.to_json(), "value": self.value.to_json()}


@dataclass(frozen=True, slots=True)
class DataField:
    """A column, or a member of a ROW."""

    id: int
    name: str
    type: PaimonType
    description: str | None = None
    default_value: str | None = None

    def to_json(self) -> Json:
        """Return the field in the order of keys that Paimon writes; what is absent has no key."""
        tree: Json = {"id": self.id, "name": self.name, "type": self.type.to_json()}
        texts = {"description": self.description, "defaultValue": self.default_value}
        return tree | {key: text for key, text in texts.items() if text is not None}


@dataclass(frozen=True, slots=True)
class RowType(PaimonType):
    """Named members in an order."""

    fields: tuple[DataField, ...]

    @property
    def children(self) -> tuple[PaimonType, ...]:
        """The types of the members."""
        return tuple([member.type for member in self.fields])

    def type_text(self) -> str:
        """`ROW<x INT, y STRING>`."""
        return f"ROW<{', '.join(f'{member.name} {member.type.full_type_text()}' for member in self.fields)}>"

    def to_json(self) -> Any:
        """Return an object with the members."""
        return {"type": self.root + self._suffix, "fields": [member.to_json() for member in self.fields]}


class NestedType(NamedTuple):
    """A type, its field, and the enclosing types, outermost first."""

    schema_field: SchemaField
    type: PaimonType
    around: tuple[str, ...]
    field: DataField | None
    """The column or member; None for an item, key or value."""


def nested_types(
    schema_fields: Sequence[SchemaField],
    fields: Sequence[DataField | PaimonType],
    around: tuple[str, ...] = (),
) -> Iterator[NestedType]:
    """Yield the types of columns, or of the parts of a type, and all below them, parents first.

    A multiset has no type for its counts; nor has what is inside of a type that Paimon has another one for.
    """
    for schema_field, field in zip(schema_fields, fields, strict=False):
        type_ = field.type if isinstance(field, DataField) else field
        yield NestedType(schema_field, type_, around, field if isinstance(field, DataField) else None)
        parts = type_.fields if isinstance(type_, RowType) else type_.children
        yield from nested_types(schema_field.children, parts, (*around, type_.root))


def parse_type(written: Any, location: str = "type") -> PaimonType:
    """Return a type in any spelling that a schema file may have. Raises UnreadableError."""
    if isinstance(written, str):
        return _Words(written, location).type()
    if isinstance(written, dict):
        head = written.get("type")
        if not isinstance(head, str):
            raise UnreadablePaimonError(location, "an object of a type needs a `type`, a text")
        root = next((root for root in _OBJECTS if head.startswith(root)), None)
        if root is None:
            # pypaimon's reader takes plain types in this form as well.
            return _Words(head, location).type()
        missing = next((key for key in _OBJECT_KEYS[root] if key not in written), None)
        if missing is not None:
            raise UnreadablePaimonError(location, f"{root} needs `{missing}`")
        is_required = head.endswith(" NOT NULL")
        if "<" not in head:
            is_required = "NOT NULL" in head
        elif isinstance(written.get("nullable"), bool):
            # pypaimon writes the parts in it (`MAP<STRING NOT NULL, INT>`) and the nullability after it.
            is_required = not written["nullable"]
        return _OBJECTS[root](written, location).required(is_required)
    raise UnreadablePaimonError(location, "a type has to be a text or an object")


def parse_field(written: Any, location: str) -> DataField:
    """Return a column or member; a null is an absent key. Raises UnreadableError."""
    if not isinstance(written, dict):
        raise UnreadablePaimonError(location, "a field has to be an object")
    id = written.get("id")
    if type(id) is not int or not 0 <= id < 2**31:
        raise UnreadablePaimonError(location, "a field needs an `id`, a whole number from 0 on")
    name = written.get("name")
    if not isinstance(name, str):
        raise UnreadablePaimonError(location, "a field needs a `name`")
    if "type" not in written:
        raise UnreadablePaimonError(location, "a field needs a `type`")
    texts = [written.get(key) for key in ("description", "defaultValue")]
    if not all(text is None or isinstance(text, str) for text in texts):
        raise UnreadablePaimonError(location, "`description` and `defaultValue` have to be texts")
    return DataField(id, name, parse_type(written["type"], f"{location}.type"), *texts)


def _vector(element: PaimonType, length: Any, location: str) -> PaimonType:
    """Return a VECTOR. Raises UnreadableError for an element type or a length that Paimon does not allow."""
    if element.root not in VECTOR_ELEMENTS:
        raise UnreadablePaimonError(location, f"a VECTOR cannot have elements of type {element.type_text()}")
    if type(length) is not int or not 1 <= length <= LONGEST:
        raise UnreadablePaimonError(location, "the `length` of a VECTOR has to be a whole number from 1 on")
    return Vector(element, length)


def _parse_row(written: Mapping[str, Any], location: str) -> PaimonType:
    fields = written["fields"]
    if not isinstance(fields, list):
        raise UnreadablePaimonError(location, "the `fields` of a ROW have to be a list")
    return RowType(tuple([parse_field(member, f"{location}.fields[{i}]") for i, member in enumerate(fields)]))


_OBJECTS: dict[str, Callable[[Mapping[str, Any], str], PaimonType]] = {
    "ARRAY": lambda written, location: Array(parse_type(written["element"], f"{location}.element")),
    "MULTISET": lambda written, location: Multiset(parse_type(written["element"], f"{location}.element")),
    "MAP": lambda written, location: MapType(
        parse_type(written["key"], f"{location}.key"), parse_type(written["value"], f"{location}.value")
    ),
    "ROW": _parse_row,
    "VECTOR": lambda written, location: _vector(
        parse_type(written["element"], f"{location}.element"), written["length"], location
    ),
}
_OBJECT_KEYS = {
    "ARRAY": ("element",),
    "MULTISET": ("element",),
    "MAP": ("key", "value"),
    "ROW": ("fields",),
    "VECTOR": ("element", "length"),
}

_TOKEN = re.compile(r"\s*(?:(?P<word>[A-Za-z_]+)|(?P<number>[0-9]+)|(?P<sign>[(),<>]))")
_GEO = re.compile(r"(?P<type>(?:GEOMETRY|GEOGRAPHY)(?:\([^)]*\))?)(?P<required>\s+NOT NULL)?(?:\s+NULL)?")


class _Words:
    """Reads a type that is a text."""

    def __init__(self, text: str, location: str) -> None:
        self._text = text
        self._location = location
        self._tokens: list[str] = []
        at, end = 0, len(text.rstrip())
        while at < end and not self._is_geo:
            match = _TOKEN.match(text, at)
            if match is None:
                raise self._wrong()
            token = match[0].strip()
            self._tokens.append(token.upper() if match["word"] else token)
            at = match.end()

    @property
    def _is_geo(self) -> bool:
        return self._text.startswith(("GEOMETRY", "GEOGRAPHY"))

    def type(self) -> PaimonType:
        """Return the type of the whole text."""
        if self._is_geo:
            match = _GEO.fullmatch(self._text)
            if match is None:
                raise self._wrong()
            return Geo(match["type"], is_nullable=match["required"] is None)
        type_ = self._one()
        if self._tokens:
            raise self._wrong()
        return type_

    def _one(self) -> PaimonType:
        """Read a type with its nullability, and the ARRAY or MULTISET that early releases wrote behind it."""
        type_ = self._with_nullability(self._plain())
        # Paimon's first releases wrote `INT NOT NULL ARRAY`.
        while self._tokens and self._tokens[0] in ("ARRAY", "MULTISET"):
            outer = Array if self._tokens.pop(0) == "ARRAY" else Multiset
            type_ = self._with_nullability(outer(type_))
        return type_

    def _plain(self) -> PaimonType:
        """Read a type without its nullability. Raises UnreadableError for an unknown word."""
        word = self._tokens.pop(0) if self._tokens else ""
        if word in _UNLIMITED:
            return Atomic(_UNLIMITED[word], (LONGEST,))
        if word == "VECTOR":
            return self._vector()
        root = _ALIASES.get(word, word)
        if root not in _BOUNDS:
            raise self._wrong()
        if root == "DOUBLE":
            self._take("PRECISION")
        parameters = self._parameters(root)
        if root in ("TIME", "TIMESTAMP") and not self._take("WITHOUT", "TIME", "ZONE"):
            is_local = root == "TIMESTAMP" and self._take("WITH", "LOCAL", "TIME", "ZONE")
            root = "TIMESTAMP_LTZ" if is_local else root
        return Atomic(root, parameters)

    def _parameters(self, root: str) -> tuple[int, ...]:
        """Read the parameters in brackets, or return defaults. Raises UnreadableError for those out of bounds."""
        bounds = _BOUNDS[root]
        if not self._tokens or self._tokens[0] != "(" or not bounds:
            return _DEFAULTS.get(root, ())
        self._tokens.pop(0)
        numbers: list[int] = []
        while len(numbers) < len(bounds) and self._tokens and self._tokens[0].isdecimal():
            numbers.append(int(self._tokens.pop(0)))
            if not self._take(","):
                break
        if not numbers or not self._take(")"):
            raise self._wrong()
        parameters = (*numbers, *_DEFAULTS[root][len(numbers) :])
        for value, (least, greatest) in zip(parameters, bounds, strict=True):
            if not least <= value <= greatest:
                raise self._wrong(f"{value} is not between {least} and {greatest}")
        if root == "DECIMAL" and parameters[1] > parameters[0]:
            raise self._wrong("the scale is greater than the precision")
        return parameters

    def _vector(self) -> PaimonType:
        """Read the element type and the length of a VECTOR. Raises UnreadableError if one is malformed."""
        if self._take("<"):
            element = self._one()
            if self._take(",") and self._tokens and self._tokens[0].isdecimal():
                length = int(self._tokens.pop(0))
                if self._take(">"):
                    return _vector(element, length, self._location)
        raise self._wrong()

    def _with_nullability(self, type_: PaimonType) -> PaimonType:
        if self._take("NOT", "NULL"):
            return type_.required()
        self._take("NULL")
        return type_

    def _take(self, *words: str) -> bool:
        """Whether the next words are these; then they are read."""
        if tuple(self._tokens[: len(words)]) != words:
            return False
        del self._tokens[: len(words)]
        return True

    def _wrong(self, reason: str = "") -> UnreadablePaimonError:
        """Return the error about the whole text, with a reason unless it is empty."""
        return UnreadablePaimonError(
            self._location, f"'{self._text}' is not a Paimon type{f': {reason}' if reason else ''}"
        )
