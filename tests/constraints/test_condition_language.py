"""The language of conditions: what is documented can be read, and what is refused comes with a way out that works."""

import json
import re
from pathlib import Path

import pytest

import schemac
from schemac.arrow.constraints import constraints_of
from schemac.language.attributes.attribute import Family
from schemac.language.constraints import expressions
from schemac.language.constraints.expressions import ComparisonNode, Node
from schemac.language.constraints.parsing import _COMPARED, INSTEAD, PAGE
from tests.constraints.cases import CONDITIONS, dataset_of_conditions

ROOT = Path(__file__).parents[2]
FIELDS = """
fields:
  - {name: ok, type: Bool}
  - {name: code, type: String}
  - {name: day, type: Date}
  - {name: width, type: Int64}
  - {name: height, type: Int64}
  - {name: tags, type: {kind: List, itemType: String}}
  - {name: at, type: Timestamp}
  - {name: "odd name", type: Int64}
  - {name: bin, type: Binary}
  - {name: half, type: Float64}
  - {name: fare, type: {kind: Decimal, precision: 8, scale: 2}}
  - {name: tip, type: {kind: Decimal, precision: 8, scale: 2}}
  - {name: total, type: {kind: Decimal, precision: 8, scale: 2}}
  - {name: trip, type: {kind: Struct, fields: [{name: fare, type: Int64}]}}
"""


def found(condition: str) -> tuple[schemac.Diagnostic, ...]:
    text = f"extra: {{schemac.dev/check: [{json.dumps(condition)}]}}{FIELDS}"
    return tuple(one for one in schemac.check_text(text) if one.code == "SC327")


def documented() -> list[str]:
    """The examples of the table in the guide, and of the one on the page of SC327."""
    guide = (
        (ROOT / "docs/reference/conditions.md").read_text().partition("| part |")[2].partition("Divisions")[0]
    )
    rows = [line.split("|")[2] for line in guide.splitlines()[2:] if line.startswith("|")]
    return [
        text.strip()
        for row in rows
        for text in re.findall(r"``(.+?)``|`([^`]+)`", row)
        for text in text
        if text
    ]


def test_read_what_is_documented() -> None:
    assert len(documented()) == 13
    for condition in documented():
        assert found(condition) == (), condition


WRONG = {
    "/": "width / 2 = 1",
    "%": "width % 2 = 0",
    "like": "code like 'a%'",
    "ilike": "code ilike 'a'",
    "rlike": "code rlike 'a'",
    "regexp": "code regexp 'a'",
    "similar": "code similar to 'a'",
    "date": "day = date '2020-01-31'",
    "time": "day = time '12:00:00'",
    "timestamp": "at = timestamp '2020-01-31 00:00:00'",
    "interval": "day > interval 1 day",
    "case": "case when ok then 1 else 2 end = 1",
    "xor": "width xor ok",
    "exists": "exists (select 1)",
    "select": "width in (select 1)",
    ":": "width::int = 1",
    "cast": "cast(width as int) = 1",
    "coalesce": "coalesce(width, 1) = 1",
    "|": "code || 'x' = 'y'",
    ";": "ok;",
    '"': 'code = "x"',
    "null": "width = null",
    "size": "size(tags) > 1",
    "cardinality": "cardinality(tags) > 1",
    "array_length": "array_length(tags) > 1",
    "'": "code = 'it\\'s'",
    "is": "ok is true",
}


def test_try_every_part_of_sql_that_is_not_in_it() -> None:
    assert WRONG.keys() == INSTEAD.keys()
    for word, condition in WRONG.items():
        (one,) = found(condition)
        assert one.help == INSTEAD[word], condition
        assert (one.line, one.column) == (1, 29)
        assert condition in one.message


OTHERS = (
    "", "(", ")", "width", "code", "day", "at", "half", "tags", "bin", "1", "true", "'x'", "width >", "width = = 1", "width = 1 1", "1 = 1", "nope = 1", "tags.item = 'x'", "-width > 1", "half + 1 > 2",
    "upper(code) = 'A'", "length(tags) > 1", "length(width) > 1", "code = 1", "width = 'x'", "at > '2020'", "day > 2020-01-31", "day > '2020-02-30'", "day >= '2020-01-31T00:00:00Z'", "width is 1", "width in ()",
    "width in (height)", "width <=> 1", "width & 1 = 1", "width * width * width * width * width = 1", "ok > true", "trip = 1", "Width = 1", "a" * 300, "(" * 60 + "ok" + ")" * 60, "\0",
)  # fmt: skip


@pytest.mark.parametrize("condition", OTHERS[1:], ids=lambda text: text[:30])
def test_refuse_with_a_way_out(condition: str) -> None:
    """Where the way out is a condition, it can be read."""
    (one,) = found(condition)
    assert one.help
    for text in re.findall(r"such as `([^`]+)`", one.help):
        if "schemac" not in text:
            assert found(text) == (), (condition, text)


def test_every_part_is_compared_with_spark() -> None:
    """Whatever can be read stands in the conditions that `test_spark.py` and `test_conditions.py` give to both engines."""
    checks = constraints_of(dataset_of_conditions().to_arrow()).rows.checks
    assert len(checks) == len(CONDITIONS)
    nodes = [node for check in checks for node in _below(check.condition)]
    kinds = {
        one
        for one in vars(expressions).values()
        if isinstance(one, type) and issubclass(one, Node) and not getattr(one, "__abstractmethods__", None)
    }
    assert {type(node) for node in nodes} >= kinds - {Node}
    compared = [node for node in nodes if isinstance(node, ComparisonNode)]
    assert {node.operator for node in compared} == {"=", "<>", "<", "<=", ">", ">="}
    assert {node.left.type.family for node in compared} | {
        node.right.type.family for node in compared
    } >= _COMPARED - {Family.BOOLEAN}
    assert PAGE.split("`")[1] == "schemac explain SC327"


def _below(node: Node) -> list[Node]:
    return [node, *(below for part in node.parts() for below in _below(part))]
