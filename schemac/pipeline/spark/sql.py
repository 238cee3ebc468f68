"""Small pieces of Spark SQL text, quoted right.

Layer: pipeline.
Shape: expressions are text until it is handed to Spark: one parse for each column, where a chain of calls into the JVM for every
       operator would take seconds on a wide schema.
"""

import itertools
import re
import uuid
from collections.abc import Iterable
from typing import Any

_lambda_numbers = itertools.count()
# A key that no text can hold by chance, or on purpose.
END = f"_end_{uuid.uuid4().hex}"


def literal(text: str) -> str:
    """Return a string literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def name(identifier: str) -> str:
    """Return a quoted identifier."""
    return "`" + identifier.replace("`", "``") + "`"


def column_of(text: str) -> str | None:
    """Return the name of the column that a SQL text is; None if it is another expression.

    >>> column_of("`a b`"), column_of("__k0"), column_of("`a`.`b`"), column_of("`a``b`")
    ('a b', '__k0', None, 'a`b')
    """
    match = re.fullmatch(r"(\w+)|`((?:[^`]|``)*)`", text)
    return match and (match[1] or match[2].replace("``", "`"))


def when(condition: str, value: str, otherwise: str = "null") -> str:
    """Return an `if` expression."""
    return f"if({condition}, {value}, {otherwise})"


def fresh_variable() -> str:
    """Return the name of a lambda variable that no other lambda uses."""
    return f"x{next(_lambda_numbers)}"


def struct(members: Iterable[tuple[str, str]]) -> str:
    """Return a struct of named members, which is never null."""
    inner = ", ".join(f"{literal(label)}, {value}" for label, value in members)
    return f"named_struct({inner})"


def parse_json_sql(text: str) -> str:
    """Return the SQL that parses a text as the first item of a variant array, whose second item shows that nothing follows it.

    Spark's parser stops after the first value of a text; what is behind a record would be gone.
    """
    return f"try_parse_json(concat('[', {text}, ',{{\"{END}\":true}}]'))"


def with_operator(spark: Any, operator: str, column: Any) -> Any:
    """Return a column with an operator of Spark's own around it, which no SQL text names; a server has none."""
    from pyspark.sql.classic.column import Column  # for Spark 3, which has it elsewhere

    nodes = getattr(spark._jvm.org.apache.spark.sql.classic, "ExpressionUtils$").__getattr__("MODULE$")
    operators = spark._jvm.org.apache.spark.sql.catalyst.expressions
    return Column(nodes.column(getattr(operators, operator)(nodes.expression(column._jc))))


def reason(path: str, rule: str, value: str) -> str:
    """Return a reason; path, rule and value are SQL text."""
    from schemac.rows.judging.settings import LONGEST_VALUE  # tasks that only read load no validation

    value_sql = f"substr(cast({value} as string), 1, {LONGEST_VALUE})"
    return struct([("path", path), ("rule", rule), ("value", value_sql)])
