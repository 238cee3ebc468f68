"""What the schema takes is what the pipeline takes, asked of jsonschema; and the schema itself is one."""

import json
import re
from collections.abc import Iterator
from decimal import Decimal, localcontext
from functools import cache
from typing import Any

import jsonschema
import pytest

import schemac
from schemac.engines.jsonschema.codes import JSON_SCHEMA_TYPE
from schemac.engines.jsonschema.words import dump
from tests.engines.crossing import PLACES, held, records, refused, title
from tests.engines.json_records import FITS, manifest, verdicts
from tests.engines.json_records import records as odd_records


def _is_integer(_: Any, value: Any) -> bool:
    """A number without a fraction, which the standard calls an integer however it is written."""
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, Decimal) and value == value.to_integral_value())


def _pattern(_: Any, pattern: str, value: Any, __: Any) -> Iterator[jsonschema.ValidationError]:
    """With the end of a text as ECMA-262 has it; that of Python is before a last line break, too."""
    if isinstance(value, str) and not re.search(pattern.replace("$", r"\Z"), value):
        yield jsonschema.ValidationError(f"{value} is not {pattern}")


_validators: Any = jsonschema.validators
_EXACT = _validators.extend(
    jsonschema.Draft202012Validator,
    {"pattern": _pattern},
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer),
)
"""With numbers as they are written; the library's own are floats of Python."""


def exact(text: str | bytes) -> Any:
    """A document with every digit. Raises ValueError for what the grammar of JSON does not have, and for keys that stand twice."""
    return json.loads(text, parse_float=Decimal, parse_constant=_refused, object_pairs_hook=_without_twins)


def _refused(constant: str) -> Any:
    raise ValueError(constant)


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


def validator(dataset: schemac.Dataset) -> Any:
    schema = exact(dataset.artifacts("jsonschema")["jsonschema/schema.json"])
    jsonschema.Draft202012Validator.check_schema(json.loads(json.dumps(schema, default=float)))
    return _EXACT(schema)


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
    "the digits of a duration (the page of losses)": ['{"dur": 5e0}'],
}
"""Where the schema takes what the pipeline does not: what it says of that, and the records."""
NANOSECONDS = ("clock_ns", "utc_ns")
EDGES = ("0001-01-01", "9999-12-31")


@cache
def _validator() -> Any:
    (dataset,) = schemac.compile_text(manifest())
    return validator(dataset)


def _takes(text: str) -> bool:
    try:
        with localcontext(prec=500):
            return bool(_validator().is_valid(exact(text)))
    except ValueError:
        return False


def _is_at_an_end(text: str) -> bool:
    """Whether a timestamp is out of the range of nanoseconds (SC587), or at an end of the years in UTC (the page of losses)."""
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
        *NANOSECONDS,
    }
