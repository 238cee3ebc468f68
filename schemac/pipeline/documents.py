"""Splits JSON documents (an array, a feature collection, values one after the other) into the texts of their records.

Layer: pipeline.
Shape: each text is cut out of the document as it stands there. Whatever is no JSON becomes a record of its own, so that the
       run accounts for it; reading goes on behind it where that is certain. A document may follow another one.
"""

import json
import re
from collections.abc import Generator, Iterator

BLANK = re.compile(r"[ \t\r\n]*")
BETWEEN = re.compile(r"[ \t\r\n,]*")
TOKEN = re.compile(r'"(?:[^"\\\r\n]|\\.)*+"|["\[\]{},\n]')
_decoder = json.JSONDecoder(parse_int=lambda text: text, parse_float=lambda text: text)

Cut = Generator[str, None, int]
"""Texts of records; at the end, where the next one starts."""


def split_records(text: str, member: str | None = None) -> Iterator[str]:
    """Cut a document into the texts of its records: its items, or those of the array of one of its members.

    >>> list(split_records('[{"a": 1.10}, {"b": [2]}]'))
    ['{"a": 1.10}', '{"b": [2]}']
    >>> list(split_records('[{"a": 1}] {"b": 2}, x'))
    ['{"a": 1}', '{"b": 2}', 'x']
    """
    position = _end_of(BETWEEN, text, 0)
    while position < len(text):
        if text[position] == "[":
            position = yield from _items(text, position + 1)
        elif text[position] == "{" and member is not None:
            position = yield from _collection(text, position, member)
        else:
            position = yield from _record(text, position)
        position = _end_of(BETWEEN, text, position)


def _items(text: str, position: int) -> Cut:
    is_broken = False
    while True:
        position = _end_of(BETWEEN, text, position)
        if position >= len(text):
            if not is_broken:
                # The array has no end: what it held more is not there, which a reader of the quarantine has to see.
                yield ""
            return position
        if text[position] == "]":
            return position + 1
        end, is_broken = _end_of_record(text, position)
        yield text[position:end].rstrip()
        position = end


def _record(text: str, position: int) -> Cut:
    end, _ = _end_of_record(text, position)
    yield text[position:end].rstrip()
    return end


def _end_of_record(text: str, position: int) -> tuple[int, bool]:
    """Where a record ends, and whether it is no JSON."""
    try:
        return _decoder.raw_decode(text, position)[1], False
    except (ValueError, RecursionError):
        return _end_of_broken(text, position), True


def _collection(text: str, start: int, member: str) -> Cut:
    """Cut out the items of a member's array; the object itself where it has no such member, as a single feature."""
    is_found = False
    position = _end_of(BETWEEN, text, start + 1)
    try:
        while text[position : position + 1] == '"':
            key, position = _decoder.raw_decode(text, position)
            position = _end_of(BLANK, text, position)
            if text[position : position + 1] != ":":
                break
            position = _end_of(BLANK, text, position + 1)
            if key == member and text[position : position + 1] == "[":
                is_found = True
                position = yield from _items(text, position + 1)
            else:
                _, position = _decoder.raw_decode(text, position)
            position = _end_of(BETWEEN, text, position)
    except (ValueError, RecursionError):
        pass
    if text[position : position + 1] == "}":
        if not is_found:
            yield text[start : position + 1]
        return position + 1
    if not is_found:
        return (yield from _record(text, start))
    if position < len(text):
        yield text[position:]
    return len(text)


def _end_of_broken(text: str, start: int) -> int:
    """Where a record ends that is no JSON: behind its last bracket, or before the line on which the next one starts."""
    depth = 0
    for found in TOKEN.finditer(text, start):
        mark = found[0]
        if mark == '"':
            break
        if mark in "[{":
            depth += 1
        elif mark in "]}":
            depth -= 1
            if depth <= 0:
                return found.end() if depth == 0 else max(found.start(), start + 1)
        elif mark in ",\n" and depth == 0 and found.start() > start:
            return found.start()
    line = text.rfind("\n", 0, start) + 1
    indent = re.escape(text[line:start]) if not text[line:start].strip() else ""
    following = re.compile(rf"\n(?={indent}\{{)").search(text, start)
    return following.end() if following else len(text)


def _end_of(blank: re.Pattern[str], text: str, position: int) -> int:
    found = blank.match(text, position)
    return position if found is None else found.end()
