"""Keys of entries.

Layer: cache.
"""

from hashlib import sha256

SIZE = 16
"""Bytes of a key."""

Part = str | bytes | bool | int | None
"""What a key is made of."""


class Keys:
    """The keys of what is found under the same conditions: the first parts are those that all of them share."""

    def __init__(self, *shared: Part) -> None:
        self._start = sha256(_framed(shared))

    def key(self, *parts: Part) -> bytes:
        """Return the key of one entry; other parts give another key, however they are cut."""
        start = self._start.copy()
        start.update(_framed(parts))
        return start.digest()[:SIZE]


def _framed(parts: tuple[Part, ...]) -> bytes:
    """Return parts with their type and length before each, so that no two lists of parts are the same bytes."""
    framed: list[bytes] = []
    for part in parts:
        content = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
        framed += (b"%c%d\n" % (_SORTS[type(part)], len(content)), content)
    return b"".join(framed)


_SORTS = {str: b"s", bytes: b"b", bool: b"t", int: b"i", type(None): b"n"}
