"""New columns made of old ones, and the files of fragments that they are written to.

Layer: engines.
Shape: where a type changed more than once, one stage a change, so that the values are those of a table that was migrated step by step. A
      fragment is known by its data files, for whatever writes rows or moves them makes other files. Deleting rows leaves the files as
      they are, and a value more than there are rows does no harm; but a row that comes back has none.
"""

import dataclasses
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pyarrow as pa

import schemac.language.kinds.registry  # noqa: F401 — a worker knows no kind without it
from schemac.engines.lance import attributes as lance
from schemac.engines.lance.dataset import open_dataset
from schemac.engines.lance.tables.convert import Conversion, MisfitHandler
from schemac.engines.lance.tables.steps import new_column
from schemac.engines.lance.transactions import added_file
from schemac.language.logical.dataset import LogicalDataset, Origins
from schemac.language.logical.model import Schema, SchemaField, columns, preorder
from schemac.text.source.json_object import without_keys
from schemac.versions.evolution.tables import PartsTask, Progress
from schemac.versions.evolution.version_pair import (
    LockedVersionPair,
    SchemaVersion,
    VersionPair,
    narrowed_tree,
)

_KEYS = frozenset({lance.PRIMARY_KEY.key, lance.CLUSTERING_KEY.key})
"""What a column has no use for until it is at its place; Lance refuses keys inside what may be null."""
_NO_TEXT = Origins("", overlaid={})
"""Where a schema stands that is sent to other processes."""


_Step = list[tuple[Conversion, SchemaField]]
"""The columns that one stage makes, each with its conversion."""


@dataclass(frozen=True)
class Converter:
    """Makes new columns out of batches of the old table, stage by stage; it can be sent to other processes."""

    pairs: tuple[VersionPair, ...]
    """The versions that the values go through, outside of any lock, so that they can be sent to other processes."""
    rounded: tuple[frozenset[str], ...]
    """For each pair the fields whose values may be rounded, as they are called in its new version."""
    parts: tuple[tuple[SchemaField, ...], ...]
    """For each new column its fields that are made, in the last schema."""
    on_misfit: MisfitHandler | None = dataclasses.field(default=None, compare=False, repr=False)
    """Is called with values that do not fit, which are errors without it; None in other processes."""

    @classmethod
    def of(
        cls,
        stages: Sequence[LockedVersionPair],
        columns: Iterable[Sequence[SchemaField]],
        rounded: Collection[str] = (),
    ) -> "Converter":
        """Return the converter for columns of the last new version, each given by those of its fields that are made.

        `rounded` has the paths of the fields whose values may be rounded.
        """
        ids = {id for field, id in stages[-1].new.ids.items() if field.path_text in rounded}
        names = [{field.path_text for field, id in stage.new.ids.items() if id in ids} for stage in stages]
        pairs, rounded_in = tuple(map(_outside_of_locks, stages)), tuple(map(frozenset, names))
        return cls(pairs, rounded_in, tuple(map(tuple, columns)))

    @property
    def columns(self) -> tuple[SchemaField, ...]:
        """The columns that it makes, without the fields that are not made."""
        return tuple([column for _, column in self._steps[-1]])

    @property
    def sources(self) -> list[str]:
        """The columns of the table that are read."""
        return sorted(_sources(self._steps[0]))

    def make(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return a batch of the new columns, with their names and metadata."""
        *before, last = self._steps
        for step in before:
            made = {str(field.segment): conversion.build(field, batch) for conversion, field in step}
            if made:
                # Without a column a batch would forget how many rows it has.
                batch = pa.RecordBatch.from_arrays(list(made.values()), names=list(made))
        arrays = [conversion.build(column, batch) for conversion, column in last]
        fields = [
            pa.field(str(column.segment), values.type, metadata=conversion.lowered[column].arrow.metadata)
            for (conversion, column), values in zip(last, arrays, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))

    @cached_property
    def _steps(self) -> list[_Step]:
        """For each stage, the columns that it makes because the next one reads them, with their conversions."""
        *earlier, (last, rounded) = zip(self.pairs, self.rounded, strict=True)
        pairs = [_pruned(last, fields) for fields in self.parts]
        steps: list[_Step] = [
            [(Conversion(pair, rounded, self.on_misfit), pair.new.dataset.columns[0]) for pair in pairs]
        ]
        for pair, rounded in reversed(earlier):
            needed, conversion = _sources(steps[0]), Conversion(pair, rounded, self.on_misfit)
            made = [field for field in pair.new.dataset.columns if field.segment in needed]
            steps.insert(0, [(conversion, field) for field in made])
        return steps


def _outside_of_locks(pair: VersionPair) -> VersionPair:
    """Return a pair of two versions without what a lock and a text know of them."""
    old, new = (replace(version.dataset, origins=_NO_TEXT) for version in (pair.old, pair.new))
    return VersionPair(SchemaVersion(old, ""), SchemaVersion(new, ""), dict(pair.before))


def _sources(step: _Step) -> set[str]:
    """Return the old columns that a stage reads."""
    return {name for conversion, field in step for name in conversion.sources(field)}


def _pruned(pair: VersionPair, roots: Sequence[SchemaField]) -> VersionPair:
    """Return a pair whose new version has some fields of one column alone, with all around and below them; keys are left out."""
    members = {field for root in roots for field in (*root.chain, *preorder([root]))}
    paths = [field.path for field in preorder(pair.new.dataset.columns) if field in members]
    schema = Schema.model_validate(without_keys(narrowed_tree(pair.new.dataset, paths), _KEYS))
    new = SchemaVersion(LogicalDataset("", schema, columns(schema), _NO_TEXT), "")
    old_of = {new_field.path: before for new_field, before in pair.before.items()}
    before = {f: old_of[f.path] for f in preorder(new.dataset.columns) if f.path in old_of}
    return VersionPair(pair.old, new, before)


def fragment_files(metadata: Any) -> Hashable:
    """Return the id of a fragment and its data files with the ids of their fields; deleting rows does not change them."""
    return metadata.id, tuple((file.path, tuple(file.fields)) for file in metadata.files)


def has_no_restored_rows(now: Any, then: Any) -> bool:
    """Whether all rows of a fragment were also there when its new columns were made; a restored row would have no value."""
    return has_same_deletions(now.metadata, then.metadata) or _addresses(now) <= _addresses(then)


def has_same_deletions(now: Any, then: Any) -> bool:
    """Whether a fragment had no deleted rows, or the file of its deleted rows is the same; of its metadata now and then."""
    return then.deletion_file is None or str(now.deletion_file) == str(then.deletion_file)


def _addresses(fragment: Any) -> set[int]:
    """Return the row addresses of a fragment; those of deleted rows are absent."""
    scanner = fragment.scanner(columns=[], with_row_address=True)
    return set(scanner.to_table().column("_rowaddr").to_pylist())


@dataclass(frozen=True)
class WriteColumns:
    """A task that writes new data files for fragments of a version of a table."""

    path: str
    version: int
    converter: Converter
    field_ids: tuple[tuple[int, ...], ...]
    """For each column that the converter makes, the ids of its fields in pre-order."""

    def __call__(self, ids: Iterable[int]) -> Iterator[tuple[int, str]]:
        """Yield the id of each fragment and its new data file as JSON, which no version names yet."""
        dataset = open_dataset(self.path, self.version)
        for id in ids:
            fragment, sources = dataset.get_fragment(id), self.converter.sources
            yield id, write_columns(fragment, self._make, sources, self.field_ids)

    def _make(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the new columns of a batch under reserved names."""
        made = self.converter.make(batch)
        fields = [field.with_name(new_column(number)) for number, field in enumerate(made.schema)]
        return pa.RecordBatch.from_arrays(made.columns, schema=pa.schema(fields))


def write_columns(
    fragment: Any, make: Any, sources: Sequence[str], field_ids: Sequence[Sequence[int]]
) -> str:
    """Write a new data file of a fragment, and return it as JSON; no version names it yet. `make` makes its columns of the `sources`.

    Lance writes columns of names that nothing else has, inside copies of the structs and lists around them; each gets the
    ids of the field that it is to be, in pre-order.
    """
    metadata, schema = fragment.merge_columns(make, columns=list(sources))
    columns = {new_column(number): ids for number, ids in enumerate(field_ids)}
    return added_file(fragment.metadata, metadata, schema, columns)


def run_in_process(task: PartsTask, parts: Sequence[int], title: str, progress: Progress) -> dict[int, str]:
    """Do a task in this process, part by part; return what it made of each part."""
    made: dict[int, str] = {}
    for number, part in enumerate(parts):
        progress(title, number, len(parts))
        made.update(task([part]))
    return made
