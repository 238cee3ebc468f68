"""The JSON Schemas: the friendly one says of every corpus case what the compiler says, the strict one what the standard says.

The committed files are those that the models give (`tests/architecture`), so the models are asked here.
"""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from jsonschema import Draft7Validator, Draft202012Validator

import schemac
from schemac.engines.api import OdfForm
from schemac.language.attributes.attribute import Family
from schemac.language.attributes.registry import ATTRIBUTES
from schemac.language.kinds.registry import BY_NAME, KINDS
from schemac.language.manifest.json_schema import manifest_schema
from schemac.pipeline.declaration.job import pipeline_schema
from schemac.project.settings import config_schema
from schemac.text.source.diagnostics import Report, Severity, SourceText
from schemac.text.syntax.document import parse
from tests.effort import every_nth
from tests.golden import CORPUS

ACCEPTED = sorted((CORPUS / "accepted").glob("*/manifest.yaml"))
REJECTED = sorted((CORPUS / "rejected").glob("SC[23]*/*.yaml"))
BEYOND_A_GRAMMAR = {
    "it is said of several documents or files": {
        "SC216/same_folder_where_case_does_not_count", "SC216/same_name", "SC216/two_without_a_name", "SC231/no_groups",
        "SC232/two_documents", "SC234/no_file",
    },
    "names are the same, or have to be": {
        "SC231/misspelled", "SC233/through_another", "SC205/in_an_argument", "SC236/of_a_use", "SC301/columns",
        "SC301/in_a_group", "SC301/members", "SC319/constraints", "SC319/keys_of_paimon", "SC319/renamed_by_hand", "SC341/wrong_ones",
    },
    "two numbers are compared": {"SC325/pairs"},
    "entries of Arrow metadata are any texts": {"SC313/entries_of_lance", "SC314/entries_of_lance"},
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


FORMS: tuple[OdfForm, ...] = get_args(OdfForm)


@pytest.mark.slow
@pytest.mark.parametrize("forms", [FORMS[:2], pytest.param(FORMS[2:], marks=pytest.mark.long)], ids="+".join)
@pytest.mark.parametrize("case", every_nth(ACCEPTED, 2), ids=lambda case: case.parent.name)
def test_take_the_standard_form_of_everything(case: Path, forms: Sequence[OdfForm]) -> None:
    for dataset in schemac.compile_text(read(case), name="manifest.yaml"):
        for form in forms:
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


@pytest.mark.parametrize("make", [manifest_schema, config_schema, pipeline_schema], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dialect", [Draft202012Validator, Draft7Validator])
def test_be_schemas_of_both_dialects(make: Any, dialect: Any) -> None:
    """Editors read them as draft-07, whatever they say that they are."""
    dialect.check_schema(make(strict=False) if make is manifest_schema else make())


def test_offer_only_what_fits() -> None:
    """The words that editors offer are the standard's; attributes are offered where they fit, and flagged elsewhere."""
    definitions = manifest_schema(strict=False)["$defs"]
    (words, _) = definitions["Type"]["anyOf"]
    assert set(words["anyOf"][0]["enum"]) == {n for n, k in BY_NAME.items() if k.has_short_form} - {"Null"}
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


def attributes_of_corpus() -> dict[str, list[Any]]:
    """Values of attributes on fields that the corpus has, by key, sound ones first."""
    found: dict[str, list[Any]] = {}

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            extra = value.get("extra")
            if isinstance(extra, dict) and "fields" not in value:
                for key in extra.keys() & ATTRIBUTES.keys():
                    found.setdefault(key, []).append(extra[key])
            for item in value.values():
                collect(item)
        elif isinstance(value, list):
            for item in value:
                collect(item)

    for case in [*ACCEPTED, *REJECTED]:
        for document in parse(SourceText(read(case)), Report()):
            collect(document.value)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, pytest.param(100, marks=pytest.mark.long)])
def test_refuse_nothing_that_the_compiler_takes(count: int) -> None:
    """On each family (in the long run each kind), each attribute with values of the corpus: whatever is refused has an error."""
    values = {key: {repr(v): v for v in found} for key, found in attributes_of_corpus().items()}
    pairs = [(key, v) for key, found in sorted(values.items()) for v in list(found.values())[:count]]
    assert len(values) > 35
    kinds = {
        (kind.family if count == 1 else kind): kind for kind in KINDS if kind.family is not Family.OPTION
    }
    refused_some = 0
    for kind in kinds.values():
        type_ = parse(SourceText(kind.example), Report())[0].value
        fields = [{"name": f"f{i}", "type": type_, "extra": {k: v}} for i, (k, v) in enumerate(pairs)]
        text = json.dumps({"fields": fields})
        wrong = {d.path.split(".")[0] for d in schemac.check_text(text) if d.severity is Severity.ERROR}
        for error in validator(strict=False).iter_errors({"fields": fields}):
            refused_some += 1
            assert f"f{error.absolute_path[1]}" in wrong, fields[error.absolute_path[1]]
    assert refused_some > 100
