"""What a run has computed for fragments of a Lance table and not committed yet: data files, and a record of each.

Layer: engines.
Shape: in a folder `filled` of the run's staging folder, which outlives the run if it dies: the next attempt of the same run takes it
       over, and everybody else leaves it alone for `staging.RETENTION_SECONDS`. On an object store the files are among those of the
       table, and the records in a folder of the run next to them.
"""

import contextlib
import json
import os
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.fs

from schemac.engines.lance.dataset import open_dataset
from schemac.engines.lance.tables.fragments import Files, are_among
from schemac.engines.lance.transactions import DATA, data_entries, file_name, fragments_of, move_data
from schemac.rows.runs import staging
from schemac.rows.runs.columns import Filling
from schemac.rows.runs.tables import Place

REMOTE = "_backfill-"


@dataclass(frozen=True)
class Record:
    """What a file was made for, and of what."""

    key: str
    columns: str
    """A digest of the table's columns."""
    version: int
    fragment: str
    """Metadata of the fragment at that version, as JSON."""
    file: str | None
    """The data file as Lance describes it, as JSON; None if the fragment stays as it is."""
    numbers: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> str:
        """Write the record as `parse` reads it."""
        return json.dumps(asdict(self))

    @classmethod
    def parse(cls, text: str) -> "Record":
        """Read a record."""
        return cls(**json.loads(text))

    @property
    def path(self) -> str:
        """Name of the data file."""
        return file_name(self.file or "{}")

    @cached_property
    def metadata(self) -> Any:
        """Metadata of the fragment."""
        return fragments_of([self.fragment])[0]

    def counts_for(self, fragment: Any, place: Place) -> bool:
        """Whether a fragment has the files that it had, and no row that was deleted when the record was made."""
        if Files.of(fragment.metadata) != Files.of(self.metadata):
            return False
        if self.metadata.deletion_file is None:
            return True
        if str(self.metadata.deletion_file) == str(fragment.metadata.deletion_file):
            return True
        try:
            then = open_dataset(place.path, self.version, place.storage_options)
        except (OSError, ValueError, RuntimeError):
            return False  # the version has been cleaned up
        return are_among(fragment, then.get_fragment(fragment.fragment_id))


@dataclass(frozen=True)
class Filled:
    """The records of one run."""

    place: Place

    @classmethod
    def of(cls, filling: Filling) -> "Filled":
        """Those of a filling."""
        return cls(filling.place)

    @property
    def folder(self) -> str:
        """Where the records of a staged run are, and its data files."""
        return os.path.join(self.place.staging, staging.FILLED)

    @cached_property
    def _remote(self) -> tuple[Any, str]:
        files, root = self.place.storage_options.open_arrow(self.place.path)
        return files, f"{root}/{REMOTE}{self.place.run.id}"

    def put(self, record: Record) -> None:
        """Write a record, whole or not at all."""
        name = f"{record.metadata.id}-{uuid.uuid4().hex[:8]}.json"
        if not self.place.is_staged:
            files, root = self._remote
            with files.open_output_stream(f"{root}/{name}") as stream:
                stream.write(record.to_json().encode())
            return
        making = os.path.join(self.folder, f".{name}")
        with open(making, "w", encoding="utf-8") as file:
            file.write(record.to_json())
        os.replace(making, os.path.join(self.folder, name))

    def records(self) -> list[Record]:
        """Read all records whose files are there."""
        records = []
        for text in self._texts():
            with contextlib.suppress(ValueError, TypeError):
                record = Record.parse(text)
                if record.file is None or self._where(record.path) is not None:
                    records.append(record)
        return records

    def _texts(self) -> Iterator[str]:
        if not self.place.is_staged:
            files, root = self._remote
            selector = pa.fs.FileSelector(root, allow_not_found=True)
            for info in files.get_file_info(selector):
                with files.open_input_stream(info.path) as stream:
                    yield stream.read().decode()
            return
        with contextlib.suppress(FileNotFoundError):
            for entry in sorted(os.scandir(self.folder), key=lambda entry: entry.name):
                if entry.name.endswith(".json") and not entry.name.startswith("."):
                    with open(entry.path, encoding="utf-8") as file:
                        yield file.read()

    def _where(self, name: str) -> str | None:
        """Find a data file: it waits, or was moved by a commit that did not come to its end."""
        if not self.place.is_staged:
            files, root = self.place.storage_options.open_arrow(self.place.path)
            info = files.get_file_info(f"{root}/{DATA}/{name}")
            return None if info.type is pa.fs.FileType.NotFound else root
        data = os.path.join(self.place.path, DATA)
        return next((at for at in (self.folder, data) if os.path.exists(os.path.join(at, name))), None)

    def take_file(self, clone: str, name: str) -> None:
        """Take a file that a task has finished, with what is next to it, out of the clone that it was written to."""
        move_data(os.path.join(clone, DATA), self.folder, [name])

    def drop_file(self, record: Record) -> None:
        """Remove a data file."""
        if record.file is None:
            return
        if self.place.is_staged:
            for entry in data_entries(record.path):
                with contextlib.suppress(OSError):
                    os.remove(os.path.join(self.folder, entry))
            return
        files, root = self.place.storage_options.open_arrow(self.place.path)
        files.delete_file(f"{root}/{DATA}/{record.path}")

    def remove(self) -> None:
        """Remove the records from an object store."""
        files, root = self._remote
        with contextlib.suppress(OSError, pa.ArrowException):
            files.delete_dir(root)


def adopt_filled(place: Place) -> None:
    """Take over what attempts of this run that died have kept."""
    mine = os.path.join(place.staging, staging.FILLED)
    os.makedirs(mine, exist_ok=True)
    for folder in staging.of_run(place.path, place.run):
        if str(folder) == place.staging or not staging.is_retained(folder) or not staging.take_dead(folder):
            continue
        moved = {*staging.moved_files_in(place.staging), *staging.moved_files(folder)}
        staging.note_moved(place.staging, sorted(moved))
        # Records come last: one whose file is not there would be passed by.
        entries = sorted(os.listdir(folder / staging.FILLED), key=lambda name: name.endswith(".json"))
        for name in entries:
            with contextlib.suppress(FileNotFoundError):
                os.replace(folder / staging.FILLED / name, os.path.join(mine, name))
        staging.remove(folder)


def remove_filled(place: Place) -> Iterator[str]:
    """Yield the folders that runs which died have kept values in: after another commit of new files they count no more."""
    for folder in staging.folders_of(place.path):
        is_current_run = str(folder) == place.staging
        if not is_current_run and staging.is_retained(folder) and staging.take_dead(folder):
            yield str(folder)
