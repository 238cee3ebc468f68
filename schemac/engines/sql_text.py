"""Names and texts in Spark SQL, and its CREATE TABLE. The dialect of Spark, which several engines write.

Layer: engines, below their folders.
Source: Spark replaces `${…}` in a statement before it parses it (`spark.sql.variable.substitute`, which is on unless somebody turns it
      off), in names and texts alike. A text can hide the dollar sign in an escape; a name between backticks has no escapes, so that
      only a session that replaces nothing takes it as it is.
"""

from collections.abc import Iterable, Mapping, Sequence

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
