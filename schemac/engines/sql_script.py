"""Scripts of SQL in those dialects that sqlglot parses: the tables that they make, and what is said of them.

Layer: engines, below their folders. Only whoever reads a script loads this module: sqlglot is an extra that may not be there.
Shape: tables in the order of the script; types stay sqlglot's, for the reader of the dialect to judge. A statement that
makes no table is named in the comments of the first one, several that begin alike by their number. A clause of a column that
sqlglot does not know is cut out of its statement, and handed over next to it.
Units: places are zero-based and half-open, in code points of the text.
Errors: raises MalformedError, at the very word if that is known.
Source: sqlglot's parsers; pg_dump for what is not SQL in its scripts.
"""

import dataclasses
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, SqlglotError

from schemac.importers.importer import ScriptTable
from schemac.language.attributes.constraints import CONDITION_WORDS
from schemac.text.source.diagnostics import Span
from schemac.text.syntax.type_text import MalformedTypeError

_TOKEN = re.compile(
    r"--[^\n]*|/\*.*?\*/|(\$\w*\$).*?\1|'(?:\\.|''|[^'\\])*'|\"[^\"]*\"|`[^`]*`|[^'\"`$/]|\$(?!\w*\$)|/(?!\*)",
    re.DOTALL,
)
"""Whole texts, names and comments of any dialect, and single signs outside of them."""
CLAUSES = frozenset(
    {"NOT", "NULL", "DEFAULT", "PRIMARY", "UNIQUE", "CHECK", "REFERENCES", "CONSTRAINT", "COLLATE", "COMMENT"}
)
"""Words that begin a clause of a column."""
_MOST_CUTS = 1000


class _NotParsedError(MalformedTypeError):
    """A word that sqlglot does not expect, by its index."""

    def __init__(self, reason: str, span: Span, index: int) -> None:
        super().__init__(reason, span)
        self.index = index


def _without_casts(node: Any) -> Any:
    """Return an expression without the parentheses and casts around it."""
    while isinstance(node, exp.Paren | exp.Cast):
        node = node.this
    return node


def _unknown_clause(tokens: list[Any], index: int) -> tuple[str, int] | None:
    """Return the column that a word behind its type belongs to, and the index behind the clause that the word begins; None if there is no such column."""
    depth, first = 0, None
    for i, token in enumerate(tokens[:index]):
        depth += (token.text == "(") - (token.text == ")")
        if depth == 1 and token.text in ("(", ","):
            first = i + 1
    if first is None or depth < 1 or index < first + 2:
        return None
    inner = 0
    for end in range(index, len(tokens)):
        word = tokens[end].text.upper()
        is_end = inner == 0 and (word in (")", ",") or (end > index and word in CLAUSES))
        if is_end:
            return (tokens[first].text, end) if end > index else None
        inner += (word == "(") - (word == ")")
    return None


def span_of(tokens: list[Any]) -> Span:
    """Return the span of the first of some tokens."""
    return Span(tokens[0].start, tokens[0].end + 1)


@contextmanager
def _without_logging() -> Iterator[None]:
    """Turn off what sqlglot logs about words that it does not know: they are reported at their places instead."""
    logger = logging.getLogger("sqlglot")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


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
        self._dialect = Dialect.get_or_raise(dialect)
        self._fold = fold
        self.tables: list[SqlTable] = []
        self.types: dict[str, Expression] = {}
        """Types that the script makes, by name: sqlglot's expressions."""
        self._skipped: dict[str, list[str]] = {}

    def sql(self, expression: Any) -> str:
        """Return an expression in the words of the dialect, on one line."""
        with _without_logging():
            return " ".join(expression.sql(dialect=self._dialect, comments=False).split())

    def condition(self, expression: Any) -> str:
        """Return a condition over columns in the words of all SQL; empty if that is not possible.

        Names are in backticks where they need them. Casts of values that are written out are left out: the other side of
        the comparison decides what they are.
        """

        def plain(node: Any) -> Any:
            if isinstance(node, exp.Cast):
                inside = _without_casts(node.this)
                is_redundant = isinstance(inside, exp.Literal) or node.to.this.name in ("TEXT", "VARCHAR")
                return inside if is_redundant else node
            if isinstance(node, exp.EQ) and isinstance(node.expression, exp.Any):
                values = _without_casts(node.expression.this)
                is_list = isinstance(values, exp.Array)
                return exp.In(this=node.this, expressions=values.expressions) if is_list else node
            if isinstance(node, exp.Identifier):
                name = self._text(node)
                is_plain = re.fullmatch(r"[^\W\d]\w*", name) and name.lower() not in CONDITION_WORDS
                return exp.Identifier(this=name, quoted=not is_plain)
            return node

        if expression.find(exp.Select) is not None:
            return ""
        try:
            with _without_logging():
                transformed = expression.copy().transform(plain).transform(plain)
                transformed = transformed.this if isinstance(transformed, exp.Paren) else transformed
                return " ".join(transformed.sql(dialect="spark", comments=False).split())
        except (AttributeError, ValueError, RecursionError):
            return ""

    def tokens(self, text: str) -> list[Any]:
        """Return the tokens of a text. Raises MalformedTypeError."""
        try:
            return list(self._dialect.tokenize(text))
        except SqlglotError:
            # Behind all that is whole, a quote or a comment has no end.
            at = 0
            while at < len(text) and (match := _TOKEN.match(text, at)):
                at = match.end()
            at = min(at, len(text) - 1)
            raise MalformedTypeError(f"{text[at]} is opened and never closed", Span(at, at + 1)) from None

    def parse_statement(self, tokens: list[Any], text: str) -> Any:
        """Return sqlglot's expression of a statement; None for one that it does not know. Raises MalformedTypeError."""
        try:
            with _without_logging():
                expressions = self._dialect.parser().parse(list(tokens), text)
        except ParseError as error:
            details = error.errors[0] if error.errors else {}
            line_and_column = (details.get("line"), details.get("col"))
            index = next(
                (i for i, t in enumerate(tokens) if (t.line, t.col) == line_and_column), len(tokens) - 1
            )
            at = tokens[index]
            reason = str(details.get("description") or "it cannot be parsed").strip().rstrip(".")
            # The library names its own classes here.
            reason = "something is missing" if "required keyword" in reason.lower() else reason
            message = f"{reason[:1].lower()}{reason[1:]}, at {text[at.start : at.end + 1]}"
            raise _NotParsedError(message, Span(at.start, at.end + 1), index) from None
        except RecursionError:
            raise MalformedTypeError("it is nested too deeply", span_of(tokens)) from None
        expression = expressions[0] if expressions else None
        return None if isinstance(expression, exp.Command) else expression

    def parse_table(self, tokens: list[Any], text: str, cuts: dict[str, list[str]]) -> Any:
        """Return sqlglot's expression of a CREATE TABLE; clauses of columns that it does not know are moved to `cuts`, as notes by the column."""
        for _ in range(_MOST_CUTS):
            try:
                return self.parse_statement(tokens, text)
            except _NotParsedError as error:
                cut = _unknown_clause(tokens, error.index)
                if cut is None:
                    raise
                name, end = cut
                clause = " ".join(text[tokens[error.index].start : tokens[end - 1].end + 1].split())
                cuts.setdefault(name, []).append(f"not kept: {clause}")
                tokens = [*tokens[: error.index], *tokens[end:]]
        raise MalformedTypeError("it has too many clauses that are not known", span_of(tokens))

    def read(self, text: str) -> None:
        """Read all statements. Raises MalformedError."""
        text = _NO_SQL.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
        tokens_of_text = self.tokens(text)
        for is_end, statement in groupby(tokens_of_text, lambda token: token.token_type.name == "SEMICOLON"):
            if is_end:
                continue
            tokens = list(statement)
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
        cuts: dict[str, list[str]] = {}
        statement = self.parse_table(tokens, text, cuts)
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
                table.head.append(f"not kept: {self.sql(property)}")
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
                        column.losses.append(f"not kept: {self.sql(property)}")
            elif (rule := self._row_constraint(kind, constraint, column.name)) is not None:
                column.constraints.append(rule)
            else:
                if isinstance(kind, exp.GeneratedAsIdentityColumnConstraint):
                    column.is_counter |= kind.args.get("expression") is None
                column.losses.append(f"not kept: {self.sql(constraint)}")
        return column

    def _enter_constraint(self, element: Expression, table: SqlTable) -> None:
        """Enter a primary key or another constraint; what has no counterpart becomes a comment of the table."""
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
            table.head.append(f"not kept: {self.sql(element)}")

    def _row_constraint(
        self, kind: Expression, written: Expression, column: str = ""
    ) -> SqlConstraint | None:
        """Return a UNIQUE, FOREIGN KEY or CHECK constraint; None for any other one, or one that a manifest cannot have."""
        text = self.sql(written)
        if isinstance(kind, exp.CheckColumnConstraint):
            condition = self.condition(kind.this)
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
        target = reference.this
        table = target.this if isinstance(target, exp.Schema) else target
        if not isinstance(table, exp.Table):
            return None
        to = target.expressions if isinstance(target, exp.Schema) else ()
        more = tuple(
            f"not kept: {one if isinstance(one, str) else self.sql(one)}"
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
        statement = self.parse_statement(self.tokens(probe), probe)
        name = text[tokens[2].start : tokens[begin - 2].end + 1].lower()
        self.types[name] = statement.this if is_row else statement.this.expressions[0].args.get("kind")
        if end < len(words):
            self._skip(tokens, text)

    def _alter(self, tokens: list[Any], text: str) -> None:
        """Read ALTER TABLE, and skip what leaves columns unchanged. Raises MalformedError for changes that it cannot read."""
        words = [token.text.upper() for token in tokens]
        structural = {"ADD", "DROP", "RENAME", "ALTER", "MODIFY", "SWAP"}.intersection(words[1:])
        statement = self.parse_statement(tokens, text) if structural else None
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
                default = f"not kept: DEFAULT {self.sql(action.args['default'])}"
                (column.losses if column is not None else table.head).append(default)
            elif isinstance(action, exp.AlterColumn) and action.args.get("allow_null") is not None:
                column = table.column(self._text(action.this))
                if column is not None:
                    column.is_required = not action.args["allow_null"]
            else:
                raise _no_change(tokens)

    def _comment(self, tokens: list[Any], text: str) -> None:
        """Take COMMENT ON for the description of a table or a column that the script makes."""
        statement = self.parse_statement(tokens, text)
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
