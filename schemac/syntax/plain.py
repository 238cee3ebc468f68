"""Texts that need no quotes.

Layer: syntax.
Source: YAML 1.2.2, sections 6.9 and 7.3.3; and what readers of YAML 1.1 take for something else than a text: old booleans, dates,
numbers to base 60, with underscores or other prefixes.
"""

import re

from schemac.source.help import quoted
from schemac.syntax.scalars import resolve

_START = re.compile(r"[^\s\-?:,\[\]{}#&*!|>'\"%@`=<~.0-9+]")
_NUMBER_LIKE = re.compile(r"[-+.]?[0-9][0-9_,:.eExXoObBa-fA-FTtZz+\- ]*|[-+]?\.(?:inf|nan)", re.IGNORECASE)
_OLD_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "null", "true", "false"})


def is_plain(text: str, *, is_in_flow: bool) -> bool:
    """Whether every reader of YAML takes an unquoted text for this text."""
    if not text or text != text.strip() or not text.isprintable() or text.lower() in _OLD_WORDS:
        return False
    if _START.match(text) is None and not (text[0].isdigit() or text[0] in "./"):
        return False
    if ": " in text or " #" in text or text.endswith(":") or _NUMBER_LIKE.fullmatch(text):
        return False
    if is_in_flow and any(character in ",[]{}:?" for character in text):
        return False
    return resolve(text) == text and text not in ("---", "...")


def written(text: str, *, is_in_flow: bool = True) -> str:
    """Return a text of printable characters as a scalar, with quotes where it needs them."""
    return text if is_plain(text, is_in_flow=is_in_flow) else quoted(text)
