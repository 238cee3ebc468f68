"""Wrong constraints: each finding has a place and a way out, and what it says to write can be written."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

import schemac
from schemac.language.attributes import constraints
from schemac.language.attributes.attribute import Attribute, Family
from schemac.language.kinds.registry import KINDS
from schemac.text.source.phrases import fold

WRONG: tuple[Any, ...] = (
    None, True, "", "x", "nan", -1, 0, 1.5, 10**30, "1.005", "0.0001", "2020-02-30", "2020-13-01", "2020-01-31", "25:00:00", "yesterday", [], {}, [1, "x"], [[1]], "(", "(?<=a)b", r"\d+", {"a": 1},
)  # fmt: skip
TYPES = {type_.family: type_ for kind in KINDS for type_ in list(kind.variants())[:1]}
WRITTEN = re.compile(r"^write (?:`([^`…]+)`|('[^'…]+')|(-?[0-9]+) or)")
"""What is to be written instead, where a help says it exactly."""


def told(attribute: Attribute[Any], family: Family, value: Any) -> tuple[schemac.Diagnostic, ...]:
    type_ = TYPES[family].model_dump(by_alias=True, mode="json", exclude={"extra"})
    field = {"name": "f", "type": type_, "extra": {attribute.key: value}}
    found = schemac.check_text(json.dumps({"name": "t", "fields": [field]}, ensure_ascii=False))
    return tuple(one for one in found if one.severity.value == "error")


def cases() -> Iterator[tuple[Attribute[Any], Family]]:
    for attribute in constraints.OF_VALUES:
        for family in TYPES:
            yield attribute, family


@pytest.mark.parametrize("attribute", constraints.OF_VALUES, ids=lambda one: one.name)
def test_every_finding_has_a_place_and_a_way_out(attribute: Attribute[Any]) -> None:
    written = 0
    for family in TYPES:
        for value in WRONG:
            for one in told(attribute, family, value):
                case = (family, value, one.message)
                assert one.line == 1, case
                assert one.column > 1, case
                assert one.help, case
                assert not re.search(r"\b[a-z_]+\.[a-z_]+\.[A-Z]\w+|<class|object at", one.message), case
                text = WRITTEN.match(one.help)
                if one.code == "SC324" and text is not None and not isinstance(value, list):
                    instead = next(group for group in text.groups() if group)
                    held = instead[1:-1] if instead[0] == "'" else json.loads(instead)
                    assert told(attribute, family, held) == (), (case, one.help)
                    written += 1
    assert written or attribute in (
        constraints.MIN_LENGTH, constraints.MAX_LENGTH, constraints.PATTERN, constraints.ENUM, constraints.MIN_ITEMS, constraints.MAX_ITEMS, constraints.UNIQUE_ITEMS,
    )  # fmt: skip


@pytest.mark.parametrize("attribute", constraints.ATTRIBUTES, ids=lambda one: one.name)
def test_say_where_a_key_of_others_is_written(attribute: Attribute[Any]) -> None:
    """As JSON Schema, Pydantic and dbt have them: beside the name of a field, or under another name."""
    for key in attribute.foreign_keys:
        (one,) = schemac.check_text(f"fields:\n  - {{name: f, type: Int64, {key}: 1}}\n")
        assert (one.code, one.line) == ("SC202", 2)
        assert f"`{attribute.key}`" in one.help, key
        if fold(key) != fold(attribute.name):
            where = (
                "extra: {%s: 1}\nfields: [{name: f, type: Int64}]"
                if attribute.on_schema
                else "fields: [{name: f, type: Int64, extra: {%s: 1}}]"
            )
            (one,) = schemac.check_text(where % f"schemac.dev/{key}")
            assert one.help == f"did you mean `{attribute.key}`?", key


PLACES = {
    "tags": ("tags.item", "the items of tags have no single value in a row"),
    "counts": ("counts.key", "the items of counts have no single value in a row"),
    "a member": ("place.height", "the fields are place.lon, place.lat"),
    "a struct": ("place", "such as place.lon, place.lat"),
    "a slip": ("place.lo", "did you mean 'place.lon'?"),
    "nothing like it": ("qqqqq", "the fields are id, place.lon, place.lat"),
    "a list": ("tags", "lists and maps have no single value in a row"),
}


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize(
    "rule",
    ["schemac.dev/unique: [[id, %s]]", "schemac.dev/references: [{fields: [%s], dataset: d, to: [x]}]"],
)
def test_say_which_fields_there_are(name: str, rule: str) -> None:
    path, said = PLACES[name]
    text = f"""extra: {{{rule % path}}}
fields:
  - {{name: id, type: Int64}}
  - {{name: place, type: {{kind: Struct, fields: [{{name: lon, type: Int64}}, {{name: lat, type: Int64}}]}}}}
  - {{name: tags, type: {{kind: List, itemType: String}}}}
  - {{name: counts, type: {{kind: Map, keyType: String, valueType: Int64}}}}
"""
    (one,) = schemac.check_text(text)
    assert (one.line, path in text.splitlines()[0][one.column - 1 :]) == (1, True)
    assert said in one.help
