"""A column of a Lance table, written anew on Spark.

Floor: 14 (pipeline).
Shape: one task a fragment, each pinned to the version that the plan was made for; the metadata of all fragments comes
back, and the caller commits once.
"""

import json
import pickle
from collections.abc import Iterable, Iterator
from typing import Any

from pyspark.errors import PySparkException

from schemac.tables.lance_apply import Progress
from schemac.tables.recipe import Recipe

from .session import start_session


def rewrite_on_spark(path: str, version: int, recipe: Recipe, progress: Progress) -> tuple[list[Any], Any]:
    """Metadata of all fragments with the new column, and the schema that has it."""
    import lance

    fragments = [fragment.fragment_id for fragment in lance.dataset(path, version=version).get_fragments()]
    progress(f"writing {recipe.name} on Spark", 0, len(fragments))
    session = start_session(app_name="schemac apply")
    tasks = session.sparkContext.parallelize(fragments, len(fragments))
    try:
        told = tasks.mapPartitions(_Task(path, version, recipe)).collect()
    except PySparkException as error:
        raise RuntimeError(str(error).strip().splitlines()[-1]) from error
    told.sort(key=lambda found: found[0])
    progress(f"writing {recipe.name} on Spark", len(fragments), len(fragments))
    metadata = [lance.FragmentMetadata.from_json(text) for _, text, _ in told]
    return metadata, pickle.loads(told[0][2])  # noqa: S301 — made by our own tasks


class _Task:
    """What one task does; told to the workers by pickle."""

    def __init__(self, path: str, version: int, recipe: Recipe) -> None:
        self.path = path
        self.version = version
        self.recipe = recipe

    def __call__(self, ids: Iterable[int]) -> Iterator[tuple[int, str, bytes]]:
        import lance

        dataset = lance.dataset(self.path, version=self.version)
        for id in ids:
            fragment = dataset.get_fragment(id)
            metadata, schema = fragment.merge_columns(self.recipe.make, columns=self.recipe.sources)
            yield id, json.dumps(metadata.to_json()), pickle.dumps(schema)
