"""Items of completion: what an editor proposes at a cursor.

Layer: lsp.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from lsprotocol import types

from schemac.lsp.lines import is_plain


@dataclass(frozen=True)
class CompletionItem:
    """Something that can be written."""

    label: str
    text: str
    kind: types.CompletionItemKind
    detail: str = ""
    documentation: str = ""
    is_snippet: bool = False
    rank: int = 5
    """Sorts items; small ones come first."""
    filter: str = ""
    """What is typed to find it, where it is not the label."""


def plain(words: Iterable[str], kind: types.CompletionItemKind) -> Iterator[CompletionItem]:
    """Yield words that are values."""
    return (CompletionItem(word, yaml_text(word), kind, rank=2) for word in words)


def yaml_text(value: Any) -> str:
    """Return a value as a manifest writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and not is_plain(value):
        from schemac.manifest.write import scalar  # for start-up time: writing is rare

        return scalar(value)
    return str(value)


def named(words: Iterable[str], kind: types.CompletionItemKind) -> Iterator[CompletionItem]:
    """Yield words that are keys of a mapping."""
    return (CompletionItem(word, f"{yaml_text(word)}: ", kind, rank=2) for word in words)


@cache
def zones() -> tuple[str, ...]:
    """Return the names of time zones."""
    from zoneinfo import available_timezones  # for start-up time: few manifests name one

    return ("UTC", *sorted(available_timezones() - {"UTC"}))
