"""What each target has in the place of every type, as text that people review.

Shape: one line a type and place: the target's own words, then what is lost on the way, or why it is refused.
`pytest tests/losses --refresh 'losses/*'` writes the files anew.
"""

import json
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

import schemac
from schemac import Dataset
from tests.conformance.manifest_types import POSITIONS, TYPES, Manifest

HERE = Path(__file__).parent
PLACES = ("column", "optional column", "optional item of an optional vector")


def _lance_words(dataset: Dataset) -> str:
    return " > ".join(field.logical_type for field in dataset.to_lance().fields)


def _spark_words(dataset: Dataset) -> str:
    (field,) = dataset.to_spark()["fields"]
    type_, metadata = field["type"], field["metadata"]
    words = type_ if isinstance(type_, str) else json.dumps(type_, sort_keys=True, separators=(",", ":"))
    return f"{words} {json.dumps(metadata, sort_keys=True, ensure_ascii=False)}" if metadata else words


def _arrow_words(dataset: Dataset) -> str:
    field = dataset.to_arrow().field(0)
    return f"{field.type}".replace("\n", " ")


def _odf_words(dataset: Dataset) -> str:
    (field,) = YAML(typ="safe", pure=True).load(dataset.to_odf("schema"))["fields"]
    return json.dumps({key: item for key, item in field.items() if key != "name"}, ensure_ascii=False)


WORDS: dict[str, Callable[[Dataset], str]] = {
    "arrow": _arrow_words,
    "lance": _lance_words,
    "spark": _spark_words,
    "odf": _odf_words,
}


def lines(target: str) -> Iterator[str]:
    """The whole table of one target."""
    for place in PLACES:
        yield f"# {place}"
        for name, type_ in TYPES.items():
            dataset = _compiled(POSITIONS[place](type_))
            if dataset is not None:
                yield f"{name}: {_outcome(target, dataset)}"
        yield ""


def _compiled(field: Manifest) -> Dataset | None:
    try:
        (dataset,) = schemac.compile_text(json.dumps({"fields": [field]}))
    except schemac.SchemaError:
        return None
    return dataset


def _outcome(target: str, dataset: Dataset) -> str:
    try:
        losses = dataset.losses(target)
        words = WORDS[target](dataset)
    except schemac.SchemaError as error:
        found: Any = error.diagnostics[0]
        return f"refused, {found.code} {found.message}"
    return "".join([words, *(f"; {loss.path}: {loss.lost} becomes {loss.becomes}" for loss in losses)])


@pytest.mark.parametrize("target", WORDS)
def test_lose_what_was_reviewed(target: str, request: pytest.FixtureRequest) -> None:
    file = HERE / f"{target}.txt"
    actual = "\n".join(lines(target))
    pattern = request.config.getoption("--refresh")
    if pattern is not None and fnmatch(f"losses/{target}", pattern):
        file.write_text(actual, encoding="utf-8")
    assert actual == file.read_text(encoding="utf-8"), (
        "review, then: pytest tests/losses --refresh 'losses/*'"
    )
