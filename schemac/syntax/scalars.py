"""What a plain scalar means.

Layer: syntax.
Source: YAML 1.2.2, section 10.3.2 (core schema). So `no`, `on`, `2020-01-01` and `12:30` are strings, `010` is ten.
"""

import re

Scalar = str | int | float | bool | None
YamlValue = Scalar | list["YamlValue"] | dict[str, "YamlValue"]
"""What a YAML document holds, as plain Python values."""

_WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NUMBER_STARTS = frozenset("+-.0123456789")
_LONGEST_INTEGER = 400
"""Digits. Longer ones stay strings: Python refuses to read them, and no number of a schema is that long."""


def resolve(text: str) -> Scalar:
    """Return the value of an unquoted, untagged scalar."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_STARTS or len(text) > _LONGEST_INTEGER:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _OCTAL.fullmatch(text):
        return int(text[2:], 8)
    if _HEXADECIMAL.fullmatch(text):
        return int(text[2:], 16)
    return text
