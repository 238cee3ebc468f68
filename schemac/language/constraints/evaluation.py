"""Evaluates constraints over Arrow: the rows of a batch, or of a whole table, that break each.

Layer: language.
Shape: `breaches` takes fields and a batch, and yields for each constraint that some values break which ones they are, with the way
       back to their rows, at any depth. `survey` takes the batches of a table one after the other, which it may ask for twice, and returns counts
       with the first offenders.
Memory: the largest batch, 8 bytes for each row and list of unique fields, and the keys of tables that are referred to.
"""

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from schemac.language.attributes.attribute import Family
from schemac.language.attributes.constraints import are_constrained
from schemac.language.constraints.constraint import Constraint, compact, compute, entries_of, plain
from schemac.language.constraints.expressions import FieldNode
from schemac.language.constraints.field_constraints import constraints_at
from schemac.language.constraints.rows import (
    REFERENCE_RULE,
    UNIQUE_RULE,
    Check,
    ReferenceTo,
    RowConstraints,
    Unique,
)
from schemac.language.logical.model import SchemaField, preorder
from schemac.language.physical import pa


@dataclass(frozen=True)
class Constrained:
    """A field of a schema with the constraints that hold there, and those below it that have some, at whatever depth."""

    field: SchemaField
    constraints: tuple[Constraint, ...] = ()
    children: "tuple[Constrained, ...]" = ()

    def each(self) -> Iterator[Constraint]:
        """Yield the constraints here and below."""
        yield from self.constraints
        for child in self.children:
            yield from child.each()


def constrained(fields: Iterable[SchemaField]) -> tuple[Constrained, ...]:
    """Return those of some fields that have a constraint at some depth."""
    return tuple(
        [
            Constrained(field, constraints_at(field), constrained(field.children))
            for field in fields
            if any(are_constrained(one.extra) for one in preorder([field]))
        ]
    )


@dataclass(frozen=True)
class PlacedValues:
    """All values at one place of a schema in the rows of a batch, each of them found again by its number."""

    values: Any
    parent: "PlacedValues | None" = None
    """The values that these are parts of; None for those of a column."""
    parents: Any = None
    """The number of the list or map that each is in, as an array of numpy, sorted; None for members of structs, which have the same."""
    keys: Any = None
    """The keys of the entries of maps."""
    child: int = 0
    """The number of this part among those that have constraints, from 1."""
    label: str = ""
    """The name of the column, or of the member."""

    def above(self, numbers: Any) -> Any:
        """Return the numbers of the values that some are parts of."""
        return numbers if self.parents is None else self.parents[numbers]

    def rows(self, numbers: Any) -> Any:
        """Return the rows of some values."""
        return numbers if self.parent is None else self.parent.rows(self.above(numbers))

    def parts(self, place: Constrained) -> "Iterator[tuple[Constrained, PlacedValues]]":
        """Yield the parts that have constraints, with all of their values."""
        family, parents, keys = place.field.type.family, None, None
        if family is Family.STRUCT:
            arrays = self.values.flatten()
        else:
            lists = compact(entries_of(self.values) if family is Family.MAP else self.values)
            parents = compute().list_parent_indices(lists).to_numpy()
            arrays = lists.flatten().flatten() if family is Family.MAP else [lists.flatten()]
            keys = arrays[0] if family is Family.MAP else None
        by_field = dict(zip(place.field.children, arrays, strict=False))
        for i, part in enumerate(place.children, 1):
            label = str(part.field.segment)
            yield part, PlacedValues(by_field[part.field], self, parents, keys, i, label)


@dataclass(frozen=True)
class Breach:
    """A constraint that values of a batch break."""

    place: Constrained
    constraint: Constraint
    at: PlacedValues
    numbers: Any
    """Of the values that break it, as an array of numpy."""

    @property
    def path(self) -> str:
        """The path of the field."""
        return self.place.field.path_text

    @property
    def rows(self) -> Any:
        """The rows of the batch, as an array of Arrow; a row is there as often as it has such values."""
        return pa.array(self.at.rows(self.numbers), pa.int64())

    @property
    def values(self) -> Any:
        """The values."""
        return self.at.values.take(pa.array(self.numbers, pa.int64()))


def breaches(places: Iterable[Constrained], batch: Any) -> Iterator[Breach]:
    """Yield what the rows of a batch break, a field before its parts; columns are found by their names."""
    for place in places:
        name = str(place.field.segment)
        yield from _breaches_below(place, PlacedValues(batch.column(name), label=name))


def _breaches_below(place: Constrained, at: PlacedValues) -> Iterator[Breach]:
    """Yield the broken constraints of a field and all below it, with the positions of the values."""
    if isinstance(at.values.type, pa.BaseExtensionType):
        at = dataclasses.replace(at, values=at.values.storage)
    for constraint in place.constraints:
        mask = constraint.violations(at.values)
        if mask.true_count:
            yield Breach(place, constraint, at, compute().indices_nonzero(mask).cast(pa.int64()).to_numpy())
    if place.children:
        for part, values in at.parts(place):
            yield from _breaches_below(part, values)


Scan = Callable[[Sequence[str]], Iterator[tuple[Any, Any]]]
"""Gives record batches with these columns, each with numbers by which its rows can be found again."""
_MOST_EXAMPLES = 3
_ROWS = 20
"""So many values and rows are named."""
_LONGEST = 60
_MOST_DUPLICATES = 1_000_000
"""So many rows at most are compared by their values, after their hashes were."""


@dataclass
class Offence:
    """One constraint that rows of a table break."""

    path: str
    rule: str
    text: str
    """What was to be, as the end of a sentence."""
    subject: Constraint | Check | ReferenceTo | Unique | None = None
    """The constraint; None for values that do not fit their type."""
    count: int = 0
    values: list[str] = dataclasses.field(default_factory=list)
    rows: list[int] = dataclasses.field(default_factory=list)
    is_least: bool = False
    """Whether there may be more."""

    def add(self, values: Sequence[Any], rows: Any) -> None:
        """Count the rows of values, one for each, and remember the first of both; the others need not be in `values`."""
        self.count += len(rows)
        for value in values[: max(_MOST_EXAMPLES - len(self.values), 0)]:
            self.values.append(_value_text(value))
        self.rows += rows.slice(0, max(_ROWS - len(self.rows), 0)).to_pylist()


_Offences = Callable[[str, str, str, Any], Offence]


@dataclass(frozen=True)
class ReferenceValues:
    """The values that a reference may have."""

    reference: ReferenceTo
    keys: Any
    """The table of `target_keys`."""


def survey(
    columns: Sequence[SchemaField],
    constraints: RowConstraints,
    scan: Scan,
    targets: Sequence[ReferenceValues],
) -> tuple[Offence, ...]:
    """Return what rows break; references are looked up in `targets`, and those of other tables are left out."""
    offences: dict[tuple[str, str, str], Offence] = {}

    def offence(path: str, rule: str, text: str, subject: Any) -> Offence:
        return offences.setdefault((path, rule, text), Offence(path, rule, text, subject))

    places = constrained(columns)
    references = [target.reference for target in targets]
    parts: list[Check | Unique | ReferenceTo] = [*constraints.checks, *constraints.unique, *references]
    fields = [node for part in parts for node in part.fields]
    names = list(
        dict.fromkeys([*(str(one.field.segment) for one in places), *(node.path[0] for node in fields)])
    )
    hashes: list[list[Any]] = [[] for _ in constraints.unique]
    for batch, rows in scan(names) if names else ():
        for breach in breaches(places, batch):
            constraint = breach.constraint
            one = offence(breach.path, constraint.rule, constraint.text, constraint)
            one.add(breach.values, rows.take(breach.rows))
        for check in constraints.checks:
            mask = check.violations(batch)
            if compute().any(mask).as_py():
                first = compute().indices_nonzero(mask).slice(0, _MOST_EXAMPLES).to_pylist()
                wrong = [_key_text(batch, check.fields, i) for i in first]
                one = offence(check.path, check.rule, f"a row for which {check.text}", check)
                one.add(wrong, rows.filter(mask))
        for target in targets:
            reference, missing = target.reference, without_target(target.reference, batch, target.keys)
            if len(missing):
                first = missing.slice(0, _MOST_EXAMPLES).to_pylist()
                wrong = [_key_text(batch, reference.fields, i) for i in first]
                text = f"those of a row of {reference.dataset}"
                one = offence(reference.path, REFERENCE_RULE, text, reference)
                one.add(wrong, rows.take(missing))
        for unique, several in zip(constraints.unique, hashes, strict=True):
            several.append(_row_hashes([node.evaluate(batch) for node in unique.fields]))
    for unique, several in zip(constraints.unique, hashes, strict=True):
        _find_duplicates(unique, several, scan, offence)
    return tuple(offences.values())


def without_target(reference: ReferenceTo, batch: Any, target: Any) -> Any:
    """Return the numbers of the rows of a batch whose values are not among those of `target_keys`, in their order."""
    values = [node.evaluate(batch) for node in reference.fields]
    table = _key_table(values, pa.array(range(batch.num_rows), pa.int64())).filter(all_there(values))
    missing = table.join(target, target.column_names, join_type="left anti")
    return missing.column("row").sort().combine_chunks()


def duplicate_rows(values: Sequence[Any], rows: Any) -> Any:
    """Return those rows whose values another one has as well, as a table of both, sorted by the values.

    Values are arrays as `FieldNode.evaluate` gives them, without nulls.
    """
    return _rows_with_equal_keys(_key_table(values, rows))


def _key_table(values: Sequence[Any], rows: Any) -> Any:
    """Return a table of values in types that Arrow joins by, and of the numbers of their rows in its last column."""
    keys = [f"key{i}" for i in range(len(values))]
    return pa.table([*map(_as_join_key, values), rows], names=[*keys, "row"])


def _rows_with_equal_keys(table: Any) -> Any:
    """Return the rows of a table whose keys are there more than once, sorted by the keys and the row."""
    keys = table.column_names[:-1]
    groups = table.group_by(keys).aggregate([("row", "count")])
    groups = groups.filter(compute().greater(groups.column("row_count"), 1))
    return table.join(groups.select(keys), keys, join_type="left semi").sort_by(
        [*((k, "ascending") for k in keys), ("row", "ascending")]
    )


def target_keys(reference: ReferenceTo, table: Any, nodes: Sequence[FieldNode]) -> Any:
    """Return the values of the other table that a reference is looked up in, in the form of its own fields."""
    arrays = []
    batch = table.combine_chunks().to_batches()
    for node in nodes:
        chunks = [_as_join_key(node.evaluate(one)) for one in batch]
        arrays.append(pa.chunked_array(chunks) if chunks else pa.chunked_array([], pa.int64()))
    names = [f"key{i}" for i in range(len(reference.fields))]
    return pa.table(arrays, names=names).group_by(names).aggregate([])


def _find_duplicates(unique: Unique, several: Sequence[Any], scan: Scan, offence: _Offences) -> None:
    """Compare the values of rows that have the same hash."""
    import numpy as np

    hashes = np.concatenate(several) if several else np.array([], "u8")
    hashes = hashes[hashes != 0]
    sorted_ = np.sort(hashes)
    twice = np.unique(sorted_[1:][sorted_[1:] == sorted_[:-1]])
    if not len(twice):
        return
    parts, count, is_least = [], 0, False
    for batch, rows in scan(list(dict.fromkeys(node.path[0] for node in unique.fields))):
        values = [node.evaluate(batch) for node in unique.fields]
        is_candidate = pa.array(np.isin(_row_hashes(values), twice))
        part = _key_table(values, rows).filter(is_candidate)
        is_least = is_least or count + len(part) > _MOST_DUPLICATES
        part = part.slice(0, max(_MOST_DUPLICATES - count, 0))
        count += len(part)
        parts.append(part)
    duplicates = _rows_with_equal_keys(pa.concat_tables(parts))
    if len(duplicates):
        one = offence(unique.path, UNIQUE_RULE, "unique", unique)
        keys = duplicates.drop_columns("row").slice(0, _MOST_EXAMPLES).to_pylist()
        first = [", ".join(map(str, key.values())) for key in keys]
        one.is_least = is_least
        one.add(first, duplicates.column("row").combine_chunks())


def _row_hashes(arrays: Sequence[Any]) -> Any:
    """Return a 64-bit hash of each row, 0 for one in which a value is null."""
    import numpy as np

    mixed = np.full(len(arrays[0]), 0x9E3779B97F4A7C15, "u8")
    for array in arrays:
        mixed = (mixed ^ _value_hashes(array)) * np.uint64(0xFF51AFD7ED558CCD)
        mixed ^= mixed >> np.uint64(32)
    mixed[mixed == 0] = 1
    mixed[~np.asarray(all_there(arrays))] = 0
    return mixed


def _value_hashes(array: Any) -> Any:
    """Return 64 bits for each value of an array: integers as they are, hashes of others; those of null mean nothing."""
    import numpy as np

    if pa.types.is_int64(array.type):
        return compute().fill_null(array, 0).to_numpy(zero_copy_only=False).astype("u8")
    encoded = array.dictionary_encode() if not pa.types.is_dictionary(array.type) else array
    values = encoded.dictionary.to_pylist()
    # Zero without its sign: 0.0 and -0.0 are equal.
    texts = [repr(value + 0.0 if isinstance(value, float) else value).encode() for value in values]
    known = [int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little") for text in texts]
    places = compute().fill_null(encoded.indices, 0).to_numpy(zero_copy_only=False)
    return np.array([*known, 0], "u8")[places]


def all_there(arrays: Sequence[Any]) -> Any:
    """Return the rows in which no value is null."""
    return reduce(compute().and_, map(compute().is_valid, arrays))


def _as_join_key(array: Any) -> Any:
    """Return values in a type that Arrow can group and join by, the same for texts, and for bytes, of every layout."""
    array = plain(array)
    is_ = pa.types
    if is_.is_binary(array.type) or is_.is_fixed_size_binary(array.type):
        return array.cast(pa.large_binary())
    if is_.is_floating(array.type):
        # Zero has a sign, by which joins tell it apart.
        return compute().add(array.cast(pa.float64()), 0.0)
    return array.cast(pa.large_string()) if is_.is_string(array.type) or is_.is_decimal(array.type) else array


def _key_text(batch: Any, fields: Sequence[FieldNode], place: int) -> str:
    """Return the fields of one row with their values, for people: `id 3, day 2020-01-31`."""
    values = {str(node): node.raw(batch)[place] for node in fields}
    return ", ".join(f"{name} {_value_text(value)}" for name, value in values.items())


def _value_text(value: Any) -> str:
    """Return the text of a value, cut at its greatest length; the plain count if Python's calendar does not reach it."""
    if isinstance(value, str):
        return value
    try:
        shown_value = value.as_py()
    except (ValueError, OverflowError):
        # Python's calendar is narrower than Arrow's, and pyarrow's own text goes through it.
        counts = pa.int64() if value.type.bit_width == 64 else pa.int32()
        return str(pa.array([value]).view(counts)[0])
    text = json.dumps(shown_value, ensure_ascii=False) if isinstance(shown_value, str) else str(shown_value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
