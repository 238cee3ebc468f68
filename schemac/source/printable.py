"""Text of others on a terminal: what it would obey is shown as its escape.

Layer: source.
Shape: control characters, lone surrogates, and the format characters that turn, hide or join what is next to them,
such as U+202E. The two joiners (U+200C, U+200D) stay: scripts and emoji are made with them, and they move nothing.
"""

import re

_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: str, *, keep: str = "") -> str:
    """Return the text without anything that a terminal obeys; `keep` may hold `\\n` and `\\t`."""
    if text.isprintable():
        return text
    return _UNSAFE.sub(lambda match: match[0] if match[0] in keep else escape(match[0]), text)


def json_printable(text: str) -> str:
    """JSON that says the same: where such a character is in it, it is in a text."""
    return _UNSAFE.sub(lambda match: match[0] if match[0] == "\n" else _json_escape(match[0]), text)


def _json_escape(character: str) -> str:
    """`\\u202e`; beyond the first plane two of them."""
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def pictured(text: str) -> str:
    """Return the same with one character for each, so that columns stay: for an excerpt above its underline."""
    if text.isprintable():
        return text
    return _UNSAFE.sub(lambda match: _picture(match[0]), text)


def escape(character: str) -> str:
    """`\\n`, `\x1b`, `\u202e`."""
    number = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    if number > 0xFFFF:
        return f"\\U{number:08x}"
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"


def _picture(character: str) -> str:
    if character == "\t":
        return character
    return chr(0x2400 + ord(character)) if ord(character) < 32 else "\ufffd"
