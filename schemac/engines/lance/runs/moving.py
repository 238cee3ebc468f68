"""Rows that leave a quarantine because they are in the table now, and their way back.

Layer: engines.
Shape: rows are known by their addresses in one version. The fragments that have some of them are replaced by new ones with the
       other rows, in one commit; the way back is the same commit the other way round.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any

import pyarrow as pa

from schemac.engines.lance.dataset import open_dataset, properties_of, transaction_of
from schemac.engines.lance.runs.writing import write_files
from schemac.engines.lance.transactions import commit_operation, file_names, fragments_of, make_version
from schemac.rows.runs.history import MOVED_OUT
from schemac.rows.runs.storage import Storage
from schemac.rows.runs.tables import Place

BATCH_ROWS = 8192
IN_FRAGMENT = 32
"""Bits of an address that count the rows of a fragment; those above them are its id."""


def move_out(place: Place, schema: pa.Schema, version: int, addresses: list[int]) -> int:
    """Commit the dataset of a version without these rows; the new version."""
    import lance

    table = open_dataset(place.path, version, place.storage_options)
    gone = set(addresses)
    touched = {address >> IN_FRAGMENT for address in gone}
    rest: list[str] = []
    for fragment in table.get_fragments():
        if fragment.fragment_id in touched:
            batches = _others(fragment, gone, schema)
            first = next(batches, None)
            if first is not None:
                rest += write_files(place, schema, chain([first], batches))
    operation = lance.LanceOperation.Update(
        removed_fragment_ids=sorted(touched), new_fragments=fragments_of(rest)
    )
    moved_out = {MOVED_OUT: str(len(gone))}
    return commit_operation(place, list(file_names(rest)), operation, version, **moved_out)


def is_move(table: Any, version: int) -> bool:
    """Whether rows left a quarantine with a version."""
    return MOVED_OUT in properties_of(transaction_of(table, version))


def move_back(path: str, version: int, storage_options: Storage | None) -> None:
    """Bring the rows back that left with a version; what others have written since stays."""
    import lance

    latest = open_dataset(path, storage_options=storage_options)
    before, after = latest.checkout_version(version - 1), latest.checkout_version(version)
    if latest.version == version:
        before.restore()
        return
    there = {fragment.fragment_id for fragment in after.get_fragments()}
    old = {fragment.fragment_id: fragment.metadata for fragment in before.get_fragments()}
    inverse = lance.LanceOperation.Update(
        removed_fragment_ids=sorted(there - old.keys()),
        new_fragments=[metadata for id, metadata in old.items() if id not in there],
    )
    make_version(path, inverse, version, {}, storage_options)


def _others(fragment: Any, gone: set[int], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for batch in fragment.scanner(with_row_address=True, batch_size=BATCH_ROWS).to_batches():
        stays = pa.array([address not in gone for address in batch["_rowaddr"].to_pylist()], pa.bool_())
        rows = batch.filter(stays).select(schema.names)
        if rows.num_rows:
            yield pa.RecordBatch.from_arrays(rows.columns, schema=schema)
