"""NDJSON: what a sample of the records looks like; likewise a JSON array, and the features of a GeoJSON document.

Layer: importers.
Shape: every value is looked at. A field that a record of the sample lacks is optional, as is one that is null; a field
with values of several sorts is a String. pyarrow's own reader is not asked, for it makes floats of large integers,
timestamps of dates, and gives up where sorts are mixed.
Errors: SC552 unreadable-source at the record that cannot be read.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from schemac.importers.importer import Imported, Importer, Notes, refuse
from schemac.importers.sniffing import ALWAYS_NULL, described, read_sample
from schemac.language.logical.model import FieldPath, Part
from schemac.language.physical.arrow import ArrowField, ArrowType, pa
from schemac.text.source.json_object import Json
from schemac.text.source.phrases import counted
from schemac.text.source.report import Report
from schemac.text.source.span import Span
from schemac.text.source.text import SourceText

_BLANK = re.compile(r"\s*")
_FEATURES = re.compile(r'\s*\{.*?"features"\s*:\s*\[', re.DOTALL)
_DATE = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])", re.ASCII)
_TIMESTAMP = re.compile(
    _DATE.pattern + r"[T ](?:[01]\d|2[0-3]):[0-5]\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?", re.ASCII
)
_DEEPEST = 100
"""Levels of nesting that are looked at; the manifest language stops far above it."""


class _NoRecordError(Exception):
    """Something that is not a record, at an offset."""

    def __init__(self, reason: str, at: int) -> None:
        super().__init__(reason)
        self.at = at


def read(path: Path, report: Report) -> Imported | None:
    """Return the inferred schema."""
    sample = read_sample(path, report)
    if sample is None:
        return None
    text, goes_on = sample
    notes, top = Notes(), _Seen()
    try:
        for record in _records(text, goes_on):
            top.add(record)
    except _NoRecordError as error:
        source, span = SourceText(text, str(path)), Span(error.at, error.at)
        refuse(path, f"it has no JSON records: {error}", report, source=source, span=span)
        return None
    return described(top.fields((), notes), counted(top.count, "record"), path, notes, report)


def _records(text: str, goes_on: bool) -> Iterator[Json]:
    """Each record. The last one may be cut where the file goes on."""
    features = _FEATURES.match(text) if '"FeatureCollection"' in text[:4096] else None
    is_array = features is not None or text.lstrip().startswith("[")
    at = features.end() if features is not None else text.index("[") + 1 if is_array else 0
    decoder = json.JSONDecoder()
    count = 0
    while (at := _after_blanks(text, at)) < len(text):
        if is_array and text[at] == "]":
            break
        if is_array and count:
            if text[at] != ",":
                raise _NoRecordError("a comma is expected between records", at)
            at = _after_blanks(text, at + 1)
        try:
            record, end = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            if goes_on and count:
                break
            reason = error.msg[:1].lower() + error.msg[1:]
            raise _NoRecordError(reason, error.pos) from None
        except (RecursionError, ValueError) as error:
            raise _NoRecordError(f"a value in it cannot be read: {error}", at) from None
        if not isinstance(record, dict):
            raise _NoRecordError(f"a record has to be an object, not {json.dumps(record)[:40]}", at)
        yield record
        at, count = end, count + 1
    else:
        if is_array and not goes_on:
            raise _NoRecordError("the array is never closed", len(text))
    if not count:
        raise _NoRecordError("there is none", at)


def _after_blanks(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return blank.end() if blank is not None else at


class _Seen:
    """What the values of one place were."""

    def __init__(self, depth: int = 0) -> None:
        self.count = 0
        self._depth = depth
        self._sorts: dict[str, int] = {}
        self._least = self._most = 0
        self._items: _Seen | None = None
        self._members: dict[str, _Seen] = {}

    def add(self, value: Any) -> None:
        """Look at one more value."""
        self.count += 1
        sort = self._sort(value)
        self._sorts[sort] = self._sorts.get(sort, 0) + 1
        if sort == "integers":
            self._least, self._most = min(self._least, value), max(self._most, value)
        elif sort == "lists":
            if self._items is None:
                self._items = _Seen(self._depth + 1)
            for item in value:
                self._items.add(item)
        elif sort == "objects":
            for name, member in value.items():
                if name not in self._members:
                    self._members[name] = _Seen(self._depth + 1)
                self._members[name].add(member)

    def _sort(self, value: Any) -> str:
        if value is None:
            return "nulls"
        if isinstance(value, bool):
            return "booleans"
        if isinstance(value, int):
            return "integers"
        if isinstance(value, float):
            return "numbers"
        if isinstance(value, str):
            if _DATE.fullmatch(value):
                return "dates"
            match = _TIMESTAMP.fullmatch(value)
            return "texts" if match is None else "instants" if match[3] else "local times"
        # What is nested too deeply is kept as text.
        return "texts" if self._depth >= _DEEPEST else "objects" if isinstance(value, dict) else "lists"

    def fields(self, path: FieldPath, notes: Notes) -> list[ArrowField]:
        """Return the members of the objects that were seen."""
        count = self._sorts.get("objects", 0)
        return [
            pa.field(name, member.type((*path, name), notes), member.is_optional(count))
            for name, member in self._members.items()
        ]

    def is_optional(self, places: int) -> bool:
        """Whether a value is missing or null in some of the places where it could be."""
        return self.count < places or "nulls" in self._sorts

    def type(self, path: FieldPath, notes: Notes) -> ArrowType:
        """Return the type that holds all the values."""
        sorts = set(self._sorts) - {"nulls"}
        if not sorts:
            notes.add(path, ALWAYS_NULL)
            return pa.string()
        if sorts == {"integers", "numbers"}:
            return pa.float64()
        if len(sorts) > 1 and not sorts <= {"texts", "dates", "instants", "local times"}:
            counts = ", ".join(f"{self._sorts[sort]} {sort}" for sort in self._sorts if sort in sorts)
            notes.add(path, f"a String because the sample has {counts}")
            return pa.string()
        if len(sorts) > 1:
            return pa.string()
        (sort,) = sorts
        return self._type_of(sort, path, notes)

    def _type_of(self, sort: str, path: FieldPath, notes: Notes) -> ArrowType:
        if sort == "integers":
            return self._integer(path, notes)
        if sort == "lists":
            return pa.list_(self._item((*path, Part.ITEM), notes))
        if sort == "objects":
            if not self._members:
                notes.add(path, "in the sample always an object without members")
            return pa.struct(self.fields(path, notes))
        types: dict[str, ArrowType] = {
            "booleans": pa.bool_(),
            "numbers": pa.float64(),
            "texts": pa.string(),
            "dates": pa.date32(),
            "instants": pa.timestamp("us", "UTC"),
            "local times": pa.timestamp("us"),
        }
        return types[sort]

    def _integer(self, path: FieldPath, notes: Notes) -> ArrowType:
        if self._least >= -(2**63) and self._most < 2**63:
            return pa.int64()
        if self._least >= 0 and self._most < 2**64:
            return pa.uint64()
        digits = max(len(str(abs(self._least))), len(str(self._most)))
        if digits > 76:
            notes.add(path, f"a String because the sample has a number with {digits} digits")
            return pa.string()
        return pa.decimal128(38, 0) if digits <= 38 else pa.decimal256(76, 0)

    def _item(self, path: FieldPath, notes: Notes) -> ArrowField:
        items = self._items
        if items is None or not items.count:
            notes.add(path, "all lists in the sample are empty, so the type of their items is unknown")
            return pa.field("item", pa.string())
        return pa.field("item", items.type(path, notes), items.is_optional(0))


IMPORTER = Importer("ndjson", "JSON records, one per line or in an array, inferred from a sample", read)
