"""The models take what the pipeline takes, asked of pydantic, with the pipeline's own reasons."""

import json
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

import schemac
from schemac.engines.jsonschema.keywords import dump
from schemac.engines.pydantic import PYDANTIC_TYPE, values
from schemac.engines.pydantic.artifact import RESERVED_NAMES
from tests.engines.crossing import PLACES, held, records, refused
from tests.engines.json_records import FITS, manifest, verdicts
from tests.engines.json_records import records as odd_records

ROOT = Path(__file__).parents[3]
GOLDEN = Path(__file__).parent / "rides_models.py"


def model(dataset: schemac.Dataset) -> type[BaseModel]:
    """The model of a table, as Python reads its module."""
    ((path, content),) = dataset.artifacts("pydantic").items()
    name = f"generated.{Path(path).stem}"
    sys.modules[name] = found = ModuleType(name)
    exec(compile(content, path, "exec"), vars(found))
    classes = [
        c
        for c in vars(found).values()
        if isinstance(c, type) and issubclass(c, BaseModel) and c.__module__ == name
    ]
    return classes[-1]


@pytest.mark.parametrize("place", PLACES)
def test_take_values_of_every_type_in_every_place(place: str) -> None:
    """Only keys of maps that have parts are refused; what is taken stays the same when it is read again."""
    assert set(refused("pydantic", place).values()) <= {PYDANTIC_TYPE.id}
    assert (place == "key") == bool(refused("pydantic", place))
    dataset = held("pydantic", place)
    asked = model(dataset)
    for record in records(dataset):
        read = asked.model_validate_json(dump(record))
        assert asked.model_validate(read.model_dump(by_alias=True)) == read


@cache
def _model() -> type[BaseModel]:
    (dataset,) = schemac.compile_text(manifest())
    return model(dataset)


def said(text: str) -> str:
    """The rules that the model finds broken."""
    try:
        _model().model_validate_json(text)
    except ValidationError as error:
        return " ".join(sorted({rule_of(dict(e)) for e in error.errors()}))
    return FITS


def rule_of(error: dict[str, Any]) -> str:
    """The pipeline's rule that an error of pydantic is about."""
    if not error["loc"]:
        return "malformed"
    return "required" if error["input"] is None else _RULES.get(error["type"], error["type"])


_RULES = {
    **dict.fromkeys(
        ("bool_type", "string_type", "list_type", "dict_type", "model_type", "none_required"), "type"
    ),
    **dict.fromkeys(("too_short", "too_long"), "length"),
    "missing": "required",
}
"""The pipeline's rules by pydantic's own types of errors."""


def test_give_the_reasons_of_the_pipeline() -> None:
    texts = odd_records()
    assert len(texts) > 900
    assert [(text, said(text)) for text in texts if said(text) != verdicts()[text]] == []


def test_take_names_that_models_have() -> None:
    """A field is called otherwise where a model has its name; the record has it all the same."""
    own = {name for name in dir(BaseModel) if not name.startswith("_")}
    assert own <= RESERVED_NAMES
    names = [
        *sorted(own),
        "list",
        "dict",
        "Field",
        "class",
        "Record",
        "a b",
        "_x",
        "é",
        "date",
        "self",
        "int",
        "None",
        "Annotated",
        "annotated",
    ]
    names = list(dict.fromkeys(names))
    fields = [{"name": name, "type": {"kind": "Date"}} for name in names]
    (dataset,) = schemac.compile_text(json.dumps({"name": "odd-names/x", "fields": fields}))
    record = dict.fromkeys(names, "2024-01-01")
    read = model(dataset).model_validate_json(json.dumps(record))
    assert read.model_dump(by_alias=True, mode="json") == record


@pytest.mark.parametrize("name", ["a", "A B", "1", "é", "list", "a/b", "record", "any", "Decimal", "field"])
def test_name_models_after_structs(name: str) -> None:
    inner = {
        "kind": "Struct",
        "fields": [{"name": name, "type": {"kind": "Decimal", "precision": 3, "scale": 1}}],
    }
    fields = [{"name": name, "type": inner}, {"name": "b", "type": {"kind": "List", "itemType": inner}}]
    (dataset,) = schemac.compile_text(json.dumps({"name": name, "fields": fields}))
    asked = model(dataset)
    assert asked.model_validate({name: {name: 1}, "b": [{name: 2}]}).model_dump(by_alias=True)["b"] == [
        {name: 2}
    ]


SAME = [
    "i64",
    "d5_2",
    "day",
    "clock_us",
    "utc_ms",
    "t_Second",
    "bin",
    "uid",
    "utc_ns",
    "clock_ns",
    "t_Nanosecond",
    "nums",
    "st",
]


@pytest.mark.parametrize("column", SAME)
def test_take_values_of_python(column: str) -> None:
    """What was read is taken again as the values that it became; JSON of it says the same, but for decimals, which are texts."""
    texts = [text for text in odd_records([column]) if said(text) == FITS]
    assert texts
    for text in texts:
        read = _model().model_validate_json(text)
        assert _model().model_validate(read.model_dump(by_alias=True)) == read
        if column != "d5_2":
            assert _model().model_validate_json(read.model_dump_json(by_alias=True)) == read


def test_copy_validators_that_stand_alone() -> None:
    """The module imports pydantic and the standard library, and has no part that it does not need."""
    (dataset,) = schemac.compile_text("name: a\nfields: [{name: x, type: Bool}]")
    text = dataset.artifacts("pydantic")["pydantic/a_models.py"].decode()
    assert "schemac" not in text.replace("Generated by schemac", "")
    assert "ZoneInfo" not in text
    of_record = [
        "exact_of",
        "_number_of_digits",
        "_integer_of_digits",
        "_refuse_constant",
        "_without_duplicates",
    ]
    assert [name for name in vars(values) if f"def {name}(" in text] == of_record


def test_write_what_is_checked_by_mypy() -> None:
    """The file is in the repository, so that `mypy --strict` reads it with all others."""
    (dataset,) = schemac.compile_file(ROOT / "examples/demo/rides.yaml")
    assert dataset.artifacts("pydantic") == {"pydantic/rides_models.py": GOLDEN.read_bytes()}
