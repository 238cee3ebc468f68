"""The statements of an SQL script that make tables.

Layer: engines.
Shape: tables in the order of the script, with their columns as they are written; types are read by
`schemac.text.syntax.type_text`.
Why by hand: sqlglot 30 tells the words apart (`sql_words`), but as a parser of Spark's DDL it is wrong where nobody would notice.
`TIMESTAMP WITHOUT TIME ZONE` becomes a timestamp with one; `(a, b INT)` and `(x INT) PRIMARY` pass, where Spark refuses them; VOID,
STRUCT<>, types that it does not know and `TBLPROPERTIES ('a' 'b')` are errors, though Spark has them; a column
of `PARTITIONED BY (day DATE)` leaves its clause, and `NOT ENFORCED` its constraint. Tables are held against Spark's own parser in
`tests/pipeline/test_spark_parser.py`.
Errors: raises MalformedError at the very word.
Source: SqlBaseParser.g4 of Spark 4 (`createTable`, `colTypeList`, `tableConstraintDefinition`) and the statement
`ALTER TABLE … SET UNENFORCED PRIMARY KEY` of lance-spark.
"""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from schemac.importers.importer import ScriptTable
from schemac.text.source.diagnostics import Span
from schemac.text.syntax.type_text import ColumnText, MalformedTypeError, TypeReader, TypeText, TypeWord

_CLAUSES = (
    *("USING", "COMMENT", "TBLPROPERTIES", "PARTITIONED", "CLUSTERED", "CLUSTER", "SORTED", "OPTIONS"),
    *("LOCATION", "ROW", "STORED", "WITH", "DEFAULT", "AS"),
)
_CONSTRAINTS = {"PRIMARY": "KEY", "FOREIGN": "KEY", "UNIQUE": "(", "CHECK": "("}
_WITHOUT_SCHEMA = frozenset(
    ["ANALYZE", "CACHE", "CALL", "DELETE", "DESC", "DESCRIBE", "DROP", "EXPLAIN", "GRANT", "INSERT", "MERGE", "MSCK", "OPTIMIZE", "REFRESH", "REVOKE", "SELECT", "SET", "SHOW", "TRUNCATE", "UNCACHE", "UPDATE", "USE", "VACUUM", "VALUES", "WITH"]
)  # fmt: skip
"""First words of statements that change no table's schema."""


@dataclass(slots=True)
class CreateTable(ScriptTable):
    """What a CREATE TABLE statement says."""

    columns: list[ColumnText] = dataclasses.field(default_factory=list)
    properties: dict[str, str] = dataclasses.field(default_factory=dict)
    provider: str = ""
    partitions: tuple[str, ...] = ()


def read_script(words: list[TypeWord], text: str) -> list[CreateTable]:
    """Return the tables that a script makes, or the one of a bare list of columns. Raises MalformedError."""
    parts = groupby(words, lambda word: word.text == ";" and not word.is_quoted)
    statements = [list(statement) for is_end, statement in parts if not is_end]
    if not statements:
        raise MalformedTypeError("it has no statement", Span(0, 0))
    tables: list[CreateTable] = []
    skipped: list[str] = []
    for statement in statements:
        reader = _Statement(statement, text)
        if len(statements) > 1 and reader.has_no_schema:
            skipped.append(reader.excerpt())
        elif reader.is_alter:
            reader.alter(tables)
        else:
            tables.append(reader.table(may_be_columns=len(statements) == 1))
    if not tables:
        word = statements[0][0]
        raise MalformedTypeError("only CREATE TABLE is imported", Span(word.start, word.end))
    tables[0].head += [f"not kept: {statement}" for statement in skipped]
    return tables


class _Statement(TypeReader):
    """One statement, read from left to right."""

    def __init__(self, words: list[TypeWord], text: str) -> None:
        super().__init__(words, text)
        self._table = CreateTable()

    def _column_name(self) -> str:
        return self._name()

    def _bare_type(self) -> TypeText:
        """Read a type without its nullability. Raises MalformedTypeError."""
        if not self._word()[:1].isalpha():
            raise self._wrong("a type is expected here")
        word = self._next().text.lower()
        if word == "struct":
            self._wants("<")
            return TypeText(word, tuple([self.column() for _ in self._items(">")]), "<")
        if word in ("array", "map"):
            self._wants("<")
            parts = [ColumnText("", self.type())]
            if word == "map":
                self._wants(",")
                parts.append(ColumnText("", self.type()))
            self._wants(">")
            return TypeText(word, tuple(parts), "<")
        head = self._words_after(word)
        if not self._takes("("):
            return TypeText(head)
        parameters = [ColumnText("", TypeText(self._value())) for _ in self._items(")")]
        return TypeText(head, tuple(parameters), "(")

    @property
    def has_no_schema(self) -> bool:
        """Whether this makes and changes no table."""
        if self._is("CREATE") or self._is("REPLACE"):
            return not any(self._is("TABLE", ahead) for ahead in range(6) if not self._is("(", ahead))
        return self._word() in _WITHOUT_SCHEMA

    @property
    def is_alter(self) -> bool:
        """Whether this changes a table."""
        return self._is("ALTER") and self._is("TABLE", 1)

    def excerpt(self) -> str:
        """Return the statement in one line, cut where it is long."""
        self._at = len(self._words)
        text = self._excerpt(0)
        return text if len(text) <= 80 else f"{text[:79]}…"

    def alter(self, tables: list[CreateTable]) -> None:
        """Add a key to the table that it belongs to; every other change is an error, for it would be lost."""
        self._at = 2
        name = self._full_name()
        table = next((t for t in reversed(tables) if t.name == name), None)
        if table is None or not self._takes("SET", "UNENFORCED", "PRIMARY", "KEY"):
            self._at = 0
            raise self._wrong("a CREATE TABLE statement that includes the change is expected here")
        table.key = self._columns()
        self._end()

    def table(self, *, may_be_columns: bool) -> CreateTable:
        """Return the table that the statement makes. Raises MalformedTypeError."""
        if self._is("CREATE") or (self._is("REPLACE") and self._is("TABLE", 1)):
            self._create()
        elif may_be_columns:
            self._elements(end=None)
        else:
            raise self._wrong("CREATE TABLE is expected here")
        self._end()
        key_columns = tuple(column.name for column in self._table.columns if column.is_key)
        self._table.key = self._table.key or key_columns
        return self._table

    def _end(self) -> None:
        """Raise MalformedError unless the statement ends here."""
        if not self.ends():
            raise self._wrong("the end of the statement is expected here")

    def _create(self) -> None:
        """Read CREATE TABLE into the table; clauses without a counterpart become comments."""
        while not self._takes("TABLE"):
            if self.ends() or self._is("("):
                raise self._wrong("only CREATE TABLE is imported")
            self._at += 1
        if self._takes("IF"):
            self._wants("NOT")
            self._wants("EXISTS")
        start = self._at
        self._table.name = self._full_name()
        self._table.name_span = Span(self._words[start].start, self._words[self._at - 1].end)
        if self._takes("("):
            self._elements(end=")")
        while not self.ends():
            if self._takes("AS"):
                query = "the query of CREATE TABLE AS SELECT is not imported; add its columns"
                self._table.head.append(query)
                self._at = len(self._words)
                return
            clause = self._at
            if self._takes("USING"):
                self._table.provider = self._name().lower()
            elif self._takes("COMMENT"):
                self._table.comment = self._string()
            elif self._takes("TBLPROPERTIES"):
                self._wants("(")
                self._table.properties.update(self._entries())
            elif self._is("PARTITIONED"):
                self._partitions()
            elif self._word() in _CLAUSES:
                self._at += 1
                self._skip_to(*_CLAUSES)
                self._table.head.append(f"not kept: {self._excerpt(clause)}")
            else:
                raise self._wrong("a clause of CREATE TABLE is expected here")

    def _full_name(self) -> tuple[str, ...]:
        """Read a name with dots, as its parts."""
        parts = [self._name()]
        while self._takes("."):
            parts.append(self._name())
        return tuple(parts)

    def _partitions(self) -> None:
        """Read PARTITIONED BY: the names of columns, or in Hive's form their definitions; with an expression it is not kept."""
        start = self._at
        self._at += 1
        self._wants("BY")
        self._wants("(")
        names: list[str] = []
        is_plain = True
        for _ in self._items(")"):
            if self._is("(", 1) or self._is(".", 1):
                is_plain = False
                self._skip_to(",", ")")
            elif self._is(",", 1) or self._is(")", 1):
                names.append(self._name())
            else:
                self._table.columns.append(self.column())
                names.append(self._table.columns[-1].name)
        if is_plain:
            self._table.partitions = tuple(names)
        else:
            self._table.head.append(f"not kept: {self._excerpt(start)}")

    def _entries(self) -> Iterator[tuple[str, str]]:
        """Yield keys and values up to the closing bracket; `=` between them may be left out."""
        for _ in self._items(")"):
            key = self._key()
            while self._takes("."):
                key = f"{key}.{self._key()}"
            self._takes("=")
            yield key, self._value()

    def _key(self) -> str:
        """Read one word of a property's key. Raises MalformedError at a mark or at the end."""
        if self.ends() or self._is_mark():
            raise self._wrong("the key of a property is expected here")
        return self._next().text

    def _elements(self, end: str | None) -> None:
        """Read columns and constraints between commas; `end` is the closing bracket, None for a list without brackets."""
        if end is not None and self._takes(end):
            return
        while True:
            start, word = self._at, self._word()
            is_named = word == "CONSTRAINT" and any(self._is(kind, 2) for kind in _CONSTRAINTS)
            is_column = not is_named and not (word in _CONSTRAINTS and self._is(_CONSTRAINTS[word], 1))
            if is_named:
                self._at += 1
                self._name()
            if is_column:
                self._table.columns.append(self.column())
            elif self._takes("PRIMARY", "KEY"):
                self._table.key = self._columns()
                self.characteristics()
            else:
                self._skip_to(",", *([end] if end is not None else []))
                self._table.head.append(f"not kept: {self._excerpt(start)}")
            if not self._takes(","):
                break
        if end is not None:
            self._wants(end)

    def _columns(self) -> tuple[str, ...]:
        """Read names in brackets."""
        self._wants("(")
        names = [self._name()]
        while self._takes(","):
            names.append(self._name())
        self._wants(")")
        return tuple(names)
