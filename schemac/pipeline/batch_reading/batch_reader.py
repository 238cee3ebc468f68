"""The batch reader: it reads records a batch at a time with Arrow, and says of each whether it is proven that nothing in it is wrong.

Layer: pipeline.
Shape: a function over Arrow arrays that Spark calls with the texts of records; it gives a struct with the value of each field
       that it can read (`r0`, `r1`, …). One column says for each record whether the proof holds. Where it does not, every
       field is read item by item, which finds all reasons. A field that it cannot read is read item by item in every
       record, and hinders no other.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql.functions import arrow_udf, expr

from schemac.arrow.constrained import constraints_of
from schemac.attributes.attribute import Role
from schemac.judging.scalars import Token
from schemac.pipeline.batch_reading.csv_batches import CsvBatches
from schemac.pipeline.batch_reading.forms import INTEGER, Form, form_of
from schemac.pipeline.batch_reading.json_batches import JsonBatches
from schemac.pipeline.batch_reading.keeping import Keeping, can_be_checked, keeping_of
from schemac.pipeline.batch_reading.parts import Entries, Items, Leaf, Members, Part
from schemac.pipeline.declaration.job import Coerce, FieldSource, Job, Unexpected
from schemac.pipeline.reading.csv_records import CsvRecords
from schemac.pipeline.reading.cutting import FAULT, Sifted
from schemac.pipeline.reading.source import Records
from schemac.pipeline.spark.packed import PACKED
from schemac.pipeline.spark.sqltext import any_of, when
from schemac.pipeline.values.scalars import Scalar, role_of, scalar_of
from schemac.pipeline.values.shapes import is_list, is_scalar, spark_type

Levels = list[list[tuple[str, str]]]
READ, PROVEN = "__read", "__proven"
TEXT = Form(Token.STRING, "", pa.string(), pa.string())
COUNT = Form(Token.NUMBER, INTEGER, pa.int64(), pa.int64())


@dataclass(frozen=True)
class BatchReader:
    """Fields' values where `PROVEN` is true, and the objects of which it is then known that they have no other key."""

    task: Callable[[pa.Array], pa.Array]
    spark: pa.DataType
    text: str
    levels: Levels
    values: dict[str, str]
    objects: frozenset[tuple[int | str, ...]]
    is_converted: bool = False
    """Whether Spark has to convert some of what is read."""
    is_packed: bool = False
    """Whether the records that are proven are packed."""

    def read(self, frame: DataFrame) -> DataFrame:
        """Add the column of what is read; packed records are read already."""
        from pyspark.sql.pandas.types import from_arrow_type

        if self.is_packed:
            return frame

        task = self.task

        def read(records: pa.Array) -> pa.Array:
            return task(records)

        kind = from_arrow_type(self.spark, prefer_timestamp_ntz=True)
        return frame.withColumn(READ, arrow_udf(read, returnType=kind)(expr(self.text)))


@dataclass(frozen=True)
class Sieve:
    """Sifts the texts of records: which are proven, and the fields of those."""

    task: Callable[[pa.Array], pa.Array]
    labels: tuple[str, ...]
    keeping: Keeping | None = None
    """The constraints of records; one that breaks them is not proven."""

    def __call__(self, texts: pa.Array) -> Sifted:
        """Read some records."""
        proven, *members = self.task(texts).flatten()
        if pc.all(proven).as_py() is not True:
            members = [member.filter(proven) for member in members]
        batch = pa.RecordBatch.from_arrays(members, names=list(self.labels))
        if self.keeping is not None:
            # What is not proven may have values that the table cannot hold.
            kept = pc.invert(self.keeping.broken(batch))
            if pc.all(kept).as_py() is not True:
                proven, batch = pc.replace_with_mask(proven, proven, kept), batch.filter(kept)
        return Sifted(proven, batch)


def sieve_of(records: Records, schema: pa.Schema, job: Job) -> Sieve | None:
    """How records are sifted where they are read; None where that needs more than their text."""
    if records.packed is None or records.given or job.compares_keys or job.warned:
        return None
    if not can_be_checked(schema):
        return None
    reader = batch_reader(records, schema, job)
    if reader is None or reader.is_converted or reader.values.keys() != set(schema.names):
        return None
    types = dict(zip(reader.values, list(reader.spark.fields)[1:], strict=True))
    try:
        keeping = keeping_of(schema, {label: member.type for label, member in types.items()})
    except pa.ArrowNotImplementedError:
        return None
    return Sieve(reader.task, tuple(reader.values), keeping)


def needs_single_records(schema: pa.Schema, job: Job) -> bool:
    """Whether single records are looked at once more, behind what their types say."""
    return bool(constraints_of(schema) or job.compares_keys or job.warned)


def with_packed(records: Records, sieve: Sieve) -> Records:
    """Have the records that are proven packed where they are read."""
    assert records.packed is not None
    return replace(records.with_frame(records.packed(sieve)), is_packed=True)


@dataclass
class _Plan:
    """The fields that can be read, in order, and what is left to do for each in Spark."""

    paths: dict[str, tuple[str, ...]] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    conversions: list[tuple[str, str]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def add(self, part: pa.Field, path: tuple[str, ...], scalar: Scalar | None) -> None:
        """Add a field; `scalar` is the conversion that Spark has to do."""
        number = len(self.paths)
        self.paths[part.name] = path
        read = f"{READ}.r{number}"
        if scalar is None:
            self.values[part.name] = read
            return
        kept = f"__w{number}"
        self.conversions.append((kept, scalar.value(f"cast({read} as string)")))
        self.values[part.name] = f"cast({kept} as {spark_type(part)})"
        self.wrong.append(f"({read} is not null and {kept} is null)")

    def reader(
        self, task: "JsonBatches | CsvBatches", records: Records, objects: frozenset[tuple[int | str, ...]]
    ) -> BatchReader:
        """Make the reader of these fields."""
        text = when(f"{FAULT} is null", records.raw)
        if records.is_packed:
            nothing = dict.fromkeys(self.values, "null")
            levels = [[(PROVEN, f"{PACKED} is not null")]]
            return BatchReader(task, task.spark, text, levels, nothing, objects, is_packed=True)
        is_converted = bool(self.conversions)
        return BatchReader(task, task.spark, text, self.levels, self.values, objects, is_converted)

    @property
    def levels(self) -> Levels:
        """The projections that end in `PROVEN`."""
        is_wrong = f" and not {any_of(self.wrong)}" if self.wrong else ""
        return [self.conversions, [(PROVEN, f"coalesce({READ}.p{is_wrong}, false)")]]


def batch_reader(records: Records, schema: pa.Schema, job: Job) -> BatchReader | None:
    """How records are read a batch at a time; None for sources and rules for which it is not known."""
    if job.null_values:
        return None
    if records.csv is not None:
        return _csv_reader(records, records.csv, schema, job)
    if records.columns is not None or job.coerce is not Coerce.NONE:
        return None
    return _json_reader(records, schema, job)


def _csv_reader(records: Records, csv: CsvRecords, schema: pa.Schema, job: Job) -> BatchReader | None:
    dialect = csv.dialect
    if csv.columns is None or not dialect.is_plain:
        return None
    plan = _Plan()
    taken: list[tuple[int, Leaf]] = []
    for part in schema:
        origin = job.fields.get(part.name, FieldSource())
        label = None if origin is None else origin.from_ or part.name
        if origin is None or label not in csv.columns or records.is_outside(part.name, origin):
            continue
        found = _cell_of(part, origin)
        number = csv.columns.index(label)
        # Two fields of one column are not spelled alike.
        if found is not None and number not in [other for other, _ in taken]:
            taken.append((number, found[0]))
            plan.add(part, (label,), found[1])
    if not plan.paths:
        return None
    task = CsvBatches(len(csv.columns), tuple(taken), dialect.sep, dialect.quote)
    return plan.reader(task, records, frozenset())


def _cell_of(part: pa.Field, origin: FieldSource) -> tuple[Leaf, Scalar | None] | None:
    """How the cell of a field is read, and what Spark has to convert."""
    if not is_scalar(part) or role_of(part) is Role.JSON:
        return None
    form = form_of(part) if origin.format is None and origin.epoch is None else None
    if form is not None:
        return Leaf(form, part.nullable), None
    scalar = scalar_of(part, pattern=origin.format, epoch=origin.epoch)
    return Leaf(TEXT, part.nullable), scalar


def _json_reader(records: Records, schema: pa.Schema, job: Job) -> BatchReader | None:
    plan, root = _Plan(), Members({}, (), is_nullable=False)
    maps = [part.name for part in schema if pa.types.is_map(part.type)]
    named = Counter(label for part in schema for label in _names(part, records, job))
    for part in schema:
        origin = job.fields.get(part.name, FieldSource())
        if origin is None or records.is_outside(part.name, origin):
            continue
        path = records.steps_of(part.name, origin)
        found = _part_of(part, origin)
        if found is None or not path or not all(isinstance(step, str) for step in path):
            continue
        if isinstance(found[0], Entries) and named[str(path[-1])] > 1:
            # It could not be told from the other one where it is cut out.
            continue
        steps = tuple(str(step) for step in path)
        grown = _with(root, steps, found[0])
        if grown is not None:
            root = grown
            plan.add(part, steps, found[1])
    if not plan.paths:
        return None
    closed = None
    if job.unexpected is Unexpected.REJECT:
        closed = {
            getattr(source, "steps", ())[1:]: frozenset(known)
            for source, known, _ in records.objects(schema, job)
        }
    never = frozenset(
        [*records.partitions, *(plan.paths[label][-1] for label in maps if label in plan.paths)]
    )
    task = JsonBatches(root, tuple(plan.paths.values()), closed, never)
    objects = frozenset(path[:depth] for path in plan.paths.values() for depth in range(len(path)))
    return plan.reader(task, records, objects)


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


def _part_of(part: pa.Field, origin: FieldSource) -> tuple[Part, Scalar | None] | None:
    """How a field is read, and what Spark has to convert; None where a value has to be read item by item."""
    is_told = origin.format is not None or origin.epoch is not None
    if not is_scalar(part):
        found = None if is_told else _container(part)
        return None if found is None else (found, None)
    form = None if is_told else form_of(part)
    if form is not None:
        return Leaf(form, part.nullable), None
    if role_of(part) is Role.JSON:
        return None
    scalar = scalar_of(part, pattern=origin.format, epoch=origin.epoch)
    kinds = {Token.STRING: TEXT, Token.NUMBER: COUNT}
    if scalar.token not in kinds or scalar.is_exact:
        return None
    return Leaf(kinds[scalar.token], part.nullable), scalar


def _container(part: pa.Field) -> Part | None:
    """How a value with parts is read."""
    data_type = part.type
    if is_scalar(part):
        form = form_of(part)
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
    """Whether a map is inside: one can only be cut out where it stands at one place of a record."""
    if isinstance(part, Items):
        return _has_map(part.item)
    return isinstance(part, Entries) or (
        isinstance(part, Members) and any(map(_has_map, part.members.values()))
    )


def _with(root: Members, steps: tuple[str, ...], part: Part) -> Members | None:
    """Put a part where its record has it; None where another one is read there, or is a value with its own parts."""
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
