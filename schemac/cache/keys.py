"""Keys of entries: the digest of everything that an entry depends on.

Layer: cache.
Shape: what an entry depends on is a frozen value, such as a dataclass, and all of its fields are in the key. A field with
`compare=False` is not: it holds what another field decides, or what is keyed by what is read.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from hashlib import sha256

SIZE = 16
"""Bytes of a key."""


class Keys:
    """The keys of entries that share these values."""

    def __init__(self, *shared: object) -> None:
        self._start = sha256(b"".join(map(_framed, shared)))

    def key(self, *values: object) -> bytes:
        """Return the key of one entry; other values give another key, however they are cut. Raises TypeError."""
        start = self._start.copy()
        start.update(b"".join(map(_framed, values)))
        return start.digest()[:SIZE]


def digest(*values: object) -> bytes:
    """Return the digest of frozen values with all their fields. Raises TypeError for a value that has none."""
    return Keys().key(*values)


def _framed(value: object) -> bytes:
    """Return a value with its type and length before it, so that no two values are the same bytes."""
    sort = b"s"
    if isinstance(value, str):
        content = value.encode("utf-8", "surrogatepass")
    elif isinstance(value, bytes):
        sort, content = b"b", value
    elif value is None or isinstance(value, bool | int | float):
        sort, content = type(value).__name__.encode(), repr(value).encode()
    elif isinstance(value, Mapping):
        sort, content = b"m", b"".join(sorted(map(_framed, value.items())))
    elif isinstance(value, AbstractSet):
        sort, content = b"u", b"".join(sorted(map(_framed, value)))
    elif isinstance(value, tuple | list):
        sort, content = b"l", b"".join(map(_framed, value))
    elif is_dataclass(value) and not isinstance(value, type):
        compared = ((field.name, getattr(value, field.name)) for field in fields(value) if field.compare)
        sort, content = b"d", b"".join(map(_framed, compared))
    else:
        raise TypeError(f"a {type(value).__name__} has no digest")
    return b"%s%d\n%s" % (sort, len(content), content)
