"""Scripts of SQL in those dialects that sqlglot parses: the tables that they make, and what is said of them.

Layer: engines, below their folders.
Shape: tables in the order of the script; types stay sqlglot's, for the reader of the dialect to judge. A statement that
makes no table is named in the comments of the first one, several that begin alike by their number.
Units: places are zero-based and half-open, in code points of the text.
Errors: raises MalformedError, at the very word if that is known.
Source: sqlglot's parsers; pg_dump for what is not SQL in its scripts.
"""

import dataclasses
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from schemac.engines.sql_parsing import CLAUSES, SqlParser, span_of
from schemac.importers.importer import ScriptTable
from schemac.text.source.diagnostics import Span
from schemac.text.syntax.type_text import MalformedTypeError

Expression = Any
"""Of sqlglot."""
_NO_SQL = re.compile(r"(?ms)(?<=FROM stdin;\n).*?^\\\.$|^\\[^\n]*$")
"""Rows of COPY, and commands of psql."""
_HEAD = 8
"""Words at the start of a statement that name its kind."""


@dataclass(slots=True)
class SqlColumn:
    """A column, or a member of a struct."""

    name: str
    type: Expression
    """sqlglot's expression of the type."""
    is_required: bool = False
    is_key: bool = False
    is_counter: bool = False
    """Whether the database gives its values, as those of an identity column."""
    comment: str | None = None
    losses: list[str] = dataclasses.field(default_factory=list)
    constraints: "list[SqlConstraint]" = dataclasses.field(default_factory=list)


@dataclass(slots=True)
class SqlConstraint:
    """UNIQUE, FOREIGN KEY or CHECK of a table, or of one of its columns."""

    text: str
    """As the dialect writes it."""
    columns: tuple[str, ...] = ()
    """Those that are unique together, or refer to others; none of a condition."""
    table: tuple[str, ...] = ()
    """The table that is referred to."""
    to: tuple[str, ...] = ()
    """Its columns, as far as they are written."""
    condition: str = ""
    losses: tuple[str, ...] = ()
    """What else it says, such as what happens to rows that refer to one that is deleted."""


@dataclass(slots=True)
class SqlTable(ScriptTable):
    """What the statements of a script say of one table."""

    columns: list[SqlColumn] = dataclasses.field(default_factory=list)
    constraints: list[SqlConstraint] = dataclasses.field(default_factory=list)

    def column(self, name: str) -> SqlColumn | None:
        """Return the column of a name; None if there is none."""
        return next((column for column in self.columns if column.name == name), None)


class SqlScript:
    """Reads a script in one dialect of sqlglot. `fold` makes of a name without quotes what the database takes it for."""

    def __init__(self, dialect: str, fold: Callable[[str], str]) -> None:
        self.parser = SqlParser(dialect)
        # Imported here because sqlglot is an extra that may not be there.
        from sqlglot import exp

        self._exp = exp
        self._fold = fold
        self.tables: list[SqlTable] = []
        self.types: dict[str, Expression] = {}
        """Types that the script makes, by name: sqlglot's expressions."""
        self._skipped: dict[str, list[str]] = {}

    def read(self, text: str) -> None:
        """Read all statements. Raises MalformedError."""
        text = _NO_SQL.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
        for tokens in self.parser.statements(text):
            words = [token.text.upper() for token in tokens[:_HEAD]]
            before_bracket = words[: words.index("(")] if "(" in words else words
            is_create = words[0] == "CREATE"
            if is_create and "TABLE" in before_bracket and "VIEW" not in before_bracket:
                self._create(tokens, text)
            elif is_create and words[1:2] in (["TYPE"], ["DOMAIN"]):
                self._named_type(tokens, text)
            elif words[0] == "ALTER" and "TABLE" in words[:3]:
                self._alter(tokens, text)
            elif words[:2] == ["COMMENT", "ON"]:
                self._comment(tokens, text)
            else:
                self._skip(tokens, text)
        if not self.tables:
            raise MalformedTypeError("it has no CREATE TABLE statement", Span(0, 0))
        for head, texts in self._skipped.items():
            summary = texts[0] if len(texts) == 1 else f"{len(texts)} statements {head}"
            self.tables[0].head.append(f"not kept: {summary}")

    def _skip(self, tokens: list[Any], text: str) -> None:
        """Record a statement that is not read, by its first word or two, its text cut at 80 characters."""
        statement_text = " ".join(text[tokens[0].start : tokens[-1].end + 1].split())
        first, *rest = (token.text.upper() for token in tokens[:2])
        head = " ".join((first, *rest)) if first in ("CREATE", "ALTER") else first
        excerpt = statement_text if len(statement_text) <= 80 else f"{statement_text[:79]}…"
        self._skipped.setdefault(head, []).append(excerpt)

    def _create(self, tokens: list[Any], text: str) -> None:
        """Read CREATE TABLE into a new table; a partition of another table is skipped. Raises MalformedError."""
        exp = self._exp
        cuts: dict[str, list[str]] = {}
        statement = self.parser.parse_table(tokens, text, cuts)
        schema = statement.this if statement is not None else None
        target = schema.this if isinstance(schema, exp.Schema) else schema
        if not isinstance(target, exp.Table):
            raise MalformedTypeError("this form of CREATE TABLE is not supported", span_of(tokens))
        identifier = target.this
        span = Span(identifier.meta.get("start", 0), identifier.meta.get("end", 0) + 1)
        table = SqlTable(self._table_name(target), span)
        if statement.find(exp.PartitionedOfProperty) is not None:
            # Its columns are those of the table that it is a part of.
            self._skipped.setdefault("CREATE", []).append(f"CREATE TABLE {table.name[-1]} PARTITION OF")
            return
        for element in schema.expressions if isinstance(schema, exp.Schema) else ():
            if isinstance(element, exp.ColumnDef):
                table.columns.append(self.column(element))
                table.columns[-1].losses += cuts.get(str(element.name), [])
            else:
                self._enter_constraint(element, table)
        if statement.expression is not None:
            table.head.append("the query of CREATE TABLE AS SELECT is not imported; add its columns")
        properties = statement.args.get("properties")
        without_note = (exp.TemporaryProperty, exp.UnloggedProperty, exp.TransientProperty)
        for property in properties.expressions if properties is not None else ():
            value = property.args.get("value")
            is_description = isinstance(property, exp.Property) and property.name.lower() == "description"
            if isinstance(property, exp.SchemaCommentProperty):
                table.comment = str(property.this.name)
            elif is_description and isinstance(value, exp.Literal):
                table.comment = str(value.name)
            elif not isinstance(property, without_note):
                table.head.append(f"not kept: {self.parser.sql(property)}")
        table.key = table.key or tuple(column.name for column in table.columns if column.is_key)
        self.tables.append(table)

    def _table_name(self, table: Expression) -> tuple[str, ...]:
        """Return catalog, namespaces and name of a table, as far as they are written."""
        return tuple(self._text(part) for part in table.parts)

    def _text(self, identifier: Expression) -> str:
        """Return an identifier, in the case of the dialect unless it is quoted."""
        name = str(identifier.name)
        return name if identifier.args.get("quoted") else self._fold(name)

    def column(self, element: Expression) -> SqlColumn:
        """Return a column, or a member of a struct."""
        exp = self._exp
        column = SqlColumn(self._text(element.this), element.args.get("kind"))
        for constraint in element.args.get("constraints") or ():
            kind = constraint.args.get("kind") if isinstance(constraint, exp.ColumnConstraint) else constraint
            if isinstance(kind, exp.NotNullColumnConstraint):
                column.is_required = not kind.args.get("allow_null")
            elif isinstance(kind, exp.PrimaryKeyColumnConstraint):
                column.is_key = True
            elif isinstance(kind, exp.CommentColumnConstraint):
                column.comment = str(kind.name)
            elif isinstance(kind, exp.Properties):
                # OPTIONS of BigQuery, of which the description has a place.
                for property in kind.expressions:
                    if property.name.lower() == "description":
                        column.comment = str(property.args["value"].name)
                    else:
                        column.losses.append(f"not kept: {self.parser.sql(property)}")
            elif (rule := self._row_constraint(kind, constraint, column.name)) is not None:
                column.constraints.append(rule)
            else:
                is_identity = isinstance(kind, exp.GeneratedAsIdentityColumnConstraint)
                column.is_counter |= is_identity and kind.args.get("expression") is None
                column.losses.append(f"not kept: {self.parser.sql(constraint)}")
        return column

    def _enter_constraint(self, element: Expression, table: SqlTable) -> None:
        """Enter a primary key or another constraint; what has no counterpart becomes a comment of the table."""
        exp = self._exp
        inner = element.expressions[0] if isinstance(element, exp.Constraint) else element
        if isinstance(inner, exp.PrimaryKey):
            # Some versions have each column of a key in an expression of its order.
            columns = [part.find(exp.Identifier) for part in inner.expressions]
            if columns and None not in columns:
                table.key = tuple(self._text(column) for column in columns)
                return
        rule = self._row_constraint(inner, element)
        if rule is not None:
            table.constraints.append(rule)
        else:
            table.head.append(f"not kept: {self.parser.sql(element)}")

    def _row_constraint(
        self, kind: Expression, written: Expression, column: str = ""
    ) -> SqlConstraint | None:
        """Return a UNIQUE, FOREIGN KEY or CHECK constraint; None for any other one, or one that a manifest cannot have."""
        exp = self._exp
        text = self.parser.sql(written)
        if isinstance(kind, exp.CheckColumnConstraint):
            condition = self.parser.condition(kind.this, self._text)
            return SqlConstraint(text, condition=condition) if condition else None
        if isinstance(kind, exp.UniqueColumnConstraint) and not kind.args.get("nulls"):
            parts = kind.this.expressions if kind.this is not None else ()
            names = [part.find(exp.Identifier) for part in parts]
            return SqlConstraint(text, tuple(self._text(name) for name in names if name) or (column,))
        if isinstance(kind, exp.Reference):
            return self._reference(kind, text, (column,))
        if isinstance(kind, exp.ForeignKey) and isinstance(kind.args.get("reference"), exp.Reference):
            columns = tuple(self._text(one) for one in kind.expressions)
            return self._reference(kind.args["reference"], text, columns)
        return None

    def _reference(self, reference: Expression, text: str, columns: tuple[str, ...]) -> SqlConstraint | None:
        """Return a foreign key; None if it refers to no table."""
        exp = self._exp
        target = reference.this
        table = target.this if isinstance(target, exp.Schema) else target
        if not isinstance(table, exp.Table):
            return None
        to = target.expressions if isinstance(target, exp.Schema) else ()
        more = tuple(
            f"not kept: {one if isinstance(one, str) else self.parser.sql(one)}"
            for one in reference.args.get("options") or ()
        )
        return SqlConstraint(
            text, columns, self._table_name(table), tuple(self._text(one) for one in to), losses=more
        )

    def _named_type(self, tokens: list[Any], text: str) -> None:
        """Take CREATE TYPE or DOMAIN for a name of what is behind AS: columns, an enumeration, another type."""
        words = [token.text.upper() for token in tokens]
        begin = words.index("AS") + 1 if "AS" in words[:-1] else 0
        is_domain = words[1] == "DOMAIN"
        if not begin or not (is_domain or words[begin] in ("(", "ENUM")):
            self._skip(tokens, text)
            return
        end = next((i for i in range(begin + 1, len(words)) if is_domain and words[i] in CLAUSES), len(words))
        type_ = text[tokens[begin].start : tokens[end - 1].end + 1]
        is_row = type_.startswith("(")
        # Not every version of sqlglot has these statements, but all have tables.
        probe = f"CREATE TABLE d {type_}" if is_row else f"CREATE TABLE d (d {type_})"
        statement = self.parser.parse_statement(self.parser.tokens(probe), probe)
        name = text[tokens[2].start : tokens[begin - 2].end + 1].lower()
        self.types[name] = statement.this if is_row else statement.this.expressions[0].args.get("kind")
        if end < len(words):
            self._skip(tokens, text)

    def _alter(self, tokens: list[Any], text: str) -> None:
        """Read ALTER TABLE, and skip what leaves columns unchanged. Raises MalformedError for changes that it cannot read."""
        exp = self._exp
        words = [token.text.upper() for token in tokens]
        structural = {"ADD", "DROP", "RENAME", "ALTER", "MODIFY", "SWAP"}.intersection(words[1:])
        statement = self.parser.parse_statement(tokens, text) if structural else None
        if statement is None:
            if {"CONSTRAINT", "SEQUENCE"}.isdisjoint(words) and structural - {"ALTER"}:
                raise _no_change(tokens)
            self._skip(tokens, text)
            return
        name = self._table_name(statement.this)
        table = next((t for t in reversed(self.tables) if t.name == name), None)
        for action in statement.args.get("actions") or ():
            if table is None:
                raise _no_change(tokens)
            if isinstance(action, exp.ColumnDef):
                table.columns.append(self.column(action))
            elif isinstance(action, exp.AddConstraint):
                for constraint in action.expressions:
                    self._enter_constraint(constraint, table)
            elif isinstance(action, exp.AlterColumn) and action.args.get("default") is not None:
                column = table.column(self._text(action.this))
                default = f"not kept: DEFAULT {self.parser.sql(action.args['default'])}"
                (column.losses if column is not None else table.head).append(default)
            elif isinstance(action, exp.AlterColumn) and action.args.get("allow_null") is not None:
                column = table.column(self._text(action.this))
                if column is not None:
                    column.is_required = not action.args["allow_null"]
            else:
                raise _no_change(tokens)

    def _comment(self, tokens: list[Any], text: str) -> None:
        """Take COMMENT ON for the description of a table or a column that the script makes."""
        exp = self._exp
        statement = self.parser.parse_statement(tokens, text)
        comment = statement.expression if isinstance(statement, exp.Comment) else None
        if isinstance(comment, exp.Literal) and isinstance(statement.this, exp.Table):
            table = next((t for t in self.tables if t.name == self._table_name(statement.this)), None)
            if table is not None and statement.args.get("kind") == "TABLE":
                table.comment = str(comment.name)
                return
        if isinstance(comment, exp.Literal) and isinstance(statement.this, exp.Column):
            *holder, name = (self._text(part) for part in statement.this.parts)
            table = next((t for t in self.tables if t.name == tuple(holder)), None)
            column = table.column(name) if table is not None else None
            if column is not None:
                column.comment = str(comment.name)
                return
        self._skip(tokens, text)


def _no_change(tokens: list[Any]) -> MalformedTypeError:
    """Return the error for an ALTER TABLE that cannot be read, at its first word."""
    reason = "a CREATE TABLE statement that includes the change is expected here"
    return MalformedTypeError(reason, span_of(tokens))
