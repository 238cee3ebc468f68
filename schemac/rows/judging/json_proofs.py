"""Reads records of JSON by columns: the tokens that stand in them become texts, one column for each key, as cells of CSV are.

Layer: rows.
Shape: `Tokens` takes records apart, and gives for each place that somebody reads the column of its tokens: the bytes of the record, empty
       where nothing stands. A `JsonProof` reads such a column, at every depth, by the forms of `text_proofs`.
Source: a struct of msgspec whose members are all `Raw` is decoded without converting a value. The decoder refuses whatever is no JSON, also
        where nobody reads. It does not see a key that stands twice: each member has one colon, so colons tell how many members there are.
        Keys that nobody reads are learned from the first records, for a colon too many may be one of theirs.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from operator import attrgetter, methodcaller
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Raw

from schemac.language.attributes.attribute import Role
from schemac.rows.judging.arrays import is_list, is_scalar, role_of
from schemac.rows.judging.proofs import (
    Proof,
    Proven,
    SplitValues,
    has_text_keys,
    nested_proof,
    numpy_mask,
    scattered_mask,
    with_nulls_at,
)
from schemac.rows.judging.scalars import TokenKind
from schemac.rows.judging.settings import Step, Unexpected, ValidationSettings
from schemac.rows.judging.text_proofs import TextProof
from schemac.rows.judging.tokens import (
    LONGEST_KEY,
    LONGEST_NUMBER,
    MOST_LEVELS,
    NotJsonError,
    json_string,
    nesting_depth,
    parse,
)

NOTHING = Raw(b"")
LEARNED_RECORDS, MOST_LEARNED_KEYS, MOST_LESSONS, WORTH_A_LESSON = 20, 500, 10, 0.05
_ABSENT = pa.array(["", "null"])
_BAD_NAME = frozenset('"\\')
_decode_objects: Callable[[bytes], list[dict[str, Raw]]] = msgspec.json.Decoder(list[dict[str, Raw]]).decode
_decode_lists: Callable[[bytes], list[list[Raw]]] = msgspec.json.Decoder(list[list[Raw]]).decode
_decode_texts: Callable[[bytes], list[str]] = msgspec.json.Decoder(list[str]).decode


def text_array(tokens: Sequence[Any]) -> pa.Array:
    """Make an array of texts out of bytes."""
    ends = np.zeros(len(tokens) + 1, np.int32)
    np.cumsum(np.fromiter(map(len, tokens), np.int32, len(tokens)), out=ends[1:])
    return pa.Array.from_buffers(
        pa.string(), len(tokens), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(tokens))]
    )


def _bytes_of(tokens: pa.Array) -> list[bytes]:
    """Return tokens as bytes."""
    return tokens.cast(pa.binary()).to_pylist()  # type: ignore[no-any-return]  # pyarrow has no types


def _json_list(tokens: Iterable[bytes]) -> bytes:
    """Write tokens as one list of JSON."""
    return b"[" + b",".join(tokens) + b"]"


def _colons(tokens: pa.Array) -> Any:
    """Count the colons in each token of a column that has not been sliced; most columns have none."""
    return pc.count_substring(tokens, ":").to_numpy() if b":" in _text_bytes(tokens) else 0


def _text_bytes(texts: pa.Array) -> bytes:
    """Return the texts of a column behind each other."""
    data = texts.buffers()[2]
    return b"" if data is None else data.to_pybytes()


def _is_sound(token: str) -> bool:
    """Whether a value that no field reads has no duplicate key, and is within the limits."""
    try:
        parse(token)
    except NotJsonError:
        return False
    return True


class MemberTokens:
    """Splits JSON objects into a column of tokens for each key that is read, and marks the objects that have to be read alone.

    `known` are the keys that an object may have; None where it may have any.
    """

    def __init__(self, keys: Iterable[str], known: frozenset[str] | None = None) -> None:
        self.keys = tuple(dict.fromkeys(keys))
        self.known = known
        self.others: tuple[str, ...] = ()
        self.lessons = 0
        self._compile(self.keys)

    def _compile(self, order: tuple[str, ...]) -> None:
        """Make a struct with its members in the order in which records have them; a dict for keys that no struct takes."""
        self.order = order
        self._getters: list[Callable[[Any], Any]] = [attrgetter(f"m{i}") for i in range(len(order))]
        self.decode: Callable[[Any], Any]
        self.decode_list: Callable[[bytes], list[Any]]
        if any(not _BAD_NAME.isdisjoint(key) or min(key, default="x") < " " for key in order):
            self.decode, self.decode_list = msgspec.json.Decoder(dict[str, Raw]).decode, _decode_objects
            self._getters = [methodcaller("get", key, NOTHING) for key in order]
            return
        members = [(f"m{i}", Raw, msgspec.field(default=NOTHING, name=key)) for i, key in enumerate(order)]
        struct = msgspec.defstruct("Object", members, gc=False)
        self.decode = msgspec.json.Decoder(struct).decode
        self.decode_list = msgspec.json.Decoder(list[struct]).decode  # type: ignore[valid-type]  # a class made here

    def learn(self, tokens: Sequence[Any]) -> bool:
        """Learn which keys some objects have, and in which order; return whether anything is new."""
        order: dict[str, None] = {}
        for token in tokens[:LEARNED_RECORDS]:
            try:
                members = msgspec.json.decode(token, type=dict[str, Raw])
            except (msgspec.MsgspecError, RecursionError):
                continue
            order |= dict.fromkeys(members)
        self.lessons += 1
        others = [
            key
            for key in (*self.others, *order)
            if key not in self.keys and (self.known is None or key in self.known) and len(key) < LONGEST_KEY
        ]
        self.others = tuple(dict.fromkeys(others))[:MOST_LEARNED_KEYS]
        known = {*self.keys, *self.others}
        before = self.order
        self._compile(tuple(dict.fromkeys(key for key in (*order, *self.keys, *self.others) if key in known)))
        return self.order != before

    def columns(self, rows: Sequence[Any], texts: Sequence[bytes]) -> tuple[dict[str, pa.Array], Any]:
        """Return the tokens of each key, and a mask of objects that have something else; `texts` are those of the objects."""
        if not rows:
            return {key: pa.array([], pa.string()) for key in self.keys}, np.zeros(0, bool)
        by_name: dict[str, pa.Array] = {}
        count = np.zeros(len(rows), np.int64)
        unsound = np.zeros(len(rows), bool)
        for key, getter in zip(self.order, self._getters, strict=True):
            column = by_name[key] = text_array(list(map(getter, rows)))
            count += _colons(column)
            count += (1 + key.count(":")) * (np.diff(np.frombuffer(column.buffers()[1], np.int32)) > 0)
        if any(":" in key for key in self.order):
            # Spelled with an escape, a key may have fewer colons.
            unsound |= [b"\\" in text for text in texts]
        for key in self.others:
            column = by_name.pop(key)
            is_long = pc.greater_equal(pc.binary_length(column), LONGEST_NUMBER)
            is_odd = pc.or_(pc.match_substring(column, "{"), is_long)
            for row in pc.indices_nonzero(is_odd).to_pylist():
                unsound[row] = not _is_sound(column[row].as_py())
        return by_name, unsound | (count != [text.count(b":") for text in texts])

    def of_tokens(self, tokens: pa.Array) -> tuple[dict[str, pa.Array], Any]:
        """Split tokens that are objects; return the tokens of each key, and a mask of the objects that have to be read alone."""
        texts = _bytes_of(tokens)
        return self.of_texts(texts, lambda: self.columns(self.decode_list(_json_list(texts)), texts), False)

    def of_texts(
        self, texts: Sequence[bytes], read: Callable[[], tuple[dict[str, pa.Array], Any]], skipped: Any
    ) -> tuple[dict[str, pa.Array], Any]:
        """Return what `read` makes of texts, once more where many have keys that had to be learned; nothing is learned from the skipped ones."""
        if not self.lessons:
            self.learn(texts)
        columns, unsound = read()
        missed = np.flatnonzero(unsound & ~np.asarray(skipped))
        is_worth_it = self.lessons < MOST_LESSONS and len(missed) > WORTH_A_LESSON * len(texts)
        if is_worth_it and self.learn([texts[row] for row in missed[:LEARNED_RECORDS]]):
            return read()
        return columns, unsound


class RecordTokens:
    """Splits texts of records into a column of tokens for each of some places; `known` are the keys that the object at a place may have."""

    def __init__(
        self, places: Iterable[tuple[Step, ...]], known: dict[tuple[Step, ...], frozenset[str]] | None = None
    ) -> None:
        self.places = dict.fromkeys(places)
        self._below_of: dict[tuple[Step, ...], dict[Step, None]] = {(): {}}
        for place in self.places:
            for depth, step in enumerate(place):
                self._below_of.setdefault(place[:depth], {})[step] = None
        self._nodes: dict[tuple[Step, ...], MemberTokens] = {}
        """What takes the objects at a place apart, by the keys that are read below it."""
        for steps, below in self._below_of.items():
            known_here = None if known is None else known.get(steps, frozenset())
            self._nodes[steps] = MemberTokens([step for step in below if isinstance(step, str)], known_here)

    def __call__(self, texts: pa.Array) -> tuple[dict[tuple[Step, ...], pa.Array], Any]:
        """Return the columns, and a mask of the records that have to be read one by one, whose values in the columns are meaningless."""
        unsound = ~numpy_mask(pc.match_substring_regex(texts, r"^[ \t]*\{"))
        raw = _bytes_of(pc.fill_null(texts, ""))
        columns, odd = self._nodes[()].of_texts(raw, lambda: self._of_records(raw, unsound), unsound)
        for row in pc.indices_nonzero(pc.greater(pc.binary_length(texts), 2 * MOST_LEVELS)).to_pylist():
            text = raw[row]
            if text.count(b"[") + text.count(b"{") > MOST_LEVELS:
                odd[row] |= nesting_depth(text.decode()) > MOST_LEVELS
        by_path: dict[tuple[Step, ...], pa.Array] = {}
        for key, column in columns.items():
            odd |= self._collect_below((key,), column, by_path)
        return {place: by_path[place] for place in self.places}, odd

    def _of_records(self, raw: list[bytes], unsound: Any) -> tuple[dict[str, pa.Array], Any]:
        """Decode the texts of records; return the tokens by key, and a mask of the records that are `unsound` or were refused."""
        decode, odd = self._nodes[()].decode, unsound.copy()
        rows: list[Any]
        try:
            rows = list(map(decode, raw))
        except (msgspec.MsgspecError, RecursionError):
            rows, nothing = [], decode(b"{}")
            for row, text in enumerate(raw):
                try:
                    rows.append(decode(text))
                except (msgspec.MsgspecError, RecursionError):
                    rows.append(nothing)
                    odd[row] = True
        columns, more = self._nodes[()].columns(rows, raw)
        return columns, odd | more

    def _collect_below(
        self, steps: tuple[Step, ...], column: pa.Array, total: dict[tuple[Step, ...], pa.Array]
    ) -> Any:
        """Add a column of tokens, and those of the places below it, to `total`; return a mask of the records that have to be read alone."""
        odd = np.zeros(len(column), bool)
        if steps in self.places:
            total[steps] = column
        inner = self._below_of.get(steps, {})
        if any(isinstance(step, str) for step in inner):
            is_object = pc.starts_with(column, "{")
            columns, unsound = self._nodes[steps].of_tokens(column.filter(is_object))
            odd[numpy_mask(is_object)] |= unsound
            for key, tokens in columns.items():
                odd |= self._collect_below((*steps, key), _scattered(tokens, is_object), total)
        numbers = [step for step in inner if isinstance(step, int)]
        if numbers:
            is_of_items = pc.starts_with(column, "[")
            tokens = column.filter(is_of_items)
            for row in pc.indices_nonzero(pc.match_substring(tokens, "{")).to_pylist():
                odd[pc.indices_nonzero(is_of_items)[row].as_py()] |= not _is_sound(tokens[row].as_py())
            rows = _decode_lists(_json_list(_bytes_of(tokens)))
            for number in numbers:
                items = text_array([row[number] if number < len(row) else NOTHING for row in rows])
                odd |= self._collect_below((*steps, number), _scattered(items, is_of_items), total)
        return odd


def _scattered(values: pa.Array, mask: pa.Array) -> pa.Array:
    """Return tokens in the places where a mask is true, and empty texts elsewhere."""
    if len(values) == len(mask):
        return values
    return pc.replace_with_mask(pa.array([""]).take(pa.array(np.zeros(len(mask), np.int8))), mask, values)


def json_proof(member: pa.Field, settings: ValidationSettings) -> Proof | None:
    """Return how the tokens of a field are read; None where all of them are read one by one."""
    data_type = member.type
    if is_scalar(member):
        text = None if role_of(member) is Role.JSON else TextProof.of(member)
        nulls = [json_string(text) for text in settings.null_values if json_string(text) == f'"{text}"']
        return None if text is None else _leaf_proof(text, pa.array([*_ABSENT.to_pylist(), *nulls]))
    if is_list(data_type):
        items = json_proof(data_type.value_field, settings)
        return nested_proof(member, [items], lambda tokens: _split_lists(tokens, member))
    if pa.types.is_map(data_type):
        items = json_proof(data_type.item_field, settings) if has_text_keys(member) else None
        return nested_proof(member, [items], lambda tokens: _split_maps(tokens, member))
    labels = frozenset(part.name for part in data_type)
    members = MemberTokens(labels, labels if settings.unexpected is Unexpected.REJECT else None)
    proofs = [json_proof(part, settings) for part in data_type]
    return nested_proof(member, proofs, lambda tokens: _split_structs(tokens, member, members))


def _leaf_proof(text: TextProof, nulls: pa.Array) -> Proof:
    """Read tokens of values without parts by the texts of values; `nulls` are the tokens that are null."""
    token = text.form.token

    def read(tokens: pa.Array) -> Proven:
        texts = with_nulls_at(tokens, numpy_mask(pc.is_in(tokens, nulls)))
        if token is not TokenKind.STRING:
            return text.read(texts, is_number=token is TokenKind.NUMBER)
        others = numpy_mask(pc.invert(pc.starts_with(texts, '"')))
        texts = with_nulls_at(texts, others)
        content = pc.binary_slice(texts.cast(pa.binary()), 1, -1).cast(pa.string())
        if b"\\" in _text_bytes(content):
            is_escaped = pc.fill_null(pc.match_substring(content, "\\"), False)
            decoded = pa.array(_decode_texts(_json_list(_bytes_of(texts.filter(is_escaped)))), pa.string())
            content = pc.replace_with_mask(content, is_escaped, decoded)
        values, doubtful = text.read(content)
        return Proven(values, others | doubtful)

    return read


def _bracket_masks(tokens: pa.Array, bracket: str, member: pa.Field) -> tuple[Any, Any]:
    """Return which tokens have parts, and which are neither that nor a null that may be one."""
    is_there = numpy_mask(pc.starts_with(tokens, bracket))
    others = ~is_there
    if member.nullable and others.any():
        others &= ~numpy_mask(pc.is_in(tokens, _ABSENT))
    return is_there, others


def _split_lists(tokens: pa.Array, member: pa.Field) -> SplitValues:
    """Split tokens of arrays into those of their items."""
    is_there, doubtful = _bracket_masks(tokens, "[", member)
    lists = tokens.filter(pa.array(is_there))
    content = pc.binary_slice(lists.cast(pa.binary()), 1, -1).cast(pa.string())
    data = _text_bytes(content)
    if any(mark in data for mark in b'"[{'):
        decoded = _decode_lists(_json_list(_bytes_of(lists)))
        lengths = np.fromiter(map(len, decoded), np.int32, len(decoded))
        items = text_array(list(chain.from_iterable(decoded)))
    else:
        # Numbers, truth values and nulls: every comma stands between two of them.
        if any(blank in data for blank in b" \t\r\n"):
            content = pc.replace_substring_regex(content, "[ \t\r\n]+", "")
        split = pc.split_pattern(with_nulls_at(content, numpy_mask(pc.equal(content, ""))), ",")
        lengths = pc.fill_null(pc.list_value_length(split), 0).to_numpy()
        items = split.flatten()
    return SplitValues([items], is_there, doubtful, lengths)


def _split_maps(tokens: pa.Array, member: pa.Field) -> SplitValues:
    """Split tokens of objects into keys, which are texts, and items; in doubt is one whose key may be there twice, or is too long."""
    is_there, doubtful = _bracket_masks(tokens, "{", member)
    objects = tokens.filter(pa.array(is_there))
    texts = _bytes_of(objects)
    maps = _decode_objects(_json_list(texts))
    lengths = np.fromiter(map(len, maps), np.int32, len(maps))
    keys = pa.array(list(chain.from_iterable(maps)), pa.string())
    items = text_array(list(chain.from_iterable(map(dict.values, maps))))
    counts = np.zeros(len(keys) + 1, np.int64)
    np.cumsum(np.ones(len(keys), np.int64) + _colons(keys) + _colons(items), out=counts[1:])
    ends = np.cumsum(lengths)
    counted = counts[ends] - counts[ends - lengths]
    # An escape may stand in a key, whose colons are not those of its text then; very long keys are refused.
    is_odd = counted != [text.count(b":") for text in texts]
    is_odd |= numpy_mask(pc.match_substring(objects, "\\"))
    is_odd[
        np.repeat(np.arange(len(maps)), lengths)[
            numpy_mask(pc.greater_equal(pc.binary_length(keys), LONGEST_KEY))
        ]
    ] = True
    return SplitValues([items], is_there, doubtful | scattered_mask(is_odd, is_there), lengths, keys)


def _split_structs(tokens: pa.Array, member: pa.Field, members: MemberTokens) -> SplitValues:
    """Split tokens of objects into those of their members, which `members` takes apart."""
    is_there, doubtful = _bracket_masks(tokens, "{", member)
    columns, is_odd = members.of_tokens(tokens.filter(pa.array(is_there)))
    parts = [columns[part.name] for part in member.type]
    return SplitValues(parts, is_there, doubtful | scattered_mask(is_odd, is_there))
