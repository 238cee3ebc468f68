"""Spark: the DDL of a table, CREATE TABLE or a bare list of columns.

Floor: 10 (importers).
Shape: columns become a StructType in its JSON form, which `schemac.importers.spark` reads; the table properties that
lance-spark knows become metadata of their columns, all others `spark.apache.org/tableProperties`.
Errors: SC551 unsupported-arrow-type, SC552 unreadable-source at the very word.
Source: SqlBaseParser.g4 of Spark 4 (`createTable`, `colTypeList`, `dataType`) and the table properties of lance-spark.
sqlglot tells the words of the text apart; its own grammar has neither VOID nor STRUCT<>, and takes no type that it
does not know.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from schemac.attributes import arrow, lance, spark
from schemac.attributes.odf import DESCRIPTION
from schemac.importers.importer import Imported, Importer, Notes, refuse
from schemac.importers.spark import from_struct_type
from schemac.importers.sql_words import MalformedError, Word, split_words
from schemac.lifting.metadata import field_attributes
from schemac.logical.path import FieldPath, Part
from schemac.lowering.metadata import BLOB, PRIMARY_KEY, PRIMARY_KEY_POSITION
from schemac.source.report import Report
from schemac.source.span import Span
from schemac.source.text import SourceText
from schemac.targets._spark.marks import (
    BYTE_WIDTH,
    FILE_FORMAT_VERSION,
    FLOAT16,
    LARGE_BINARY,
    LARGE_STRING,
    VECTOR_SIZE,
)

SparkJson = dict[str, Any]

_ATOMIC = {
    "BOOLEAN": "boolean",
    "TINYINT": "byte",
    "BYTE": "byte",
    "SMALLINT": "short",
    "SHORT": "short",
    "INT": "integer",
    "INTEGER": "integer",
    "BIGINT": "long",
    "LONG": "long",
    "FLOAT": "float",
    "REAL": "float",
    "DOUBLE": "double",
    "DEC": "decimal",
    "NUMERIC": "decimal",
    "CHARACTER": "char",
}
"""JSON's word where it is not DDL's in small letters."""
_CLAUSES = (
    *("USING", "COMMENT", "TBLPROPERTIES", "PARTITIONED", "CLUSTERED", "CLUSTER", "SORTED", "OPTIONS"),
    *("LOCATION", "ROW", "STORED", "WITH", "DEFAULT", "AS"),
)
_COLUMN_OPTIONS = (
    "NOT",
    "NULL",
    "COMMENT",
    "DEFAULT",
    "GENERATED",
    "PRIMARY",
    "UNIQUE",
    "CHECK",
    "REFERENCES",
)
_CONSTRAINTS = {"PRIMARY": "KEY", "FOREIGN": "KEY", "UNIQUE": "(", "CHECK": "("}
_DEEPEST = 100
"""Levels of nested types; the manifest language stops far above it."""
_PROPERTY_MARKS = {
    VECTOR_SIZE: VECTOR_SIZE,
    FLOAT16: FLOAT16,
    BYTE_WIDTH: BYTE_WIDTH,
    "arrow.large_var_char": LARGE_STRING,
    "arrow.large_var_binary": LARGE_BINARY,
    "lance.encoding": BLOB,
    **{
        f"lance.{name}": f"lance-encoding:{name}"
        for name in ("compression", "compression-level", "structural-encoding", "rle-threshold", "bss")
    },
}
"""Keys in a column's metadata by what follows the column's name in a table property."""


def read(path: Path, report: Report) -> Imported | None:
    """The schema of a file with one statement."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        refuse(path, f"it is not UTF-8: byte 0x{error.object[error.start]:02x} at {error.start}", report)
        return None
    return from_ddl(text, str(path), report)


def from_ddl(text: str, file: str, report: Report) -> Imported | None:
    """The schema of a CREATE TABLE, or of a list of columns as `StructType.fromDDL` takes it."""
    source = SourceText(text, file)
    try:
        statement = _Statement(split_words(source.content), source.content)
        statement.parse()
    except MalformedError as error:
        refuse(file, str(error), report, source=source, span=error.span)
        return None
    rest = _take_properties(statement.columns, statement.properties)
    storage_version = _take_storage_version(rest)
    for position, name in enumerate(statement.key, 1):
        for column in statement.columns:
            if column["name"] == name:
                column["metadata"] |= {PRIMARY_KEY: "true", PRIMARY_KEY_POSITION: str(position)}
    imported = from_struct_type(
        {"type": "struct", "fields": statement.columns}, file, report, statement.notes
    )
    if imported is None:
        return None
    extra = {
        **({DESCRIPTION.key: statement.comment} if statement.comment is not None else {}),
        **({spark.TABLE_PROPERTIES.key: rest} if rest else {}),
        **({lance.STORAGE_VERSION.key: storage_version} if storage_version else {}),
    }
    tree = {**imported.schema, **({"extra": extra} if extra else {})}
    return Imported(tree, tuple(statement.head), statement.name, imported.notes)


def _take_storage_version(properties: dict[str, str]) -> str | None:
    """The version of the data files, out of the properties; None for the one that counts in any case."""
    version = properties.get(FILE_FORMAT_VERSION)
    if version not in lance.STORAGE_VERSIONS:
        return None
    del properties[FILE_FORMAT_VERSION]
    return None if version == lance.DEFAULT_STORAGE_VERSION else version


class _Statement:
    """One statement, read from left to right."""

    def __init__(self, words: list[Word], text: str) -> None:
        self._words = words
        self._text = text
        self._at = 0
        self.columns: list[SparkJson] = []
        self.properties: dict[str, str] = {}
        self.comment: str | None = None
        self.name: str | None = None
        self.head: list[str] = []
        """What is to be said of the table as a whole."""
        self.key: list[str] = []
        """Columns of the primary key, in order."""
        self.notes = Notes()

    def parse(self) -> None:
        """Read all of it. Raises MalformedError."""
        if not self._words:
            raise MalformedError("there is no statement in it", Span(0, 0))
        self._settings()
        if self._is("CREATE") or (self._is("REPLACE") and self._is("TABLE", 1)):
            self._table()
        else:
            self._elements(end=None)
        while self._takes(";"):
            pass
        self._primary_key()
        self._settings()
        if not self._ends():
            raise self._wrong("one statement is imported, and here begins another")

    def _settings(self) -> None:
        """`SET` and `RESET` say nothing of the table."""
        while self._is("SET") or self._is("RESET"):
            self._skip_to(";")
            while self._takes(";"):
                pass

    def _primary_key(self) -> None:
        """`ALTER TABLE t SET UNENFORCED PRIMARY KEY (a, b)`, the second statement of a table of lance-spark."""
        if not (self._is("ALTER") and self._is("TABLE", 1)):
            return
        start = self._at
        while not self._takes("KEY"):
            if self._ends() or self._is(";"):
                self._at = start
                return
            self._at += 1
        self._wants("(")
        while not self._takes(")"):
            self.key.append(self._name())
            if not self._is(")"):
                self._wants(",")
        while self._takes(";"):
            pass

    def _table(self) -> None:
        while not self._takes("TABLE"):
            if self._ends() or self._is("("):
                raise self._wrong("only CREATE TABLE is imported")
            self._at += 1
        if self._takes("IF"):
            self._wants("NOT")
            self._wants("EXISTS")
        parts = [self._name()]
        while self._takes("."):
            parts.append(self._name())
        self.name = "/".join(parts)
        if self._takes("("):
            self._elements(end=")")
        while not self._ends() and not self._is(";"):
            if self._takes("AS"):
                self.head.append("the query of CREATE TABLE AS SELECT is not kept; add its columns")
                self._at = len(self._words)
                return
            self._clause()

    def _clause(self) -> None:
        start = self._at
        if self._takes("USING"):
            self._name()
        elif self._takes("COMMENT"):
            self.comment = self._string()
        elif self._takes("TBLPROPERTIES"):
            self._wants("(")
            self.properties.update(self._entries())
        elif self._is("PARTITIONED"):
            self._partitions()
        elif self._word() in _CLAUSES:
            self._at += 1
            self._skip_to(*_CLAUSES, ";")
            self.head.append(f"not kept: {self._excerpt(start)}")
        else:
            raise self._wrong("a clause of CREATE TABLE is wanted here")

    def _partitions(self) -> None:
        """PARTITIONED BY names columns, or in Hive's form defines them."""
        start = self._at
        self._at += 1
        self._wants("BY")
        self._wants("(")
        while not self._takes(")"):
            if self._is("(", 1) or self._is(",", 1) or self._is(")", 1) or self._is(".", 1):
                self._skip_to(",", ")")
            else:
                self.columns.append(self._column(()))
            if not self._is(")"):
                self._wants(",")
        self.head.append(f"not kept: {self._excerpt(start)}")

    def _entries(self) -> Iterator[tuple[str, str]]:
        """Keys and values up to a bracket; `=` between them may be left out."""
        while not self._takes(")"):
            key = self._key()
            while self._takes("."):
                key = f"{key}.{self._key()}"
            self._takes("=")
            yield key, self._value()
            if not self._is(")"):
                self._wants(",")

    def _key(self) -> str:
        if self._ends() or self._is_mark():
            raise self._wrong("the key of a property is wanted here")
        return self._next().text

    def _value(self) -> str:
        """A text, a name, a number or a truth, as text."""
        sign = "-" if self._takes("-") else ""
        if self._ends() or self._is_mark():
            raise self._wrong("a value is wanted here")
        return sign + (self._string() if self._is_string() else self._next().text)

    def _elements(self, end: str | None) -> None:
        """Columns and constraints between commas."""
        if end is not None and self._takes(end):
            return
        while True:
            if self._is_constraint():
                start = self._at
                self._skip_to(",", end or ";")
                self.head.append(f"not kept: {self._excerpt(start)}")
            else:
                self.columns.append(self._column(()))
            if not self._takes(","):
                break
        if end is not None:
            self._wants(end)

    def _is_constraint(self) -> bool:
        if self._is("CONSTRAINT") and any(self._is(word, 2) for word in _CONSTRAINTS):
            return True
        return self._word() in _CONSTRAINTS and self._is(_CONSTRAINTS[self._word()], 1)

    def _column(self, holder: FieldPath) -> SparkJson:
        """A column, or a member of a struct."""
        name = self._name()
        path = (*holder, name)
        self._takes(":")
        column: SparkJson = {"name": name, "type": self._type(path), "nullable": True, "metadata": {}}
        while self._word() in _COLUMN_OPTIONS:
            self._option(column, path)
        return column

    def _option(self, column: SparkJson, path: FieldPath) -> None:
        start = self._at
        if self._takes("NOT"):
            self._wants("NULL")
            column["nullable"] = False
        elif self._takes("NULL"):
            pass
        elif self._takes("COMMENT"):
            column["metadata"]["comment"] = self._string()
        else:
            self._at += 1
            self._takes("KEY")
            self._skip_to(",", ")", ">", ";", "NOT", "COMMENT", "DEFAULT", "GENERATED")
            self.notes.add(path, f"not kept: {self._excerpt(start)}")

    def _type(self, path: FieldPath) -> Any:
        if len(path) > _DEEPEST:
            raise self._wrong(f"types are nested deeper than {_DEEPEST} levels")
        if not self._word()[:1].isalpha():
            raise self._wrong("a type is wanted here")
        word = self._next().text.upper()
        if word == "STRUCT":
            return self._struct(path)
        if word == "ARRAY":
            self._wants("<")
            item = self._type((*path, Part.ITEM))
            self._wants(">")
            self.notes.add(path, "DDL cannot say whether items may be null")
            return {"type": "array", "elementType": item, "containsNull": True}
        if word == "MAP":
            self._wants("<")
            key = self._type((*path, Part.KEY))
            self._wants(",")
            value = self._type((*path, Part.VALUE))
            self._wants(">")
            self.notes.add(path, "DDL cannot say whether values may be null")
            return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": True}
        return self._atomic(word)

    def _struct(self, path: FieldPath) -> SparkJson:
        members: list[SparkJson] = []
        self._wants("<")
        while not self._takes(">"):
            members.append(self._column(path))
            if not self._is(">"):
                self._wants(",")
        return {"type": "struct", "fields": members}

    def _atomic(self, word: str) -> str:
        name = _ATOMIC.get(word, word.lower())
        if name == "interval":
            return self._interval()
        if name in ("timestamp", "time") and (self._is("WITH") or self._is("WITHOUT")):
            is_local = self._takes("WITH")
            self._at += 0 if is_local else 1
            self._takes("LOCAL")
            self._wants("TIME")
            self._wants("ZONE")
            return name if is_local or name == "time" else "timestamp_ntz"
        if name == "string" and self._takes("COLLATE"):
            return f"string collate {self._name()}"
        if not self._takes("("):
            return name
        parameters: list[str] = []
        while not self._takes(")"):
            parameters.append(self._value())
            if not self._is(")"):
                self._wants(",")
        # A decimal's scale may be left out in DDL alone.
        if name == "decimal" and len(parameters) == 1:
            parameters.append("0")
        return f"{name}({','.join(parameters)})"

    def _interval(self) -> str:
        units = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
        if self._word() not in units:
            return "interval"
        text = f"interval {self._next().text.lower()}"
        return f"{text} to {self._name().lower()}" if self._takes("TO") else text

    def _name(self) -> str:
        if self._ends() or self._is_mark() or self._is_string():
            raise self._wrong("a name is wanted here")
        return self._next().text

    def _string(self) -> str:
        """A text; Spark takes several in a row for one."""
        if not self._is_string():
            raise self._wrong("a text in quotes is wanted here")
        text = self._next().text
        while self._is_string():
            text += self._next().text
        return text

    def _skip_to(self, *ends: str) -> None:
        """Go to the next of these words that stands outside all brackets."""
        depth = 0
        while not self._ends():
            if depth == 0 and any(self._is(end) for end in ends):
                return
            depth += self._is("(") - self._is(")")
            self._at += 1

    def _ends(self, ahead: int = 0) -> bool:
        return self._at + ahead >= len(self._words)

    def _is(self, word: str, ahead: int = 0) -> bool:
        """Whether a word comes next; names in quotes are no words."""
        return self._word(ahead) == word

    def _word(self, ahead: int = 0) -> str:
        if self._ends(ahead):
            return ""
        word = self._words[self._at + ahead]
        return "" if word.is_quoted else word.text.upper()

    def _is_mark(self) -> bool:
        text = self._word()
        return bool(text) and not any(c.isalnum() or c == "_" for c in text)

    def _is_string(self, ahead: int = 0) -> bool:
        return not self._ends(ahead) and self._words[self._at + ahead].is_text

    def _next(self) -> Word:
        word = self._words[self._at]
        self._at += 1
        return word

    def _takes(self, word: str) -> bool:
        is_next = self._is(word)
        self._at += is_next
        return is_next

    def _wants(self, word: str) -> None:
        if not self._takes(word):
            raise self._wrong(f"{word} is wanted here")

    def _excerpt(self, start: int) -> str:
        """The author's words from one on, in one line."""
        first, last = self._words[start], self._words[self._at - 1]
        return " ".join(self._text[first.start : last.end].split())

    def _wrong(self, reason: str) -> MalformedError:
        if self._ends():
            return MalformedError(f"{reason}, and the text ends", Span(len(self._text), len(self._text)))
        word = self._words[self._at]
        span = Span(word.start, word.end)
        return MalformedError(f"{reason}, not {self._text[span.start : span.end]}", span)


def _take_properties(columns: list[SparkJson], properties: dict[str, str]) -> dict[str, str]:
    """Put what lance-spark's properties say of columns into their metadata; the properties that are left."""
    rest = dict(properties)
    for column in columns:
        found = {
            mark: f"{column['name']}.{suffix}"
            for suffix, mark in _PROPERTY_MARKS.items()
            if f"{column['name']}.{suffix}" in rest
        }
        metadata = _fitting({mark: rest[key] for mark, key in found.items()}, column["type"])
        column["metadata"].update(metadata)
        for mark in metadata:
            del rest[found[mark]]
    return rest


def _fitting(marks: dict[str, str], type_: Any) -> SparkJson:
    """The marks that mean something for a type; lance-spark refuses or ignores the others."""
    taken: SparkJson = {}
    is_of_floats = isinstance(type_, dict) and type_.get("elementType") in ("float", "double")
    if is_of_floats and _is_length(marks.get(VECTOR_SIZE)):
        taken[VECTOR_SIZE] = int(marks[VECTOR_SIZE])
        if marks.get(FLOAT16) == "true" and type_["elementType"] == "float":
            taken[FLOAT16] = "true"
    if type_ == "binary":
        if marks.get(BLOB) == "blob":
            taken[BLOB] = "true"
        elif _is_length(marks.get(BYTE_WIDTH)):
            taken[BYTE_WIDTH] = int(marks[BYTE_WIDTH])
        elif marks.get(LARGE_BINARY) == "true":
            taken[LARGE_BINARY] = "true"
    is_text = isinstance(type_, str) and type_.startswith(("string", "varchar(", "char(", "variant"))
    if is_text and marks.get(LARGE_STRING) == "true":
        taken[LARGE_STRING] = "true"
    encoding = {
        mark: text for mark, text in marks.items() if mark.startswith("lance-encoding:") and mark != BLOB
    }
    # Only what is an attribute in whole; the rest would come back as metadata that nobody checks.
    is_whole = arrow.METADATA.key not in field_attributes(encoding, "String")
    return {**taken, **encoding} if is_whole else taken


def _is_length(text: str | None) -> bool:
    return text is not None and re.fullmatch(r"[1-9][0-9]{0,9}", text) is not None and int(text) < 2**31


IMPORTER = Importer("ddl", "Spark DDL: CREATE TABLE, or a list of columns", read)
