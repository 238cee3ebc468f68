"""The sampler: it makes the rows of a dataset.

Values at places inside of structs.

Layer: rows.
Shape: candidates are made some thousands at a time; those that break anything are thrown away. The first rows of a sample do not depend
      on how many follow. Memory follows the size of a batch, and the rows of datasets that are referred to.
Errors: SC352 unsamplable, raised as SchemaError.
"""

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from schemac.arrow.constraints import constraints_of
from schemac.artifacts.dataset import CheckedDataset
from schemac.language.constraints.evaluation import breaches, constrained
from schemac.language.constraints.expressions import ComparisonNode, FieldNode, LiteralNode, LogicNode, Node
from schemac.language.constraints.rows import REFERENCE_RULE, ReferenceTo
from schemac.language.logical.dataset import primary_key
from schemac.language.logical.model import SchemaField, columns, dotted, is_in_structs
from schemac.language.physical import parts_of
from schemac.rows.judging.arrays import storage_field, to_batches
from schemac.rows.samples.columns import CANDIDATES, FIRST_CANDIDATES, column_of
from schemac.rows.samples.plan import CircleError, SampleField, SamplePlan, values_in_conditions
from schemac.rows.samples.values import NoValueError
from schemac.text.source.catalogue import UNSAMPLABLE
from schemac.text.source.diagnostics import Diagnostic, SchemaError


def value_at(rows: pa.RecordBatch, path: Sequence[str]) -> pa.Array:
    """Return the values of a path; null where a struct above it is null."""
    return reduce(pc.struct_field, path[1:], rows.column(path[0]))


def with_value(rows: pa.RecordBatch, path: Sequence[str], values: pa.Array) -> pa.RecordBatch:
    """Return rows with other values at a path; a struct that is null stays null."""
    place = rows.schema.get_field_index(path[0])
    return rows.set_column(place, path[0], _with_value_inside(rows.column(place), path[1:], values))


def _with_value_inside(column: pa.Array, path: Sequence[str], values: pa.Array) -> Any:
    """Return a column with other values at a path inside of its structs; an empty path is the column itself."""
    if not path:
        return values
    place = column.type.get_field_index(path[0])
    parts = [column.field(i) for i in range(column.type.num_fields)]
    parts[place] = _with_value_inside(parts[place], path[1:], values)
    mask = column.is_null() if column.null_count else None
    return pa.StructArray.from_arrays(parts, fields=list(column.type), mask=mask)


_MOST_VAIN = 12
"""So many batches of candidates without a good one are made before it is given up."""

Datasets = Mapping[str, CheckedDataset]


@dataclass
class Sampler:
    """Makes the rows of a dataset's sample. Raises SchemaError if none can be made."""

    dataset: CheckedDataset
    count: int
    seed: int
    others: Datasets = dataclasses.field(default_factory=dict)
    """The datasets that it refers to, and those that these refer to, by name."""
    above: frozenset[str] = frozenset()
    """Datasets whose samples need this one."""

    def __post_init__(self) -> None:
        schema = self.dataset.to_arrow(metadata=True)
        self.exact = self.dataset.to_arrow()
        self.members = [storage_field(member) for member in schema]
        self.rows = constraints_of(schema).rows
        self.fields = columns(self.dataset.schema)
        self.keys = [tuple(map(str, field.path)) for field in primary_key(self.fields)]
        self._constrained = constrained(self.fields)
        if not self.members:
            raise self._error("it has no fields")
        try:
            seed = (self.seed, self.dataset.name)
            # Those that have one value in every row.
            self.places = {
                tuple(map(str, field.path)): SampleField(field, member)
                for field, member in with_members(self.fields, self.members)
                if is_in_structs(field)
            }
            self.plan = SamplePlan(
                self.dataset.name, self.rows, self.keys, self.places, seed, self.count, self._target_rows
            )
            values_of_checks = values_in_conditions([check.condition for check in self.rows.checks])
            self.columns = [
                column_of(field, member, self.plan.special, values_of_checks, seed)
                for field, member in zip(self.fields, self.members, strict=True)
            ]
        except NoValueError as error:
            if self.above and isinstance(error, CircleError):
                raise
            raise self._error(str(error)) from error

    def _target_rows(self, reference: ReferenceTo, count: int) -> pa.Table | None:
        """Return rows of a dataset that is referred to, the fields as columns; None if that needs rows of this one. Raises NoValueError."""
        if reference.dataset in self.above:
            return None
        if reference.dataset not in self.others:
            known = ", ".join(sorted(self.others)) or "none"
            raise NoValueError(
                f"{reference.path} refers to the dataset {reference.dataset}, which is not among those that are known ({known})"
            )
        above = self.above | {self.dataset.name}
        try:
            target = Sampler(self.others[reference.dataset], self.count, self.seed, self.others, above)
        except CircleError:
            # It needs rows of this dataset, or of one above.
            return None
        known_paths = {dotted(path): path for path in target.places}
        for path in reference.to:
            if path not in known_paths:
                raise NoValueError(f"{reference.path}: the dataset {reference.dataset} has no field {path}")
        nodes = [known_paths[path] for path in reference.to]
        targets = []
        for batch in target.batches():
            columns = [value_at(batch, path) for path in nodes]
            targets.append(pa.RecordBatch.from_arrays(columns, names=[f"c{i}" for i in range(len(columns))]))
            if sum(one.num_rows for one in targets) >= count:
                break
        return pa.Table.from_batches(targets).slice(0, count)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in the nullable types of their fields."""
        left, vain, start = self.count, 0, 0
        tally: Counter[str] = Counter()
        while left:
            size = min(CANDIDATES if start else FIRST_CANDIDATES, self.plan.capacity - start)
            if size <= 0:
                raise self._error(
                    f"{self.plan.limited_by} is unique, and has values for {self.count - left:,} of {self.count:,} rows"
                )
            try:
                candidates = self.candidates(start, size)
                broken = list(self._broken_rows(candidates, start))
            except NoValueError as error:
                raise self._error(str(error)) from error
            for rule, rows in broken:
                tally[rule] += len(rows)
            wrong = set().union(*(rows for _, rows in broken))
            good = candidates.filter(pa.array([i not in wrong for i in range(size)])) if wrong else candidates
            start += size
            vain = 0 if good.num_rows else vain + 1
            if vain > _MOST_VAIN:
                worst = max(tally, key=tally.__getitem__)
                raise self._error(f"no row was found that satisfies {worst}: {start:,} were tried")
            if good.num_rows:
                yield good.slice(0, left)
                left -= min(left, good.num_rows)

    def tables(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in the types of the dataset's Arrow schema."""
        for batch in self.batches():
            yield from to_batches(batch, self.exact)

    def candidates(self, start: int, size: int, *, is_mended: bool = True) -> pa.RecordBatch:
        """Make rows of which some may break conditions, most of them unless they are mended."""
        arrays = [column(start, size) for column in self.columns]
        rows = pa.RecordBatch.from_arrays(arrays, names=[member.name for member in self.members])
        known = {dotted(path): path for path in self.places}
        for reference in self.plan.own_references:
            for node, path in zip(reference.fields, reference.to, strict=True):
                if path not in known:
                    raise NoValueError(
                        f"{reference.path}: {self.dataset.name} has no field {path} with one value in every row"
                    )
                data_type = value_at(rows, node.path).type
                rows = with_value(rows, node.path, value_at(rows, known[path]).cast(data_type))
        for check in self.rows.checks if is_mended else ():
            for part in _conjuncts(check.condition):
                rows = self._with_equation_fulfilled(rows, part)
        return rows

    def _with_equation_fulfilled(self, rows: pa.RecordBatch, node: Node) -> pa.RecordBatch:
        """Return rows in which a field has the value that an equation, or a comparison that allows equality, requires."""
        if not isinstance(node, ComparisonNode) or node.operator not in ("=", "<=", ">="):
            return rows
        for operand, other in ((node.left, node.right), (node.right, node.left)):
            if (
                not isinstance(operand, FieldNode)
                or len(operand.path) > 1
                or operand.path in self.plan.special
            ):
                continue
            if isinstance(other, LiteralNode):
                return rows
            place = rows.schema.get_field_index(operand.path[0])
            column = rows.column(place)
            wrong = pc.invert(pc.fill_null(node.evaluate(rows), True))
            try:
                values = other.evaluate(rows)
                if not isinstance(values, pa.Array | pa.ChunkedArray):
                    # A value alone.
                    continue
                is_ = pa.types
                if is_.is_date32(column.type) or is_.is_time32(column.type):
                    values = values.cast(pa.int32()).view(column.type)
                elif is_.is_temporal(column.type) and not is_.is_date64(column.type):
                    values = values.cast(pa.int64()).view(column.type)
                else:
                    values = pc.cast(
                        values, options=pc.CastOptions(column.type, allow_decimal_truncate=False)
                    )
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                continue
            return rows.set_column(place, operand.path[0], pc.if_else(wrong, values, column))
        return rows

    def _broken_rows(self, rows: pa.RecordBatch, start: int) -> Iterator[tuple[str, set[int]]]:
        """Yield each rule, in words, with the candidates that break it; the first one has the number `start`."""
        for reference in self.plan.own_references:
            lacking = pa.repeat(pa.scalar(False), rows.num_rows)
            for node in reference.fields:
                above = [value_at(rows, node.path[:depth]) for depth in range(1, len(node.path))]
                if not self.places[node.path].field.is_nullable:
                    is_null = value_at(rows, node.path).is_null()
                    for one in above:
                        is_null = pc.and_(is_null, one.is_valid())
                    lacking = pc.or_(lacking, is_null)
            yield f"{REFERENCE_RULE} of {reference.path}", set(pc.indices_nonzero(lacking).to_pylist())
        for counter in self.plan.counters:
            rejected = {number - start for number in counter.rejected}
            counter.rejected.clear()
            yield f"the constraints of {counter.field.path_text}, which is unique", rejected
        for breach in breaches(self._constrained, rows):
            yield f"{breach.constraint.rule} of {breach.path}", set(breach.rows.to_pylist())
        for check in self.rows.checks:
            yield f"`{check.text}`", set(pc.indices_nonzero(check.violations(rows)).to_pylist())

    def _error(self, message: str) -> SchemaError:
        """Return the error that a dataset cannot be sampled."""
        code = UNSAMPLABLE
        text = f"{self.dataset.name} cannot be sampled: {message}"
        return SchemaError((Diagnostic(code.id, code.slug, code.severity, text, self.dataset.name),))


def with_members(
    fields: Sequence[SchemaField], members: Sequence[pa.Field]
) -> Iterator[tuple[SchemaField, pa.Field]]:
    """Yield all fields with their Arrow fields, those above before those in them."""
    stack = list(zip(fields, members, strict=True))
    while stack:
        field, member = stack.pop(0)
        yield field, member
        # What is stored as a struct, such as a blob, has no parts of its own.
        stack += zip(field.children, parts_of(member.type), strict=False)


def _conjuncts(condition: Node) -> Iterator[Node]:
    """Yield the conditions that `and` joins, however many there are."""
    if isinstance(condition, LogicNode) and condition.word == "and":
        yield from _conjuncts(condition.left)
        yield from _conjuncts(condition.right)
    else:
        yield condition


def sample_table(dataset: CheckedDataset, count: int, seed: int, others: Datasets) -> pa.Table:
    """Return a sample as a table. Raises SchemaError."""
    sampler = Sampler(dataset, count, seed, others)
    return pa.Table.from_batches(sampler.tables(), sampler.exact)
