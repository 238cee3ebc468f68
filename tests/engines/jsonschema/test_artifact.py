"""What the schema takes is what the pipeline takes, asked of jsonschema; and the schema itself is one."""

import json
from functools import cache
from typing import Any

import jsonschema
import pytest

import schemac
from schemac.engines.jsonschema import JSON_SCHEMA_TYPE
from schemac.engines.jsonschema.keywords import dump
from tests.engines.crossing import PLACES, held, records, refused, title
from tests.engines.exact_json import exact, takes, validator_of
from tests.engines.json_records import FITS, manifest, verdicts
from tests.engines.json_records import records as odd_records


def validator(dataset: schemac.Dataset) -> Any:
    schema = exact(dataset.artifacts("jsonschema")["jsonschema/schema.json"])
    jsonschema.Draft202012Validator.check_schema(json.loads(json.dumps(schema, default=float)))
    return validator_of(schema)


@pytest.mark.parametrize("place", PLACES)
def test_take_values_of_every_type_in_every_place(place: str) -> None:
    """Only keys of maps that have parts are refused."""
    parts = {title(name).split()[-1].rstrip("s") for name in refused("jsonschema", place)}
    assert set(refused("jsonschema", place).values()) <= {JSON_SCHEMA_TYPE.id}
    assert (place == "key") == bool(parts), parts
    dataset = held("jsonschema", place)
    asked = validator(dataset)
    for record in records(dataset):
        assert [f"{e.json_path}: {e.message[:100]}" for e in asked.iter_errors(exact(dump(record)))] == []


WIDER = {
    "keys of a map that are no texts (SC587)": [
        '{"nums": {"1": 1, "01": 2}}',
        '{"nums": {"1.5": 1}}',
        '{"nums": {"2147483648": 1}}',
    ],
    "times that a clock skips or shows twice (SC587)": [
        '{"berlin": "2024-03-31T02:30:00"}',
        '{"berlin": "2024-10-27T02:30:00"}',
    ],
    "how a count is written (SC587)": ['{"dur": 5e0}'],
}
"""Where the schema takes what the pipeline does not: what it says of that, and the records."""
NANOSECONDS = ("clock_ns", "utc_ns")
EDGES = ("0001-01-01", "9999-12-31")


@cache
def _validator() -> Any:
    (dataset,) = schemac.compile_text(manifest())
    return validator(dataset)


def _takes(text: str) -> bool:
    return takes(_validator(), text)


def _is_at_an_end(text: str) -> bool:
    """Whether a timestamp is out of the range of nanoseconds, or at an end of the years in UTC (SC587)."""
    if verdicts()[text] != "range":
        return False
    (column,) = json.loads(text)
    return column in NANOSECONDS or (
        column in ("utc_ms", "utc_us", "tokyo", "berlin") and any(e in text for e in EDGES)
    )


def test_say_what_the_pipeline_says_of_odd_records() -> None:
    """It refuses nothing that the pipeline takes; what it takes beyond, it names."""
    texts = odd_records()
    assert [text for text in texts if verdicts()[text] == FITS and not _takes(text)] == []
    wider = {text for text in texts if verdicts()[text] != FITS and _takes(text) and not _is_at_an_end(text)}
    assert wider == {text for group in WIDER.values() for text in group}


def test_name_what_it_takes_beyond() -> None:
    (dataset,) = schemac.compile_text(manifest())
    assert {loss.path.partition(".")[0] for loss in dataset.losses("jsonschema")} == {
        "berlin",
        "nums",
        "days",
        "dur",
        "tokyo",
        "utc_ms",
        "utc_us",
        *NANOSECONDS,
    }


@pytest.mark.parametrize(
    ("item", "is_lost"),
    [
        ("Int32", False),
        ("{kind: Option, inner: String}", False),
        ("{kind: Decimal, precision: 4, scale: 1}", False),
        ("Binary", True),
        ("{kind: Option, inner: Time}", True),
        ("Timestamp", True),
    ],
)
def test_compare_items_by_spelling_only_where_a_value_has_several(item: str, is_lost: bool) -> None:
    type_ = f"{{kind: List, itemType: {item}}}"
    (dataset,) = schemac.compile_text(
        f"{{name: t, fields: [{{name: x, type: {type_}, extra: {{schemac.dev/uniqueItems: true}}}}]}}"
    )
    what = "that items are compared by value, not by spelling (schemac.dev/uniqueItems)"
    assert (what in {loss.lost for loss in dataset.losses("jsonschema")}) == is_lost
