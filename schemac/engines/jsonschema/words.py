"""The keywords for types without parts, and the type that keywords say.

Layer: engines.
Shape: a schema as JSON, with numbers that have a fraction as `Decimal`, so that no digit is lost when it is written.
Source: JSON Schema 2020-12, "Validation", 6 and 7. A `format` stands only where each text of the pattern has it: `date-time` needs
seconds and an offset, which a pipeline does not, so a validator that checks formats would refuse what is taken.
"""

import re
from collections.abc import Mapping
from decimal import Context, Decimal
from json.encoder import encode_basestring
from typing import Any

from schemac.engines import json_values
from schemac.source.json_object import Json

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TYPE = "schemac.dev/type"
"""The keyword for the type of a manifest, where the standard's keywords do not tell it."""
ANY_JSON: Json = {"type": ["object", "array", "string", "number", "boolean"]}
"""Everything but null."""
_EXACT = Context(prec=200)
_INTEGERS = {
    json_values.integer_bounds(bits, is_signed=is_signed): f"{'' if is_signed else 'U'}Int{bits}"
    for bits in (8, 16, 32, 64)
    for is_signed in (True, False)
}
_BASE64_LENGTH = re.compile(r"\^\[A-Za-z0-9\+/\]\{([0-9]+)\}(={0,2})\$")


def integer(bits: int, *, is_signed: bool) -> Json:
    """Return the schema of integers."""
    lowest, highest = json_values.integer_bounds(bits, is_signed=is_signed)
    return {"type": "integer", "minimum": lowest, "maximum": highest}


def floating(bits: int) -> Json:
    """Return the schema of floats; those that round to infinity are none."""
    limit = json_values.FLOAT_LIMITS.get(bits)
    if limit is not None:
        return {"type": "number", "exclusiveMinimum": limit.copy_negate(), "exclusiveMaximum": limit}
    return {
        "type": "number",
        "minimum": -json_values.LARGEST_DOUBLE,
        "maximum": json_values.LARGEST_DOUBLE,
    }


def decimal(precision: int, scale: int) -> Json:
    """Return the schema of decimals."""
    step = Decimal(1).scaleb(-scale)
    largest = Decimal(10**precision - 1).scaleb(-scale, _EXACT)
    return {"type": "number", "multipleOf": step, "minimum": largest.copy_negate(), "maximum": largest}


def text(pattern: str, **more: str) -> Json:
    """Return the schema of texts that are of a form as a whole."""
    return {"type": "string", **more, "pattern": f"^(?:{pattern})$" if "|" in pattern else f"^{pattern}$"}


def binary(length: int | None = None) -> Json:
    """Return the schema of binaries in base64."""
    return text(json_values.base64(length), contentEncoding="base64")


def date() -> Json:
    """Return the schema of days."""
    return text(json_values.DATE, format="date")


def timestamp(unit: str, *, takes_zone: bool, needs_zone: bool) -> Json:
    """Return the schema of timestamps in one of Arrow's units."""
    pattern = json_values.timestamp(unit, takes_zone=takes_zone, needs_zone=needs_zone)
    return text(pattern)


def time_of_day(unit: str) -> Json:
    """Return the schema of times of day in one of Arrow's units."""
    return text(json_values.time_of_day(unit))


def uuid() -> Json:
    """Return the schema of UUIDs."""
    return text(json_values.UUID, format="uuid")


def leaf(schema: Mapping[str, Any]) -> tuple[Json, frozenset[str]] | None:
    """Return the type that the standard's keywords say, and which keywords say it; None if there are none for a leaf.

    Keywords that narrow the type further are not among them.
    """
    match schema.get("type"):
        case "boolean":
            return {"kind": "Bool"}, frozenset({"type"})
        case "null":
            return {"kind": "Null"}, frozenset({"type"})
        case "integer":
            bounds = (schema.get("minimum"), schema.get("maximum"))
            kind = _INTEGERS.get(bounds)  # type: ignore[arg-type]
            keywords = frozenset({"type", "minimum", "maximum"}) if kind else frozenset({"type"})
            return {"kind": kind or "Int64"}, keywords
        case "number":
            return _number(schema)
        case "string":
            return _string(schema)
    return None


def _number(schema: Mapping[str, Any]) -> tuple[Json, frozenset[str]]:
    for kind, bits in (("Float16", 16), ("Float32", 32), ("Float64", 64)):
        words = floating(bits)
        if _has(schema, words):
            return {"kind": kind}, frozenset(words)
    step, highest = schema.get("multipleOf"), schema.get("maximum")
    if isinstance(step, int | Decimal) and isinstance(highest, int | Decimal):
        exact = Decimal(step)
        scale = -exact.adjusted()
        precision = (Decimal(highest).adjusted() if highest else 0) + scale + 1
        if 0 < precision <= 76 and -76 <= scale <= 76 and _has(schema, decimal(precision, scale)):
            tree = {"kind": "Decimal", "precision": precision, "scale": scale}
            return tree, frozenset({"type", "multipleOf", "minimum", "maximum"})
    return {"kind": "Float64"}, frozenset({"type"})


def _string(schema: Mapping[str, Any]) -> tuple[Json, frozenset[str]]:
    formats = frozenset({"type", "format"})
    for format, words, tree in (
        ("date", date(), {"kind": "Date"}),
        (
            "uuid",
            uuid(),
            json_values.UUID_TYPE,
        ),
    ):
        if schema.get("format") == format:
            return tree, frozenset(words) if _has(schema, words) else formats
    if schema.get("format") == "date-time":
        return {"kind": "Timestamp", "unit": "Microsecond"}, formats
    if schema.get("contentEncoding") == "base64":
        return _base64(schema)
    return {"kind": "String"}, frozenset({"type"})


def _base64(schema: Mapping[str, Any]) -> tuple[Json, frozenset[str]]:
    keywords = frozenset({"type", "contentEncoding"})
    pattern = str(schema.get("pattern"))
    fixed = _BASE64_LENGTH.fullmatch(pattern)
    if fixed is not None and (int(fixed[1]) + len(fixed[2])) % 4 == 0:
        length = (int(fixed[1]) + len(fixed[2])) // 4 * 3 - len(fixed[2])
        return {"kind": "Binary", "fixedLength": length}, keywords | {"pattern"}
    return {"kind": "Binary"}, keywords | {"pattern"} if pattern == binary()["pattern"] else keywords


def _has(schema: Mapping[str, Any], words: Json) -> bool:
    return all(key in schema and _is_same(schema[key], value) for key, value in words.items())


def _is_same(value: Any, word: Any) -> bool:
    """Compare a value of a document with a word of ours; a float of ours is written with the digits that tell it."""
    if isinstance(word, float) and isinstance(value, int | Decimal):
        return nearest_float(value) == word
    return bool(value == word)


def nearest_float(value: float | Decimal) -> float:
    """Return the nearest float, which is infinite for a number without one."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def dump(value: Any, indent: str = "") -> str:
    """Return JSON with two blanks a level, and decimals digit by digit, which the library cannot write."""
    below = f"{indent}  "
    if isinstance(value, dict):
        members = [f"{below}{encode_basestring(key)}: {dump(item, below)}" for key, item in value.items()]
        return "{\n" + ",\n".join(members) + f"\n{indent}}}" if members else "{}"
    if isinstance(value, list):
        items = [dump(item, below) for item in value]
        is_short = not any(isinstance(item, dict | list) for item in value)
        if is_short:
            return f"[{', '.join(items)}]"
        return "[\n" + ",\n".join(f"{below}{item}" for item in items) + f"\n{indent}]"
    if isinstance(value, str):
        return encode_basestring(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"{value:f}" if isinstance(value, Decimal) else repr(value)
