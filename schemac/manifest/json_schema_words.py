"""Words and descriptions in the JSON Schemas of manifests.

Layer: manifest.
"""

import re
from collections.abc import Iterable, Iterator
from types import UnionType
from typing import Any, Union, get_args, get_origin

from schemac.attributes.attribute import spellings
from schemac.logical.model import LogicalType
from schemac.source.json_object import Json
from schemac.syntax.docstrings import property_texts
from schemac.syntax.reading import bare
from schemac.syntax.record import Record


def spelled_words(words: Iterable[str]) -> list[str]:
    """Return words in all their spellings."""
    return list(dict.fromkeys(spelling for word in words for spelling in spellings(word)))


def word_choice(words: Iterable[Any], more: Iterable[str] = (), descriptions: Iterable[str] = ()) -> Json:
    """Return a choice of words that editors offer in the standard's spelling, and take in all of them.

    `more` are words that are taken and not offered.
    """
    offered = list(words)
    others = [
        w for w in (*spelled_words(w for w in offered if isinstance(w, str)), *more) if w not in offered
    ]
    texts = list(descriptions)
    choice: Json = {"enum": offered, **({"enumDescriptions": texts} if texts else {})}
    if not others:
        return choice
    # Editors complete the words of an `enum`, and none of a pattern.
    pattern = f"^(?:{'|'.join(map(re.escape, dict.fromkeys(others)))})$"
    return {"anyOf": [choice, {"type": "string", "pattern": pattern}]}


def described(schema: Json, annotation: Any) -> Json:
    """Return the schema of an annotation with what is written below the properties of its records, and without titles."""
    records = list(_records_of(annotation))
    schema = {key: value for key, value in schema.items() if key != "title"}
    if "items" in schema:
        return {**schema, "items": described(schema["items"], annotation)} if records else schema
    if "anyOf" in schema:
        return {**schema, "anyOf": [described(one, annotation) for one in schema["anyOf"]]}
    if "properties" not in schema:
        return schema
    own = bare(annotation)
    record = (
        own if own in records else next((one for one in records if _has(one, schema["properties"])), None)
    )
    properties = {key: _property(record, key, value) for key, value in schema["properties"].items()}
    return {**schema, "properties": properties}


def _has(record: type[Record], properties: Json) -> bool:
    return set(properties) <= {found.alias for found in record.model_fields.values()}


def _property(record: type[Record] | None, key: str, schema: Json) -> Json:
    plain = {name: value for name, value in schema.items() if name != "title"}
    if record is None:
        return plain
    found = next((one for one in record.model_fields.values() if one.alias == key), None)
    if found is None:
        return plain
    text = property_texts(record).get(found.name, "")
    plain = described(plain, found.annotation)
    return {**plain, "description": text} if text else plain


def records_of(annotation: Any) -> Iterator[type[Record]]:
    """Yield the records that a value of an annotation may have in it, outermost first."""
    for record in _records_of(annotation):
        yield record
        for found in record.model_fields.values():
            yield from records_of(found.annotation)


def _records_of(annotation: Any) -> Iterator[type[Record]]:
    annotation = bare(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Record) and annotation is not LogicalType:
        yield annotation
    elif get_origin(annotation) in (Union, UnionType, list, tuple, dict):
        for argument in get_args(annotation):
            yield from _records_of(argument)
