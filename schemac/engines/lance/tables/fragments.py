"""New columns for the fragments of a Lance table, and what they were made of.

Layer: engines.
Shape: a fragment is known by its data files; whatever writes rows or moves them makes other files. Deleting rows leaves
the files as they are, and a value more than there are rows does no harm; but a row that comes back has none.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from schemac.engines.lance.dataset import open_dataset
from schemac.engines.lance.tables.recipe import Recipe
from schemac.engines.lance.transactions import added_file, lasting_ids
from schemac.evolution.tables import PartsTask, Progress


@dataclass(frozen=True)
class Files:
    """What a fragment consists of."""

    fragment: int
    paths: tuple[tuple[str, tuple[int, ...]], ...]
    """Each data file, and the fields that it holds."""

    @classmethod
    def of(cls, fragment: Any) -> "Files":
        """Those of pylance's metadata."""
        files = tuple((file.path, tuple(file.fields)) for file in fragment.files)
        return cls(fragment.id, files)


@dataclass
class Made:
    """What a run has made already, by what it was made of."""

    files: dict[tuple[Files, tuple[str, ...]], tuple[str, Any]] = field(default_factory=dict)
    """A new data file as JSON, with the fragment that it was made of; by fragment and roots."""
    checked: set[Files] = field(default_factory=set)

    def find(self, fragment: Any, roots: tuple[str, ...]) -> str | None:
        """Return the data file that was made for a fragment, if it still has all its rows."""
        entry = self.files.get((Files.of(fragment.metadata), roots))
        return entry[0] if entry is not None and are_among(fragment, entry[1]) else None


def are_among(now: Any, then: Any) -> bool:
    """Whether no row of a fragment was deleted when its new column was made, and is there again."""
    deletions = (now.metadata.deletion_file, then.metadata.deletion_file)
    if then.metadata.deletion_file is None or str(deletions[0]) == str(deletions[1]):
        return True
    return bool(_addresses(now) <= _addresses(then))


def _addresses(fragment: Any) -> set[int]:
    scanner = fragment.scanner(columns=[], with_row_address=True)
    return set(scanner.to_table().column("_rowaddr").to_pylist())


@dataclass(frozen=True)
class WriteColumns:
    """What a task does: the new data file of each of its fragments, as JSON."""

    path: str
    version: int
    recipe: Recipe

    def __call__(self, ids: Iterable[int]) -> Iterator[tuple[int, str]]:
        """Write the files; nothing refers to them yet."""
        dataset = open_dataset(self.path, self.version)
        for id in ids:
            yield id, write_fragment(dataset.get_fragment(id), self.recipe)


def spread_here(task: PartsTask, parts: Sequence[int], title: str, progress: Progress) -> dict[int, str]:
    """Do a task in this process, part by part."""
    made: dict[int, str] = {}
    for number, part in enumerate(parts):
        progress(title, number, len(parts))
        made.update(task([part]))
    return made


def write_fragment(fragment: Any, recipe: Recipe) -> str:
    """Return the new data file of one fragment, which nothing refers to yet.

    Lance writes columns of names that nothing else has, inside copies of the structs and lists around them; each gets the
    id of the field that it is to be.
    """
    metadata, schema = fragment.merge_columns(recipe.make, columns=recipe.sources)
    columns = {recipe.name(number): root.ids for number, root in enumerate(recipe.roots)}
    return added_file(fragment.metadata, metadata, lasting_ids(schema, columns))
