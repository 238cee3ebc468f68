"""What happens to values of each form in a field, determined by the validator itself.

Layer: rows.
Shape: a reader of a field in, and texts as records have them: the groups of those of which the same becomes out.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import pyarrow as pa

from schemac.rows.judging.arrays import is_list, is_scalar
from schemac.rows.judging.judge import Reader, Run

NUMBERS = (
    "0",
    "12",
    "-1",
    "12.0",
    "12.5",
    "5e3",
    "300",
    "70000",
    "3000000000",
    "1e20",
    "1e400",
    "0.123456789012345678901",
)
"""Numbers at and beyond the bounds of most types."""
TEXTS = (
    "text", "", "12", "true", "2024-01-31", "2024-01-31T10:00:00", "2024-01-31T10:00:00.123456789Z", "2024-01-31 10:00:00+02:00", "0000-01-01", "0000-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999999Z", "10:00:00", "10:00:00.123456789", "AAE=", "00112233-4455-6677-8899-aabbccddeeff",
)  # fmt: skip
OTHERS = ("null", "true", "[]", "{}")
_WITH_PARTS = ("[12]", '["text"]', "[null]", '{"a": 12}', '{"a": null}')


@dataclass(frozen=True)
class Outcome:
    """What becomes of some texts: they are `taken`, are `null`, or break a rule."""

    name: str
    texts: tuple[str, ...]
    words: str = ""
    """Why these texts break the rule, where that is said."""

    def __str__(self) -> str:
        """`range (not from -128 to 127): 300, 70000`."""
        words = f" ({self.words})" if self.words else ""
        return f"{self.name}{words}: {', '.join(self.texts)}"


def tokens_of(member: pa.Field) -> tuple[str, ...]:
    """Return tokens of JSON that show what a field takes."""
    strings = tuple(json.dumps(text) for text in TEXTS)
    if is_scalar(member):
        return (*OTHERS, *NUMBERS, *strings)
    lists = ("[12, 12, 12]",) if is_list(member.type) else ()
    return (*OTHERS, "12", '"text"', *_WITH_PARTS, *lists)


def outcomes(texts: Iterable[str], value_of: Callable[[str], object], read: Reader) -> tuple[Outcome, ...]:
    """Group texts by what becomes of them, and why, those that are taken first."""
    groups: dict[tuple[str, str], list[str]] = {("taken", ""): [], ("null", ""): []}
    for text in texts:
        run = Run()
        name, words = "null" if read(value_of(text), "", run) is None else "taken", ""
        if run.reasons:
            name, words = run.reasons[0].rule.partition(":")[0], run.message
        groups.setdefault((name, words), []).append(text)
    return tuple(Outcome(name, tuple(texts), words) for (name, words), texts in groups.items() if texts)
