"""Manifests with one fault each, derived mechanically from sound ones.

Shape: a mutation replaces the text at one span; the fault lies in the node that this span belongs to.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from schemac.text.source.diagnostics import Report, SourceText, Span
from schemac.text.source.json_object import TreePath
from schemac.text.syntax.document import Document, parse


class Mutant(NamedTuple):
    """A text with one fault."""

    text: str
    fault: str
    """What was done, for the reader of a failing test."""
    node: Span
    """Where the fault lies in the new text."""
    right_word: str
    """For a slip of the pen: what was written before; else empty."""


_WORDS_AT = {
    "kind",
    "unit",
    "type",
    "inner",
    "itemType",
    "keyType",
    "valueType",
    "indexType",
    "format",
    "compression",
}
_REQUIRED = {
    "name",
    "type",
    "precision",
    "scale",
    "itemType",
    "keyType",
    "valueType",
    "inner",
    "fields",
    "schema",
    "position",
}
_SORTS = {
    "fields": "12",
    "precision": "many",
    "scale": "[1]",
    "fixedLength": "{}",
    "timezone": "[UTC]",
    "keysSorted": "maybe",
    "extra": "[]",
    "unit": "3",
    "type": "7",
    "bitWidth": "wide",
    "offsetBitWidth": "{}",
    "position": "first",
}


def mutants(text: str) -> Iterator[Mutant]:
    """Every mutant of a manifest's text."""
    for document in parse(SourceText(text), Report()):
        yield from _in_value(document, document.value, ())


def _in_value(document: Document, value: Any, path: TreePath) -> Iterator[Mutant]:
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from _in_value(document, item, (*path, i))
    if not isinstance(value, dict):
        return
    for key, item in value.items():
        place = (*path, key)
        is_ours = path == () or not _is_foreign(path)
        if is_ours:
            yield from _in_key(document, key, place, value)
        yield from _in_value(document, item, place)


def _is_foreign(path: TreePath) -> bool:
    """Whether a path leads into a value of an attribute, or an event, that nobody checks."""
    if "read" in path and "schema" not in path[path.index("read") :]:
        return True
    if any(step in path for step in ("attachments", "fetch", "merge", "keywords")):
        return True
    keys = [step for step in path if isinstance(step, str) and "/" in step]
    return any(key.startswith(("example.com", "my-domain", "c.com", "x/", "a.com", "b.com")) for key in keys)


def _in_key(document: Document, key: str, place: TreePath, holder: dict[str, Any]) -> Iterator[Mutant]:
    item, span = holder[key], document.span(place)
    key_span = document.key_span(place)
    is_attribute = "/" in key
    if _is_checked_event(holder) and not (is_attribute and key.partition("/")[0] in _FOREIGN):
        for slip, wrong in _slips(key.rpartition("/")[2]):
            yield _replace(
                document, key_span, key.rpartition("/")[0] + "/" * is_attribute + wrong, f"{slip} in key", key
            )
    if key in _WORDS_AT and isinstance(item, str) and _is_checked_word(key, item, holder):
        for slip, wrong in _slips(item):
            yield _replace(document, span, wrong, f"{slip} in word", item)
    if key in _SORTS and _is_checked_event(holder):
        yield _replace(document, span, _SORTS[key], f"wrong sort of {key}", "")
    if key in _REQUIRED and _is_checked_event(holder) and _needs(key, holder):
        yield from _without(document, key, place)


_FOREIGN = {"example.com", "a.com", "b.com", "c.com", "x", "my-domain.example", "opendatafabric.net"}
_OTHER_EVENTS = {
    "SetInfo",
    "SetVocab",
    "Seed",
    "SetAttachments",
    "SetLicense",
    "SetPollingSource",
    "AddPushSource",
}


def _is_checked_event(holder: dict[str, Any]) -> bool:
    return holder.get("kind") not in (*_OTHER_EVENTS, "Csv", "NdJson", "Embedded", "Url", "Append")


def _is_checked_word(key: str, item: str, holder: dict[str, Any]) -> bool:
    return item.isalnum() and not (
        holder.get("kind") in ("Csv", "NdJson", "Embedded", "Url", "Append") and key == "kind"
    )


def _needs(key: str, holder: dict[str, Any]) -> bool:
    """Whether a mapping cannot do without a key."""
    if key == "name":
        return "type" in holder
    if key in ("type", "fields", "schema"):
        return key != "type" or "name" in holder
    return key != "position"


def _slips(word: str) -> Iterator[tuple[str, str]]:
    """A word with a letter left out, doubled, swapped with its neighbour, and mistaken, in its middle."""
    if len(word) < 4 or not word.isascii():
        return
    middle = len(word) // 2
    yield "letter left out", word[:middle] + word[middle + 1 :]
    yield "letter doubled", word[:middle] + word[middle] + word[middle:]
    if word[middle - 1] != word[middle]:
        yield "letters swapped", word[: middle - 1] + word[middle] + word[middle - 1] + word[middle + 1 :]
    yield "letter mistaken", word[:middle] + ("x" if word[middle] != "x" else "y") + word[middle + 1 :]


def _replace(document: Document, span: Span, new: str, fault: str, right_word: str) -> Mutant:
    text = document.source.content
    return Mutant(
        text[: span.start] + new + text[span.end :],
        fault,
        Span(span.start, span.start + len(new)),
        right_word,
    )


def _without(document: Document, key: str, place: TreePath) -> Iterator[Mutant]:
    """The text without a property; the fault lies in the mapping that it is missing from."""
    text = document.source.content
    start, end = document.key_span(place).start, document.span(place).end
    holder = document.span(place[:-1])
    after = text[end:]
    if after.startswith(", "):
        end += 2
    elif text[:start].endswith(", ") and after.startswith("}"):
        start -= 2
    elif after.startswith("\n") and text[:start].endswith(
        "\n" + " " * (start - text.rfind("\n", 0, start) - 1)
    ):
        # A property on lines of its own goes with its line end.
        start = text.rfind("\n", 0, start)
    else:
        return
    cut = text[:start] + text[end:]
    yield Mutant(
        cut, f"without {key}", Span(holder.start, max(holder.start + 1, holder.end - (end - start))), ""
    )
