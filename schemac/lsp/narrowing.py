"""The edited part of a large manifest, which is checked first.

Layer: lsp.
Shape: a manifest in which all fields but the edited ones are blank lines keeps every location, and takes as long to
check as the remaining fields. Findings in these fields are shown until the whole manifest was checked.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from schemac.lsp.flow_cursor import entries_of, indent_of, is_content, is_document_start
from schemac.text.source.diagnostic import Diagnostic, Label

LEAST_FIELDS = 40
"""Fields of a list from which on a part of it is checked first."""


class Narrowed(NamedTuple):
    """A manifest with the edited fields alone."""

    text: str
    first: int
    """The first line that is left of the list, zero-based."""
    end: int
    """The line behind them."""


class Edited(NamedTuple):
    """The lines that differ between two texts."""

    first: int
    """The first one, in both."""
    old_end: int
    new_end: int


def edited_lines(old: Sequence[str], new: Sequence[str]) -> Edited:
    """Return where two texts differ, from the first line to the last one."""
    first = _equal(old, new)
    rest = min(len(old), len(new)) - first
    same = _equal_from_end(old, new, rest)
    return Edited(first, len(old) - same, len(new) - same)


def _equal(old: Sequence[str], new: Sequence[str]) -> int:
    """Return how many lines are equal at the start."""
    least = min(len(old), len(new))
    low, step = 0, 1024
    while low < least and old[low : low + step] == new[low : low + step]:
        low += step
    low = min(low, least)
    while low < least and old[low] == new[low]:
        low += 1
    return low


def _equal_from_end(old: Sequence[str], new: Sequence[str], most: int) -> int:
    count, step = 0, 1024
    while (
        count + step <= most
        and old[len(old) - count - step : len(old) - count]
        == (new[len(new) - count - step : len(new) - count])
    ):
        count += step
    while count < most and old[len(old) - count - 1] == new[len(new) - count - 1]:
        count += 1
    return count


def narrowed(lines: Sequence[str], edited: Edited) -> Narrowed | None:
    """Return a text with the edited fields alone; None if the edit is not inside of a long list of fields."""
    first = min(edited.first, len(lines) - 1)
    for start in _lists_above(lines, first):
        part = _within(lines, start, edited)
        if part is not None:
            return part
    return None


def _lists_above(lines: Sequence[str], line: int) -> list[int]:
    """Return the lines with `fields:` above a line, outermost first."""
    line_numbers = []
    for number in range(line - 1, -1, -1):
        text = lines[number]
        if text.startswith(("---", "...")) and is_document_start(text):
            break
        if "fields:" in text and text.lstrip(" -").startswith("fields:"):
            entries = entries_of(text)
            is_block = not text.split("fields:", 1)[1].split("#")[0].strip()
            if entries and entries[-1].name == "fields" and is_block:
                line_numbers.append(number)
    return line_numbers[::-1]


def _within(lines: Sequence[str], start: int, edited: Edited) -> Narrowed | None:
    column = next((indent_of(line) for line in lines[start + 1 :] if is_content(line)), -1)
    (*_, key) = entries_of(lines[start])
    if column < key.column:
        return None
    dash, inside = " " * column + "- ", " " * (column + 1)
    items: list[int] = []
    end = len(lines)
    for number in range(start + 1, len(lines)):
        line = lines[number]
        if line.startswith(inside):
            continue
        if line.startswith(dash) or line == dash[:-1]:
            items.append(number)
        elif is_content(line) and (indent_of(line) <= column or is_document_start(line)):
            end = number
            break
    last = max(edited.first, edited.new_end - 1)
    if len(items) < LEAST_FIELDS or not (items[0] <= edited.first and last < end):
        return None
    first = max(number for number in items if number <= edited.first)
    after = next((number for number in items if number > last), end)
    remaining_lines = [
        *lines[: start + 1],
        *[""] * (first - start - 1),
        *lines[first:after],
        *[""] * (end - after),
        *lines[end:],
    ]
    return Narrowed("\n".join(remaining_lines), first, after)


def merged(
    former: Sequence[Diagnostic], now: Sequence[Diagnostic], file: str, edited: Edited, part: Narrowed
) -> list[Diagnostic]:
    """Return the findings about a file after an edit: those of its edited fields, and those that were elsewhere before it."""
    by = edited.new_end - edited.old_end
    remaining = [moved for d in former if (moved := _moved(d, file, edited, by)) is not None]
    outside = [d for d in remaining if not (d.file == file and part.first < d.line <= part.end)]
    return [*outside, *(d for d in now if d.file == file and part.first < d.line <= part.end)]


def _moved(diagnostic: Diagnostic, file: str, edited: Edited, by: int) -> Diagnostic | None:
    if diagnostic.labels:
        diagnostic = replace(
            diagnostic, labels=tuple(_moved_label(label, file, edited, by) for label in diagnostic.labels)
        )
    if diagnostic.file != file or diagnostic.line <= edited.first:
        return diagnostic
    if diagnostic.line <= edited.old_end:
        return None
    return replace(diagnostic, line=diagnostic.line + by, end_line=diagnostic.end_line + by, fix=None)


def _moved_label(label: Label, file: str, edited: Edited, by: int) -> Label:
    if label.file != file or label.line <= edited.old_end:
        return label
    return replace(label, line=label.line + by, end_line=label.end_line + by)
