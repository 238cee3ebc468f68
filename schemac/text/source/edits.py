"""Fixes carried out on a text.

Layer: text.
Shape: of fixes that overlap, the first one counts; the others are found again where they are still needed. What is outside the edits
stays as it is, byte for byte.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from schemac.text.source.diagnostic import Edit, Fix
from schemac.text.source.span import Span
from schemac.text.source.text import SourceText


class Fixed(NamedTuple):
    """A text after fixes."""

    content: str
    fixes: tuple[Fix, ...]
    """Those that were carried out."""


def applied(source: SourceText, fixes: Iterable[Fix]) -> Fixed:
    """Return a text after those of these fixes that have an edit in it and do not overlap with an earlier one."""
    replaced: list[tuple[Span, str]] = []
    done: list[Fix] = []
    for fix in dict.fromkeys(fixes):
        edits = [(span_of(source, edit), edit.text) for edit in fix.edits]
        if any(edit.file != source.name for edit in fix.edits) or not edits:
            continue
        if any(_overlap(one, other) for one in edits for other in replaced):
            continue
        replaced += edits
        done.append(fix)
    content = source.content
    for span, text in sorted(replaced, reverse=True):
        content = content[: span.start] + with_line_ends(text, content) + content[span.end :]
    return Fixed(content, tuple(done))


def span_of(source: SourceText, edit: Edit) -> Span:
    """Return the offsets of an edit."""
    return Span(source.offset(edit.line, edit.column), source.offset(edit.end_line, edit.end_column))


def files_of(fixes: Iterable[Fix]) -> Sequence[str]:
    """Return the files that fixes change, each once."""
    return tuple(dict.fromkeys(edit.file for fix in fixes for edit in fix.edits))


def with_line_ends(text: str, content: str) -> str:
    """Return a text that goes into another one, with the line ends of that one."""
    return text.replace("\n", "\r\n") if "\n" in text and "\r\n" in content else text


def _overlap(one: tuple[Span, str], other: tuple[Span, str]) -> bool:
    """Whether two edits touch the same characters, or go to the same place; neighbours are not both taken out at once.

    Of two entries of a mapping each may go as long as the other one stays.
    """
    (a, text), (b, other_text) = one, other
    if not text and not other_text and (a.end == b.start or b.end == a.start):
        return True
    return a == b or (a.start < b.end and b.start < a.end)
