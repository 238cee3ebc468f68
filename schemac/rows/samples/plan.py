"""Who decides about the fields of a row: chance, the number of the row, or a row of another dataset.

Layer: rows.
Shape: fields that refer to another dataset take their values from rows of its sample with the same seed. Of the fields that are unique
       together, those with the most values are counted through, so that no two rows are the same.
Errors: NoValueError.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa

from schemac.language.constraints.constraint import comparable_array
from schemac.language.constraints.expressions import AmongNode, ComparisonNode, FieldNode, LiteralNode, Node
from schemac.language.constraints.rows import ReferenceTo, RowConstraints
from schemac.language.logical.model import SchemaField, dotted
from schemac.rows.judging.arrays import nullable_type
from schemac.rows.samples.columns import Column, Counter, Digit, Path, Targets
from schemac.rows.samples.values import NoValueError, Values, values_of

REFERRED = 100
"""So many rows of another dataset are referred to, where not each of them only once."""
_ENOUGH = 2**40
"""More candidates are never made."""

TargetRows = Callable[[ReferenceTo, int], pa.Table | None]
"""Gives so many rows of a dataset that is referred to, as the fields that are; None for a dataset that is being sampled already."""


class CircleError(NoValueError):
    """Datasets refer to each other, so that none can be made first."""


@dataclass(frozen=True)
class SampleField:
    """A field, with its Arrow field."""

    field: SchemaField
    member: pa.Field


@dataclass
class SamplePlan:
    """The fields of a sample that chance does not decide about, and how many candidates there are. Raises CircleError or NoValueError."""

    name: str
    """That of the dataset."""
    rows: RowConstraints
    keys: Sequence[Path]
    places: Mapping[Path, SampleField]
    seed: tuple[object, ...]
    count: int
    """How many rows the sample has."""
    target_rows: TargetRows
    special: dict[Path, Column] = field(default_factory=dict, init=False)
    """The columns of these fields."""
    counters: list[Counter] = field(default_factory=list, init=False)
    capacity: int = field(default=_ENOUGH, init=False)
    """How many candidates there are."""
    limited_by: str = field(default="", init=False)
    """The fields that are unique and have no more values."""
    _targets: dict[Path, Targets] = field(default_factory=dict, init=False)
    _numbered: set[Path] = field(default_factory=set, init=False)
    """Fields in which rows differ already."""

    def __post_init__(self) -> None:
        unique = [tuple(self.keys)] if self.keys else []
        unique += [tuple([node.path for node in one.fields]) for one in self.rows.unique]
        for reference in self.rows.references:
            if reference.dataset != self.name:
                self._plan_reference(reference, unique)
        for paths in sorted(unique, key=len):
            self._count_through(paths)

    @property
    def own_references(self) -> list[ReferenceTo]:
        """References to the dataset itself: each row refers to itself."""
        return [reference for reference in self.rows.references if reference.dataset == self.name]

    def _count_through(self, paths: Sequence[Path]) -> None:
        """Give the fields with the most values columns that follow from the number of the row, so that no two rows are alike in all of them."""
        if self._numbered & set(paths):
            return
        divisor = 1
        for size, components in sorted(
            self._components(paths), key=lambda one: (one[1][0] in self._targets, -one[0])
        ):
            if divisor > self.count * 2:
                break
            path, digit = components[0], Digit(divisor, size)
            if path in self._targets:
                self._targets[path].digit = digit
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
            self._numbered.update(paths)

    def _components(self, paths: Sequence[Path]) -> list[tuple[int, tuple[Path, ...]]]:
        """Return how many values each field has, with its path; a reference counts once, with all its paths, and what has one value is left out."""
        components: list[tuple[int, tuple[Path, ...]]] = []
        grouped: dict[int, list[Path]] = {}
        for path in paths:
            if path in self._targets:
                grouped.setdefault(id(self._targets[path]), []).append(path)
            # Otherwise it follows from the number of the row already, as another list of unique fields needs it.
            elif path not in self.special and (count := self._values(path).count) > 1:
                components.append((count, (path,)))
        for several in grouped.values():
            targets = self._targets[several[0]]
            if targets.digit is None:
                components.append((targets.count, tuple(several)))
        return components

    def _values(self, path: Path) -> Values:
        """Return what draws and numbers the values of the field at a path."""
        place = self.places[path]
        return values_of(place.field, place.member)

    def _plan_reference(self, reference: ReferenceTo, unique: Sequence[tuple[Path, ...]]) -> None:
        """Plan the columns of a reference: rows of the other dataset, or null in one of the fields where references form a circle."""
        paths = [node.path for node in reference.fields]
        if any(path in self.special for path in paths):
            # Another reference has taken the field: candidates that break this one are thrown away.
            return
        nullable = [path for path in paths if self.places[path].field.is_nullable]
        is_alone = any(set(one) <= {*paths} for one in unique)
        target = self.target_rows(reference, self.count if is_alone else min(self.count, REFERRED))
        if target is None:
            if not nullable:
                message = f"{reference.path}: the references form a cycle, back to {reference.dataset}"
                raise CircleError(f"{message}; make one of the fields an Option")
            type_ = nullable_type(self.places[nullable[0]].member)
            self.special[nullable[0]] = lambda start, size: pa.nulls(size, type_)
            return
        columns = [_cast_target(target.column(i), self.places[path].member) for i, path in enumerate(paths)]
        distinct: dict[tuple[str, ...], int] = {}
        rows = zip(*(comparable_array(column).to_pylist() for column in columns), strict=True)
        for number, row in enumerate(rows):
            if None not in row:
                distinct.setdefault(tuple(map(repr, row)), number)
        targets = Targets(
            [column.take(pa.array(distinct.values(), pa.int64())) for column in columns],
            (*self.seed, reference.path, reference.dataset),
            None,
            may_be_null=len(nullable) == len(paths) and not {*self.keys} & {*paths},
        )
        if not targets.count:
            message = f"{reference.path}: the sample of {reference.dataset} has no row to refer to"
            raise NoValueError(message)
        for i, path in enumerate(paths):
            self.special[path] = partial(targets.values, i)
            self._targets[path] = targets


def _cast_target(column: pa.ChunkedArray, member: pa.Field) -> pa.Array:
    """Return values of another dataset in the type of the field that refers to them. Raises NoValueError if they do not fit."""
    field_type = nullable_type(member)
    try:
        return column.combine_chunks().cast(field_type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        message = f"`{member.name}` is {field_type}, but the field that it refers to is {column.type}"
        raise NoValueError(message) from error


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
