"""Lance's own JSON and file names, and the stages in which files that a run has written become a version.

Layer: engines.
Shape: no other module reads or changes metadata of fragments, what a schema is pickled as, or the names in a table's folder; the others
       pass these texts on. A commit goes through the stages of `STEPS`, in their order. A run that dies before `COMMITTED` never was;
       one that dies after it has happened, and only its folder is left to remove.
Source: pylance, in the version `PYLANCE`; `tests/engines/lance/test_transactions.py` fails where another one differs.
"""

import contextlib
import json
import os
import shutil
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, auto
from functools import partial
from itertools import chain
from typing import Any

import pyarrow as pa

from schemac.engines.lance._generated.lance import file_pb2 as pb
from schemac.engines.lance.dataset import lance_errors, options_for
from schemac.rows.runs import staging
from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.identity import is_here
from schemac.rows.runs.staging import AGAIN, StagingState, overtaken, table_area
from schemac.rows.runs.storage import Storage
from schemac.rows.runs.tables import WriteTarget
from schemac.text.source.catalogue import ABANDONED_RUN, NOT_SHARED

PYLANCE = "14.0.2"
DATA, TRANSACTIONS, VERSIONS = TABLE_FOLDERS = ("data", "_transactions", "_versions")
VALUES_REPLACED = -2
"""What Lance has in the place of a field's id in a data file, where another file has the field's values now."""
SEED = pa.table({"schemac": pa.array([], pa.int8())})
"""A table for Lance to number and then to replace: what it makes, it numbers itself."""


class CommitStage(IntEnum):
    """How far a commit is."""

    STAGED = auto()
    """Its files wait in the staging folder, where tasks may still write."""
    CLAIMED = auto()
    """Nobody else may sweep the folder, and no other attempt of the run may commit."""
    MOVED = auto()
    """The files lie among the table's; their names are noted, because no version names them."""
    COMMITTED = auto()
    """A version names them."""
    CLOSED = auto()
    """The staging folder is gone."""


@dataclass
class Commit:
    """The files that a run adds to a table, until they are in a version. In an object store they are written to their final place."""

    place: WriteTarget
    names: list[str]
    """Data files."""
    make: Callable[[], int] | None = None
    """Makes the version; returns its number."""
    source: str = ""
    """The folder in which the files wait, if it is not the one that tasks write to."""
    version: int = 0

    def advance(self, stage: CommitStage) -> int:
        """Take the steps of a commit up to a stage, from the one that its staging folder is at; return the version, 0 before it is made.

        Raises PipelineError where another run is in the way.
        """
        is_claimed = self.place.is_staged and self.place.folder.state is StagingState.COMMITTING
        start = CommitStage.CLAIMED if is_claimed else CommitStage.STAGED
        for next_stage, step in STEPS.items():
            if start < next_stage <= stage:
                step(self)
        return self.version


def fragment_text(metadata: Any, *, is_numbered: bool = True) -> str:
    """Return the metadata of a fragment as JSON; a commit numbers those that have no number."""
    return json.dumps(metadata.to_json() if is_numbered else {**metadata.to_json(), "id": 0})


def fragments_of(texts: Iterable[str]) -> list[Any]:
    """Return the metadata of fragments as pylance has it."""
    import lance

    return [lance.FragmentMetadata.from_json(text) for text in texts]


def file_names(fragments: Iterable[str]) -> list[str]:
    """Return the names of the data files of fragments."""
    return [file["path"] for fragment in fragments for file in json.loads(fragment)["files"]]


def field_ids_in(fragments: Iterable[str]) -> set[int]:
    """Return the ids of all fields that fragments have values of."""
    return {id for text in fragments for file in json.loads(text)["files"] for id in file["fields"]}


def with_field_ids(fragment: str, field_ids: Sequence[int]) -> Any:
    """Return a fragment with the table's ids in the place of those that its writer counted."""
    tree = json.loads(fragment)
    for file in tree["files"]:
        file["fields"] = [field_ids[index] for index in file["fields"]]
    return fragments_of([json.dumps(tree)])[0]


def added_file(before: Any, after: Any, schema: Any, field_ids: Mapping[str, Sequence[int]]) -> str:
    """Return the data file that a fragment has got as JSON, with the table's ids in place of those of its `schema`.

    `before` and `after` are metadata of the fragment; `field_ids` has the ids of each new column and all below it, in pre-order.
    """
    (file,) = after.to_json()["files"][len(before.files) :]
    table_ids: dict[int, int] = {}
    for name, ids in field_ids.items():
        table_ids |= zip(preorder_ids(schema.field(name)), ids, strict=True)
    file["fields"] = [table_ids[id] for id in file["fields"]]
    return json.dumps(file)


def file_name(file: str) -> str:
    """Return the name of a data file in JSON form."""
    return str(json.loads(file)["path"])


def with_data_file(fragment: Any, file: str, replaced_ids: frozenset[int]) -> Any:
    """Return a fragment's metadata with one more data file, as JSON; older values of the ids do not count any more."""
    tree = fragment.to_json()
    for old_file in tree["files"]:
        old_file["fields"] = [VALUES_REPLACED if id in replaced_ids else id for id in old_file["fields"]]
    tree["files"].append(json.loads(file))
    return fragments_of([json.dumps(tree)])[0]


def preorder_ids(field: Any) -> list[int]:
    """Return the ids of a field of Lance's schema, and of all below it."""
    return [field.id(), *(id for child in field.children() for id in preorder_ids(child))]


def schema_parts(schema: Any) -> tuple[dict[str, bytes], list[pb.Field]]:
    """Return the metadata of Lance's schema, and its fields in pre-order."""
    metadata, *messages = schema.__reduce__()[1]
    fields = [pb.Field.FromString(bytes(message)) for message in messages]
    return {key: bytes(value) for key, value in json.loads(metadata).items()}, fields


def field_ids(table: Any) -> set[int]:
    """Return the ids of all fields of a version, at every depth."""
    return {field.id for field in schema_parts(table.lance_schema)[1]}


def lance_schema(fields: Sequence[pb.Field], metadata: Mapping[str, bytes]) -> Any:
    """Return Lance's own schema of these fields."""
    from lance.schema import LanceSchema

    entries = json.dumps({key: list(bytes(metadata[key])) for key in metadata})
    return LanceSchema._from_protos(entries, *[field.SerializeToString() for field in fields])


def make_version(
    path: str,
    operation: Any,
    read_version: int,
    properties: Mapping[str, str],
    storage_options: Storage | None = None,
) -> int:
    """Commit an operation that was made for a version, with its properties; return the number of the new one."""
    import lance

    transaction = lance.Transaction(read_version, operation, transaction_properties=dict(properties))
    options = options_for(path, storage_options)
    with lance_errors():
        return int(lance.LanceDataset.commit(path, transaction, storage_options=options).version)


def commit_version(place: WriteTarget, operation: Any, read_version: int, **properties: str) -> int:
    """Commit an operation that was made for a version of the table of a run; return the number of the new one."""
    all_properties = place.commit_properties(**properties)
    return make_version(place.path, operation, read_version, all_properties, place.storage_options)


def is_conflict(error: BaseException | None) -> bool:
    """Whether Lance refused a commit because of another one."""
    return isinstance(error, OSError | ValueError | RuntimeError) and (
        type(error).__name__ == "CommitConflictError" or "conflict" in str(error).lower()
    )


def write_files(place: WriteTarget, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> list[str]:
    """Write the batches into data files of the staging folder, and return their fragments as JSON."""
    from lance.fragment import write_fragments as write

    # The driver would not find a folder that only has the same name as the table's.
    if place.is_staged and not os.path.isdir(place.staging) and not is_here(place.run.process):
        message = f"the executor on {socket.gethostname()} cannot see the folder `{place.path}` of the driver"
        help = "name a folder that all machines share, or an address of an object store such as s3://"
        raise PipelineError(NOT_SHARED, message, help, place=("target", "path"))
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
    return [fragment_text(fragment) for fragment in fragments]


def write_rest(place: WriteTarget, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> list[str]:
    """Write what is left of a fragment, as `write_files` does; nothing where no row is."""
    left = (pa.RecordBatch.from_arrays(rows.columns, schema=schema) for rows in batches if rows.num_rows)
    first = next(left, None)
    return [] if first is None else write_files(place, schema, chain([first], left))


def check_is_open(place: WriteTarget) -> None:
    """Raise where the run was abandoned while it was writing; the files came after the sweep."""
    state = place.folder.state if place.is_staged else StagingState.OPEN
    if state is StagingState.OPEN:
        return
    if state is not StagingState.COMMITTING:
        close_staging(place)
    raise PipelineError.uncommitted(ABANDONED_RUN, "the run was abandoned while it was writing", AGAIN)


def _renewing(place: WriteTarget, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the batches, and record from time to time that the run is alive."""
    renewed = 0.0
    for batch in batches:
        if place.is_staged and time.monotonic() - renewed > staging.RENEWED_SECONDS:
            renewed = time.monotonic()
            place.folder.renew()
        yield batch


def has_version(path: str) -> bool:
    """Whether a folder on this machine holds a table."""
    with contextlib.suppress(OSError):
        return any(name.endswith(".manifest") for name in os.listdir(os.path.join(path, VERSIONS)))
    return False


def publish(source: str, path: str) -> None:
    """Move a table that was made in one folder to another one; the file that readers open first is moved last."""
    for folder in (TRANSACTIONS, VERSIONS):
        os.makedirs(os.path.join(path, folder), exist_ok=True)
    for name in os.listdir(os.path.join(source, TRANSACTIONS)):
        os.replace(os.path.join(source, TRANSACTIONS, name), os.path.join(path, TRANSACTIONS, name))
    # Names count down, so that the newest version comes first.
    newest = min(n for n in os.listdir(os.path.join(source, VERSIONS)) if n.endswith(".manifest"))
    os.rename(os.path.join(source, VERSIONS, newest), os.path.join(path, VERSIONS, newest))


def data_entries(name: str) -> tuple[str, str]:
    """Return the folder of a data file's blobs, which need not be there, and the file."""
    return name.removesuffix(".lance"), name


def move_data(source: str, destination: str, names: Iterable[str]) -> None:
    """Move data files from folder to folder, as far as they are there, each after its blobs."""
    os.makedirs(destination, exist_ok=True)
    for entry in (entry for name in names for entry in data_entries(name)):
        if os.path.exists(os.path.join(source, entry)):
            os.replace(os.path.join(source, entry), os.path.join(destination, entry))


def remove_data(path: str, names: Iterable[str]) -> None:
    """Remove data files of a table, and their blobs."""
    for name in names:
        blobs, file = data_entries(name)
        shutil.rmtree(os.path.join(path, DATA, blobs), ignore_errors=True)
        with contextlib.suppress(OSError):
            os.remove(os.path.join(path, DATA, file))


def remove_remote_data(place: WriteTarget, names: Iterable[str]) -> None:
    """Remove data files of a table in an object store; where that fails, Lance's own clean-up takes what no version names."""
    with contextlib.suppress(OSError, pa.ArrowException):
        files, root = place.storage_options.open_arrow(place.path)
        for name in names:
            files.delete_file(f"{root}/{DATA}/{name}")


def remove_if_empty(path: str) -> None:
    """Remove a folder in which a table was to be made, and nothing is."""
    for folder in (*(os.path.join(path, name) for name in TABLE_FOLDERS), path):
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def _claim(commit: Commit) -> None:
    """Begin a staged commit. Raises PipelineError for a conflicting one."""
    place = commit.place
    if place.is_staged:
        table_area(place.path).start_commit(place.folder, place.run)


def _move(commit: Commit) -> None:
    """Move staged data files into the table. Raises PipelineError if some are missing."""
    place = commit.place
    if not place.is_staged:
        return
    source, destination = commit.source or os.path.join(place.staging, DATA), os.path.join(place.path, DATA)
    # With those that an earlier attempt has moved there.
    place.folder.note_moved(sorted({*commit.names, *place.folder.moved_files()}))
    folders = (source, destination)
    lost = [n for n in commit.names if not any(os.path.exists(os.path.join(f, n)) for f in folders)]
    if lost:
        message = f"files that tasks wrote are missing in `{place.staging}`: {len(lost)}"
        raise PipelineError(NOT_SHARED, message, "name a folder that all machines share")
    move_data(source, destination, commit.names)


def _commit(commit: Commit) -> None:
    """Make the version and record its number. Raises PipelineError after another run's commit in between."""
    assert commit.make is not None
    try:
        commit.version = commit.make()
    except OSError as error:
        if is_conflict(error):
            message = f"another run has replaced the rows of `{commit.place.path}` in the meantime"
            raise overtaken(message) from error
        raise


def commit_operation(
    place: WriteTarget,
    names: list[str],
    operation: Any,
    read_version: int,
    *,
    source: str = "",
    **properties: str,
) -> int:
    """Commit an operation that adds data files to a version, with its properties; return the new version."""
    make = partial(commit_version, place, operation, read_version, **properties)
    return Commit(place, names, make, source).advance(CommitStage.COMMITTED)


def close_staging(place: WriteTarget) -> None:
    """Remove the folder that tasks wrote to, with everything that is still in it."""
    STEPS[CommitStage.CLOSED](Commit(place, []))


def _close(commit: Commit) -> None:
    """Remove the staging folder unless it is abandoned, and a new table's folder if it is empty."""
    place = commit.place
    if place.is_staged:
        place.folder.close()
        if place.mode == "create":
            remove_if_empty(place.path)


STEPS: dict[CommitStage, Callable[[Commit], None]] = {
    CommitStage.CLAIMED: _claim,
    CommitStage.MOVED: _move,
    CommitStage.COMMITTED: _commit,
    CommitStage.CLOSED: _close,
}
"""The step that leads to each stage."""
