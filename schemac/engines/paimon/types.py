"""Paimon's types: the one place that knows how they are written.

Layer: engines.
Shape: frozen values; a type is a text or, where it has parts, a JSON object. Nullability belongs to the type.
Units: lengths in code points (CHAR, VARCHAR), bytes (BINARY, VARBINARY) or items (VECTOR), precisions in digits.
Source: `DataTypeJsonParser` and the `asSQLString` of Paimon's types (github.com/apache/paimon); the spellings next to
the canonical ones are those that Java reads, and those that pypaimon writes.
"""

import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from schemac.language.logical.model import SchemaField
from schemac.text.source.json_object import Json, MalformedDocumentError, expect

LONGEST = 2**31 - 1
"""Length of STRING and BYTES, which are a VARCHAR and a VARBINARY without a limit."""
BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
"""Of integers."""
VECTOR_ELEMENTS = frozenset({"BOOLEAN", *BITS, "FLOAT", "DOUBLE"})

_PARAMETERS: dict[str, tuple[tuple[int, int, int], ...]] = {
    **dict.fromkeys((*sorted(VECTOR_ELEMENTS), "DATE", "VARIANT", "BLOB"), ()),
    "DECIMAL": ((1, 38, 10), (0, 38, 0)),
    **dict.fromkeys(("CHAR", "VARCHAR", "BINARY", "VARBINARY"), ((1, LONGEST, 1),)),
    "TIME": ((0, 9, 0),),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_LTZ"), ((0, 9, 6),)),
}
"""The least and the greatest value of each parameter and its default, by root."""
_UNLIMITED = {"STRING": "VARCHAR", "BYTES": "VARBINARY"}
_ALIASES = {"INTEGER": "INT", "DEC": "DECIMAL", "NUMERIC": "DECIMAL"}


PARTS = {
    **dict.fromkeys(("ARRAY", "MULTISET", "VECTOR"), ("element",)),
    "MAP": ("key", "value"),
    "ROW": (),
}
"""The parts of types that have some, as JSON calls them; those of a ROW are fields."""


@dataclass(frozen=True, slots=True)
class PaimonType:
    """A type of Paimon with its parameters, parts and nullability."""

    word: str
    """The type without parameters, such as DECIMAL, and VARCHAR for STRING too; GEOMETRY and GEOGRAPHY as they are written."""
    parameters: tuple[int, ...] = ()
    """Length, precision and scale; of a VECTOR the number of its items."""
    parts: "tuple[PaimonType, ...]" = ()
    """The element, or key and value."""
    fields: "tuple[DataField, ...]" = ()
    """The members of a ROW, in their order."""
    is_nullable: bool = dataclasses.field(default=True, kw_only=True)

    @property
    def root(self) -> str:
        """The word before all parameters."""
        return self.word.partition("(")[0]

    @property
    def children(self) -> "tuple[PaimonType, ...]":
        """The types that this one is made of."""
        return self.parts or tuple([member.type for member in self.fields])

    def type_text(self) -> str:
        """Return the type for people, without its nullability: `DECIMAL(12, 2)`, `STRING`, `VECTOR<FLOAT, 3>`, `ROW<x INT>`."""
        parameters = [str(parameter) for parameter in self.parameters]
        if self.root in PARTS:
            members = [f"{member.name} {member.type.full_type_text()}" for member in self.fields]
            parts = [part.full_type_text() for part in self.parts]
            return f"{self.root}<{', '.join([*members, *parts, *parameters])}>"
        if self.word == "TIMESTAMP_LTZ":
            return f"TIMESTAMP({self.parameters[0]}) WITH LOCAL TIME ZONE"
        for unlimited, root in _UNLIMITED.items():
            if self.word == root and self.parameters == (LONGEST,):
                return unlimited
        return f"{self.word}({', '.join(parameters)})" if parameters else self.word

    def to_json(self) -> Any:
        """Return the type as a schema file has it: a text, or an object with its parts."""
        if self.root not in PARTS:
            return self.full_type_text()
        parts = {key: part.to_json() for key, part in zip(PARTS[self.root], self.parts, strict=True)}
        tree: Json = {"type": self.root + self.suffix, **parts}
        if self.root == "ROW":
            tree["fields"] = [member.to_json() for member in self.fields]
        elif self.root == "VECTOR":
            (tree["length"],) = self.parameters
        return tree

    def full_type_text(self) -> str:
        """Return the type for people, with its nullability."""
        return self.type_text() + self.suffix

    def required(self, is_required: bool = True) -> Self:
        """Return the same type with this nullability."""
        return replace(self, is_nullable=not is_required)

    @property
    def suffix(self) -> str:
        """Return what follows the root of a type that is not nullable; empty for others."""
        return "" if self.is_nullable else " NOT NULL"


STRING = PaimonType("VARCHAR", (LONGEST,))
BYTES = PaimonType("VARBINARY", (LONGEST,))


class DataField(NamedTuple):
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


def nested_types(
    fields: Sequence[SchemaField], types: Iterable[PaimonType]
) -> Iterator[tuple[SchemaField, PaimonType]]:
    """Yield the fields of a manifest and all below them with their types, parents first.

    A multiset has no type for its counts; nor has what is inside of a type that Paimon has another one for.
    """
    for field, type_ in zip(fields, types, strict=False):
        yield field, type_
        yield from nested_types(field.children, type_.children)


def parse_type(written: Any, location: str = "type") -> PaimonType:
    """Return a type in any spelling that a schema file may have. Raises MalformedDocumentError."""
    if isinstance(written, str):
        return _parse_text(written, location)
    if isinstance(written, dict):
        head = expect(written.get("type"), str, location, "an object of a type needs a `type`, a text")
        root = next((root for root in PARTS if head.startswith(root)), None)
        if root is None:
            # pypaimon's reader takes plain types in this form as well.
            return _parse_text(head, location)
        needed = {"ROW": ("fields",), "VECTOR": ("element", "length")}.get(root, PARTS[root])
        missing = next((key for key in needed if key not in written), None)
        if missing is not None:
            raise MalformedDocumentError(location, f"{root} needs `{missing}`")
        is_required = head.endswith(" NOT NULL")
        if "<" not in head:
            is_required = "NOT NULL" in head
        elif isinstance(written.get("nullable"), bool):
            # pypaimon writes the parts in it (`MAP<STRING NOT NULL, INT>`) and the nullability after it.
            is_required = not written["nullable"]
        if root == "ROW":
            fields = expect(written["fields"], list, location, "the `fields` of a ROW have to be a list")
            members = [parse_field(member, f"{location}.fields[{i}]") for i, member in enumerate(fields)]
            return PaimonType("ROW", fields=tuple(members), is_nullable=not is_required)
        parts = tuple([parse_type(written[key], f"{location}.{key}") for key in PARTS[root]])
        type_ = PaimonType(root, parts=parts)
        if root == "VECTOR":
            type_ = _vector(parts[0], written["length"], location)
        return type_.required(is_required)
    raise MalformedDocumentError(location, "a type has to be a text or an object")


def parse_field(written: Any, location: str) -> DataField:
    """Return a column or member; a null is an absent key. Raises MalformedDocumentError."""
    id = expect(written, dict, location, "a field has to be an object").get("id")
    if type(id) is not int or not 0 <= id < 2**31:
        raise MalformedDocumentError(location, "a field needs an `id`, a whole number from 0 on")
    name = expect(written.get("name"), str, location, "a field needs a `name`")
    if "type" not in written:
        raise MalformedDocumentError(location, "a field needs a `type`")
    texts = [written.get(key) for key in ("description", "defaultValue")]
    if not all(text is None or isinstance(text, str) for text in texts):
        raise MalformedDocumentError(location, "`description` and `defaultValue` have to be texts")
    return DataField(id, name, parse_type(written["type"], f"{location}.type"), *texts)


def _vector(element: PaimonType, length: Any, location: str) -> PaimonType:
    """Return a VECTOR. Raises MalformedDocumentError for an element type or a length that Paimon does not allow."""
    if element.root not in VECTOR_ELEMENTS:
        raise MalformedDocumentError(location, f"a VECTOR cannot have elements of type {element.type_text()}")
    if type(length) is not int or not 1 <= length <= LONGEST:
        raise MalformedDocumentError(location, "the `length` of a VECTOR has to be a whole number from 1 on")
    return PaimonType("VECTOR", (length,), (element,))


_GEO = re.compile(r"(?P<type>(?:GEOMETRY|GEOGRAPHY)(?:\([^)]*\))?)(?P<required>\s+NOT NULL)?(?:\s+NULL)?")


# Of the words and marks of a text with one blank between each.
_NULLABILITY = re.compile(r"(.*?)( NOT NULL| NULL)?")
_BEHIND_ELEMENT = re.compile(r"(.+) (ARRAY|MULTISET)")
_VECTOR = re.compile(r"VECTOR < (.+) , ([0-9]+) >")
_PLAIN = re.compile(
    r"(?P<word>[A-Z_]+)(?P<precision> PRECISION)?(?: \( (?P<numbers>[0-9]+(?: , [0-9]+)?)(?: ,)? \))?"
    r"(?P<zone> WITHOUT TIME ZONE| WITH LOCAL TIME ZONE)?"
)
_ZONES = {"TIME": (" WITHOUT TIME ZONE",), "TIMESTAMP": (" WITHOUT TIME ZONE", " WITH LOCAL TIME ZONE")}


def _parse_text(text: str, location: str) -> PaimonType:
    """Return the type that a text is. Raises MalformedDocumentError."""
    if match := _GEO.fullmatch(text):
        return PaimonType(match["type"], is_nullable=match["required"] is None)

    def unreadable(reason: str = "") -> MalformedDocumentError:
        return MalformedDocumentError(location, f"'{text}' is not a Paimon type{reason and f': {reason}'}")

    def with_nullability(words: str) -> PaimonType:
        """Return the type of words, which may have NULL or NOT NULL at their end."""
        body, suffix = _NULLABILITY.fullmatch(words).groups()  # type: ignore[union-attr]  # which matches any words
        return without_nullability(body).required(suffix == " NOT NULL")

    def without_nullability(words: str) -> PaimonType:
        # Paimon's first releases wrote `INT NOT NULL ARRAY`.
        """Return the type of words without NULL or NOT NULL at their end."""
        if match := _BEHIND_ELEMENT.fullmatch(words):
            return PaimonType(match[2], parts=(with_nullability(match[1]),))
        if match := _VECTOR.fullmatch(words):
            return _vector(with_nullability(match[1]), int(match[2]), location)
        if words in _UNLIMITED:
            return PaimonType(_UNLIMITED[words], (LONGEST,))
        match = _PLAIN.fullmatch(words)
        root = _ALIASES.get(match["word"], match["word"]) if match is not None else ""
        known = _PARAMETERS.get(root)
        if match is None or known is None or (match["precision"] and root != "DOUBLE"):
            raise unreadable()
        numbers = list(map(int, match["numbers"].split(" , "))) if match["numbers"] else []
        if len(numbers) > len(known) or (match["zone"] and match["zone"] not in _ZONES.get(root, ())):
            raise unreadable()
        parameters = (*numbers, *[default for _, _, default in known[len(numbers) :]])
        for value, (least, greatest, _) in zip(parameters, known, strict=True):
            if not least <= value <= greatest:
                raise unreadable(f"{value} is not between {least} and {greatest}")
        if root == "DECIMAL" and parameters[1] > parameters[0]:
            raise unreadable("the scale is greater than the precision")
        return PaimonType("TIMESTAMP_LTZ" if match["zone"] == _ZONES["TIMESTAMP"][1] else root, parameters)

    if not text.isascii():
        raise unreadable()
    return with_nullability(" ".join(re.findall(r"\w+|\S", text.upper())))
