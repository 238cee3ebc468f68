"""The definition of which records fit a schema: a judge, and the readers of fields that it compiles.

Layer: rows.
Shape: a `RecordReader` compiles a `Reader` for each field of an Arrow schema, for records of JSON; `cell_reader` compiles one for a cell of
       CSV. A `Reader`, of a field of any depth, is called for each record: it takes a value as `tokens` reads it, its path, and a `RecordReasons`
       that collects the reasons, and returns the value, None where there is none. The value of a map is a list of pairs in the order of
       the keys. A path is a string, or a pair of a path and a step, which become a text where a reason needs it.
Rule: what the judge does not know it does not judge: `uncovered` names the fields of types that no record has.
"""

import math
from collections.abc import Callable, Sequence
from operator import eq
from typing import Any

import pyarrow as pa

from schemac.rows.judging.arrays import is_list, is_scalar, storage_type
from schemac.rows.judging.reasons import Reason
from schemac.rows.judging.scalars import Scalar, TokenKind, scalar_of, with_zones
from schemac.rows.judging.settings import (
    GEOJSON_KEYS,
    LONGEST_VALUE,
    Coerce,
    Step,
    Unexpected,
    UnreadablePathError,
    ValidationSettings,
    own_steps,
    parse_steps,
)
from schemac.rows.judging.tokens import (
    BLANK,
    NotJsonError,
    NumberText,
    parse,
    token_text,
    with_object_keys,
    with_objects,
    with_pairs,
)
from schemac.rows.judging.values import BrokenRuleError

MALFORMED = "malformed"
"""The rule that a record breaks which is none."""
Path = str | tuple["Path", str | int]
Reader = Callable[[Any, Path, "RecordReasons"], Any]


class RecordReasons(list[Reason]):
    """The reasons against one record, which its readers add."""

    message = ""
    """What the last broken rule means, in words, where there are any."""

    def add(self, path: Path, rule: str, value: str | None) -> None:
        """Add a reason."""
        self.append(Reason(path_text(path), rule, None if value is None else value[:LONGEST_VALUE]))

    def add_broken(self, path: Path, error: BrokenRuleError, text: str) -> None:
        """Add the reason of a text that is not a value; for local times it says what to do."""
        self.message, is_of_zone = error.message, error.rule.startswith("zone")
        self.add(path, f"{error.rule}: {error.message}" if is_of_zone else error.rule, text)


class NotCoveredError(Exception):
    """A record cannot have a field of such a type."""


def path_text(path: Path) -> str:
    """Write a path.

    >>> path_text((("stops", 3), ".minutes"))
    'stops[3].minutes'
    """
    if isinstance(path, str):
        return path
    parent, step = path
    return path_text(parent) + (f"[{step}]" if isinstance(step, int) else step)


def known_scalar(member: pa.Field, epoch: str | None = None) -> Scalar:
    """Return how a field without parts is read. Raises NotCoveredError."""
    scalar = scalar_of(member, epoch)
    if scalar is None:
        raise NotCoveredError
    return scalar


def json_reader(
    member: pa.Field, settings: ValidationSettings, epoch: str | None = None, *, is_inner: bool = False
) -> Reader:
    """Compile the reader of a value of JSON; `is_inner` of one in a list, a map or a cell. Raises NotCoveredError."""
    if is_scalar(member):
        read = _json_scalar_reader(member, known_scalar(member, epoch), settings)
        return with_objects(member, read) if settings.takes_objects else read
    if pa.types.is_struct(member.type):
        return _json_object_reader(member, settings, is_inner=is_inner)
    if is_list(member.type):
        return list_reader(member, json_reader(member.type.value_field, settings, is_inner=True))
    read_map = _json_map_reader(member, settings)
    return with_pairs(read_map) if settings.takes_objects else read_map


def absent_reader(member: pa.Field) -> Callable[[Path, RecordReasons], None]:
    """Return what is done where a field has no value."""
    if member.nullable:
        return lambda path, reasons: None
    return lambda path, reasons: reasons.add(path, "required", None)


def unless_absent(member: pa.Field, read: Reader) -> Reader:
    """Return a reader that reads where there is a value."""
    absent = absent_reader(member)
    return lambda x, path, reasons: absent(path, reasons) if x is None else read(x, path, reasons)


def list_reader(member: pa.Field, item: Reader) -> Reader:
    """Compile the reader of a list, or of a vector of one length."""
    size = member.type.list_size if pa.types.is_fixed_size_list(member.type) else None

    def read(x: Any, path: Path, reasons: RecordReasons) -> Any:
        if type(x) is not list:
            return reasons.add(path, "type", token_text(x))
        items = [item(part, (path, i), reasons) for i, part in enumerate(x)]
        if size is not None and len(x) != size:
            reasons.add(path, "length", str(len(x)))
        return items

    return unless_absent(member, read)


def scalar_reader(member: pa.Field, scalar: Scalar, null_texts: Sequence[str]) -> Reader:
    """Compile the reader of texts that are not JSON: cells, keys."""
    absent, value, nulls = absent_reader(member), scalar.value, frozenset(null_texts)

    def read(t: Any, path: Path, reasons: RecordReasons) -> Any:
        if t is None or t in nulls:
            return absent(path, reasons)
        try:
            return value(t)
        except BrokenRuleError as error:
            return reasons.add_broken(path, error, t)

    return read


def cell_reader(member: pa.Field, settings: ValidationSettings, epoch: str | None = None) -> Reader:
    """Compile the reader of a cell. Raises NotCoveredError."""
    nulls = settings.null_values
    if is_scalar(member):
        scalar = known_scalar(member, epoch)
        return scalar_reader(member, scalar, nulls if scalar.is_identity else ("", *nulls))
    blank = frozenset(("", *nulls))
    read = json_reader(member, settings, is_inner=True)
    return parsed_reader(read, lambda t: None if t in blank else parse(t))


def parsed_reader(read: Reader, parsed: Callable[[Any], Any], *, of_record: bool = False) -> Reader:
    """Return a reader of what `parsed` makes of a text, or of a value `of_record`: that is none where it raises NotJsonError."""

    def read_parsed(x: Any, path: Path, reasons: RecordReasons) -> Any:
        try:
            value = None if x is None else parsed(x)
        except NotJsonError:
            return reasons.add("", MALFORMED, None) if of_record else reasons.add(path, "cast", x)
        return read(value, path, reasons)

    return read_parsed


def _json_scalar_reader(member: pa.Field, scalar: Scalar, settings: ValidationSettings) -> Reader:
    """Compile the reader of a value of JSON without parts: with `coerce: text` numbers may be in quotes, and texts without."""
    absent, is_coerced = absent_reader(member), settings.coerce is Coerce.TEXT
    nulls = frozenset(f'"{text}"' for text in settings.null_values)
    token, value = scalar.token, scalar.value

    def text(x: Any, j: str) -> str | None:
        if token is TokenKind.ANY:
            return j
        if type(x) is str:
            return x if is_coerced or token is TokenKind.STRING else j
        is_text = token is not TokenKind.STRING or (is_coerced and not isinstance(x, list | dict))
        return j if is_text else None

    def is_other(x: Any, j: str) -> bool:
        if is_coerced or token is TokenKind.STRING:
            return isinstance(x, list | dict)
        return not (isinstance(x, bool) if token is TokenKind.BOOLEAN else j[0] in "-0123456789")

    def read(x: Any, path: Path, reasons: RecordReasons) -> Any:
        if x is None:
            return absent(path, reasons)
        j = token_text(x)
        if j in nulls:
            return absent(path, reasons)
        t = text(x, j)
        try:
            if t is not None:
                return value(t)
        except BrokenRuleError as error:
            if token is TokenKind.ANY or not is_other(x, j):
                return reasons.add_broken(path, error, t or j)
        return reasons.add(path, "type", j)

    return read


def _json_map_reader(member: pa.Field, settings: ValidationSettings) -> Reader:
    """Compile the reader of an object as a map, whose keys are read as texts. Raises NotCoveredError for keys with parts."""
    key_field = member.type.key_field
    if not is_scalar(key_field):
        raise NotCoveredError
    # A key is no value: a text that means null stays what it is there.
    scalar = known_scalar(key_field)
    key = scalar_reader(key_field, scalar, ())
    item = json_reader(member.type.item_field, settings, is_inner=True)
    if settings.takes_objects:
        is_number, is_boolean = scalar.token is TokenKind.NUMBER, scalar.token is TokenKind.BOOLEAN
        key = with_object_keys(key_field, key, takes_numbers=is_number, takes_booleans=is_boolean)
    read_entries = entries_reader(key, item, str, is_checked=not scalar.is_identity)

    def read(x: Any, path: Path, reasons: RecordReasons) -> Any:
        if type(x) is not dict:
            return reasons.add(path, "type", token_text(x))
        return read_entries(x.items(), path, reasons)

    return unless_absent(member, read)


def entries_reader(key: Reader, item: Reader, text_of: Callable[[Any], str], *, is_checked: bool) -> Reader:
    """Return a reader of the pairs of a map; one with a key that is absent or twice is null. Keys are written by `text_of` in paths."""

    def read(x: Any, path: Path, reasons: RecordReasons) -> Any:
        entries, texts = [], []
        for label, value in x:
            texts.append(text_of(label))
            at = (path, f'["{texts[-1]}"]')
            entries.append((key(label, at, reasons), item(value, at, reasons)))
        keys = [pair[0] for pair in entries]
        is_twice = len({*map(repr, keys)}) < len(keys)
        if any(isinstance(one, dict | list) for one in keys):
            # Keys with parts have no order; their texts are JSON.
            if is_twice:
                reasons.add(path, "key", f"[{','.join(texts)}]")
        elif is_checked or is_twice:
            check_duplicate_keys(keys, path, reasons)
        return None if None in keys or is_twice else entries

    return read


def check_duplicate_keys(keys: list[Any], path: Path, reasons: RecordReasons) -> None:
    """Add a reason if two keys of a map are equal."""
    there = [x for x in keys if x is not None]
    ordered = [x for x in there if not (isinstance(x, float) and math.isnan(x))]
    # Numbers can be chosen that have one hash, so that a set takes quadratic time.
    ordered.sort()
    if len(there) > len(ordered) + 1 or any(map(eq, ordered, ordered[1:])):
        texts = [key if key is None or isinstance(key, bool | str) else NumberText(key) for key in keys]
        reasons.add(path, "key", token_text(texts))


def _json_object_reader(member: pa.Field, settings: ValidationSettings, *, is_inner: bool) -> Reader:
    """Compile the reader of an object as a struct; reasons for unexpected keys come before those of its members, behind them if `is_inner`."""
    members = [
        (part.name, "." + part.name, json_reader(part, settings, is_inner=is_inner)) for part in member.type
    ]
    is_strict = settings.unexpected is Unexpected.REJECT
    known = frozenset(label for label, _, _ in members)

    def read(x: Any, path: Path, reasons: RecordReasons) -> Any:
        if type(x) is not dict:
            return reasons.add(path, "type", token_text(x))
        if is_strict and not is_inner:
            add_unexpected(x, known, path, reasons)
        members_read = {
            label: read_member(x.get(label), (path, step), reasons) for label, step, read_member in members
        }
        if is_strict and is_inner:
            add_unexpected(x, known, path, reasons)
        return members_read

    return unless_absent(member, read)


def add_unexpected(record: dict[str, Any], known: frozenset[str], path: Path, reasons: RecordReasons) -> None:
    """Add a reason for each key of an object that no field takes."""
    if not known.issuperset(record):
        for label in (label for label in record if label not in known):
            reasons.add((path, "." + label) if path else label, "unexpected", label)


class RecordReader:
    """The readers of the fields of records of JSON, and the keys that these may have."""

    def __init__(self, schema: pa.Schema, settings: ValidationSettings | None = None) -> None:
        self.settings = settings = settings or ValidationSettings()
        origins = {label: settings.origin_of(label) for label in schema.names}
        zones = {label: origin.zone for label, origin in origins.items() if origin is not None}
        self.schema = with_zones(schema, zones.get, settings.timezone)
        self.json_readers: list[tuple[str, tuple[Step, ...], Reader]] = []
        """Each field with its place, without steps where it comes from nowhere, and its reader."""
        self.uncovered: list[str] = []
        """The names of fields that cannot be read."""
        for member in self.schema:
            try:
                self.json_readers.append((member.name, *_field_reader(self, member)))
            except (NotCoveredError, UnreadablePathError):
                self.uncovered.append(member.name)
        self.objects: list[tuple[tuple[Step, ...], frozenset[str], str]] = []
        """Each JSON object that fields are taken from, with the keys that some field takes, and its path; if others are rejected."""
        if settings.unexpected is Unexpected.REJECT:
            consumed: dict[tuple[Step, ...], set[str]] = {(): set()}
            for steps in [*(steps for _, steps, _ in self.json_readers), *settings.taken]:
                for depth, step in enumerate(steps):
                    if isinstance(step, str):
                        consumed.setdefault(steps[:depth], set()).add(step)
            for steps, keys in consumed.items():
                known = keys.union(GEOJSON_KEYS.get(steps, ()) if settings.is_geojson else ())
                self.objects.append((steps, frozenset(known), ".".join(map(str, steps))))

    def add_unexpected(self, record: dict[str, Any], reasons: RecordReasons) -> None:
        """Object to each key of a record, and of the objects in it, that no field takes."""
        for steps, known, path in self.objects:
            value = value_at(record, steps)
            if type(value) is dict:
                add_unexpected(value, known, path, reasons)


def _field_reader(judge: RecordReader, member: pa.Field) -> tuple[tuple[Step, ...], Reader]:
    """Return the steps to a field's value, none for a constant, and its reader. Raises NotCoveredError for an `epoch` of anything but dates and timestamps."""
    origin = judge.settings.origin_of(member.name)
    if origin is None:
        read = json_reader(member, judge.settings)
        return (), lambda x, path, reasons: read(None, path, reasons)
    data_type, is_ = storage_type(member.type), pa.types
    if origin.epoch is not None and not (is_.is_date(data_type) or is_.is_timestamp(data_type)):
        raise NotCoveredError
    if origin.path is None:
        steps = own_steps(member.name, is_geojson=judge.settings.is_geojson)
    else:
        steps = parse_steps(origin.path)
    return steps, json_reader(member, judge.settings, origin.epoch)


def parse_record(text: str) -> dict[str, Any] | None:
    """Return the record in a text, which is an object; None if it is malformed."""
    try:
        record = parse(text)
    except NotJsonError:
        return None
    # A number or a list where a record should be is as unreadable as a broken one.
    return record if type(record) is dict and text.lstrip(BLANK).startswith("{") else None


def value_at(value: Any, steps: tuple[Step, ...]) -> Any:
    """Return what is at a place of a record; None if nothing does."""
    for step in steps:
        if isinstance(step, str):
            value = value.get(step) if type(value) is dict else None
        else:
            value = value[step] if type(value) is list and step < len(value) else None
    return value


def malformed_reason(text: str) -> Reason:
    """Return the reason of a malformed text or row."""
    return Reason("", MALFORMED, text[:LONGEST_VALUE])
