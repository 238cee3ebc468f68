"""Arrow metadata as attributes.

Layer: arrow.
Shape: an entry is an attribute where lowering that attribute would write the very same entry, or for an attribute of our own domains one
       with the same value; any other entry is kept as it is, in `arrow.apache.org/metadata`, so that nothing is lost.
Source: the inverse of `schemac.arrow.lower_metadata`.
"""

import json
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from pydantic import ValidationError

from schemac.arrow.form import forms
from schemac.arrow.lower_metadata import EXTENSION_METADATA, EXTENSION_NAME, compact, field_metadata
from schemac.attributes import arrow
from schemac.attributes.attribute import KEY_PATTERN
from schemac.attributes.own import TABLE_RECORD
from schemac.attributes.registry import DOMAINS, domain_of, known
from schemac.kinds.registry import BY_NAME
from schemac.source.json_object import Json

_KEY = re.compile(KEY_PATTERN)


def decoded(metadata: Mapping[bytes, bytes] | None) -> dict[str, str]:
    """pyarrow's metadata as text."""
    return {k.decode(errors="replace"): v.decode(errors="replace") for k, v in (metadata or {}).items()}


def is_text(content: bytes) -> bool:
    """Whether bytes are UTF-8."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


Note = Callable[[str], None]
"""Takes what cannot be said otherwise."""


def field_attributes(metadata: Mapping[str, str], kind: str, note: Note = lambda _: None) -> Json:
    """Return the attributes of a field with this metadata; one that does not fit the kind stays what it is, and is noted."""
    rest = dict(metadata)
    extra: Json = {}
    _take_extension(rest, extra)
    for form in forms().values():
        extra.update(form.lift_metadata(rest, kind, note))
    extra.update(_written_attributes(rest, kind, note))
    if rest:
        extra[arrow.METADATA.key] = rest
    return extra


def schema_attributes(metadata: Mapping[str, str], note: Note = lambda _: None) -> Json:
    """Return the attributes of a schema with this metadata, but not which locked version it is of."""
    rest = {key: text for key, text in metadata.items() if key not in TABLE_RECORD}
    extra = _written_attributes(rest, None, note)
    if rest:
        extra[arrow.METADATA.key] = rest
    return extra


def _written_attributes(rest: dict[str, str], kind: str | None, note: Note) -> Json:
    """Entries under an attribute's own key with JSON as value; without a kind, those of a schema."""
    extra: Json = {}
    for key, text in list(rest.items()):
        if not _KEY.fullmatch(key) or domain_of(key) == arrow.DOMAIN:
            continue
        value = _value(text, is_ours=known(key) is not None)
        if value is _NONE or not _is_sound(key, value, kind):
            if known(key) is not None:
                note(f"`{key}` in the metadata is not valid for {kind or 'a schema'}: {text}")
            continue
        extra[key] = value
        del rest[key]
    return extra


_NONE = object()


def _value(text: str, *, is_ours: bool) -> Any:
    """Return the value of a text that is JSON as we write it; of our own attributes, of any JSON that means the same when we write it."""
    try:
        value = json.loads(text)
        if _is_too_deep(value):
            return _NONE
        written = compact(value)
        if written != text and not (is_ours and _exact(text) == _exact(written)):
            return _NONE
    except (ValueError, RecursionError):
        return _NONE
    return value


def _exact(text: str) -> Any:
    """Read JSON with all digits. Raises ValueError if a key occurs twice."""
    return json.loads(text, parse_float=Decimal, object_pairs_hook=_distinct)


def _distinct(pairs: list[tuple[str, Any]]) -> Json:
    distinct = dict(pairs)
    if len(distinct) < len(pairs):
        raise ValueError
    return distinct


_DEEPEST = 100
"""Levels of a value that is taken for an attribute; deeper ones stay the texts that they are."""


def _is_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True


def _is_sound(key: str, value: Any, kind: str | None) -> bool:
    attribute = known(key)
    if attribute is None:
        return domain_of(key) not in DOMAINS
    if not (attribute.on_schema if kind is None else attribute.on_field):
        return False
    if attribute.fits is not None and kind is not None and BY_NAME[kind].family not in attribute.fits:
        return False
    try:
        attribute.typed(value)
    except ValidationError:
        return False
    # Some attributes of fields do not travel under their own keys.
    return kind is None or key in field_metadata({key: value})


def _take_extension(rest: dict[str, str], extra: Json) -> None:
    name = rest.pop(EXTENSION_NAME, None)
    if name is not None:
        metadata = rest.pop(EXTENSION_METADATA, None)
        extra[arrow.EXTENSION_TYPE.key] = {
            "name": name,
            **({} if metadata is None else {"metadata": metadata}),
        }
