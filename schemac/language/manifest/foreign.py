"""A type in the words of another system, as a manifest writes it.

Layer: language.
Shape: the type and the attributes that say the rest. Parts may be null where the notation says so: those of SQL, Spark,
Flink and Arrow may unless the text says NOT NULL; those of Python, Rust and ClickHouse, and any text that marks
optional parts itself, may where they are marked.
Source: the documented meaning of each notation; `tests/unit/test_foreign_types.py` compares with the systems themselves.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from schemac.language.attributes import arrow
from schemac.language.attributes.attribute import Family
from schemac.language.attributes.registry import ATTRIBUTES
from schemac.language.kinds.nested import Map, Option, Struct
from schemac.language.kinds.plain import MOST_DIGITS, Decimal, Float16, Float32, Float64, Int32
from schemac.language.kinds.registry import ARROW_NAMES, BY_NAME, FOREIGN_NAMES, SPELLINGS
from schemac.language.kinds.sequences import ARROW_BUFFERS, List, String, buffer_hint
from schemac.language.kinds.temporal import ARROW_UNITS, FOREIGN_UNITS
from schemac.language.logical.model import LogicalType
from schemac.text.source.json_object import Json
from schemac.text.source.phrases import Help, closest, fold
from schemac.text.syntax.events import flow
from schemac.text.syntax.type_text import ColumnText, TypeText, read_type

_UNITS = {**FOREIGN_UNITS, **{fold(unit): unit for unit in ARROW_UNITS}}
_ZONELESS = frozenset({"timestampntz", "timestampwithouttimezone", "datetime", "datetime64", "datetime2"})
_ZONE = re.compile(r"[A-Za-z][\w+-]*(?:/[\w+-]+)*|[+-](?:0[0-9]|1[0-4]):[0-5][0-9]")
_NO_ZONE = frozenset({"none", "null", "nozone"})
_BUFFERS = {fold(name): buffer for name, buffer in ARROW_BUFFERS.items()}
_BUFFERS |= dict.fromkeys(("largestr", "largeutf8"), _BUFFERS["largestring"])
_BUFFERS |= {"utf8view": _BUFFERS["stringview"]}
_NOTHING = frozenset(
    {"monthdaynanointerval", "runendencoded", "denseunion", "sparseunion", "geometry", "geography"}
    | {"intervalyear", "intervalmonth", "intervalyeartomonth"}
)
"""Types, without case and punctuation, that no kind stands for."""
_MARKS = re.compile(r"\?|\bnullable\b|\boption(al)?\b|\|\s*none\b", re.IGNORECASE)


Kind = type[LogicalType]


def _type(kind: Kind, **properties: Any) -> Json:
    """Return a type as JSON, as it is in a manifest."""
    return {"kind": kind.__name__, **properties}


class Meaning(NamedTuple):
    """A type in the form of a manifest."""

    tree: Json
    extra: Mapping[str, Any] = {}
    """Attributes that are next to the name of a field of this type."""
    remark: str = ""
    """What neither of them says."""


class _MeaninglessError(Exception):
    """A type without a kind, with the reason if there is one."""


def suggest_type(text: str, is_nested: bool = False) -> str | None:
    """Return what to write for a type's text, or why no kind fits; None if it is unknown.

    At a nested position attributes are next to `kind`, elsewhere next to the field's name.
    """
    written = read_type(text)
    if written is None:
        return None
    if fold(written.head) in _NOTHING:
        return f"there is no kind for {text}; cast it in the source, or leave the field out"
    try:
        result = meaning(written, are_parts_marked=bool(_MARKS.search(text)))
    except _MeaninglessError as error:
        return str(error) or None
    # Where nothing says whether a part may be null, its system says yes, and a kind without `Option` says no.
    is_certain = result.tree == meaning(written, are_parts_marked=True).tree
    is_safe = is_certain and _is_known(written) and not result.remark
    whole = {**result.tree, "extra": dict(result.extra)} if result.extra else result.tree
    tree = flow(result.tree)
    if set(whole) == {"kind"} and not result.remark:
        synonyms = {fold(text): tree} if _is_known(written) else {}
        return Help.did_you_mean(tree, text, synonyms)
    if is_nested or not result.extra:
        return Help.write_type(flow(whole), reason=result.remark, is_safe=is_safe)
    extra = {key: flow(value) for key, value in result.extra.items()}
    with_extra = f" with `extra: {flow(dict(result.extra))}` next to the field's name"
    return Help.retype_with_attributes(f"write `{tree}`{with_extra}{result.remark}", tree, extra)


def suggest_meaning(written: TypeText) -> Meaning | None:
    """Return the type of a text; None if no kind fits."""
    try:
        return meaning(written)
    except _MeaninglessError:
        return None


def meaning(written: TypeText, *, are_parts_marked: bool = False) -> Meaning:
    """Return the type of a text."""
    meaning = _Reader(are_parts_marked).of(written)
    return meaning._replace(tree=_optional(meaning.tree, is_nullable=bool(written.is_nullable)))


def _optional(tree: Json, *, is_nullable: bool) -> Json:
    """Return a type with an Option around it if it may be null, as a Null always may; an Option as it is."""
    family = BY_NAME[tree["kind"]].family
    is_bare = family is Family.OPTION or not (is_nullable or family is Family.NULL)
    return tree if is_bare else _type(Option, inner=tree)


def _is_known(written: TypeText) -> bool:
    """Whether nothing in a type is a slip of the pen."""
    folded = fold(written.head)
    is_special = written.head == "[]" or written.head.isdecimal() or folded in _SPECIAL or folded in _BUFFERS
    names = (folded, folded.removesuffix("type"))
    is_name = written.head in SPELLINGS or any(name in FOREIGN_NAMES or name in _FOLDED for name in names)
    return (is_special or is_name) and all(map(_is_known, written.types))


_FOLDED = frozenset(map(fold, BY_NAME))


def _kind_of(head: str) -> str | None:
    """Return the kind that a name of another system means, also a misspelled one; None if there is none."""
    folded = fold(head)
    if head in SPELLINGS:
        return SPELLINGS[head]
    name = FOREIGN_NAMES.get(folded) or FOREIGN_NAMES.get(folded.removesuffix("type"))
    return name or closest(folded.removesuffix("type"), BY_NAME) or closest(folded, BY_NAME)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Finds the meaning of types; `are_parts_marked` is whether the text marks optional parts, so that all others are required."""

    are_parts_marked: bool

    def of(self, written: TypeText) -> Meaning:
        """Return the meaning of a type, without what is said about null at its outside. Raises _MeaninglessError."""
        folded = fold(written.head)
        if written.head == "[]":
            return self.list(written)
        special = _SPECIAL.get(folded)
        if special is not None:
            return special(self, written)
        buffer = _BUFFERS.get(folded)
        if buffer is not None and not written.arguments:
            return Meaning({"kind": buffer.kind}, buffer.extra)
        kind = _kind_of(written.head)
        if kind is None or written.is_quoted:
            raise _MeaninglessError
        kind_class = BY_NAME[kind]
        return _OF_FAMILY.get(kind_class.family, _plain_meaning)(self, written, kind_class)

    def part(self, argument: ColumnText, *, is_open: bool, is_key: bool = False) -> Json:
        """Return an item, key, value or member, with its attributes next to `kind`."""
        meaning = self.of(argument.type)
        is_nullable = argument.type.is_nullable
        if argument.is_required or is_key:
            is_nullable = False
        elif is_nullable is None:
            is_nullable = is_open
        tree = _optional(meaning.tree, is_nullable=is_nullable)
        return {**tree, "extra": dict(meaning.extra)} if meaning.extra else tree

    def is_open(self, written: TypeText) -> bool:
        """Whether parts may be null without a mark."""
        head = written.types[0].head if written.head == "[]" else written.head
        is_titled = head != head.lower() and head != head.upper() and not head.endswith("Type")
        is_closed = written.bracket == ("]" if written.head == "[]" else "[") or written.head == "repeated"
        return not (self.are_parts_marked or is_titled or is_closed)

    def list(self, written: TypeText, kind: Kind = List) -> Meaning:
        """Return a list of any layout and length."""
        folded = fold(written.head)
        numbers = [_length_of(t.head) for t in written.types if t.head.isdecimal()]
        items = [a for a in written.arguments if not a.type.head.isdecimal()]
        if len(numbers) > 1 or len(items) > 2:
            raise _MeaninglessError
        is_open = self.is_open(written)
        if len(items) == 2:  # Spark's ArrayType(item, containsNull)
            is_open = items[1].type.head.lower() != "false"
        length: Json = {"fixedLength": numbers[0]} if numbers else {}
        if items and fold(items[0].type.head) == "bfloat16":
            short_float = TypeText(Float32.__name__, is_nullable=items[0].type.is_nullable)
            item = self.part(ColumnText("", short_float), is_open=is_open)
            length = length or {"fixedLength": 768}
            return Meaning(_type(kind, itemType=item, **length), _first_attribute("bfloat16"))
        example = _type(Float32 if numbers else String)
        item = self.part(items[0], is_open=is_open) if items else example
        hints: Json = {}
        if folded in ("largelist", "listview", "largelistview") and not length:
            hints = buffer_hint(is_view=folded.endswith("view"), is_large=folded.startswith("large"))
        if items and items[0].name not in ("", "item"):
            hints[arrow.CHILD_NAMES.key] = {"item": items[0].name}
        return Meaning(_type(kind, itemType=item, **length), hints)

    def map(self, written: TypeText, kind: Kind = Map) -> Meaning:
        """Return the map of two types; Spark's MapType has a third argument: whether values may be null."""
        if not written.arguments:
            return Meaning(_type(kind, keyType=_type(String), valueType=_type(String)))
        if not 2 <= len(written.arguments) <= 3:
            raise _MeaninglessError
        key, value, *rest = written.arguments
        is_open = rest[0].type.head.lower() != "false" if rest else self.is_open(written)
        is_sorted = bool(rest) and rest[0].type.head == "keys_sorted"
        key_type, value_type = self.part(key, is_open=False, is_key=True), self.part(value, is_open=is_open)
        tree = _type(kind, keyType=key_type, valueType=value_type)
        return Meaning({**tree, "keysSorted": True} if is_sorted else tree)

    def struct(self, written: TypeText, kind: Kind = Struct) -> Meaning:
        """Return the struct of named members."""
        if any(not member.name for member in written.arguments):
            raise _MeaninglessError
        is_open = self.is_open(written)
        members: list[Json] = []
        for member in written.arguments:
            member_type = self.part(member, is_open=is_open)
            extra = member_type.pop("extra", None)
            members.append({"name": member.name, "type": member_type, **({"extra": extra} if extra else {})})
        if not written.arguments and not written.bracket:
            members = [{"name": "a", "type": _type(String)}]
        return Meaning(_type(kind, fields=members))


def _length_of(digits: str) -> int:
    """Return a length that a type may have."""
    length = int(digits[:12])
    if not 0 < length < 2**31:
        raise _MeaninglessError
    return length


def _attributes_for(name: str, length: int | None = None) -> Iterator[tuple[str, Any]]:
    """Yield the attributes that keep a type of another system, with their values."""
    for attribute in ATTRIBUTES.values():
        value = attribute.keeps(name, length) if attribute.keeps is not None else None
        if value is not None:
            yield attribute.key, value


def _first_attribute(name: str) -> Json:
    """Return the first attribute that keeps a type."""
    return dict(islice(_attributes_for(name), 1))


def _length_remark(name: str, lengths: list[int]) -> str:
    """Add a remark with the attributes that keep a length; nothing where there is none."""
    attributes = [pair for length in lengths[:1] for pair in _attributes_for(name, length)]
    pairs = " and ".join(f"`{key}: {value}`" for key, value in attributes)
    return f"; the length is kept by {pairs} under the field's `extra:`" if pairs else ""


def _plain_meaning(reader: _Reader, written: TypeText, kind: Kind) -> Meaning:
    """Return the meaning without parameters; the digits of SQL's float choose its width. Raises _MeaninglessError for several arguments."""
    # MySQL's integers have a width that shows, pandas' types a backend.
    if len(written.arguments) > 1:
        raise _MeaninglessError
    if written.head.lower() == "float" and written.types and written.types[0].head.isdecimal():
        # SQL counts the binary digits of the significand.
        return Meaning(_type(Float64 if _length_of(written.types[0].head) > Float32.mantissa else Float32))
    return Meaning(_type(kind))


def _decimal_meaning(reader: _Reader, written: TypeText, kind: Kind = Decimal) -> Meaning:
    """Return a Decimal of 10 digits and scale 0 where these are not written. Raises _MeaninglessError out of range."""
    numbers = [t.head for t in written.types]
    if len(numbers) > 2 or not all(re.fullmatch(r"-?[0-9]{1,4}", n) for n in numbers):
        raise _MeaninglessError
    precision, scale = [*map(int, numbers), *(10, 0)[len(numbers) :]]
    if fold(written.head) == "money" and not numbers:
        precision, scale = 19, 2
    if not 1 <= precision <= 76 or not -76 <= scale <= 76:
        raise _MeaninglessError("a Decimal has 1 to 76 digits, and at most 76 after the point")
    bits = re.fullmatch(r"decimal(32|64|128|256)", written.head.lower())
    width = int(bits[1]) if bits is not None else 0
    usual = 128 if precision <= MOST_DIGITS[128] else 256
    needs_hint = width != usual and precision <= MOST_DIGITS.get(width, 0)
    hint = {arrow.DECIMAL_ENCODING.key: {"bitWidth": width}} if needs_hint else {}
    return Meaning(_type(kind, precision=precision, scale=scale), hint)


def _text_meaning(reader: _Reader, written: TypeText, kind: Kind) -> Meaning:
    """Return a String, with a remark on its length; JSON and variants have an attribute."""
    folded, lengths = fold(written.head), [_length_of(t.head) for t in written.types if t.head.isdecimal()]
    if folded in ("json", "jsonb", "variant"):
        return Meaning(_type(kind), _first_attribute(folded.removesuffix("b")))
    word = "char" if folded in ("char", "character", "nchar", "bpchar", "fixedstring") else "varchar"
    return Meaning(_type(kind), remark=_length_remark(word, lengths))


def _bytes_meaning(reader: _Reader, written: TypeText, kind: Kind) -> Meaning:
    """Return Bytes, of fixed length unless the length is only the greatest one; a UUID has 16 bytes."""
    folded, lengths = fold(written.head), [_length_of(t.head) for t in written.types if t.head.isdecimal()]
    if folded == "uuid":
        tree = _type(kind, fixedLength=16)
        return Meaning(tree, {arrow.EXTENSION_TYPE.key: {"name": "arrow.uuid"}}, ", or `String` for its text")
    if not lengths or folded in ("varbinary", "blob", "bytea"):
        return Meaning(_type(kind), remark=_length_remark("varbinary", lengths))
    return Meaning(_type(kind, fixedLength=lengths[0]))


def _unit_of(word: str) -> str:
    """Return the unit of a word, or of a number of digits after the second's point."""
    if re.fullmatch("[0-9]", word):
        return tuple(ARROW_UNITS)[-(-int(word) // 3)]
    unit = _UNITS.get(word) or _UNITS.get(fold(word))
    if unit is None:
        raise _MeaninglessError
    return unit


def _timestamp_meaning(reader: _Reader, written: TypeText, kind: Kind) -> Meaning:
    """Return a Timestamp with the unit and zone that name and arguments mean. Raises _MeaninglessError."""
    folded = fold(written.head)
    is_bare = folded in ("timestamp", "timestamptype")
    zone: str | None = None if folded in _ZONELESS or (is_bare and written.arguments) else "UTC"
    unit = "Nanosecond" if folded.endswith(("ns", "datetime64")) else "Microsecond"
    zone = None if folded in ("timestampns", "smalldatetime", "timestampntztype") else zone
    if written.arguments:
        unit = _unit_of(written.types[0].head)
    if len(written.arguments) > 2:
        raise _MeaninglessError
    if len(written.arguments) == 2:
        type_text = written.types[1]
        type_text = type_text.types[0] if type_text.head == "Some" and type_text.arguments else type_text
        zone = None if fold(type_text.head) in _NO_ZONE else type_text.head
        if zone is not None and not _ZONE.fullmatch(zone):
            raise _MeaninglessError
    tree = _type(kind, unit=unit)
    return Meaning(tree if zone == "UTC" else {**tree, "timezone": zone})


def _meaning_with_unit(reader: _Reader, written: TypeText, kind: Kind) -> Meaning:
    """Return a Time or a Duration with its unit. Raises _MeaninglessError for several arguments."""
    if len(written.arguments) > 1:
        raise _MeaninglessError
    # SQL counts times in microseconds, pandas its timedelta64 in nanoseconds.
    usual = "Nanosecond" if fold(written.head) == "timedelta64" else "Microsecond"
    return Meaning(_type(kind, unit=_unit_of(written.types[0].head) if written.arguments else usual))


def _date_meaning(reader: _Reader, written: TypeText, kind: Kind) -> Meaning:
    """Return a Date; for `date64` with an encoding in milliseconds."""
    is_wide = fold(written.head) == "date64"
    return Meaning(_type(kind), {arrow.DATE_ENCODING.key: {"unit": "Millisecond"}} if is_wide else {})


def _option_meaning(reader: _Reader, written: TypeText, kind: Kind) -> Meaning:
    """Return the argument as an Option, of String if there is none. Raises _MeaninglessError for several."""
    if len(written.arguments) != 1:
        if written.arguments:
            raise _MeaninglessError
        return Meaning(_type(kind, inner=_type(String)))
    meaning = reader.of(written.types[0])
    return meaning._replace(tree=_optional(meaning.tree, is_nullable=True))


def _dictionary_meaning(reader: _Reader, written: TypeText) -> Meaning:
    """Return the meaning of the values with Arrow's dictionary encoding; Python's `dict[str, int]` is a map."""
    named = {argument.name: argument.type for argument in written.arguments}
    if "values" in named and "indices" in named:
        values, indices = named["values"], named["indices"]
    elif written.head == "Dictionary" and len(written.arguments) == 2:
        indices, values = written.types
    else:
        return reader.map(written)
    index = ARROW_NAMES.get(indices.head) or _kind_of(indices.head)
    if index not in arrow.INTEGERS:
        raise _MeaninglessError
    is_ordered = "ordered" in named and named["ordered"].head == "1"
    hint = {"indexType": index, **({"ordered": True} if is_ordered else {})}
    meaning = reader.of(values)
    return Meaning(meaning.tree, {**meaning.extra, arrow.DICTIONARY_ENCODING.key: hint})


def _low_cardinality_meaning(reader: _Reader, written: TypeText) -> Meaning:
    """Return the meaning of the argument, String by default, with Arrow's dictionary encoding."""
    meaning = reader.of(written.types[0]) if written.arguments else Meaning(_type(String))
    hint = {"indexType": Int32.__name__}
    return Meaning(meaning.tree, {**meaning.extra, arrow.DICTIONARY_ENCODING.key: hint})


def _multiset_meaning(reader: _Reader, written: TypeText) -> Meaning:
    """Return a Map from elements to their counts. Raises _MeaninglessError for more than one argument."""
    if len(written.arguments) > 1:
        raise _MeaninglessError
    element = written.arguments[0] if written.arguments else ColumnText("", TypeText(String.__name__))
    key = reader.part(element, is_open=False, is_key=True)
    return Meaning(_type(Map, keyType=key, valueType=_type(Int32)), _first_attribute("multiset"))


def _extension_meaning(reader: _Reader, written: TypeText) -> Meaning:
    """Return the meaning of the storage type, the only argument. Raises _MeaninglessError for another number of them."""
    return reader.of(written.types[0]) if len(written.arguments) == 1 else _refuse(reader, written)


def _brain_float_meaning(reader: _Reader, written: TypeText) -> Meaning:
    """Return a vector with the attribute of an engine that stores bfloat16, for no kind is a single one."""
    tree = _type(List, itemType=_type(Float32), fixedLength=768)
    return Meaning(tree, _first_attribute("bfloat16"), "; bfloat16 is an encoding of vectors")


def _refuse(reader: _Reader, written: TypeText) -> Meaning:
    """Raise _MeaninglessError: no type corresponds to the name."""
    raise _MeaninglessError


_SPECIAL: dict[str, Callable[[_Reader, TypeText], Meaning]] = {
    **dict.fromkeys(("dictionary", "dict"), _dictionary_meaning),
    **dict.fromkeys(("lowcardinality", "category"), _low_cardinality_meaning),
    "multiset": _multiset_meaning,
    "extension": _extension_meaning,
    "bfloat16": _brain_float_meaning,
    # Oracle and Snowflake count digits, JavaScript does not.
    "number": lambda reader, written: (
        _decimal_meaning(reader, written) if written.arguments else _plain_meaning(reader, written, Float64)
    ),
    # Whole numbers of 128 bits.
    **dict.fromkeys(("hugeint", "int128"), lambda _, __: Meaning(_type(Decimal, precision=39, scale=0))),
    "halfvec": lambda reader, written: reader.list(
        TypeText(
            "vector", (ColumnText("", TypeText(Float16.__name__, is_nullable=False)), *written.arguments), "("
        )
    ),
    **dict.fromkeys(_NOTHING, _refuse),
}
_OF_FAMILY: dict[Family, Callable[[_Reader, TypeText, Kind], Meaning]] = {
    Family.DECIMAL: _decimal_meaning,
    Family.TEXT: _text_meaning,
    Family.BYTES: _bytes_meaning,
    Family.TIMESTAMP: _timestamp_meaning,
    Family.DATE: _date_meaning,
    Family.TIME: _meaning_with_unit,
    Family.DURATION: _meaning_with_unit,
    Family.LIST: _Reader.list,
    Family.MAP: _Reader.map,
    Family.STRUCT: _Reader.struct,
    Family.OPTION: _option_meaning,
}
"""What the brackets behind a name mean; the types of all other families are plain."""
