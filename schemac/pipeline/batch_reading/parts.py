"""The parts of a JSON record: for each a pattern, the type that Arrow's parser is asked for, and the way to a column of Spark.

Layer: pipeline.
Shape: a tree of `Leaf`, `Items` (a list), `Members` (an object) and `Entries` (a map). `pattern` is in RE2's dialect, without
       null; `read` turns what was parsed into values, and says which of them break a rule.
"""

import json
import re
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from schemac.pipeline.batch_reading.forms import Form, either
from schemac.rows.judging.scalars import Token

BLANK = " *"
HEX = "[0-9a-fA-F]"
LOW = rf"\\u[dD][c-fC-F]{HEX}{{2}}"
ESCAPED = rf'\\(?:["\\/bfnrt]|u(?:[0-9a-cA-CeEfF]{HEX}{{3}}|[dD][0-7]{HEX}{{2}}|[dD][89abAB]{HEX}{{2}}{LOW}))'
STRING = rf'"(?:[^"\\\x00-\x1f]|{ESCAPED})*"'
ANY_STRING = r'"(?:[^"\\]|\\.)*"'

Found = tuple[pa.Array, pa.Array | None]
"""Values, and which of them break a rule; None if none does."""


class Part(Protocol):
    """How the values of a field, or of a part of one, are spelled and read."""

    @property
    def is_nullable(self) -> bool:
        """Whether a null is a value."""

    @property
    def pattern(self) -> str:
        """In RE2's dialect, over the text of a value."""

    @property
    def parsed(self) -> pa.DataType:
        """The type of what `read` takes."""

    @property
    def spark(self) -> pa.DataType:
        """The type of the column for Spark."""

    def read(self, values: pa.Array) -> Found:
        """Turn what was parsed into values for Spark."""


@dataclass(frozen=True)
class Leaf:
    """A value without parts. A text without a form of its own may be any."""

    form: Form
    is_nullable: bool = True

    @property
    def pattern(self) -> str:
        """The tokens that are this value, null left out."""
        if self.form.token is not Token.STRING:
            return self.form.pattern
        return f'"{self.form.pattern}"' if self.form.pattern else STRING

    @property
    def parsed(self) -> pa.DataType:
        """The type that Arrow's parser is asked for."""
        return self.form.parsed

    @property
    def spark(self) -> pa.DataType:
        """The type of the column for Spark."""
        return self.form.spark

    def read(self, values: pa.Array) -> Found:
        """Turn what was parsed into values for Spark."""
        return self.form.read(values)


@dataclass(frozen=True)
class Items:
    """A list; `size` where all have one length."""

    item: Part
    size: int | None = None
    is_nullable: bool = True

    @property
    def pattern(self) -> str:
        """A list of such items; Arrow's parser sees to the commas."""
        return rf"(?:(?:[\[,]{BLANK}{_or_null(self.item)}{BLANK})+\]|\[{BLANK}\])"

    @property
    def parsed(self) -> pa.DataType:
        """The type that Arrow's parser is asked for."""
        return pa.list_(self.item.parsed)

    @property
    def spark(self) -> pa.DataType:
        """The type of the column for Spark."""
        return pa.list_(pa.field("element", self.item.spark))

    def read(self, values: pa.Array) -> Found:
        """Turn what was parsed into values for Spark."""
        wrong = None
        if self.size is not None:
            lengths = pc.list_value_length(values)
            wrong = some(pc.fill_null(pc.not_equal(lengths, self.size), False))
        items, wrong_items = required(self.item, values.values)
        if wrong_items is not None:
            at = np.unique(pc.list_parent_indices(values).filter(wrong_items).to_numpy())
            mask = np.zeros(len(values), dtype=bool)
            mask[at] = True
            wrong = either(wrong, pa.array(mask))
        return _listed(values, items, self.spark), wrong


@dataclass(frozen=True)
class Members:
    """An object with known keys; those that are not kept are parsed because the parser has to know each key."""

    members: dict[str, Part]
    kept: tuple[str, ...]
    is_nullable: bool = True

    @property
    def pattern(self) -> str:
        """An object with some of these members, in any order."""
        entries = "|".join(
            f"{spelled(key)}{BLANK}:{BLANK}{_or_null(part)}" for key, part in self.members.items()
        )
        return (
            rf"(?:(?:[{{,]{BLANK}(?:{entries}){BLANK})+\}}|\{{{BLANK}\}})" if entries else rf"\{{{BLANK}\}}"
        )

    @property
    def parsed(self) -> pa.DataType:
        """The type that Arrow's parser is asked for."""
        return pa.struct([(key, part.parsed) for key, part in self.members.items()])

    @property
    def spark(self) -> pa.DataType:
        """The type of the column for Spark."""
        return pa.struct([(key, self.members[key].spark) for key in self.kept])

    def read(self, values: pa.Array) -> Found:
        """Turn what was parsed into values for Spark."""
        wrong, columns = None, []
        for key in self.kept:
            column, wrong_column = required(self.members[key], values.field(key))
            columns.append(column)
            wrong = either(wrong, wrong_column)
        if wrong is not None:
            wrong = some(pc.and_(wrong, values.is_valid()))
        mask = values.is_null() if values.null_count else None
        return pa.StructArray.from_arrays(columns, fields=list(self.spark), mask=mask), wrong


@dataclass(frozen=True)
class Entries:
    """A map whose keys are texts; Arrow's parser does not know maps, so it is cut out, and parsed as a list of entries."""

    entry: Members
    is_nullable: bool = True

    @property
    def pattern(self) -> str:
        """An object with any keys."""
        value = _or_null(self.entry.members["value"])
        return rf"(?:(?:[{{,]{BLANK}{STRING}{BLANK}:{BLANK}{value}{BLANK})+\}}|\{{{BLANK}\}})"

    @property
    def parsed(self) -> pa.DataType:
        """The type that Arrow's parser is given for the map: it only looks whether the key occurs twice."""
        return pa.struct([])

    @property
    def spark(self) -> pa.DataType:
        """The type of the column for Spark."""
        return pa.map_(pa.string(), self.entry.members["value"].spark)

    def cut(self, records: pa.Array, key: str) -> pa.Array | None:
        """Parse the map at a key of these records; None where Arrow refuses one."""
        found = rf"{spelled(key)}{BLANK}:{BLANK}(?P<map>\{{(?:[^\"{{}}]|{ANY_STRING})*\}})"
        texts = pc.struct_field(pc.extract_regex(records, found), 0)
        value = _or_null(self.entry.members["value"])
        pairs = pc.replace_substring_regex(
            texts, f"({ANY_STRING}){BLANK}:{BLANK}({value})", r'{"key":\1,"value":\2}'
        )
        inner = pc.utf8_slice_codeunits(pairs, 1, -1)
        lines = pc.coalesce(pc.binary_join_element_wise('{"map":[', inner, "]}", ""), "{}")
        parsed = parse(lines, pa.schema([("map", Items(self.entry).parsed)]))
        return None if parsed is None else parsed.column(0)

    def read(self, values: pa.Array) -> Found:
        """Turn the parsed entries into maps; a key that occurs twice is not judged here."""
        values = _as_list(values)
        entries, wrong = Items(self.entry).read(values)
        keys = entries.values.field(0)
        if len(keys):
            codes = keys.dictionary_encode()
            parents = pc.list_parent_indices(values).to_numpy()
            both = parents.astype(np.int64) * len(codes.dictionary) + codes.indices.to_numpy()
            _, first, counts = np.unique(both, return_index=True, return_counts=True)
            if len(first) < len(both):
                mask = np.zeros(len(values), dtype=bool)
                mask[parents[first[counts > 1]]] = True
                wrong = either(wrong, pa.array(mask))
        return _mapped(entries, self.spark), wrong


def _as_list(values: pa.Array) -> pa.Array:
    """See maps as the lists of entries that they are."""
    if not pa.types.is_map(values.type):
        return values
    validity, offsets = values.buffers()[:2]
    buffers = [validity, offsets]
    data_type = pa.list_(values.values.type)
    return pa.Array.from_buffers(
        data_type, len(values), buffers, values.null_count, values.offset, [values.values]
    )


def _listed(values: pa.Array, items: pa.Array, data_type: pa.DataType) -> pa.Array:
    validity, offsets = values.buffers()[:2]
    buffers = [validity, offsets]
    return pa.Array.from_buffers(data_type, len(values), buffers, values.null_count, values.offset, [items])


def _mapped(entries: pa.Array, data_type: pa.DataType) -> pa.Array:
    validity, offsets = entries.buffers()[:2]
    pairs = pa.StructArray.from_arrays(
        [entries.values.field(0), entries.values.field(1)], fields=[data_type.key_field, data_type.item_field]
    )
    buffers = [validity, offsets]
    return pa.Array.from_buffers(
        data_type, len(entries), buffers, entries.null_count, entries.offset, [pairs]
    )


def _or_null(part: Part) -> str:
    return f"(?:{part.pattern}|null)" if part.is_nullable else part.pattern


def spelled(key: str) -> str:
    """Write a key as a pattern, in the two spellings that it is expected in: as it is, or in ASCII."""
    spellings = dict.fromkeys(json.dumps(key, ensure_ascii=is_ascii) for is_ascii in (False, True))
    return "(?:" + "|".join(map(re.escape, spellings)) + ")"


def some(mask: pa.Array) -> pa.Array | None:
    """Give a mask, or None if it is false everywhere."""
    return mask if pc.any(mask).as_py() else None


def required(part: Part, values: pa.Array) -> Found:
    """Read the values of a part; a null breaks a rule where the part may not be null."""
    found, wrong = part.read(values)
    if not part.is_nullable and values.null_count:
        wrong = either(wrong, values.is_null())
    return found, wrong


def parse(records: pa.Array, schema: pa.Schema) -> pa.RecordBatch | None:
    """Parse texts that are a record each; None where Arrow refuses them, or finds another number of records."""
    text = text_of(records)
    reading = pj.ReadOptions(use_threads=False, block_size=text.size + 1)
    parsing = pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    try:
        table = pj.read_json(pa.BufferReader(text), read_options=reading, parse_options=parsing)
    except pa.ArrowInvalid:
        return None
    batches = table.combine_chunks().to_batches()
    return batches[0] if table.num_rows == len(records) and len(batches) == 1 else None


def text_of(records: pa.Array) -> pa.Buffer:
    """Give the texts one after the other, as they are in memory."""
    _, offsets, text = records.buffers()
    ends = np.frombuffer(offsets, np.int32)
    start = int(ends[records.offset])
    return text.slice(start, int(ends[records.offset + len(records)]) - start)
