"""Types in the words of another system that YAML takes apart at a comma, a colon or a bracket.

Layer: manifest.
Shape: `{type: decimal(10,2)}` is for YAML the text `decimal(10` and a key `2)`; `list<item: int32>` and `timestamp[ns]`
inside braces are no YAML at all. Such a type is read as one text if its signs are veiled: each by one
character of the private use area, so that every place in the text stays what it was.
Only a text with mistakes is looked at in this way: it makes messages better, and nothing valid.
"""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from schemac.syntax.type_text import read_type

_VEIL = 0xE000
_VEILED = {sign: chr(_VEIL + sign) for sign in range(128) if not chr(sign).isalnum() and chr(sign) != "_"}
_UNVEILED = {ord(veiled): sign for sign, veiled in _VEILED.items()}
_CLOSING = {"(": ")", "<": ">", "[": "]", "{": "}"}
_SIGN = re.compile(r"[()<>\[\]{},\n]|\s#")
_FOLD = re.compile(
    f"[{_VEILED[9]}{_VEILED[13]}{_VEILED[32]}]*{_VEILED[10]}[{_VEILED[9]}{_VEILED[13]}{_VEILED[32]}]*"
)
"""A line end with the blanks around it, which YAML makes one blank."""
_LONGEST = 2_000
"""Code points of a type's text: each is looked through to its end."""
_MOST_LOOKS = 10
"""How often a code point is looked at, where what looks like a type never ends; the rest is left as it is."""


class Veiled(NamedTuple):
    """A text in which every type is one word for YAML."""

    content: str

    def unveil(self, value: Any) -> Any:
        """Return a value that was read from the text, as its author wrote it."""
        return _unveil(value, {})


def veil(content: str, keys: Iterable[str]) -> Veiled | None:
    """Return the text with its types made whole, where they are behind one of these keys; None if there are none."""
    if _is_veiled(content):
        return None
    names = "|".join(map(re.escape, sorted(keys)))
    start = re.compile(
        rf"""(?<![\w.-])(?:["'](?:{names})["']:\s*|(?:{names}):\s+)(?:\[\s*(?:["']?null["']?\s*,\s*)?)?(?=\w)""",
        re.IGNORECASE,
    )
    parts: list[str] = []
    at, looked_through = 0, 0
    for match in start.finditer(content):
        end = _end(content, match.end())
        looked_through += (end - match.end()) or _LONGEST
        if looked_through > _MOST_LOOKS * len(content):
            break
        written = content[match.end() : end]
        if match.end() < at or written.isidentifier() or read_type(written) is None:
            continue
        parts += (content[at : match.end()], written.translate(_VEILED))
        at = end
    return Veiled("".join((*parts, content[at:]))) if parts else None


def _end(content: str, start: int) -> int:
    """Where the text of a type ends: at a comma, a bracket or a line end that is not inside its own brackets."""
    open_: list[str] = []
    limit = min(len(content), start + _LONGEST)
    end = limit
    for match in _SIGN.finditer(content, start, limit):
        sign = match.group()
        if sign in _CLOSING:
            open_.append(_CLOSING[sign])
        elif open_ and sign == open_[-1]:
            open_.pop()
        elif not open_ or sign not in ",\n":
            end = match.start()
            break
    # What is not closed is no type, whatever it begins like.
    return start if open_ else start + len(content[start:end].rstrip())


def _is_veiled(content: str) -> bool:
    return not content.isascii() and any(chr(veiled) in content for veiled in _UNVEILED)


def _unveil(value: Any, done: dict[int, Any]) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else _FOLD.sub(" ", value).translate(_UNVEILED)
    if not isinstance(value, dict | list):
        return value
    # A value that several aliases stand for stays one value.
    if id(value) not in done:
        done[id(value)] = (
            {_unveil(key, done): _unveil(item, done) for key, item in value.items()}
            if isinstance(value, dict)
            else [_unveil(item, done) for item in value]
        )
    return done[id(value)]
