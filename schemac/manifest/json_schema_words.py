"""Words and descriptions in the JSON Schemas of manifests.

Layer: manifest.
"""

import re
from collections.abc import Iterable
from typing import Any

from pydantic import TypeAdapter

from schemac.attributes.attribute import spellings
from schemac.source.json_object import Json


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


def json_schema(annotation: Any) -> Json:
    """Return the JSON Schema of what an annotation accepts, without titles, which only repeat names."""
    schema: Json = _without_titles(TypeAdapter(annotation).json_schema(by_alias=True))
    return schema


def _without_titles(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_titles(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _without_titles(item)
        for key, item in value.items()
        if key != "title" or not isinstance(item, str)
    }
