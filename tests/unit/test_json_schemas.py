"""The JSON Schemas: the friendly one says of every corpus case what the compiler says, the strict one what the standard says.

The committed files are those that the models give (`tests/architecture`), so the models are asked here.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import schemac
from schemac.attributes.family import Family
from schemac.attributes.registry import ATTRIBUTES
from schemac.kinds.registry import BY_NAME, KINDS
from schemac.manifest.json_schema import manifest_schema
from schemac.pipeline.declaration.json_schema import pipeline_schema
from schemac.project.json_schema import config_schema
from schemac.source.diagnostic import Severity
from schemac.source.report import Report
from schemac.source.text import SourceText
from schemac.syntax.document import parse
from tests.golden import CORPUS

ACCEPTED = sorted((CORPUS / "accepted").glob("*/manifest.yaml"))
REJECTED = sorted((CORPUS / "rejected").glob("SC[23]*/*.yaml"))
BEYOND_A_GRAMMAR = {
    "it is said of several values, or of several files": {
        "SC209/events_without_schema", "SC216/same_folder_where_case_does_not_count", "SC216/same_name",
        "SC216/two_without_a_name", "SC217/push_source", "SC231/misspelled", "SC231/no_groups", "SC232/two_documents",
        "SC233/through_another", "SC234/no_file", "SC205/in_an_argument", "SC236/of_a_use",
        "SC301/columns", "SC301/in_a_group", "SC301/members", "SC318/clustering_key", "SC318/primary_key",
        "SC319/constraints", "SC319/keys_of_paimon", "SC324/values", "SC341/wrong_ones",
    },
    "events other than SetDataSchema pass": {"SC204/ddl_as_schema"},
    "a number is compared with another property": {
        "SC307/too_narrow", "SC313/hint_on_fixed_length", "SC314/wide_view", "SC325/pairs",
    },
    "attributes are held against each other, or against more than the family of the type": {
        "SC311/logical_type_on_a_number", "SC311/object_link_in_a_struct", "SC313/same_attribute_at_two_places",
        "SC313/two_layouts", "SC314/brain_floats", "SC314/encodings", "SC314/extension_types", "SC314/run_ends",
        "SC317/inside_an_optional_struct", "SC317/optional", "SC317/struct_list_and_map",
    },
    "a text or a number has a language of its own": {
        "SC312/numbers_that_json_lacks", "SC326/patterns", "SC327/conditions",
    },
}  # fmt: skip
"""Cases that a JSON Schema lets pass, by the reason."""
PASSING = frozenset().union(*BEYOND_A_GRAMMAR.values())


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
    is_strict = case.stem.startswith("strict")
    found = schemac.check_text(read(case), name=case.name, strict=is_strict)
    if not any(d.severity is Severity.ERROR for d in found):
        # A warning, or a mistake that takes more than this text.
        return
    short = f"{case.parent.name.partition('-')[0]}/{case.stem}"
    assert passes(read(case), strict=is_strict) == (short in PASSING)


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


def properties(value: Any, schema: Any) -> Iterator[tuple[str, Any]]:
    """All properties that an editor may show a text of."""
    if isinstance(value, dict):
        for key, item in value.get("properties", {}).items():
            yield key, item
        for key, item in value.items():
            if key not in ("if", "not"):
                yield from properties(item, schema)
    elif isinstance(value, list):
        for item in value:
            yield from properties(item, schema)


@pytest.mark.parametrize("make", [manifest_schema, config_schema, pipeline_schema], ids=lambda f: f.__name__)
def test_explain_every_property(make: Any) -> None:
    schema = make(strict=False) if make is manifest_schema else make()
    # Conditions are no places of a manifest.
    defined = {
        name: body for name, body in schema["$defs"].items() if not name.endswith("Type") or name == "Type"
    }
    texts: dict[str, list[str]] = {}
    for key, item in properties({**schema, "$defs": defined}, schema):
        if isinstance(item, dict):
            name = item.get("$ref", "").removeprefix("#/$defs/").replace("%20", " ")
            text = item.get("description") or schema["$defs"].get(name, {}).get("description")
            texts.setdefault(key, []).append(text or "")
    # What a rule chooses for `extra` is explained where `extra` itself is.
    assert {key for key, found in texts.items() if not any(found)} == set()


def test_offer_only_what_fits() -> None:
    """The words that editors offer are the standard's; attributes are offered where they fit, and flagged elsewhere."""
    definitions = manifest_schema(strict=False)["$defs"]
    (words, _) = definitions["Type"]["anyOf"]
    assert set(words["anyOf"][0]["enum"]) == {n for n, k in BY_NAME.items() if k.bare is not None} - {"Null"}
    assert definitions["Type"]["anyOf"][1]["properties"]["kind"]["anyOf"][0]["enum"] == list(BY_NAME)
    for key, attribute in ATTRIBUTES.items():
        for kind in (k for k in KINDS if k.family is not Family.OPTION):
            fits = attribute.on_field and (attribute.fits is None or kind.family in attribute.fits)
            assert (key in definitions[f"{kind.family.value.capitalize()}Attributes"]["properties"]) == fits
    assert not validator(strict=False).is_valid(
        field("Int8", extra={"arrow.apache.org/dateEncoding": {"unit": "Day"}})
    )
    assert not validator(strict=False).is_valid(field("Int8", extra={"lance.org/nonsense": 1}))
    assert validator(strict=False).is_valid(field("int8", extra={"my.own/word": 1}))
