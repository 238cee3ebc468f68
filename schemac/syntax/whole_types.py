"""Events of a text in which each type in the words of another system is one scalar, also where YAML takes it apart.

Layer: syntax.
Shape: `{type: decimal(10,2)}` is for YAML the text `decimal(10` and a key `2)`; `list<item: int32>` and `timestamp[ns]`
inside braces are no YAML at all. So the parser reads each sign of such a type as one character of the private use area, which keeps all
offsets, and the scalars of its events have the signs again.
Only a text with mistakes is read in this way: it makes messages better, and nothing valid.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from ruamel.yaml.events import ScalarEvent

from schemac.syntax.events import EventSource, fast_events, pure_events
from schemac.syntax.type_text import read_type

_PRIVATE = {sign: chr(0xE000 + sign) for sign in range(128) if not chr(sign).isalnum() and chr(sign) != "_"}
_SIGNS = {ord(private): sign for sign, private in _PRIVATE.items()}
_CLOSING = {"(": ")", "<": ">", "[": "]", "{": "}"}
_SIGN = re.compile(r"[()<>\[\]{},\n]|\s#")
_FOLD = re.compile(
    f"[{_PRIVATE[9]}{_PRIVATE[13]}{_PRIVATE[32]}]*{_PRIVATE[10]}[{_PRIVATE[9]}{_PRIVATE[13]}{_PRIVATE[32]}]*"
)
"""A line end with the blanks around it, which YAML makes one blank."""
_LONGEST = 2_000
"""Code points of a type's text: each is looked through to its end."""
_MOST_LOOKS = 10
"""How often a code point is looked at, where what looks like a type never ends; the rest is left as it is."""


@cache
def whole_types(keys: frozenset[str]) -> tuple[EventSource, EventSource]:
    """Return the sources, quick and exact, of events with whole types behind these keys."""

    def source_over(events: EventSource) -> EventSource:
        def source(content: str) -> Callable[[], Any]:
            next_event = events(_with_private_signs(content, keys) or content)

            def next_whole_event() -> Any:
                event = next_event()
                if event.__class__ is ScalarEvent and not event.value.isascii():
                    event.value = _FOLD.sub(" ", event.value).translate(_SIGNS)
                return event

            return next_whole_event

        return source

    return source_over(fast_events), source_over(pure_events)


def has_split_types(content: str, keys: frozenset[str]) -> bool:
    """Whether a text has types behind these keys that are more than a name."""
    return _with_private_signs(content, keys) is not None


def _with_private_signs(content: str, keys: Iterable[str]) -> str | None:
    """Return the text with its types as one word for YAML; None where there are none."""
    if not content.isascii() and any(chr(private) in content for private in _SIGNS):
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
        parts += (content[at : match.end()], written.translate(_PRIVATE))
        at = end
    return "".join((*parts, content[at:])) if parts else None


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
