"""Tables of SQL as schemas, and the rules for types that several databases have alike.

Layer: engines, below their folders.
Shape: a dialect gives a rule for each of its types, which judges a type with its parameters: an Arrow type, and what that does not say.
      Names, keys, comments and constraints are read alike for all. Members, items and values may be null unless the text says
      otherwise, as in all these databases.
Errors: SC551 unsupported-arrow-type, SC552 unreadable-source at the very word.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from schemac.arrow.from_arrow import from_arrow
from schemac.arrow.metadata import compact
from schemac.importers import datasets
from schemac.importers.importer import (
    ImportedSchema,
    Importer,
    ImportNotes,
    UnreadableSourceError,
    UnsupportedColumnError,
    refuse_column,
    script_names,
    script_source,
    script_text,
    together,
)
from schemac.language.attributes.builtin import DESCRIPTION
from schemac.language.attributes.constraints import MAX_LENGTH
from schemac.language.kinds.registry import BY_NAME
from schemac.language.logical.model import FieldPath, Part, dotted
from schemac.language.physical import ArrowField, ArrowType, pa
from schemac.text.source.diagnostics import Located, Report
from schemac.text.syntax.type_text import MalformedTypeError

if TYPE_CHECKING:
    from schemac.engines.sql_script import SqlColumn, SqlConstraint, SqlScript, SqlTable


class TypeMapping(NamedTuple):
    """What a type of a dialect is."""

    type: ArrowType
    loss: str = ""
    """What the type does not say, as a note."""
    longest: int | None = None
    """The greatest length of its values."""


class SqlType(NamedTuple):
    """A type without parts, as a dialect judges it."""

    text: str
    """As the dialect writes it."""
    numbers: tuple[int, ...]
    """Its parameters, as far as they are numbers."""
    words: tuple[str, ...] = ()
    """Its other parameters."""


Rule = Callable[[SqlType], TypeMapping | None]
"""Judges a type; None if no kind stands for it with these parameters."""


def plain(make: Callable[[], ArrowType], loss: str = "") -> Rule:
    """Return the rule of a type that is always the same."""
    return lambda written: TypeMapping(make(), loss)


def as_other(make: Callable[[], ArrowType], form: str) -> Rule:
    """Return the rule of a type whose values are stored in another form."""
    return lambda written: TypeMapping(make(), f"not kept: the type {written.text}; this is its {form}")


text = as_other(lambda: pa.string(), "text")
wkb = as_other(lambda: pa.binary(), "well-known binary")
"""Of shapes on the earth."""


def sized(make: Callable[[], ArrowType]) -> Rule:
    """Return the rule of texts or bytes, with their greatest length."""
    return lambda written: TypeMapping(make(), longest=written.numbers[0] if written.numbers else None)


string = sized(lambda: pa.string())
binary = sized(lambda: pa.binary())


def padded(unsized: str) -> Rule:
    """Return the rule of texts that are filled up to a length; `unsized` is what the type without a length stands for."""
    return lambda written: TypeMapping(
        pa.string(), f"not kept: the length in {written.text if written.numbers else unsized}"
    )


def decimals(precision: int, scale: int, loss: str = "") -> Rule:
    """Return the rule of exact numbers, with what a type without parameters is."""

    def rule(written: SqlType) -> TypeMapping | None:
        if not written.numbers:
            return TypeMapping(datasets.decimal_type(precision, scale), loss)
        digits, after = (*written.numbers, 0)[:2]
        is_valid = 0 < digits <= datasets.MOST_DIGITS
        return TypeMapping(datasets.decimal_type(digits, after)) if is_valid else None

    return rule


def timestamps(zone: str | None, digits: int, loss: str = "") -> Rule:
    """Return the rule of timestamps, with the digits after the second of a type without parameters."""
    return _with_unit(lambda unit: pa.timestamp(unit, zone), digits, loss)


def times(digits: int, loss: str = "") -> Rule:
    """Return the rule of times of day, likewise."""
    return _with_unit(lambda unit: pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit), digits, loss)


def _with_unit(make: Callable[[Any], ArrowType], digits: int, loss: str) -> Rule:
    """Return the rule of a type whose unit holds the digits after the second, with a note where it holds more."""

    def rule(written: SqlType) -> TypeMapping:
        count = written.numbers[0] if written.numbers else digits
        stored = stored_digits(count)
        rounded = f"not kept: the {count} digits in {written.text}, here {stored}" if stored != count else ""
        return TypeMapping(make(UNITS[stored]), "; ".join(filter(None, (rounded, loss))))

    return rule


UNITS = {0: "s", 3: "ms", 6: "us", 9: "ns"}
"""By digits after the second."""


def stored_digits(digits: int) -> int:
    """Return the digits after the second of the coarsest unit that holds so many."""
    return next((most for most in UNITS if digits <= most), 9)


_DEEPEST = 100
"""Levels of nesting that are read."""


@dataclass(frozen=True, slots=True)
class SqlDialect:
    """What is to be known of a database to read its DDL."""

    name: str
    """As sqlglot and `--from` call it."""
    fold: Callable[[str], str]
    """Makes of a name without quotes what the database takes it for."""
    rules: Mapping[str, Rule]
    """By sqlglot's name of a type, or by the dialect's in small letters where sqlglot has none."""
    is_counter_required: bool = True
    """Whether columns that the database numbers may not be null."""
    is_key_required: bool = True
    """Whether columns of a primary key may not be null."""
    has_null_arrays: bool = True
    """Whether arrays and their items may be null."""
    has_sized_arrays: bool = False
    """Whether arrays have the length that is written."""


def importer(dialect: SqlDialect, title: str) -> Importer:
    """Return the importer of a database's DDL, from files and from texts in other sources."""
    read_text = partial(_read_text, dialect=dialect)

    def read(path: Path, report: Report) -> ImportedSchema:
        return read_text(script_text(path), str(path), report)

    return Importer(dialect.name, f"{title} DDL: CREATE TABLE", read, read_text)


def _read_text(text: str, file: str, report: Report, dialect: SqlDialect) -> ImportedSchema:
    """Return the schemas of the CREATE TABLE statements in a text; notes are of one table each."""
    source = script_source(text, file)
    from schemac.engines.sql_script import SqlScript  # which loads sqlglot

    script = SqlScript(dialect.name, dialect.fold)
    try:
        script.read(source.content)
    except MalformedTypeError as error:
        raise UnreadableSourceError(str(error), Located(source, error.span)) from error
    names = script_names(script.tables, source)
    names_by_id = dict(zip(map(id, script.tables), names, strict=True))
    return together([_Reader(script, dialect, file, report, names_by_id).table(t) for t in script.tables])


@dataclass
class _Reader:
    """Reads the columns of one table."""

    _script: "SqlScript"
    _dialect: SqlDialect
    _file: str
    _report: Report
    _names: Mapping[int, str | None]
    """Names of datasets by the identities of their tables."""

    def __post_init__(self) -> None:
        self._notes = ImportNotes()
        self._constraints = datasets.Constraints(self._notes)

    def table(self, table: "SqlTable") -> ImportedSchema:
        """Return a table's schema; columns without a kind are in the report."""
        fields: list[ArrowField] = []
        for column in table.columns:
            is_key = self._dialect.is_key_required and column.name in table.key
            try:
                field = self._field(replace(column, is_required=column.is_required or is_key), ())
                described = {} if column.comment is None else {DESCRIPTION.key: compact(column.comment)}
                fields.append(field.with_metadata(described or None))
            except UnsupportedColumnError as error:
                message = f"{dotted(error.path)} of {table.name[-1]}: {error}"
                refuse_column(error.path, message, self._file, self._report)
        tree = from_arrow(pa.schema(fields), self._file, self._report, self._notes.add)
        head = list(table.head)
        if len(table.name) > 2:
            head.insert(0, f"from the table {'.'.join(table.name)}")
        if not datasets.mark_key(tree, table.key):
            head.append(f"not kept: PRIMARY KEY ({', '.join(table.key)})")
        if table.comment is not None:
            tree = datasets.with_attributes(tree, {DESCRIPTION.key: table.comment})
        for one in (*table.constraints, *(one for column in table.columns for one in column.constraints)):
            self._enter_constraint(one)
            head += one.losses
        head += self._constraints.put(tree)
        return ImportedSchema(tree, tuple(head), self._names[id(table)], self._notes)

    def _enter_constraint(self, one: "SqlConstraint") -> None:
        """Enter a UNIQUE, FOREIGN KEY or CHECK constraint of the table."""
        fields = [dotted((name,)) for name in one.columns]
        if one.condition:
            self._constraints.add_check(one.condition, one.text)
        elif not one.table:
            self._constraints.add_unique(fields, one.text)
        else:
            table = next((t for t in self._script.tables if t.name[-len(one.table) :] == one.table), None)
            name = self._names[id(table)] if table is not None else "/".join(one.table[-2:])
            to = one.to or (table.key if table is not None else ()) or one.columns
            self._constraints.add_reference(fields, name or "", [dotted((part,)) for part in to], one.text)

    def _field(self, column: "SqlColumn", holder: FieldPath) -> ArrowField:
        """Return a column as an Arrow field; note what is lost. Raises UnsupportedColumnError."""
        path = (*holder, column.name)
        for loss in (*column.losses, *(f"not kept: {one.text}" for one in column.constraints if holder)):
            self._notes.add(path, loss)
        type_ = self._type(column.type, path)
        is_counter = column.is_counter and self._dialect.is_counter_required
        is_array = pa.types.is_list(type_) and not self._dialect.has_null_arrays
        is_serial = self._type_name(column.type).endswith("SERIAL")
        is_required = column.is_required or is_counter or is_array or is_serial
        return pa.field(column.name, type_, not is_required)

    def _type_name(self, type_: Any) -> str:
        """Return sqlglot's name of a type: that of a member of its enumeration, or that of an expression."""
        this = getattr(type_, "this", None)
        if this is None or hasattr(this, "args"):
            return type(this if type(type_).__name__ == "DataType" else type_).__name__
        return str(getattr(this, "name", this))

    def _type(self, type_: Any, path: FieldPath) -> ArrowType:
        """Return the Arrow type of a type of sqlglot. Raises UnsupportedColumnError for an unknown one."""
        if type_ is None:
            raise UnsupportedColumnError(path, "a column without a type")
        if len(path) > _DEEPEST:
            raise UnsupportedColumnError(path[:1], "types that are nested so deeply")
        word = self._type_name(type_)
        parts = list(getattr(type_, "expressions", ()))
        if word in ("ARRAY", "LIST") and parts:
            item_type = self._type(parts[0], (*path, Part.ITEM))
            item = pa.field("item", item_type, nullable=self._dialect.has_null_arrays)
            sizes = _numbers(type_.args.get("values") or ()) if self._dialect.has_sized_arrays else ()
            return pa.list_(item, *sizes[:1])
        if word in ("STRUCT", "OBJECT") and parts:
            return pa.struct([self._member(part, path, type_) for part in parts])
        if word == "MAP" and len(parts) == 2:
            key = pa.field("key", self._type(parts[0], (*path, Part.KEY)), nullable=False)
            return pa.map_(key, pa.field("value", self._type(parts[1], (*path, Part.VALUE))))
        return self._type_by_rules(type_, word, parts, path)

    def _member(self, part: Any, path: FieldPath, holder: Any) -> ArrowField:
        """Return a member of a struct; note its comment, which is lost. Raises UnsupportedColumnError if it has no name."""
        if type(part).__name__ != "ColumnDef":
            raise UnsupportedColumnError(path, f"{self._script.sql(holder)}, whose members have no names")
        column = self._script.column(part)
        if column.comment is not None:
            self._notes.add(path, f"not kept: {column.name} COMMENT {column.comment}")
        return self._field(column, path)

    def _type_by_rules(self, type_: Any, word: str, parts: list[Any], path: FieldPath) -> ArrowType:
        """Return the Arrow type by the rules of the dialect, and enter the constraints that it implies. Raises UnsupportedColumnError."""
        text = self._script.sql(type_)
        if word == "USERDEFINED":
            word = str(type_.args.get("kind") or text).lower()
            if (made := self._script.types.get(word)) is not None:
                return self._type_of_script(made, word, path)
        short = word.partition("(")[0].rpartition(".")[2]
        rule = self._dialect.rules.get(short) or self._dialect.rules.get(short.upper())
        written = SqlType(text, _numbers(parts), tuple(self._script.sql(part) for part in parts))
        mapping = rule(written) if rule is not None else None
        if rule is None and text.partition("(")[0].lower() in map(str.lower, BY_NAME):
            raise UnsupportedColumnError(path, text, f"the rules of the dialect {self._dialect.name} lack")
        if mapping is None:
            raise UnsupportedColumnError(path, text)
        if mapping.loss:
            self._notes.add(path, mapping.loss)
        if word == "ENUM":
            values = [str(part.name) for part in parts]
            self._constraints.add(path, datasets.enumerated(values), f"the type {text}")
        if mapping.longest is not None:
            self._constraints.add(path, {MAX_LENGTH.key: mapping.longest}, f"the length in {text}")
        return mapping.type

    def _type_of_script(self, made: Any, name: str, path: FieldPath) -> ArrowType:
        """Return a type that the script makes: an enumeration, or one of columns."""
        sort, parts = self._type_name(made), made.expressions
        is_row = sort in ("Schema", "STRUCT")
        if is_row and (not parts or any(type(part).__name__ != "ColumnDef" for part in parts)):
            raise UnsupportedColumnError(path, name)
        self._notes.add(path, f"not kept: the name of its type, {name}")
        if is_row:
            return pa.struct([self._member(part, path, made) for part in parts])
        if sort != "ENUM":
            return self._type(made, path)
        values = [str(part.name) for part in parts]
        self._constraints.add(path, datasets.enumerated(values), self._script.sql(made))
        return pa.string()


def _numbers(parts: Any) -> tuple[int, ...]:
    """Return the whole numbers among the parameters of a type; other parameters are ignored."""
    texts = [str(getattr(part, "name", "") or getattr(part.this, "name", "")) for part in parts]
    return tuple(int(text) for text in texts if text.isascii() and text.isdecimal() and len(text) < 10)
