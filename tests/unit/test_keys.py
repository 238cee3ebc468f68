"""The primary key of a schema, whatever engine asks for it."""

import pytest

import schemac
from schemac.language.logical.dataset import primary_key

MANIFEST = """
name: rides
fields:
  - {name: a, type: Int64, extra: {lance.org/primaryKey: {}}}
  - {name: b, type: Int64, extra: {lance.org/primaryKey: {position: 2}}}
  - {name: c, type: {kind: Struct, fields: [{name: d, type: Int64, extra: {lance.org/primaryKey: {position: 1}}}]}}
  - {name: e, type: Int64}
  - {name: f, type: Int64, extra: {lance.org/primaryKey: {}}}
"""


@pytest.mark.parametrize(
    ("without", "key"),
    [("", ["c.d", "b", "a", "f"]), ("lance.org/", []), ("{position: 2}", ["c.d", "a", "b", "f"])],
)
def test_order_the_key_by_position_then_by_place(without: str, key: list[str]) -> None:
    text = MANIFEST.replace(without, "{}" if "{" in without else "example.com/") if without else MANIFEST
    (dataset,) = schemac.compile_text(text)
    assert [field.path_text for field in primary_key(dataset._compilation.dataset.columns)] == key
