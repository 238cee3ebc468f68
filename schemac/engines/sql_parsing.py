"""Names and texts in Spark SQL, and the statements of an SQL script, parsed by sqlglot.

Layer: engines, below their folders. The dialect of Spark, which several engines write.
Shape: a clause of a column that sqlglot does not know is cut out of its statement, and handed over next to it.
Units: places are zero-based and half-open, in code points of the text.
Errors: raises MalformedError, at the very word if that is known.
Source: Spark replaces `${…}` in a statement before it parses it (`spark.sql.variable.substitute`, which is on unless somebody turns it
      off), in names and texts alike. A text can hide the dollar sign in an escape; a name between backticks has no escapes, so that
      only a session that replaces nothing takes it as it is.
"""

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any

from schemac.language.attributes.constraints import CONDITION_WORDS
from schemac.text.source.diagnostics import Span
from schemac.text.syntax.type_text import MalformedTypeError

_REFERENCE = "${"
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t", _REFERENCE: "\\u0024{"}
_SUBSTITUTE = "spark.sql.variable.substitute"


def quoted_name(name: str) -> str:
    """Return a name as Spark SQL has it."""
    return f"`{name.replace('`', '``')}`"


def literal(text: str) -> str:
    """Return a text as Spark SQL has it."""
    for plain, escaped in _ESCAPES.items():
        text = text.replace(plain, escaped)
    return f"'{text}'"


def table_name(dataset: str) -> str:
    """Return a dataset's table as Spark SQL names it."""
    return ".".join(quoted_name(part) for part in dataset.split("/"))


def create_table(
    dataset: str, columns: Sequence[str], format: str, comment: str | None, properties: Mapping[str, str]
) -> str:
    """Return the CREATE TABLE of a dataset, without a semicolon."""
    # Spark's grammar has no empty list of columns.
    body = ",\n  ".join(columns)
    defined = f" (\n  {body}\n)" if columns else ""
    lines = [f"CREATE TABLE {table_name(dataset)}{defined}", f"USING {format}"]
    if comment is not None:
        lines.append(f"COMMENT {literal(comment)}")
    items = ",\n  ".join(f"{literal(key)} = {literal(properties[key])}" for key in sorted(properties))
    return "\n".join([*lines, f"TBLPROPERTIES (\n  {items}\n)"])


def without_substitution(statements: Iterable[str]) -> tuple[str, ...]:
    """Return the same statements; where a name looks like a variable, the session replaces none in the meantime."""
    literal_statements = tuple(statements)
    if not any(_REFERENCE in statement for statement in literal_statements):
        return literal_statements
    return (f"SET {_SUBSTITUTE}=false", *literal_statements, f"RESET {_SUBSTITUTE}")


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


class SqlParser:
    """Parses statements in one dialect of sqlglot."""

    def __init__(self, dialect: str) -> None:
        # Imported here because sqlglot is an extra that may not be there.
        from sqlglot import exp
        from sqlglot.dialects.dialect import Dialect

        self._exp = exp
        self._dialect = Dialect.get_or_raise(dialect)

    def sql(self, expression: Any) -> str:
        """Return an expression in the words of the dialect, on one line."""
        with _without_logging():
            return " ".join(expression.sql(dialect=self._dialect, comments=False).split())

    def condition(self, expression: Any, name_of: Callable[[Any], str]) -> str:
        """Return a condition over columns in the words of all SQL; empty if that is not possible.

        Names are in backticks where they need them. Casts of values that are written out are left out: the other side of
        the comparison decides what they are.
        """
        exp = self._exp

        def plain(node: Any) -> Any:
            if isinstance(node, exp.Cast):
                inside = _without_casts(node.this, exp)
                is_redundant = isinstance(inside, exp.Literal) or node.to.this.name in ("TEXT", "VARCHAR")
                return inside if is_redundant else node
            if isinstance(node, exp.EQ) and isinstance(node.expression, exp.Any):
                values = _without_casts(node.expression.this, exp)
                is_list = isinstance(values, exp.Array)
                return exp.In(this=node.this, expressions=values.expressions) if is_list else node
            if isinstance(node, exp.Identifier):
                name = name_of(node)
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
        from sqlglot.errors import SqlglotError  # as above

        try:
            return list(self._dialect.tokenize(text))
        except SqlglotError:
            # Behind all that is whole, a quote or a comment has no end.
            at = 0
            while at < len(text) and (match := _TOKEN.match(text, at)):
                at = match.end()
            at = min(at, len(text) - 1)
            raise MalformedTypeError(f"{text[at]} is opened and never closed", Span(at, at + 1)) from None

    def statements(self, text: str) -> Iterator[list[Any]]:
        """Yield the tokens of each statement, without its semicolon. Raises MalformedTypeError."""
        for is_end, tokens in groupby(self.tokens(text), lambda token: token.token_type.name == "SEMICOLON"):
            if not is_end:
                yield list(tokens)

    def parse_statement(self, tokens: list[Any], text: str) -> Any:
        """Return sqlglot's expression of a statement; None for one that it does not know. Raises MalformedTypeError."""
        from sqlglot.errors import ParseError  # as above

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
        return None if isinstance(expression, self._exp.Command) else expression

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


class _NotParsedError(MalformedTypeError):
    """A word that sqlglot does not expect, by its index."""

    def __init__(self, reason: str, span: Span, index: int) -> None:
        super().__init__(reason, span)
        self.index = index


def _without_casts(node: Any, exp: Any) -> Any:
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
