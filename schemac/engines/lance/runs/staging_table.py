"""A dataset of its own for a program that writes whole datasets, whose fragments a run takes over.

Layer: engines.
Shape: the dataset is in the staging folder of the run, so that no reader sees it, and it leaves with that folder. Its files are
       moved to where tasks of ours write theirs.
Source: pylance 14 and lance-spark 0.4.0: what is appended to a dataset takes its types, metadata and field ids.
"""

import os

import pyarrow as pa

from schemac.engines.lance.dataset import lance_errors, open_dataset
from schemac.engines.lance.transactions import DATA, SEED, file_names, fragment_text, make_version, move_data
from schemac.rows.runs.storage import NO_STORAGE
from schemac.rows.runs.tables import Place, StagedRows

NAME = "aside.lance"


def open_staging_table(place: Place, schema: pa.Schema) -> str:
    """Make the dataset: with the ids of the table where rows are added to it, else with those that Lance counts."""
    import lance

    path = os.path.join(place.staging, NAME)
    with lance_errors():
        if place.mode != "append":
            lance.write_dataset(schema.empty_table(), path, data_storage_version=place.storage_version)
            return path
        table = open_dataset(place.path, place.read_version, place.storage_options)
        seed = lance.write_dataset(SEED, path, data_storage_version=table.data_storage_version)
        operation = lance.LanceOperation.Merge([], table.lance_schema)
        make_version(path, operation, seed.version, {}, NO_STORAGE)
    return path


def collect_staging_table(place: Place) -> StagedRows:
    """Take the fragments, numbered as if a task of ours had written them, and move their files."""
    path = os.path.join(place.staging, NAME)
    written = open_dataset(path)
    fragments = [fragment_text(f.metadata, is_numbered=False) for f in written.get_fragments()]
    move_data(os.path.join(path, DATA), os.path.join(place.staging, DATA), file_names(fragments))
    return StagedRows(fragments, written.count_rows())
