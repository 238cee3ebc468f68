"""A Lance table as the writer meets it: is it there, where do tasks put files, how does it all appear at once.

Shape: tasks write fragments beside the table, in a folder that no reader looks into; the commit moves their files in and
       adds one version. What is not committed never was in the table, and leaves with its folder.
Errors: PipelineError where the table is there, is not there, or has another schema than expected.
Source: pylance 14: a fragment of an existing table takes its field ids from it, so the folder holds a shallow clone.
"""

import os
import shutil
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from schemac.tables.differences import differences
from schemac.tables.lance_fields import lance_schema
from schemac.tables.lance_table import lance_errors
from schemac.targets._generated.lance import file_pb2 as pb

from .errors import PipelineError

STAGING = "_staging-"
OPEN = ".open"
"""A mark in the staging folder for as long as the run may still be committed."""
AGAIN = "nothing of this run was written: run it again"


def open_table(path: str, storage_options: dict[str, str] | None = None) -> Any | None:
    """The table, or None where there is none. Anything else that keeps it from being opened is raised."""
    import lance

    if is_local(path) and os.path.isfile(local_path(path)):
        return None
    try:
        with lance_errors():
            return lance.dataset(path, storage_options=storage_options or None)
    except (ValueError, OSError) as error:
        if "was not found" in str(error):
            return None
        raise PipelineError(
            "unreadable-table", f"cannot open the table `{path}`: {str(error).splitlines()[0]}"
        ) from error


def is_local(path: str) -> bool:
    """Whether the table is in a file system of this machine."""
    return "://" not in path or path.startswith("file://")


def local_path(path: str) -> str:
    """The path without its scheme."""
    return path.removeprefix("file://")


@dataclass(frozen=True)
class Place:
    """Where the fragments of one run go, and the version that they are added to."""

    path: str
    staging: str
    mode: str
    read_version: int
    storage_options: dict[str, str]
    storage_version: str | None
    max_rows_per_file: int

    @property
    def is_staged(self) -> bool:
        """Whether fragments wait outside the table."""
        return self.staging != self.path


def prepare(
    path: str,
    mode: str,
    *,
    storage_options: dict[str, str],
    storage_version: str | None,
    max_rows_per_file: int,
) -> Place:
    """The place for a run that appends to a table, or replaces its rows; either makes the table where it is missing."""
    table = open_table(path, storage_options)
    staging = path
    if is_local(path):
        path = os.path.abspath(local_path(path))
        staging = os.path.join(path, STAGING + uuid.uuid4().hex)
    effective = mode if table is not None else "create"
    version = 0 if table is None else table.version
    return Place(path, staging, effective, version, storage_options, storage_version, max_rows_per_file)


def open_staging(place: Place) -> None:
    """Makes the folder that tasks write to."""
    if place.is_staged and place.mode == "append":
        table = open_table(place.path, place.storage_options)
        assert table is not None
        os.makedirs(os.path.dirname(place.staging), exist_ok=True)
        table.shallow_clone(place.staging, place.read_version)
    if place.is_staged:
        os.makedirs(place.staging, exist_ok=True)
        Path(place.staging, OPEN).touch()


def write_fragments(place: Place, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> list[str]:
    """Fragments of the batches, as JSON; the files are in the table's staging folder."""
    import json

    from lance.fragment import write_fragments as write

    reader = pa.RecordBatchReader.from_batches(schema, batches)
    mode = "create" if place.is_staged and place.mode == "overwrite" else place.mode
    with lance_errors():
        fragments = write(
            reader,
            place.staging,
            schema=schema,
            mode=mode,
            max_rows_per_file=place.max_rows_per_file,
            data_storage_version=None if mode == "append" else place.storage_version,
            storage_options=place.storage_options or None,
        )
    assert isinstance(fragments, list)
    if place.is_staged and not Path(place.staging, OPEN).exists():
        # The run was given up while this task was writing; its files came after the sweep.
        close_staging(place)
        raise PipelineError("given-up", "the run was given up while this task was writing")
    return [json.dumps(fragment.to_json()) for fragment in fragments]


def commit(
    place: Place,
    schema: pa.Schema,
    fragments: list[str],
    *,
    may_join: bool = False,
    lance_message: pb.Schema | None = None,
) -> int:
    """Adds the fragments to the table, or makes it of them; the new version. `lance_message` has ids that Lance would not give.

    A table that another run has made meanwhile is joined, if it may be: its schema is known to be the same.
    """
    made = open_table(place.path, place.storage_options) if place.mode == "create" else None
    if made is not None:
        if not may_join:
            message = f"another run has made a table at `{place.path}` meanwhile"
            raise PipelineError("table-exists", message, AGAIN)
        place = replace(place, mode="append", read_version=made.version)
    if place.is_staged:
        _move_in(place, fragments)
    try:
        if lance_message is not None and place.mode != "append":
            return _commit_with_ids(place, fragments, lance_message)
        return _commit(place, schema, fragments)
    except OSError as error:
        if type(error).__name__ == "CommitConflictError" or "conflict" in str(error).lower():
            message = f"another run has replaced the rows of `{place.path}` meanwhile"
            raise PipelineError("table-changed", message, AGAIN) from error
        raise


def _commit(place: Place, schema: pa.Schema, fragments: list[str]) -> int:
    import json

    import lance

    options = place.storage_options or None
    with lance_errors():
        if place.mode == "append":
            if not fragments:
                return place.read_version
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
            )
            return int(table.version)
        else:
            metadata = [lance.FragmentMetadata.from_json(json.dumps(json.loads(f))) for f in fragments]
            operation = lance.LanceOperation.Overwrite(schema, metadata)
        read_version = place.read_version or None
        table = lance.LanceDataset.commit(
            place.path, operation, read_version=read_version, storage_options=options
        )
    return int(table.version)


def _commit_with_ids(place: Place, fragments: list[str], message: pb.Schema) -> int:
    """Makes the table of the fragments, or puts them in the place of its rows, with the ids of the message.

    Lance numbers what it makes; so a table without columns comes first, and its schema with the rows. The rows of a
    table that has the schema already are replaced by one commit.
    """
    import json

    import lance

    ids = [field.id for field in message.fields]
    made = []
    for text in fragments:
        fragment = json.loads(text)
        for file in fragment["files"]:
            file["fields"] = [ids[index] for index in file["fields"]]
        made.append(lance.FragmentMetadata.from_json(json.dumps(fragment)))
    schema = lance_schema(message.fields, message.metadata)
    options = place.storage_options or None
    with lance_errors():
        if place.mode == "overwrite":
            table = lance.dataset(place.path, version=place.read_version, storage_options=options)
            expected = [field.SerializeToString() for field in message.fields]
            if not differences(expected, table.lance_schema):
                old = [fragment.fragment_id for fragment in table.get_fragments()]
                replaced = lance.LanceOperation.Update(removed_fragment_ids=old, new_fragments=made)
                done = lance.LanceDataset.commit(
                    place.path, replaced, read_version=place.read_version, storage_options=options
                )
                return int(done.version)
        seed = lance.write_dataset(
            pa.table({"schemac": pa.array([], pa.int8())}),
            place.path,
            mode="overwrite" if place.mode == "overwrite" else "create",
            data_storage_version=place.storage_version,
            storage_options=options,
        )
        merged = lance.LanceOperation.Merge(made, schema)
        done = lance.LanceDataset.commit(
            place.path, merged, read_version=seed.version, storage_options=options
        )
    return int(done.version)


def _move_in(place: Place, fragments: list[str]) -> None:
    """Moves the files of finished tasks to where the table's files are; a file that is not moved leaves with staging."""
    source, destination = os.path.join(place.staging, "data"), os.path.join(place.path, "data")
    os.makedirs(destination, exist_ok=True)
    for name in _file_names(fragments):
        for entry in (name, name.removesuffix(".lance")):
            if os.path.exists(os.path.join(source, entry)):
                os.replace(os.path.join(source, entry), os.path.join(destination, entry))


def _file_names(fragments: list[str]) -> Iterator[str]:
    import json

    for fragment in fragments:
        for file in json.loads(fragment)["files"]:
            yield file["path"]


def discard(place: Place, fragments: list[str]) -> None:
    """Removes what a run wrote and did not commit; what a version of the table names stays."""
    table = open_table(place.path, place.storage_options)
    if table is not None:
        named = {file.path for fragment in table.get_fragments() for file in fragment.data_files()}
        fragments = [text for text in fragments if named.isdisjoint(_file_names([text]))]
    if not place.is_staged:
        _remove_remote(place, fragments)
        return
    data = os.path.join(place.path, "data")
    for name in _file_names(fragments):
        for entry in (os.path.join(data, name), os.path.join(data, name.removesuffix(".lance"))):
            if os.path.isdir(entry):
                shutil.rmtree(entry, ignore_errors=True)
            elif os.path.exists(entry):
                os.remove(entry)
    close_staging(place)
    if place.mode == "create":
        for folder in (data, place.path):
            if os.path.isdir(folder) and not os.listdir(folder):
                os.rmdir(folder)


def close_staging(place: Place) -> None:
    """Removes the folder that tasks wrote to, with everything that is still in it."""
    if place.is_staged:
        shutil.rmtree(place.staging, ignore_errors=True)
        if place.mode == "create" and os.path.isdir(place.path) and not os.listdir(place.path):
            os.rmdir(place.path)


def _remove_remote(place: Place, fragments: list[str]) -> None:
    from pyarrow import fs

    try:
        file_system, root = fs.FileSystem.from_uri(place.path)
        for name in _file_names(fragments):
            file_system.delete_file(f"{root}/data/{name}")
    except (OSError, pa.ArrowException):
        pass  # Lance's own clean-up takes files that no version names.


def take_back(place: Place, version: int, run: str) -> None:
    """Undoes a commit of this run: the dataset as it was before, by a new version, or gone where it was new."""
    import lance

    options = place.storage_options or None
    latest = lance.dataset(place.path, storage_options=options)
    with lance_errors():
        if latest.version != version:
            # Others have written since: what is theirs stays.
            latest.delete(f"run = '{run}'")
        elif version > 1:
            lance.dataset(place.path, version=version - 1, storage_options=options).restore()
        elif place.is_staged:
            shutil.rmtree(place.path, ignore_errors=True)
