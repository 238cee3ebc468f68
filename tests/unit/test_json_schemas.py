"""The JSON Schemas: the friendly one says of every corpus case what the compiler says, the strict one what the standard says.

The committed files are those that the models give (`tests/architecture`), so the models are asked here.
"""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import schemac
from schemac.kinds.registry import BY_NAME
from schemac.manifest.json_schema import manifest_schema
from schemac.source.report import Report
from schemac.source.text import SourceText
from schemac.syntax.document import parse
from tests.golden import CORPUS

ACCEPTED = sorted((CORPUS / "accepted").glob("*/manifest.yaml"))
REJECTED = sorted((CORPUS / "rejected").glob("SC2*/*.yaml"))
BEYOND_A_GRAMMAR = frozenset({
    "SC204/ddl_as_schema",  # events other than SetDataSchema pass
    "SC205/timezone_empty",  # a null stands beside the text
    "SC205/timezone_offset", "SC205/timezone_offset_of_a_day",  # what is a zone, tables outside of a grammar say
    "SC209/events_without_schema",
    "SC212/timestamp",  # a warning
    "SC214/extra_inside_the_type_of_a_field",  # right inside another type
    "SC216/same_folder_where_case_does_not_count", "SC216/same_name", "SC216/two_without_a_name",
    "SC217/blank_at_end", "SC217/path", "SC217/push_source",
    "SC218/field",
    "SC205/in_an_argument", "SC231/misspelled", "SC231/no_groups", "SC232/two_documents",  # groups are told apart by name
    "SC233/through_another", "SC234/no_file", "SC235/unused", "SC236/of_a_use",
})  # fmt: skip
"""Cases that a JSON Schema lets pass: what they break is no rule of one value."""


@cache
def validator(*, strict: bool) -> Draft202012Validator:
    return Draft202012Validator(manifest_schema(strict=strict))


def passes(text: str, *, strict: bool = False) -> bool:
    documents = parse(SourceText(text), Report())
    return all(validator(strict=strict).is_valid(document.value) for document in documents)


def read(case: Path) -> str:
    return case.read_text(encoding="utf-8-sig")


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda case: case.parent.name)
def test_take_what_the_compiler_takes(case: Path) -> None:
    text = read(case)
    assert passes(text)
    is_standard = not schemac.check_text(text, strict=True) or case.parent.name.startswith("strict")
    if is_standard:
        assert passes(text, strict=True)


@pytest.mark.parametrize("case", REJECTED, ids=lambda case: f"{case.parent.name}/{case.stem}")
def test_refuse_what_the_grammar_refuses(case: Path) -> None:
    strict = case.stem.startswith("strict")
    short = f"{case.parent.name.partition('-')[0]}/{case.stem}"
    assert passes(read(case), strict=strict) == (short in BEYOND_A_GRAMMAR)


@pytest.mark.slow
@pytest.mark.parametrize("case", ACCEPTED, ids=lambda case: case.parent.name)
def test_take_the_standard_form_of_everything(case: Path) -> None:
    for dataset in schemac.compile_text(read(case), name="manifest.yaml"):
        for form in ("schema", "event", "metadata-event", "snapshot", "resource"):
            text = dataset.to_odf(form)
            assert passes(text, strict=True)
            assert passes(text)


def field(type_: Any, **more: Any) -> Any:
    return {"kind": "SetDataSchema", "schema": {"fields": [{"name": "a", "type": type_, **more}]}}


@pytest.mark.parametrize(
    ("document", "is_standard"),
    [
        (field("UInt64"), True),
        (field("uint64"), False),
        (field("uInt64"), False),
        (field({"kind": "timestamp"}), False),
        (field({"kind": "Time", "unit": "second"}), False),
        (field({"kind": "Time", "unit": "Seconds"}), False),
        (field({"kind": "Timestamp", "timezone": None}), False),
        (field({"kind": "Binary", "fixedLength": None}), False),
        (field({"kind": "Int8", "extra": {}}), False),
        (field({"kind": "Int8", "nullable": True}), False),
        (field({"kind": "List", "itemType": "String"}), True),
        (field({"kind": "List", "item_type": "String"}), False),
        (field("Int8", description="what it is"), False),
        (field("Int8", nullable=True), False),
        (field("Int8", extra=None), False),
        (field("Int8", extra={}), True),
        (field("Int8", extra={"x/y": {"any": [None]}}), True),
        (field("Int8", extra={"a-b.c/y_z-1": 1}), True),
        (field("Int8", extra={"plain": 1}), False),
        (field("Int8", extra={"a_b.c/y": 1}), False),
        (field("Int8", extra={"a.b/c/d": 1}), False),
        (field("Int8", extra={"a.b/c.d": 1}), False),
        ({"kind": "setDataSchema", "schema": {"fields": []}}, False),
        ({"kind": "SetDataSchema", "schema": {"fields": [], "name": "x"}}, False),
        ({"fields": []}, True),
        ({"name": "x", "fields": []}, False),
        ({"kind": "DatasetSnapshot", "version": 2, "content": {}}, False),
    ],
)
def test_know_the_standard(document: Any, is_standard: bool) -> None:
    assert validator(strict=True).is_valid(document) == is_standard


def test_take_bare_names_of_kinds_without_required_properties() -> None:
    """The standard's enum lists all 24, its implementation refuses those that need a property; so do we."""
    taken = {kind for kind in BY_NAME if validator(strict=True).is_valid(field(kind))}
    assert set(BY_NAME) - taken == {"Decimal", "List", "Map", "Option", "Struct"}
