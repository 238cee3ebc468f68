"""Iceberg's types and schemas, as its metadata has them: their names, ids, promotions and default values.

Layer: engines.
Shape: a tree; every field, element, key and value has an id. `to_json` gives keys in the order in which Iceberg's Java writes them;
      default values are JSON, as metadata has them. A field is found by its full name, which joins the names from the column down with
      dots. CREATE TABLE gives fresh ids, whatever ids a schema has: all fields of one level, then what is below each.
Source: the Iceberg table specification, "Schemas and Data Types", "Schema Evolution", "Default values", "Appendix C: JSON
      serialization" and "Appendix D: JSON single-value serialization"; `IndexByName` and `TypeUtil.assignFreshIds` of Java,
      `index_by_name` and `assign_fresh_schema_ids` of pyiceberg. pyiceberg 0.12 itself lets the scale of a decimal change, and text
      become bytes, which the specification does not have.
Why by hand: pyiceberg 0.12 knows no `variant`, and no `geometry` or `geography` with a reference system, which format 3 has; and an
      artifact of Iceberg belongs to the base install. Where a catalog is open, its schemas are pyiceberg's.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from typing import Any

from schemac.text.source.json_object import Json

FORMAT_2, FORMAT_3 = 2, 3
MOST_DIGITS = 38
"""Of a decimal."""


@dataclass(frozen=True, slots=True)
class IcebergType:
    """A type of Iceberg with its parameters and parts; `variant` has no parts here, though it has some in the specification."""

    name: str
    """As metadata has it, without parameters: `long`, `decimal`, `list`; a reference system is a part of the name."""
    parameters: tuple[int, ...] = ()
    """Precision and scale of a decimal, bytes of a `fixed`."""
    fields: "tuple[NestedField, ...]" = ()
    """The members of a struct, the element of a list, or key and value of a map."""

    @property
    def word(self) -> str:
        """The type without its parts, as Java and Python write it: `long`, `decimal(9, 2)`, `fixed[16]`, `list`."""
        if self.name == "decimal":
            return f"decimal({', '.join(map(str, self.parameters))})"
        return f"fixed[{self.parameters[0]}]" if self.name == "fixed" else self.name

    def type_text(self) -> str:
        """Return the type for people: `struct<x: required int>`, `map<string, optional int>`, in which a key is always required."""
        if self.name not in _NESTED:
            return self.word
        texts = [part.full_type_text() for part in self.fields]
        if self.name == "map":
            texts[0] = self.fields[0].type.type_text()
        elif self.name == "struct":
            texts = [f"{part.name}: {text}" for part, text in zip(self.fields, texts, strict=True)]
        return f"{self.name}<{', '.join(texts)}>"

    def to_json(self) -> Any:
        """Return the type as metadata has it: a text, or an object with its parts."""
        if self.name not in _NESTED:
            return self.word
        tree: Json = {"type": self.name}
        if self.name == "struct":
            return {**tree, "fields": [member.to_json() for member in self.fields]}
        for part in self.fields:
            tree |= {f"{part.name}-id": part.id, part.name: part.type.to_json()}
            if part.name != "key":
                tree[f"{part.name}-required"] = part.required
        return tree


_NESTED = frozenset({"struct", "list", "map"})


@dataclass(frozen=True, slots=True)
class NestedField:
    """A column or member, the element of a list, or the key or value of a map."""

    id: int
    name: str
    """`element`, `key` or `value` for the parts of lists and maps."""
    type: IcebergType
    required: bool = False
    doc: str | None = None
    initial_default: Any = None
    """The value in files that do not have the field, as JSON; None for none."""
    write_default: Any = None
    """The value that writers write where they have none, as JSON; None for none."""

    def to_json(self) -> Json:
        """Return a column or member as metadata has it."""
        tree: Json = {
            "id": self.id,
            "name": self.name,
            "required": self.required,
            "type": self.type.to_json(),
            "doc": self.doc,
            "initial-default": self.initial_default,
            "write-default": self.write_default,
        }
        return {key: value for key, value in tree.items() if value is not None}

    def full_type_text(self) -> str:
        """Return the type with its nullability, as people write it."""
        return f"{'required' if self.required else 'optional'} {self.type.type_text()}"


@dataclass(frozen=True, slots=True)
class IcebergSchema:
    """The columns of a table, and which of them identify a row."""

    columns: tuple[NestedField, ...]
    identifier_ids: tuple[int, ...] = ()
    """In rising order."""
    schema_id: int = 0

    def to_json(self) -> Json:
        """Return the schema as metadata has it."""
        tree: Json = {"type": "struct", "schema-id": self.schema_id}
        if self.identifier_ids:
            tree["identifier-field-ids"] = list(self.identifier_ids)
        tree["fields"] = [column.to_json() for column in self.columns]
        return tree

    def preorder(self) -> "Iterator[tuple[tuple[str, ...], NestedField]]":
        """Yield every field with its path, parents first."""
        return preorder(self.columns)

    @property
    def highest_id(self) -> int:
        """The highest id that a field has; 0 for none."""
        return max((field.id for _, field in self.preorder()), default=0)

    def renumbered(self, ids: "dict[int, int]") -> "IcebergSchema":
        """Return the same schema with other ids; every id has to have a new one."""
        columns = with_fields(self.columns, lambda field: replace(field, id=ids[field.id]))
        identifier_ids = tuple(sorted(ids[id] for id in self.identifier_ids))
        return replace(self, columns=columns, identifier_ids=identifier_ids)


def preorder(
    fields: tuple[NestedField, ...], above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], NestedField]]:
    """Yield these fields and all below them with their paths, parents first."""
    for field in fields:
        path = (*above, field.name)
        yield path, field
        yield from preorder(field.type.fields, path)


def with_fields(
    fields: tuple[NestedField, ...], change: Callable[[NestedField], NestedField]
) -> tuple[NestedField, ...]:
    """Return these fields and all below them, each changed by itself."""
    return tuple(
        [
            replace(change(field), type=replace(field.type, fields=with_fields(field.type.fields, change)))
            for field in fields
        ]
    )


NAME_MAPPING = "schema.name-mapping.default"
"""The table property that says which field a column of a file without ids is."""


def full_name(path: Sequence[str]) -> str:
    """Return the name by which Iceberg finds a field."""
    return ".".join(path)


def collisions(schema: IcebergSchema) -> Iterator[tuple[str, NestedField, NestedField]]:
    """Yield each full name that two fields have, with the earlier one first."""
    known: dict[str, NestedField] = {}
    for path, field in schema.preorder():
        first = known.setdefault(full_name(path), field)
        if first is not field:
            yield full_name(path), first, field


_SINCE_FIRST = frozenset({("int", "long"), ("float", "double")})
_SINCE_THIRD = frozenset({("date", "timestamp"), ("date", "timestamp_ns")})


def is_promotion(old: IcebergType, new: IcebergType, format_version: int) -> bool:
    """Whether a table of a format may give a field of one type without parts the other."""
    if old.name == new.name == "decimal":
        (precision, scale), (new_precision, new_scale) = old.parameters, new.parameters
        return scale == new_scale and precision < new_precision
    pair = (old.word, new.word)
    if pair in _SINCE_FIRST:
        return True
    if format_version < FORMAT_3:
        return False
    if old.name == "unknown":
        return new != old
    return pair in _SINCE_THIRD


def fresh_ids(schema: IcebergSchema) -> dict[int, int]:
    """Return the id of each field in a new table, by the id that it has here."""
    new_ids: dict[int, int] = {}

    def number(fields: tuple[NestedField, ...]) -> None:
        """Give the next ids to the fields of one level, then to those below each."""
        for field in fields:
            new_ids[field.id] = len(new_ids) + 1
        for field in fields:
            number(field.type.fields)

    number(schema.columns)
    return new_ids


_FRACTION = re.compile(r"\.([0-9]+)")


def default_error(type_: IcebergType, value: Any) -> str:
    """Return what is wrong with a default value of a type; empty if nothing is."""
    rule = _PLAIN.get(type_.word)
    if type_.name == "decimal":
        precision, scale = type_.parameters
        zeros, fraction = (f".{'0' * scale}", rf"\.[0-9]{{{scale}}}") if scale else ("", "")
        form = rf"-?(?=[0-9])0*[0-9]{{0,{precision - scale}}}{fraction}"
        rule = (f'a text such as "1{zeros}"', _of_form(form))
    elif type_.name == "fixed":
        (length,) = type_.parameters
        rule = (f"{2 * length} hexadecimal digits", _of_form(f"[0-9a-fA-F]{{{2 * length}}}"))
    if rule is None:
        return f"Iceberg has no default values for {type_.word}"
    example, fits = rule
    return "" if fits(value) else f"it is not a valid {type_.word}; write it as {example}"


def _is_whole(bits: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and -(2 ** (bits - 1)) <= value < 2 ** (bits - 1)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _of_form(form: str) -> Callable[[Any], bool]:
    """Return a check for texts that a regular expression matches as a whole."""
    return lambda value: isinstance(value, str) and re.fullmatch(form, value) is not None


def _temporal(read: Callable[[str], Any], example: str) -> tuple[str, Callable[[Any], bool]]:
    """Return an example in quotes, and a check for texts in its form: with at most its digits of a second, and its `+00:00` or none."""
    digits, is_instant = _digits(example), example.endswith("+00:00")

    def fits(value: Any) -> bool:
        if not isinstance(value, str) or value.endswith("Z"):
            return False
        if _digits(value) > digits or value.count(".") > 1:
            return False
        # Python reads microseconds at most.
        plain = _FRACTION.sub("", value, count=1)
        try:
            read(plain)
        except ValueError:
            return False
        return value.endswith("+00:00") if is_instant else "+" not in plain and plain.count("-") in (0, 2)

    return f'"{example}"', fits


def _digits(text: str) -> int:
    """Return how many digits of a second a text has."""
    fraction = _FRACTION.search(text)
    return 0 if fraction is None else len(fraction[1])


_PLAIN: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "int": ("a whole number of 32 bits", _is_whole(32)),
    "long": ("a whole number of 64 bits", _is_whole(64)),
    **dict.fromkeys(("float", "double"), ("a number", _is_number)),
    "string": ("a text", lambda value: isinstance(value, str)),
    "binary": ("hexadecimal digits, two per byte", _of_form("(?:[0-9a-fA-F]{2})*")),
    "uuid": (
        '"f79c3e09-677c-4bbd-a479-3f349cb785e7"',
        _of_form("[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
    ),
    "date": _temporal(date.fromisoformat, "2017-11-16"),
    "time": _temporal(time.fromisoformat, "22:31:08.123456"),
    "timestamp": _temporal(datetime.fromisoformat, "2017-11-16T22:31:08.123456"),
    "timestamp_ns": _temporal(datetime.fromisoformat, "2017-11-16T22:31:08.123456789"),
    "timestamptz": _temporal(datetime.fromisoformat, "2017-11-16T22:31:08.123456+00:00"),
    "timestamptz_ns": _temporal(datetime.fromisoformat, "2017-11-16T22:31:08.123456789+00:00"),
}
