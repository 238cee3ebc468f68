"""Reads JSON records a batch at a time with Arrow's parser, where a pattern over their text proves that it reads them exactly.

Layer: pipeline.
Shape: a tree of `Part`s stands for the members of a record. It gives a pattern in RE2's dialect over the text of a record, the
       type that Arrow's parser is asked for, and turns what was parsed into the columns for Spark. A record for which the
       pattern does not hold, or one of whose values is outside its limits, has no values: it is not proven.
Proof: the pattern shows that each value is a token of the kind and spelling that its field takes, and that there is no key
       but the known ones. Arrow's parser, which knows all of these keys, refuses wrong syntax and a key that occurs twice.
       Each text begins with a brace that opens and ends with one that closes, so that the parser, which gets the texts one
       after the other, is between two records at the end of each; with as many records as texts, each text is one record.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemac.pipeline.batch_reading.forms import either
from schemac.pipeline.batch_reading.learning import with_learned
from schemac.pipeline.batch_reading.parts import BLANK, Entries, Found, Members, Part, parse, required
from schemac.pipeline.batch_reading.placing import WORTH_LEARNING, Piece, Places, in_portions, placed

MOST_ATTEMPTS = 64
"""To find what Arrow's parser refuses in one piece of records."""
MOST_LESSONS, LEARNED_RECORDS = 10, 20
"""How often it is looked for keys, and at how many records."""


@dataclass
class JsonBatches:
    """Reads batches of JSON records: one struct for each, whose first member says whether the record is proven.

    `root` is the tree of the fields, `paths` where each field is in it. Keys that no field takes are learned from the
    records, where `closed` does not name the keys that an object may have, and `never` does not name the key.
    """

    root: Members
    paths: tuple[tuple[str, ...], ...]
    closed: dict[tuple[str, ...], frozenset[str]] | None
    never: frozenset[str] = frozenset()
    lessons: int = field(default=0, compare=False)

    @property
    def spark(self) -> pa.DataType:
        """The type of what is read."""
        members = [(f"r{i}", self._part(path).spark) for i, path in enumerate(self.paths)]
        return pa.struct([("p", pa.bool_()), *members])

    def __call__(self, records: pa.Array) -> pa.Array:
        """Read a batch."""
        return in_portions(records, self._read, self.spark)

    def _part(self, path: tuple[str, ...]) -> Part:
        part: Part = self.root
        for step in path:
            assert isinstance(part, Members)
            part = part.members[step]
        return part

    def _read(self, records: pa.Array) -> pa.Array:
        fits = self._fitting(records)
        misfits = len(records) - (pc.sum(fits).as_py() or 0)
        if misfits > len(records) * WORTH_LEARNING and self.lessons < MOST_LESSONS:
            self.lessons += 1
            if self._learn(records.filter(pc.invert(fits))):
                fits = self._fitting(records)
        try:
            found = list(self._pieces(records.filter(fits), np.flatnonzero(fits), [MOST_ATTEMPTS]))
        except pa.ArrowInvalid:
            # Arrow cannot convert what a form lets pass: no record is lost, all are read one by one.
            found = []
        return placed(found, len(records), self.spark)

    def _fitting(self, records: pa.Array) -> pa.Array:
        pattern = f"^{BLANK}{self.root.pattern}{BLANK}$"
        try:
            return pc.fill_null(pc.match_substring_regex(records, pattern), False)
        except pa.ArrowInvalid:
            # The pattern is too long for the library.
            return pa.array(np.zeros(len(records), dtype=bool))

    def _pieces(self, records: pa.Array, at: Places, attempts: list[int]) -> Iterator[Piece]:
        """Read records in as few pieces as Arrow takes; one that it refuses is in none of them."""
        if not len(records):
            return
        parsed = parse(records, pa.schema(list(self.root.parsed)))
        columns = None if parsed is None else self._columns(parsed, records)
        if columns is not None:
            yield at, columns
            return
        attempts[0] -= 1
        half = len(records) // 2
        if half and attempts[0] > 0:
            yield from self._pieces(records.slice(0, half), at[:half], attempts)
            yield from self._pieces(records.slice(half), at[half:], attempts)

    def _columns(self, parsed: pa.RecordBatch, records: pa.Array) -> list[Found] | None:
        """Read each field; None where Arrow refuses a map."""
        everything = pa.StructArray.from_arrays(parsed.columns, fields=list(parsed.schema))
        found = []
        for path in self.paths:
            values, missing = everything, None
            part: Part = self.root
            for step in path:
                assert isinstance(part, Members)
                if values.null_count:
                    missing = either(missing, values.is_null())
                values, part = values.field(step), part.members[step]
            if isinstance(part, Entries):
                values = part.cut(records, path[-1])
                if values is None:
                    return None
            column, wrong = required(part, values)
            if not part.is_nullable and missing is not None:
                wrong = either(wrong, missing)
            found.append((column, wrong))
        return found

    def _learn(self, records: pa.Array) -> bool:
        """Learn keys that no field takes from some records that do not fit; whether there are any."""
        found = []
        for text in records.drop_null().slice(0, LEARNED_RECORDS).to_pylist():
            try:
                found.append(json.loads(text))
            except (ValueError, RecursionError):
                continue
        learned = with_learned(self.root, found, self.may_learn)
        is_new = learned != self.root
        self.root = learned
        return is_new

    def may_learn(self, path: tuple[str, ...], key: str) -> bool:
        """Whether an object may have a key that no field takes."""
        if key in self.never:
            return False
        return self.closed is None or key in self.closed.get(path, ())
