"""How a run writes a Lance table: where tasks put files, how they all appear at once.

Layer: engines.
Shape: tasks write fragments next to the table, in a folder that no reader looks into; the commit moves their files in and
       adds one version. What is not committed never was in the table, and leaves with its folder.
Errors: PipelineError if the table is there, is not there, or has another schema than expected.
Source: pylance 14: a fragment of an existing table takes its field ids from it, so the folder holds a shallow clone.
"""

import contextlib
import json
import os
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa

from schemac.engines.lance import dataset
from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.engines.lance.dataset import field_ids, find_dataset, lance_errors, open_dataset
from schemac.engines.lance.storage import options_for
from schemac.engines.lance.tables.differences import differences
from schemac.engines.lance.tables.fields import lance_schema
from schemac.rows.runs import staging
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.history import UNFINISHED
from schemac.rows.runs.identity import RunIdentity
from schemac.rows.runs.locations import is_local, local_path
from schemac.rows.runs.merges import Merged
from schemac.rows.runs.processes import is_here
from schemac.rows.runs.staging import AGAIN, JOIN
from schemac.rows.runs.storage import Storage
from schemac.rows.runs.tables import Place
from schemac.source.catalogue import ABANDONED_RUN, CONCURRENT_RUN, NOT_SHARED

TABLE_FOLDERS = ("data", "_transactions", "_versions")


def prepare(
    path: str,
    mode: str,
    *,
    storage_options: Storage,
    storage_version: str | None,
    max_rows_per_file: int,
    run: RunIdentity,
) -> Place:
    """Choose the place for a run that appends to a table, or replaces its rows; either makes the table where it is missing."""
    table = find_dataset(path, storage_options)
    folder = path
    if is_local(path):
        path = os.path.abspath(local_path(path))
        folder = staging.new_folder(path, run)
    effective = mode if table is not None else "create"
    version = 0 if table is None else table.version
    return Place(path, folder, effective, version, storage_options, storage_version, max_rows_per_file, run)


def open_staging(place: Place) -> None:
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


def write_fragments(place: Place, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> list[str]:
    """Write what one task has; the fragments of `write_files`."""
    fragments = write_files(place, schema, batches)
    if place.is_staged:
        _check_is_open(place)
    return fragments


def write_files(place: Place, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> list[str]:
    """Fragments of the batches, as JSON; the files are in the table's staging folder."""
    from lance.fragment import write_fragments as write

    _refuse_another_disk(place)
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
    return [json.dumps(fragment.to_json()) for fragment in fragments]


def _refuse_another_disk(place: Place) -> None:
    """Refuse to write where the driver would not find it: to a folder that only has the same name as the table's."""
    if place.is_staged and not os.path.isdir(place.staging) and not is_here(place.run.process):
        raise PipelineError(
            NOT_SHARED,
            f"the executor on {socket.gethostname()} cannot see the folder `{place.path}` of the driver",
            "name a folder that all machines share, or an address of an object store such as s3://",
            place=("target", "path"),
        )


def _check_is_open(place: Place) -> None:
    """Raise where the run was abandoned while it was writing; the files came after the sweep."""
    if staging.is_open(place.staging):
        return
    if not staging.is_in_use(place.staging):
        close_staging(place)
    raise PipelineError(ABANDONED_RUN, "the run was abandoned while it was writing", AGAIN)


def _renewing(place: Place, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Pass the batches on, and say from time to time that the run is alive."""
    renewed = 0.0
    for batch in batches:
        if place.is_staged and time.monotonic() - renewed > staging.RENEWED_SECONDS:
            renewed = time.monotonic()
            staging.renew(place.staging)
        yield batch


def commit(
    place: Place,
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
            raise PipelineError(CONCURRENT_RUN, message, JOIN)
        place = replace(place, mode="append", read_version=made.version)
    if place.mode == "append":
        _refuse_dropped(place, fragments)
    if place.is_staged:
        if staging.is_open(place.staging):
            claim(place, fragments)
        staging.note_moved(place.staging, list(file_names(fragments)))
        move_in(place, fragments)
    with report_conflicts(place):
        if lance_message is not None and place.mode != "append":
            return _commit_with_ids(place, fragments, lance_message)
        return _commit(place, schema, fragments)


def commit_merged(place: Place, operation: Any, merged: Merged) -> int:
    """Commit an operation that was made for one version; another run may have added rows with its keys since."""
    newest = find_dataset(place.path, place.storage_options)
    if newest is None or newest.version != merged.version:
        message = f"another run has changed `{place.path}` in the meantime"
        raise PipelineError(CONCURRENT_RUN, message, AGAIN)
    _refuse_dropped(place, merged.fragments)
    if place.is_staged:
        staging.note_moved(place.staging, list(file_names(merged.fragments)))
        move_in(place, merged.fragments)
    with report_conflicts(place):
        done = dataset.commit(
            place.path, operation, merged.version, place.commit_properties(), place.storage_options
        )
    return int(done.version)


@contextlib.contextmanager
def report_conflicts(place: Place) -> Iterator[None]:
    """Tell of another run that has changed the same rows."""
    try:
        yield
    except OSError as error:
        if type(error).__name__ == "CommitConflictError" or "conflict" in str(error).lower():
            message = f"another run has replaced the rows of `{place.path}` in the meantime"
            raise PipelineError(CONCURRENT_RUN, message, AGAIN) from error
        raise


def claim(place: Place, fragments: list[str]) -> None:
    """Begin a commit, unless another attempt of the run has begun one."""
    if place.is_staged:
        staging.start_commit(place.staging, list(file_names(fragments)))
        staging.wait_for_others(place.staging, place.path, place.run)


def _refuse_dropped(place: Place, fragments: list[str]) -> None:
    """Refuse rows with a column that the table has no more: Lance would take them, and drop its values without a word."""
    table = find_dataset(place.path, place.storage_options)
    written = {id for text in fragments for file in json.loads(text)["files"] for id in file["fields"]}
    if table is not None and not written <= field_ids(table):
        message = f"another program has changed the columns of `{place.path}` in the meantime"
        raise PipelineError(CONCURRENT_RUN, message, AGAIN)


def _commit(place: Place, schema: pa.Schema, fragments: list[str]) -> int:
    import lance

    options = options_for(place.path, place.storage_options)
    with lance_errors():
        if place.mode == "append":
            operation: Any = lance.LanceOperation.Append(
                [lance.FragmentMetadata.from_json(f) for f in fragments]
            )
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
            metadata = [lance.FragmentMetadata.from_json(json.dumps(json.loads(f))) for f in fragments]
            operation = lance.LanceOperation.Overwrite(schema, metadata)
    table = dataset.commit(
        place.path, operation, place.read_version, place.commit_properties(), place.storage_options
    )
    return int(table.version)


def _commit_with_ids(place: Place, fragments: list[str], message: pb.Schema) -> int:
    """Make the table of the fragments, or put them in place of its rows, with the ids of the message.

    Lance numbers what it makes; so a table without columns comes first, and its schema with the rows. The rows of a
    table that has the schema already are replaced by one commit. A new table on this machine is made where no reader
    looks, and appears with its second version.
    """
    import lance

    made = [_with_ids(text, [field.id for field in message.fields]) for text in fragments]
    options = options_for(place.path, place.storage_options)
    with lance_errors():
        if place.mode == "overwrite":
            table = open_dataset(place.path, place.read_version, place.storage_options)
            expected = [field.SerializeToString() for field in message.fields]
            if not differences(expected, table.lance_schema):
                old = [fragment.fragment_id for fragment in table.get_fragments()]
                replaced = lance.LanceOperation.Update(removed_fragment_ids=old, new_fragments=made)
                done = dataset.commit(
                    place.path, replaced, table.version, place.commit_properties(), place.storage_options
                )
                return int(done.version)
        is_hidden = place.is_staged and place.mode == "create"
        path = place.staging if is_hidden else place.path
        seed = lance.write_dataset(
            pa.table({"schemac": pa.array([], pa.int8())}),
            path,
            mode="overwrite" if place.mode == "overwrite" else "create",
            data_storage_version=place.storage_version,
            storage_options=options,
            transaction_properties=place.commit_properties(**{UNFINISHED: "true"}),
        )
        merged = lance.LanceOperation.Merge(made, lance_schema(message.fields, message.metadata))
        done = dataset.commit(path, merged, seed.version, place.commit_properties(), place.storage_options)
    if is_hidden:
        _publish(place)
    return int(done.version)


def _with_ids(fragment: str, ids: list[int]) -> Any:
    """Put the table's ids into the fragment, in place of those that its writer counted."""
    import lance

    fragment_json = json.loads(fragment)
    for file in fragment_json["files"]:
        file["fields"] = [ids[index] for index in file["fields"]]
    return lance.FragmentMetadata.from_json(json.dumps(fragment_json))


def _publish(place: Place) -> None:
    """Lets a table that was made in the staging folder appear, by the name of the one file that readers begin with."""
    versions = os.path.join(place.path, "_versions")
    if os.path.isdir(versions) and any(name.endswith(".manifest") for name in os.listdir(versions)):
        message = f"another run has created a table at `{place.path}` in the meantime"
        raise PipelineError(CONCURRENT_RUN, message, JOIN)
    for folder in ("_transactions", "_versions"):
        os.makedirs(os.path.join(place.path, folder), exist_ok=True)
    made = os.path.join(place.staging, "_transactions")
    for name in os.listdir(made):
        os.replace(os.path.join(made, name), os.path.join(place.path, "_transactions", name))
    made = os.path.join(place.staging, "_versions")
    # Names count down, so that the newest version comes first.
    newest = min(name for name in os.listdir(made) if name.endswith(".manifest"))
    os.rename(os.path.join(made, newest), os.path.join(versions, newest))


def move_in(place: Place, fragments: list[str]) -> None:
    """Move the files of finished tasks to where the table's files are; a file that is not moved leaves with staging."""
    source, destination = os.path.join(place.staging, "data"), os.path.join(place.path, "data")
    os.makedirs(destination, exist_ok=True)
    lost = [name for name in file_names(fragments) if not os.path.exists(os.path.join(source, name))]
    if lost:
        message = f"{len(lost)} files that tasks wrote are not in `{place.staging}`"
        raise PipelineError(NOT_SHARED, message, "name a folder that all machines share")
    for name in file_names(fragments):
        for entry in (name, name.removesuffix(".lance")):
            if os.path.exists(os.path.join(source, entry)):
                os.replace(os.path.join(source, entry), os.path.join(destination, entry))


def file_names(fragments: list[str]) -> Iterator[str]:
    """Names of the data files of fragments."""
    for fragment in fragments:
        for file in json.loads(fragment)["files"]:
            yield file["path"]


def close_staging(place: Place) -> None:
    """Remove the folder that tasks wrote to, with everything that is still in it."""
    if place.is_staged and not staging.is_abandoned(place.staging):
        staging.remove(place.staging)
        if place.mode == "create":
            remove_if_empty(place.path)


def remove_if_empty(path: str) -> None:
    """Remove a folder in which a table was to be made, and nothing is."""
    for folder in (*(os.path.join(path, name) for name in TABLE_FOLDERS), path):
        with contextlib.suppress(OSError):
            os.rmdir(folder)
