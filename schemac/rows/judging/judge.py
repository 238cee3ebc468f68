"""Judges one record after the other: its values, or the reasons why it does not fit.

Layer: rows.
Shape: a `Judge` compiles a reader for each field of an Arrow schema. Records are JSON texts (`json`), or cells by the name
       of their column (`csv`).
Rule: what the judge does not know it does not judge: `uncovered` names the fields of types that no record has.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from schemac.rows.judging.clocks import with_zones
from schemac.rows.judging.parts import (
    Context,
    NotCoveredError,
    Reader,
    Reason,
    Run,
    cell_reader,
    json_reader,
    object_to_unexpected,
)
from schemac.rows.judging.record_paths import (
    GEOJSON_ALWAYS,
    GEOJSON_GEOMETRY,
    GEOJSON_TOP,
    Step,
    UnreadablePathError,
    parse_steps,
)
from schemac.rows.judging.settings import Origin, Settings, Unexpected
from schemac.rows.judging.shapes import storage_type
from schemac.rows.judging.tokens import BLANK, NotJsonError, parse

__all__ = ["Judge", "Judged", "Reason"]

OF_FILE = "_metadata"


@dataclass(frozen=True, slots=True)
class Judged:
    """A record that was judged; `values` is None if there are reasons.

    Values are what `arrays.plain_array` takes: counts for dates and timestamps, in the unit of their type; `Decimal`; bytes; a list of
    pairs for a map.
    """

    values: dict[str, Any] | None
    reasons: tuple[Reason, ...]


class Judge:
    """The definition of what fits a schema, for records that are text."""

    def __init__(self, schema: pa.Schema, settings: Settings | None = None) -> None:
        self.settings = settings = settings or Settings()
        origins = {label: settings.origin_of(label) for label in schema.names}
        zones = {label: origin.zone for label, origin in origins.items() if origin is not None}
        self.schema = with_zones(schema, zones.get, settings.timezone)
        self._of_json = _Readers(self, is_json=True)
        self._of_csv = _Readers(self, is_json=False)
        self.objects = [*self._consumed_objects()] if settings.unexpected is Unexpected.REJECT else []

    @property
    def json_readers(self) -> Sequence[tuple[str, tuple[Step, ...], Reader]]:
        """Each field that JSON records have, with the place where it stands, and its reader."""
        return self._of_json.readers

    @property
    def uncovered(self) -> tuple[str, ...]:
        """Names of the fields of JSON records that the judge cannot read."""
        return self._of_json.uncovered

    @property
    def uncovered_cells(self) -> tuple[str, ...]:
        """Names of the fields that the judge cannot read out of cells."""
        return self._of_csv.uncovered

    def steps_of(self, label: str, origin: Origin) -> tuple[Step, ...]:
        """Where a field is in a JSON record. Raises UnreadablePathError."""
        if origin.path is not None:
            return parse_steps(origin.path)
        if self.settings.is_geojson and label not in GEOJSON_TOP:
            return ("properties", label)
        return (label,)

    def json(self, text: str) -> Judged:
        """Judge a record that is the text of a JSON object."""
        assert not self.uncovered, self.uncovered
        try:
            record = parse(text)
        except NotJsonError:
            return _malformed(text)
        # A record is an object: a number or a list where a record should be is as unreadable as a broken one.
        if type(record) is not dict or not text.lstrip(BLANK).startswith("{"):
            return _malformed(text)
        return _judged(*self.read(record))

    def read(self, record: dict[str, Any]) -> tuple[dict[str, Any], Run]:
        """Return the values of a record that was parsed, also if others are wrong, and the reasons."""
        run, values = Run(), {}
        for label, steps, read in self._of_json.readers:
            values[label] = read(value_at(record, steps), label, run)
        for steps, known, path in self.objects:
            value = value_at(record, steps)
            if type(value) is dict:
                object_to_unexpected(value, known, path, run)
        return values, run

    def read_cells(self, cells: Mapping[str, str | None]) -> tuple[dict[str, Any], Run]:
        """Return the values of cells by the names of their columns, also if others are wrong, and the reasons."""
        run, values = Run(), {}
        for label, steps, read in self._of_csv.readers:
            values[label] = read(cells[str(steps[0])] if steps else None, label, run)
        return values, run

    def csv(self, cells: Mapping[str, str | None]) -> Judged:
        """Judge a record of cells, by the names of their columns; None is an empty cell without quotes."""
        assert not self.uncovered_cells, self.uncovered_cells
        return _judged(*self.read_cells(cells))

    def _consumed_objects(self) -> Iterator[tuple[tuple[Step, ...], frozenset[str], str]]:
        """Each JSON object that fields are taken from, with the keys that some field takes, and its path."""
        consumed: dict[tuple[Step, ...], set[str]] = {(): set()}
        if self.settings.is_geojson:
            consumed[()].update(GEOJSON_ALWAYS)
        for steps in [*(steps for _, steps, _ in self._of_json.readers), *self.settings.taken]:
            for depth, step in enumerate(steps):
                if isinstance(step, str):
                    consumed.setdefault(steps[:depth], set()).add(step)
        for steps, keys in consumed.items():
            if self.settings.is_geojson and steps == ("geometry",):
                keys |= {*GEOJSON_GEOMETRY}
            yield steps, frozenset(keys), ".".join(map(str, steps))


class _Readers:
    """The reader of each field, and where it reads; no steps where it comes from nowhere."""

    def __init__(self, judge: Judge, *, is_json: bool) -> None:
        self.readers: list[tuple[str, tuple[Step, ...], Reader]] = []
        uncovered = []
        for member in judge.schema:
            try:
                self.readers.append((member.name, *_compiled(judge, member, is_json=is_json)))
            except (NotCoveredError, UnreadablePathError):
                uncovered.append(member.name)
        self.uncovered = tuple(uncovered)


def _compiled(judge: Judge, member: pa.Field, *, is_json: bool) -> tuple[tuple[Step, ...], Reader]:
    settings, origin = judge.settings, judge.settings.origin_of(member.name)
    epoch = None if origin is None else origin.epoch
    if epoch is not None and not _is_counted(member):
        raise NotCoveredError
    if origin is None:
        read = json_reader(member, Context(settings))
        return (), lambda x, path, run: read(None, path, run)
    if is_json:
        steps = judge.steps_of(member.name, origin)
        return steps, json_reader(member, Context(settings), epoch)
    if (origin.path or "").startswith(f"{OF_FILE}."):
        raise NotCoveredError
    return (origin.path or member.name,), cell_reader(member, settings, epoch)


def _is_counted(member: pa.Field) -> bool:
    data_type = storage_type(member.type)
    return bool(pa.types.is_date(data_type) or pa.types.is_timestamp(data_type))


def value_at(value: Any, steps: tuple[Step, ...]) -> Any:
    """Return what is at a place of a record; None if nothing does."""
    for step in steps:
        if isinstance(step, str):
            value = value.get(step) if type(value) is dict else None
        else:
            value = value[step] if type(value) is list and step < len(value) else None
    return value


def _malformed(text: str) -> Judged:
    run = Run()
    run.object_to("", "malformed", text)
    return _judged({}, run)


def _judged(values: dict[str, Any], run: Run) -> Judged:
    return Judged(None if run.reasons else values, tuple(run.reasons))
