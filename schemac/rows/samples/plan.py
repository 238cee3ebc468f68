"""Who decides about the fields of a row: chance, the number of the row, or a row of another dataset.

Layer: rows.
Shape: fields that refer to another dataset take their values from rows of its sample with the same seed. Of the fields that are unique
       together, those with the most values are counted through, so that no two rows are the same.
Errors: NoValueError.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from schemac.language.constraints.constraint import comparable_array
from schemac.language.constraints.expressions import AmongNode, ComparisonNode, FieldNode, LiteralNode, Node
from schemac.language.constraints.rows import ReferenceTo, RowConstraints
from schemac.language.logical.model import dotted
from schemac.language.logical.schema_fields import SchemaField
from schemac.rows.judging.arrays import nullable_type
from schemac.rows.samples.columns import Column, Counter, Digit, Nothing, Path, ReferenceColumn, Targets
from schemac.rows.samples.values import NoValueError, Values, values_of

REFERRED = 100
"""So many rows of another dataset are referred to, where not each of them only once."""
_ENOUGH = 2**40
"""More candidates are never made."""

TargetRows = Callable[[ReferenceTo, int], pa.Table | None]
"""Gives so many rows of a dataset that is referred to, as the fields that are; None for a dataset that is being sampled already."""


class CircleError(NoValueError):
    """Datasets that refer to each other, of which none can be made first."""


@dataclass(frozen=True)
class SampleField:
    """A field of a row, with its Arrow field."""

    field: SchemaField
    member: pa.Field


@dataclass(frozen=True)
class SamplePlan:
    """The fields that chance does not decide about."""

    special: Mapping[Path, Column]
    counters: tuple[Counter, ...]
    own: tuple[ReferenceTo, ...]
    """References to the dataset itself: each row refers to itself."""
    capacity: int
    """How many candidates there are."""
    limited_by: str = ""
    """The fields that are unique and have no more values."""


@dataclass
class _Planner:
    places: Mapping[Path, SampleField]
    seed: tuple[object, ...]
    keys: frozenset[Path]
    special: dict[Path, Column]
    counters: list[Counter]
    targets: dict[Path, Targets]
    numbered: set[Path]
    capacity: int = _ENOUGH
    limited_by: str = ""

    def count_through(self, paths: Sequence[Path], rows: int) -> None:
        """Make the rows differ in some fields."""
        if self.numbered & set(paths):
            return
        divisor = 1
        for size, components in sorted(
            self._components(paths), key=lambda one: (one[1][0] in self.targets, -one[0])
        ):
            if divisor > rows * 2:
                break
            path, digit = components[0], Digit(divisor, size)
            if path in self.targets:
                self.targets[path].digit = digit
            else:
                place = self.places[path]
                may_be_null = place.field.is_nullable and path not in self.keys
                counter = Counter(
                    place.field, place.member, self._values(path), digit, self.seed, may_be_null
                )
                self.special[path] = counter
                self.counters.append(counter)
            divisor *= size
        if divisor < self.capacity:
            self.capacity, self.limited_by = divisor, ", ".join(map(dotted, paths))
        # The rows differ in these fields together; in one of them alone only where it is the only one.
        if len(paths) == 1 or divisor == 1:
            self.numbered.update(paths)

    def _components(self, paths: Sequence[Path]) -> list[tuple[int, tuple[Path, ...]]]:
        """Return how many values each field has, with its path; a reference counts once, with all its paths, and what has one value is left out."""
        components: list[tuple[int, tuple[Path, ...]]] = []
        grouped: dict[int, list[Path]] = {}
        for path in paths:
            if path in self.targets:
                grouped.setdefault(id(self.targets[path]), []).append(path)
                continue
            if path in self.special:
                # It follows from the number of the row already, as another list of unique fields needs it.
                continue
            values = self._values(path)
            if values.count > 1:
                components.append((values.count, (path,)))
        for several in grouped.values():
            targets = self.targets[several[0]]
            if targets.digit is None:
                components.append((targets.count, tuple(several)))
        return components

    def _values(self, path: Path) -> Values:
        """Return what draws and numbers the values of the field at a path."""
        place = self.places[path]
        return values_of(place.field, place.member)


def plan_of(
    name: str,
    rows: RowConstraints,
    keys: Sequence[Path],
    places: Mapping[Path, SampleField],
    seed: tuple[object, ...],
    count: int,
    target_rows: TargetRows,
) -> SamplePlan:
    """Plan a sample of so many rows. Raises NoValueError."""
    lists = [
        *([tuple(keys)] if keys else []),
        *(tuple([node.path for node in one.fields]) for one in rows.unique),
    ]
    planner = _Planner(places, seed, frozenset(keys), {}, [], {}, set())
    reference_tos = []
    for reference in rows.references:
        if reference.dataset == name:
            reference_tos.append(reference)
            continue
        _refer(planner, reference, lists, count, target_rows)
    for paths in sorted(lists, key=len):
        planner.count_through(paths, count)
    return SamplePlan(
        planner.special, tuple(planner.counters), tuple(reference_tos), planner.capacity, planner.limited_by
    )


def _refer(
    planner: _Planner,
    reference: ReferenceTo,
    lists: Sequence[tuple[Path, ...]],
    count: int,
    target_rows: TargetRows,
) -> None:
    """Plan the columns of a reference: rows of the other dataset, or null in one of the fields where references form a circle. Raises CircleError or NoValueError."""
    paths = [node.path for node in reference.fields]
    if any(path in planner.special for path in paths):
        # Another reference has taken the field: candidates that break this one are thrown away.
        return
    may_be_null = all(planner.places[path].field.is_nullable for path in paths) and not planner.keys & {
        *paths
    }
    is_alone = any(set(one) <= {*paths} for one in lists)
    target = target_rows(reference, count if is_alone else min(count, REFERRED))
    if target is None:
        nullable = next((path for path in paths if planner.places[path].field.is_nullable), None)
        if nullable is None:
            message = f"{reference.path}: the references form a cycle, back to {reference.dataset}"
            raise CircleError(f"{message}; make one of the fields an Option")
        planner.special[nullable] = Nothing(planner.places[nullable].member)
        return
    columns = [_brought(target.column(i), planner.places[path].member) for i, path in enumerate(paths)]
    seen: set[tuple[str, ...]] = set()
    distinct = []
    for number, row in enumerate(
        zip(*(comparable_array(column).to_pylist() for column in columns), strict=True)
    ):
        text = tuple(map(repr, row))
        if None not in row and text not in seen:
            seen.add(text)
            distinct.append(number)
    targets = Targets(
        [column.take(pa.array(distinct, pa.int64())) for column in columns],
        (*planner.seed, reference.path, reference.dataset),
        None,
        may_be_null,
    )
    if not targets.count:
        raise NoValueError(f"{reference.path}: the sample of {reference.dataset} has no row to refer to")
    for i, path in enumerate(paths):
        planner.special[path] = ReferenceColumn(targets, i)
        planner.targets[path] = targets


def _brought(column: pa.ChunkedArray, member: pa.Field) -> pa.Array:
    """Return values of another dataset in the type of the field that refers to them."""
    field_type = nullable_type(member)
    try:
        return column.combine_chunks().cast(field_type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise NoValueError(
            f"`{member.name}` is {field_type}, but the field that it refers to is {column.type}"
        ) from error


def values_in_conditions(conditions: Sequence[Node]) -> dict[Path, tuple[Any, ...]]:
    """Return the values that conditions compare fields with."""
    by_path: dict[Path, list[Any]] = {}
    stack = list(conditions)
    while stack:
        node = stack.pop()
        stack += node.parts()
        if isinstance(node, AmongNode) and isinstance(node.operand, FieldNode):
            by_path.setdefault(node.operand.path, []).extend(one.value for one in node.values)
        if isinstance(node, ComparisonNode):
            for one, other in ((node.left, node.right), (node.right, node.left)):
                if isinstance(one, FieldNode) and isinstance(other, LiteralNode) and other.type == one.type:
                    by_path.setdefault(one.path, []).append(other.value)
    return {path: tuple(dict.fromkeys(values)) for path, values in by_path.items()}
