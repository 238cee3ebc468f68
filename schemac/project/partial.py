"""Two versions of a manifest, as far as they differ.

Layer: project.
Shape: the columns of a manifest in block style are pieces of its text. Pieces that both versions have are left blank in
both, so that only the others are compiled, and all lines keep their numbers. One stays, for a list without items is
none. Whoever asks compiles the whole where this gives None, or a finding.
"""

import re
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from schemac.evolution.version_pair import VersionPair
from schemac.identity.lock_lines import present_names
from schemac.source.text import SourceText

_FIELDS = re.compile(r"^ *fields:[ ]*(?:#.*)?$", re.MULTILINE)
_ITEM = re.compile(r"\n(?:[ ]*(?:#.*)?\n)*(?P<indent> *)-(?=[ \n])")
_UNSURE = ("&", "*", "!", "%", "\t", "\r", "<<", "\n---", "\n...")
"""What may give a piece of text another meaning elsewhere: anchors, tags, several documents."""


class Parts(NamedTuple):
    """Both texts with blanks, and where their columns stood."""

    before: SourceText
    today: SourceText
    places_before: list[int]
    """For each column that is left, how many that are left blank stood before it."""
    places_today: list[int]

    def is_in_order(self, pair: VersionPair) -> bool:
        """Whether all columns that stayed stand in the order that they had, those that are left blank included."""
        olds = {slot: n for n, slot in enumerate(pair.old.dataset.columns)}
        stayed = [
            (olds[old], n)
            for n, slot in enumerate(pair.new.dataset.columns)
            if (old := pair.before.get(slot)) is not None and old in olds
        ]
        is_sorted = stayed == sorted(stayed)
        return is_sorted and all(self.places_before[old] == self.places_today[new] for old, new in stayed)


def keep_names(before: bytes | None, today: bytes | None) -> bool:
    """Whether every field of the one lock has its name in the other too, so that names say which field is which.

    Where there was no lock, or is none, nothing else says it.
    """
    if before is None or today is None or before == today:
        return True
    if before.count(b"\ndataset ") != 1 or today.count(b"\ndataset ") != 1 or b"\n<<<<<<<" in today:
        return False
    olds, news = (present_names(lock.decode("utf-8", "replace")) for lock in (before, today))
    return olds is not None and news is not None and olds <= news


class _Piece(NamedTuple):
    start: int
    end: int
    text: str


def parts_of(before: SourceText, today: SourceText) -> Parts | None:
    """Return the parts that differ; None where the texts are not plain enough to tell, or have nothing in common."""
    olds, news = _pieces(before.content), _pieces(today.content)
    old_texts, new_texts = [piece.text for piece in olds], [piece.text for piece in news]
    in_old, in_new = set(old_texts), set(new_texts)
    shared = [text for text in new_texts if text in in_old]
    is_plain = len(in_old) == len(olds) and len(in_new) == len(news)
    if not shared or not is_plain or shared != [text for text in old_texts if text in in_new]:
        return None
    blank = frozenset(shared[1:])
    (old, old_places), (new, new_places) = _without(before, olds, blank), _without(today, news, blank)
    return Parts(old, new, old_places, new_places)


def _without(source: SourceText, pieces: list[_Piece], blank: frozenset[str]) -> tuple[SourceText, list[int]]:
    """Return the text without these pieces, and how many of them stood before each that is left."""
    parts: list[str] = []
    places: list[int] = []
    written = count = 0
    for start, end, text in pieces:
        if text in blank:
            parts += [source.content[written:start], "\n" * text.count("\n")]
            written = end
            count += 1
        else:
            places.append(count)
    return SourceText("".join([*parts, source.content[written:]]), source.name), places


def _pieces(text: str) -> list[_Piece]:
    """Return the items of the first list of fields; none where the text is not plain enough."""
    first = _FIELDS.search(text)
    item = _ITEM.match(text, first.end()) if first is not None else None
    if item is None or text.startswith("---") or any(mark in text for mark in _UNSURE):
        return []
    depth = item.end() - item.start("indent")
    starts: list[int] = []
    end = len(text)
    for match in _lines_up_to(depth).finditer(text, item.start("indent")):
        is_item = match.end() - match.start() == depth and match[0][-1] == "-"
        if not is_item or text[match.end() : match.end() + 1] not in (" ", "\n"):
            end = match.start()
            break
        starts.append(match.start())
    return [_Piece(start, stop, text[start:stop]) for start, stop in pairwise([*starts, end])]


@cache
def _lines_up_to(depth: int) -> re.Pattern[str]:
    """Return the first character of every line that is not deeper, apart from comments."""
    return re.compile(rf"^ {{0,{depth - 1}}}[^ #\n]", re.MULTILINE)
