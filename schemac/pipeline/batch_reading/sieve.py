"""The sieve of records: it reads them a batch at a time with Arrow, and says of each whether it is proven that nothing in it is wrong.

Layer: pipeline.
Shape: a function over Arrow arrays; the texts of records in, the fields of those that are proven out. What it does not prove is read record
       by record, which finds all reasons.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from schemac.attributes.attribute import Role
from schemac.pipeline.batch_reading.csv_batches import CsvBatches
from schemac.pipeline.batch_reading.forms import Form, form_of
from schemac.pipeline.batch_reading.json_batches import JsonBatches
from schemac.pipeline.batch_reading.parts import Entries, Items, Leaf, Members, Part
from schemac.pipeline.declaration.job import Coerce, FieldSource, Job, Unexpected
from schemac.pipeline.reading.csv_records import CsvRecords
from schemac.pipeline.reading.source import Records
from schemac.rows.judging.scalars import Token
from schemac.rows.judging.shapes import is_list, is_scalar, role_of

TEXT = Form(Token.STRING, "", pa.string(), pa.string())


class Sifted(NamedTuple):
    """The records that are proven valid, and their fields."""

    proven: pa.Array
    batch: pa.RecordBatch


@dataclass(frozen=True)
class Sieve:
    """Sifts the texts of records: which are proven, and the fields of those."""

    task: Callable[[pa.Array], pa.Array]
    labels: tuple[str, ...]

    def __call__(self, texts: pa.Array) -> Sifted:
        """Read some records."""
        proven, *members = self.task(texts).flatten()
        if pc.all(proven).as_py() is not True:
            members = [member.filter(proven) for member in members]
        return Sifted(proven, pa.RecordBatch.from_arrays(members, names=list(self.labels)))


def sieve_of(records: Records, schema: pa.Schema, job: Job) -> Sieve | None:
    """How records are checked in bulk; None if it is not known of some field, or of some rule. `schema` has the fields that are read from records."""
    if job.null_values or not schema.names:
        return None
    if records.csv is not None:
        return _csv_sieve(records.csv, schema, job)
    if records.columns is not None or job.coerce is not Coerce.NONE:
        return None
    return _json_sieve(records, schema, job)


def _csv_sieve(csv: CsvRecords, schema: pa.Schema, job: Job) -> Sieve | None:
    dialect = csv.dialect
    if csv.columns is None or not dialect.is_plain:
        return None
    taken: list[tuple[int, Leaf]] = []
    for part in schema:
        origin = job.fields.get(part.name) or FieldSource()
        label = origin.from_ or part.name
        form = form_of(part) if _is_leaf(part, origin) and label in csv.columns else None
        number = csv.columns.index(label) if form is not None else -1
        # Two fields of one column are not spelled alike.
        if form is None or number in [other for other, _ in taken]:
            return None
        taken.append((number, Leaf(form, part.nullable)))
    task = CsvBatches(len(csv.columns), tuple(taken), dialect.sep, dialect.quote)
    return Sieve(task, tuple(schema.names))


def _is_leaf(part: pa.Field, origin: FieldSource) -> bool:
    return (
        is_scalar(part) and role_of(part) is not Role.JSON and origin.format is None and origin.epoch is None
    )


def _json_sieve(records: Records, schema: pa.Schema, job: Job) -> Sieve | None:
    root, paths = Members({}, (), is_nullable=False), []
    maps = [part.name for part in schema if pa.types.is_map(part.type)]
    named = Counter(label for part in schema for label in _names(part, records, job))
    for part in schema:
        origin = job.fields.get(part.name) or FieldSource()
        path = records.steps_of(part.name, origin)
        found = None if origin.epoch is not None else _container(part)
        if found is None or not path or not all(isinstance(step, str) for step in path):
            return None
        if isinstance(found, Entries) and named[str(path[-1])] > 1:
            # It could not be told from the other one where it is cut out.
            return None
        steps = tuple(str(step) for step in path)
        grown = _with(root, steps, found)
        if grown is None:
            return None
        root = grown
        paths.append(steps)
    closed = None
    if job.unexpected is Unexpected.REJECT:
        closed = {
            getattr(source, "steps", ())[1:]: frozenset(known)
            for source, known, _ in records.objects(schema, job)
        }
    never = frozenset(
        [
            *records.partitions,
            *(path[-1] for path, part in zip(paths, schema, strict=True) if part.name in maps),
        ]
    )
    return Sieve(JsonBatches(root, tuple(paths), closed, never), tuple(schema.names))


def _names(part: pa.Field, records: Records, job: Job) -> Iterator[str]:
    """List the keys that a field is found at, and those inside of it."""
    origin = job.fields.get(part.name, FieldSource())
    if origin is not None:
        yield from (str(step) for step in records.steps_of(part.name, origin))
        yield from _inner_names(part.type)


def _inner_names(data_type: pa.DataType) -> Iterator[str]:
    for i in range(data_type.num_fields):
        inner = data_type.field(i)
        if pa.types.is_struct(data_type):
            yield inner.name
        yield from _inner_names(inner.type)


def _container(part: pa.Field) -> Part | None:
    """How a value with parts is read."""
    data_type = part.type
    if is_scalar(part):
        form = None if role_of(part) is Role.JSON else form_of(part)
        return None if form is None else Leaf(form, part.nullable)
    if is_list(data_type):
        item = _container(data_type.value_field)
        size = data_type.list_size if pa.types.is_fixed_size_list(data_type) else None
        return None if item is None or _has_map(item) else Items(item, size, part.nullable)
    if pa.types.is_map(data_type):
        key, value = form_of(data_type.key_field), _container(data_type.item_field)
        if key != TEXT or not isinstance(value, Leaf):
            return None
        entry = Members({"key": Leaf(key, False), "value": value}, ("key", "value"), is_nullable=False)
        return Entries(entry, part.nullable)
    members = {member.name: _container(member) for member in data_type}
    known = {key: member for key, member in members.items() if member is not None}
    if not known or len(known) < len(members) or any(map(_has_map, known.values())):
        return None
    return Members(known, tuple(known), part.nullable)


def _has_map(part: Part) -> bool:
    """Whether a map is inside: one can only be cut out where it is at one place of a record."""
    if isinstance(part, Items):
        return _has_map(part.item)
    return isinstance(part, Entries) or (
        isinstance(part, Members) and any(map(_has_map, part.members.values()))
    )


def _with(root: Members, steps: tuple[str, ...], part: Part) -> Members | None:
    """Put a part where its record has it; None if another one is read there, or is a value with its own parts."""
    first, *rest = steps
    known = root.members.get(first)
    if not rest:
        grown = None if known is not None else part
    elif known is None:
        grown = _with(Members({}, ()), tuple(rest), part)
    elif isinstance(known, Members) and not known.kept:
        grown = _with(known, tuple(rest), part)
    else:
        grown = None
    return None if grown is None else replace(root, members={**root.members, first: grown})
