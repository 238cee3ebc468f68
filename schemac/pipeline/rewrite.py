"""New columns of a Lance table, written on Spark.

Layer: pipeline.
Shape: one task a fragment, each pinned to the version that the plan was made for; the new data files come back, and the
caller commits once.
"""

from collections.abc import Iterable, Iterator, Sequence

from pyspark.errors import PySparkException

from schemac.engines.lance.tables.fragments import write_fragment
from schemac.engines.lance.tables.recipe import Recipe
from schemac.evolution.tables import Progress
from schemac.pipeline.session import start_session


def rewrite_on_spark(
    path: str, version: int, recipe: Recipe, fragments: Sequence[int], progress: Progress
) -> dict[int, str]:
    """Write the new data file of each fragment, and return them as JSON."""
    progress(f"writing {recipe.title} on Spark", 0, len(fragments))
    session = start_session(app_name="schemac apply")
    tasks = session.sparkContext.parallelize(fragments, len(fragments))
    try:
        told = tasks.mapPartitions(_Task(path, version, recipe)).collect()
    except PySparkException as error:
        raise RuntimeError(str(error).strip().splitlines()[-1]) from error
    progress(f"writing {recipe.title} on Spark", len(fragments), len(fragments))
    return dict(told)


class _Task:
    """What one task does; told to the workers by pickle."""

    def __init__(self, path: str, version: int, recipe: Recipe) -> None:
        self.path = path
        self.version = version
        self.recipe = recipe

    def __call__(self, ids: Iterable[int]) -> Iterator[tuple[int, str]]:
        import lance

        dataset = lance.dataset(self.path, version=self.version)
        for id in ids:
            yield id, write_fragment(dataset.get_fragment(id), self.recipe)
