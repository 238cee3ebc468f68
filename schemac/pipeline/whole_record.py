"""The whole-record reader: it reads JSON records in one native step, and proves for each that nothing in it is wrong.

Layer: pipeline.
Shape: the fields that the native reader can read (see `native`), each with its value; one column says for each record
       whether the proof holds. Where it does not, every field is read one by one, which finds all reasons.
       A field that has no native reading is read one by one in every record, and hinders no other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from schemac.pipeline import native
from schemac.pipeline.job import Coerce, FieldSource, Job, Unexpected
from schemac.pipeline.scalars import Scalar, scalar_of
from schemac.pipeline.shapes import is_scalar, spark_type
from schemac.pipeline.source import RECORD, Records
from schemac.pipeline.sqltext import END, any_of, literal, name, when

Levels = list[list[tuple[str, str]]]
READ, PROVEN = "__read", "__proven"


@dataclass
class _Object:
    """The members of an object that are read: fields, or objects with such members."""

    members: dict[str, "_Object | _Member"] = field(default_factory=dict)


@dataclass(frozen=True)
class _Member:
    field: pa.Field
    scalar: Scalar | None
    place: str


@dataclass(frozen=True)
class WholeRecordReader:
    """Projections that end in the column `PROVEN`; fields' values, and objects whose keys are all known, where it is true."""

    levels: Levels
    values: dict[str, str]
    objects: frozenset[tuple[int | str, ...]]


def whole_record_reader(records: Records, schema: pa.Schema, job: Job) -> WholeRecordReader | None:
    """How records are read whole; None for sources and rules that have no native reading."""
    if records.columns is not None or job.coerce is not Coerce.NONE or job.null_values:
        return None
    root = _Object()
    members = [member for part in schema if (member := _placed(root, part, records, job)) is not None]
    if not members:
        return None
    conversions: list[tuple[str, str]] = []
    values, rules = {}, []
    for i, member in enumerate(members):
        value, rule = _reading(member, f"__w{i}", conversions)
        values[member.field.name] = value
        rules.append(rule)
    is_wrong = any_of([rule for rule in rules if rule != "false"])
    proven = f"coalesce({READ} is not null and {READ}.{native.CORRUPT} is null and not ({is_wrong}), false)"
    read = when(_is_plain(root, records, schema, job), _parsed(root, records.raw))
    return WholeRecordReader(
        [[(READ, read)], conversions, [(PROVEN, proven)]], values, frozenset(_objects(root, ()))
    )


def _objects(node: _Object, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield path
    for label, inner in node.members.items():
        if isinstance(inner, _Object):
            yield from _objects(inner, (*path, label))


def _placed(root: _Object, part: pa.Field, records: Records, job: Job) -> _Member | None:
    """Put the field where its record has it; None where the native reader cannot read it, or reads there already."""
    origin = job.fields.get(part.name, FieldSource())
    if origin is None or records.is_outside(part.name, origin):
        return None
    steps = [step for step in records.steps_of(part.name, origin) if isinstance(step, str)]
    scalar = None
    if is_scalar(part):
        scalar = scalar_of(part, pattern=origin.format, epoch=origin.epoch)
    elif origin.format is not None or origin.epoch is not None:
        return None
    is_direct = len(steps) == len(records.steps_of(part.name, origin)) and native.CORRUPT not in steps
    if not steps or not is_direct or native.held(part, scalar) is None:
        return None
    place = READ + "".join("." + name(step) for step in steps)
    node = root
    for step in steps[:-1]:
        inner = node.members.get(step, _Object())
        if isinstance(inner, _Member):
            return None
        node = node.members.setdefault(step, inner)  # type: ignore[assignment]  # an object, as just seen
    if steps[-1] in node.members:
        return None
    member = _Member(part, scalar, place)
    node.members[steps[-1]] = member
    return member


def _reading(member: _Member, label: str, conversions: list[tuple[str, str]]) -> tuple[str, str]:
    """Read the value of a field, and whether it is wrong; a conversion is kept, for both use it."""
    found = native.leaf(member.field, member.scalar) if is_scalar(member.field) else None
    if found is None or not found.is_converted:
        return native.typed_value(member.field, member.place), native.wrong(member.field, member.place)
    conversions.append((label, found.value(member.place)))
    return f"cast({label} as {spark_type(member.field)})", native.wrong(member.field, member.place, label)


def _parsed(root: _Object, raw: str) -> str:
    asked = native.struct_of([*((label, _held(node)) for label, node in root.members.items())])
    assert asked is not None
    return f"from_json({raw}, {literal(asked[:-1] + f',{native.CORRUPT}:string>')}, {native.READER})"


def _held(node: "_Object | _Member") -> str | None:
    if isinstance(node, _Member):
        return native.held(node.field, node.scalar)
    return native.struct_of([(label, _held(inner)) for label, inner in node.members.items()])


def _is_plain(root: _Object, records: Records, schema: pa.Schema, job: Job) -> str:
    """Whether every token is of the kind that its field has: without keys that no field takes, or else with them."""
    others = {path: keys for path, keys in _other_keys(records, schema, job) if keys}
    exact = f"__tokens rlike {literal(_record_pattern(root, others, is_open=False))}"
    if job.unexpected is Unexpected.REJECT:
        return exact.replace("__tokens", f"schema_of_variant({RECORD})")
    is_open = f"__tokens rlike {literal(_record_pattern(root, others, is_open=True))}"
    return f"({exact} or {is_open})".replace("__tokens", f"schema_of_variant({RECORD})")


def _other_keys(records: Records, schema: pa.Schema, job: Job) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Keys that are expected in an object, whether they are read natively or not."""
    for source, known, _ in records.objects(schema, job):
        steps = getattr(source, "steps", ())[1:]
        if all(isinstance(step, str) for step in steps):
            yield steps, known


def _record_pattern(root: _Object, others: dict[tuple[str, ...], list[str]], *, is_open: bool) -> str:
    """Build a pattern of a parsed record: an array of it and of the mark of its end, whose keys Spark puts together."""
    return f"^ARRAY<{_pattern(root, (), others, is_open=is_open, more=[(END, 'BOOLEAN')])}>$"


def _pattern(
    node: _Object,
    path: tuple[str, ...],
    others: dict[tuple[str, ...], list[str]],
    *,
    is_open: bool,
    more: Sequence[tuple[str, str]] = (),
) -> str:
    members = [*more]
    for label, inner in node.members.items():
        if isinstance(inner, _Member):
            found = native.tokens(inner.field, inner.scalar, is_open=is_open)
            assert found is not None
        else:
            found = f"(?:{_pattern(inner, (*path, label), others, is_open=is_open)}|VOID)"
        members.append((label, found))
    extra = [label for label in others.get(path, ()) if label not in node.members]
    return native.object_of([*members, *((label, native.ANYTHING) for label in extra)], is_open)
