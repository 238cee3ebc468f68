"""How a run writes a Lance table: where tasks put files, how they all appear at once, in which schema.

Layer: engines.
Shape: tasks write fragments next to the table, in a folder that no reader looks into; the commit moves their files in and adds one
      version. What is not committed never was in the table, and leaves with its folder.
Errors: PipelineError if the table is there, is not there, or has another schema than expected.
Source: pylance 14: a fragment of an existing table takes its field ids from it, so the folder holds a shallow clone; the items of
      vectors are compared letter by letter when it writes.
"""

import base64
import os
import socket
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

import pyarrow as pa

from schemac.engines.lance import transactions
from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.engines.lance.dataset import find_dataset, lance_errors, open_dataset, options_for
from schemac.engines.lance.tables.fields import differences
from schemac.engines.lance.transactions import Commit, Stage, file_names, fragments_of
from schemac.rows.runs import staging
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.history import UNFINISHED
from schemac.rows.runs.identity import RunIdentity, is_here
from schemac.rows.runs.staging import AGAIN, JOIN
from schemac.rows.runs.storage import Storage, is_local, local_path
from schemac.rows.runs.tables import Merged, WriteTarget
from schemac.text.source.catalogue import ABANDONED_RUN, CONCURRENT_RUN, NOT_SHARED


def prepare(
    path: str,
    mode: str,
    *,
    storage_options: Storage,
    storage_version: str | None,
    max_rows_per_file: int,
    run: RunIdentity,
) -> WriteTarget:
    """Choose the place for a run that appends to a table, or replaces its rows; either makes the table where it is missing."""
    table = find_dataset(path, storage_options)
    folder = path
    if is_local(path):
        path = os.path.abspath(local_path(path))
        folder = staging.new_folder(path, run)
    effective = mode if table is not None else "create"
    version = 0 if table is None else table.version
    return WriteTarget(
        path, folder, effective, version, storage_options, storage_version, max_rows_per_file, run
    )


def open_staging(place: WriteTarget) -> None:
    """Make the folder that tasks write to."""
    if not place.is_staged:
        return
    # The mark comes first: whatever is interrupted from here on is known to be a run's.
    staging.open_mark(place.staging, place.run, place.table)
    if place.mode == "append":
        table = find_dataset(place.path, place.storage_options)
        assert table is not None
        table.shallow_clone(place.staging, place.read_version)
        _check_is_open(place)


def write_fragments(place: WriteTarget, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> list[str]:
    """Write what one task has; the fragments of `write_files`."""
    fragments = write_files(place, schema, batches)
    if place.is_staged:
        _check_is_open(place)
    return fragments


def write_files(place: WriteTarget, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> list[str]:
    """Fragments of the batches, as JSON; the files are in the table's staging folder."""
    from lance.fragment import write_fragments as write

    # The driver would not find a folder that only has the same name as the table's.
    if place.is_staged and not os.path.isdir(place.staging) and not is_here(place.run.process):
        raise PipelineError(
            NOT_SHARED,
            f"the executor on {socket.gethostname()} cannot see the folder `{place.path}` of the driver",
            "name a folder that all machines share, or an address of an object store such as s3://",
            place=("target", "path"),
        )
    reader = pa.RecordBatchReader.from_batches(schema, _renewing(place, batches))
    mode = "create" if place.is_staged and place.mode == "overwrite" else place.mode
    with lance_errors():
        fragments = write(
            reader,
            place.staging,
            schema=schema,
            mode=mode,
            max_rows_per_file=place.max_rows_per_file,
            data_storage_version=None if mode == "append" else place.storage_version,
            storage_options=options_for(place.path, place.storage_options),
        )
    assert isinstance(fragments, list)
    return [transactions.fragment_text(fragment) for fragment in fragments]


def write_rest(place: WriteTarget, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> list[str]:
    """Write what is left of a fragment, as `write_files` does; nothing where no row is."""
    left = (pa.RecordBatch.from_arrays(rows.columns, schema=schema) for rows in batches if rows.num_rows)
    first = next(left, None)
    return [] if first is None else write_files(place, schema, chain([first], left))


def _check_is_open(place: WriteTarget) -> None:
    """Raise where the run was abandoned while it was writing; the files came after the sweep."""
    if staging.is_open(place.staging):
        return
    if not staging.is_claimed(place.staging):
        transactions.close_staging(place)
    raise PipelineError.uncommitted(ABANDONED_RUN, "the run was abandoned while it was writing", AGAIN)


def _renewing(place: WriteTarget, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Pass the batches on, and record from time to time that the run is alive."""
    renewed = 0.0
    for batch in batches:
        if place.is_staged and time.monotonic() - renewed > staging.RENEWED_SECONDS:
            renewed = time.monotonic()
            staging.renew(place.staging)
        yield batch


def commit(
    place: WriteTarget,
    schema: pa.Schema,
    fragments: list[str],
    *,
    may_join: bool = False,
    lance_message: pb.Schema | None = None,
) -> int:
    """Add the fragments to the table, or make it of them; return the new version. `lance_message` has ids that Lance would not give.

    A table that another run has created in the meantime is joined, if it may be: its schema is known to be the same.
    """
    made = find_dataset(place.path, place.storage_options) if place.mode == "create" else None
    if made is not None:
        if not may_join:
            message = f"another run has created a table at `{place.path}` in the meantime"
            raise PipelineError.uncommitted(CONCURRENT_RUN, message, JOIN)
        place = replace(place, mode="append", read_version=made.version)
    if place.mode == "append":
        _refuse_dropped(place, fragments)

    def make() -> int:
        if lance_message is not None and place.mode != "append":
            return _commit_with_ids(place, fragments, lance_message)
        return _commit(place, schema, fragments)

    return Commit(place, list(file_names(fragments)), make).advance(Stage.COMMITTED)


def commit_merged(place: WriteTarget, operation: Any, merged: Merged) -> int:
    """Commit an operation that was made for one version; another run may have added rows with its keys since."""
    newest = find_dataset(place.path, place.storage_options)
    if newest is None or newest.version != merged.version:
        message = f"another run has changed `{place.path}` in the meantime"
        raise PipelineError.uncommitted(CONCURRENT_RUN, message, AGAIN)
    _refuse_dropped(place, merged.fragments)
    return transactions.commit_operation(place, list(file_names(merged.fragments)), operation, merged.version)


def _refuse_dropped(place: WriteTarget, fragments: list[str]) -> None:
    """Refuse rows with a column that the table has no more: Lance would take them, and drop its values without a word."""
    table = find_dataset(place.path, place.storage_options)
    if table is not None and not transactions.field_ids_in(fragments) <= transactions.field_ids(table):
        message = f"another program has changed the columns of `{place.path}` in the meantime"
        raise PipelineError.uncommitted(CONCURRENT_RUN, message, AGAIN)


def _commit(place: WriteTarget, schema: pa.Schema, fragments: list[str]) -> int:
    """Make the version that appends or overwrites rows, and return its number."""
    import lance

    options = options_for(place.path, place.storage_options)
    with lance_errors():
        if place.mode == "append":
            operation: Any = lance.LanceOperation.Append(fragments_of(fragments))
        elif not fragments:
            mode = "overwrite" if place.mode == "overwrite" else "create"
            table = lance.write_dataset(
                schema.empty_table(),
                place.path,
                mode=mode,
                data_storage_version=place.storage_version,
                storage_options=options,
                transaction_properties=place.commit_properties(),
            )
            return int(table.version)
        else:
            operation = lance.LanceOperation.Overwrite(schema, fragments_of(fragments))
    properties = place.commit_properties()
    return transactions.make_version(
        place.path, operation, place.read_version, properties, place.storage_options
    )


def _commit_with_ids(place: WriteTarget, fragments: list[str], message: pb.Schema) -> int:
    """Create the table from the fragments, or replace its rows by them, with the ids of the message.

    Lance numbers what it makes; so a table without columns comes first, and its schema with the rows. The rows of a
    table that has the schema already are replaced by one commit. A new table on this machine is made where no reader
    looks, and appears with its second version.
    """
    import lance

    new_fragments = [
        transactions.with_field_ids(text, [field.id for field in message.fields]) for text in fragments
    ]
    properties = place.commit_properties()
    options = options_for(place.path, place.storage_options)
    with lance_errors():
        if place.mode == "overwrite":
            table = open_dataset(place.path, place.read_version, place.storage_options)
            expected = [field.SerializeToString() for field in message.fields]
            if not differences(expected, table.lance_schema):
                old = [fragment.fragment_id for fragment in table.get_fragments()]
                replaced = lance.LanceOperation.Update(removed_fragment_ids=old, new_fragments=new_fragments)
                return transactions.make_version(
                    place.path, replaced, table.version, properties, place.storage_options
                )
        is_hidden = place.is_staged and place.mode == "create"
        path = place.staging if is_hidden else place.path
        seed = lance.write_dataset(
            transactions.SEED,
            path,
            mode="overwrite" if place.mode == "overwrite" else "create",
            data_storage_version=place.storage_version,
            storage_options=options,
            transaction_properties=place.commit_properties(**{UNFINISHED: "true"}),
        )
        merged = lance.LanceOperation.Merge(
            new_fragments, transactions.lance_schema(message.fields, message.metadata)
        )
        version = transactions.make_version(path, merged, seed.version, properties, place.storage_options)
    if is_hidden:
        if transactions.has_version(place.path):
            message_text = f"another run has created a table at `{place.path}` in the meantime"
            raise PipelineError.uncommitted(CONCURRENT_RUN, message_text, JOIN)
        transactions.publish(place.staging, place.path)
    return version


def as_lance_reads(schema: pa.Schema) -> pa.Schema:
    """Spell the vector items of a schema as Lance gives them back: its writer compares them letter by letter."""
    return pa.schema([_as_lance_reads(field) for field in schema], metadata=schema.metadata)


def _as_lance_reads(field: pa.Field) -> pa.Field:
    data_type = field.type
    if pa.types.is_fixed_size_list(data_type):
        item = data_type.value_field
        named = (item.metadata or {}).get(b"ARROW:extension:name") == b"lance.bfloat16"
        if named and not isinstance(item.type, pa.BaseExtensionType):
            item = pa.field("item", item.type, metadata={**item.metadata, b"ARROW:extension:metadata": b""})
            return field.with_type(pa.list_(item, data_type.list_size))
    elif pa.types.is_struct(data_type):
        return field.with_type(pa.struct([_as_lance_reads(member) for member in data_type]))
    elif pa.types.is_large_list(data_type):
        return field.with_type(pa.large_list(_as_lance_reads(data_type.value_field)))
    elif pa.types.is_list(data_type):
        return field.with_type(pa.list_(_as_lance_reads(data_type.value_field)))
    return field


def encode(message: pb.Schema) -> str:
    """Write a message as text."""
    return base64.b64encode(message.SerializeToString(deterministic=True)).decode()


def decode(text: str) -> pb.Schema:
    """Read a message of `encode`."""
    return pb.Schema.FromString(base64.b64decode(text))
