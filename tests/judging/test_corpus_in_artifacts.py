"""The JSON Schema and the models that are generated say what the corpus of values says, but for losses that they name."""

import struct
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import pyarrow as pa
import pytest
from pydantic import BaseModel, ValidationError

import schemac
from tests.engines.exact_json import exact, takes, validator_of
from tests.engines.pydantic.test_artifact import model, rule_of
from tests.judging import value_corpus as corpus
from tests.judging.records import value_type

READ_BY_SCHEMAS = ("plain", "berlin")
"""Settings that a schema can say: the others are about a source, such as numbers that count the seconds since 1970."""
_CLOCKS = ("utc_us", "utc_ns", "india_us")
_BRAIN = """
name: t
fields:
- name: brain
  type: {kind: Option, inner: {kind: List, itemType: Float32, fixedLength: 2}}
  extra: {lance.org/floatEncoding: {format: bfloat16}}
"""


class Token(NamedTuple):
    """A token in a place of a record, and what becomes of it there."""

    text: str
    placed: str
    outcome: str

    @property
    def fits(self) -> bool:
        return self.outcome.startswith("=")


class Column(NamedTuple):
    """A field of the corpus in a table of its own, and the tokens that stand in it."""

    dataset: schemac.Dataset
    field: pa.Field
    tokens: list[Token]


@cache
def outcomes() -> dict[tuple[str, str], list[tuple[str, dict[str, str]]]]:
    """What becomes of each token in each field, by settings and place."""
    found: dict[tuple[str, str], list[tuple[str, dict[str, str]]]] = {}
    for settings, place, text, groups in corpus.read("tokens"):
        by_name = {name: outcome for outcome, names in groups.items() for name in names.split(" ")}
        found.setdefault((settings, place), []).append((text, by_name))
    return found


def columns(settings: str, place: str) -> Iterator[Column]:
    """The fields of the corpus that a manifest can say."""
    for field in corpus.fields_at(place, settings):
        if field.name == "brain" and place != "pair":
            # Only items of vectors are stored so.
            continue
        dataset = _dataset_of(field, settings)
        lowered = dataset.to_arrow().field(0)
        if (lowered.type, lowered.nullable) != (field.type, field.nullable):
            # A required null.
            assert field.name == "null"
            continue
        lines = outcomes()[settings, place]
        tokens = [
            Token(text, corpus.TEXTS[place].format(text, text), by_name[field.name])
            for text, by_name in lines
        ]
        yield Column(dataset, field, tokens)


def _dataset_of(field: pa.Field, settings: str) -> schemac.Dataset:
    if field.name == "brain":
        (found,) = schemac.compile_text(_BRAIN)
        return found
    if settings == "berlin" and field.name in _CLOCKS:
        field = field.with_metadata({"schemac.dev/clockZone": '"Europe/Berlin"'})
    return schemac.from_arrow(pa.schema([field]))


PLACES = [key for key in dict.fromkeys((s, p) for s, p, _, _ in corpus.read("tokens")) if key[0] in READ_BY_SCHEMAS]  # fmt: skip

NAMED = {
    "the range of nanoseconds": {"range"},
    "the range of instants in UTC": {"range"},
    "which times the clocks of Europe/Berlin": {"zone-gap", "zone-overlap"},
    "counts without an exponent": {"cast"},
    "keys of": {"cast", "range", "precision"},
}
"""By the beginning of a loss of JSON Schema: the rules that values break which it takes all the same."""


def test_json_schema_takes_what_fits_and_names_what_it_takes_beyond() -> None:
    needed = set()
    for column in (column for key in PLACES for column in columns(*key)):
        losses = [loss.lost for loss in column.dataset.losses("jsonschema")]
        named = [start for start in NAMED if any(lost.startswith(start) for lost in losses)]
        schema = exact(column.dataset.artifacts("jsonschema")["jsonschema/schema.json"])
        asked = validator_of(schema["properties"][column.field.name])
        for token in column.tokens:
            if takes(asked, token.placed) != token.fits:
                reasons = {start for start in named if NAMED[start] & _rules(token.outcome)}
                assert not token.fits, (column.field, token)
                assert reasons, (column.field, token, losses)
                needed |= reasons
    assert needed == set(NAMED)


def _rules(outcome: str) -> set[str]:
    """The rules of an outcome, without the places where they are broken."""
    words = {word.rstrip(";:") for word in outcome.split(" ")}
    return words & {rule for rules in NAMED.values() for rule in rules}


@pytest.mark.parametrize(("settings", "place"), PLACES)
def test_models_take_what_fits_with_the_same_values(settings: str, place: str) -> None:
    for column in columns(settings, place):
        asked = model(column.dataset)
        for token in column.tokens:
            try:
                read = asked.model_validate_json(f'{{"{column.field.name}": {token.placed}}}')
            except ValidationError as error:
                rule = rule_of(dict(error.errors()[0]))
                assert not token.fits, (column.field, token, rule)
                words = token.outcome.replace(";", " ").replace(":", " ").split(" ")
                assert rule in words, (column.field, token, rule)
            else:
                assert token.fits, (column.field, token)
                assert value_shown(column, read, token) in ("=", token.outcome), (column.field, token)


def value_shown(column: Column, read: BaseModel, token: Token) -> str:
    """The value in a model as the corpus shows it."""
    field, value = column.field.with_nullable(True), read.model_dump(by_alias=True)[column.field.name]
    if field.name == "json":
        return "=" if value == exact(token.placed) else f"= {value}"
    if field.name == "brain" and value is not None:
        value = [struct.pack("<f", one)[2:] for one in value]
    if isinstance(value, dict) and pa.types.is_map(field.type):
        value = [*value.items()]
    (shown,) = corpus.shown_values(pa.array([value], value_type(field)))
    return "=" if shown in (repr(token.text), repr(corpus.content(token.text))) else f"= {shown}"
