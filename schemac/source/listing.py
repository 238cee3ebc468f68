"""Words in a row, as a sentence has them.

Layer: source.
"""

from collections.abc import Sequence


def listed(words: Sequence[str], last: str = "and") -> str:
    """Return `a`, `a and b`, or `a, b and c`."""
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
