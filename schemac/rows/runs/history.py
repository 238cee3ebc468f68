"""The history of runs, in the commits of a table or in the records of a folder of files.

Layer: rows.
Shape: every commit of a run carries its identity as properties. A run has happened when the table has its commit; the quarantine is
      committed before, so no record is ever in neither.
      The runs of a folder of files: a record for each, next to the files: JSON files in the folder `_schemac` of the target, which
      Spark and Arrow pass over: the identity of a run, its counts, its number and its files. A run is committed when its record is
      there.
Rule: a row of the quarantine counts if its `run` is among the runs of the table. What a run left that never happened is removed by the
      next run.
Errors: SC652 unreadable-table for a record that cannot be read: nobody knows then which runs the folder has.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.identity import RunIdentity
from schemac.rows.runs.storage import NO_STORAGE, Storage, is_local, local_path
from schemac.text.source.catalogue import UNREADABLE_TABLE
from schemac.text.source.json_object import Json

ROWS, QUARANTINED, TABLE = "schemac.run.rows", "schemac.run.quarantined", "schemac.run.table"
SUPERSEDED, DELETED = "schemac.run.superseded", "schemac.run.deleted"
MOVED_OUT = "schemac.run.moved-out"
"""In a quarantine: how many rows left it for the table of the run."""
COLUMNS = "schemac.run.columns"
"""Of a run that fills columns: their names."""
UNFINISHED = "schemac.run.unfinished"
"""Set on the first of two commits of one run."""


@dataclass(frozen=True)
class CommittedRun:
    """A committed run and what it wrote."""

    identity: RunIdentity
    version: int
    """The version of the dataset that it made."""
    committed: datetime
    rows: int
    rows_quarantined: int
    table: str = ""
    """In a quarantine: the table that the run wrote to, seen from the quarantine."""
    superseded: int = 0
    """Records that did not count, for a later one had their key."""
    deleted: int = 0
    """Records that deleted the row of their key."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """All that the commit says of the run."""

    @property
    def id(self) -> str:
        """The run's id, which its rows in a quarantine carry."""
        return self.identity.id

    def to_json(self) -> Json:
        """Return the run as JSON."""
        return {
            **self.identity.report(),
            "version": self.version,
            "committed": self.committed.isoformat(),
            "records": {
                "written": self.rows,
                "quarantined": self.rows_quarantined,
                "superseded": self.superseded,
                "deleted": self.deleted,
            },
            "table": self.table or None,
        }

    @classmethod
    def of(cls, properties: Mapping[str, str], version: int, committed: datetime) -> "CommittedRun | None":
        """Read the run from the properties of a commit; None if it is not the last commit of a run."""
        identity = RunIdentity.from_properties(properties)
        if identity is None or UNFINISHED in properties:
            return None
        rows, quarantined, superseded, deleted = (
            int(properties.get(name, 0)) for name in (ROWS, QUARANTINED, SUPERSEDED, DELETED)
        )
        return cls(
            identity, version, committed, rows, quarantined, properties.get(TABLE, ""), superseded, deleted,
            dict(properties),
        )  # fmt: skip


LEDGER, SUFFIX = "_schemac", ".json"


@dataclass(frozen=True)
class FileRecord:
    """The record of a run in a folder of files, with the files that it wrote."""

    run: CommittedRun
    files: tuple[str, ...]
    """Names below the folder."""
    text: str
    """The record as it is written."""

    @classmethod
    def new(
        cls, run: RunIdentity, version: int, properties: Mapping[str, str], files: Iterable[str]
    ) -> "FileRecord":
        """Make the record of a run that is being committed."""
        data: Json = {"committed": datetime.now(UTC).isoformat(), "version": version}
        data |= {"properties": {**run.properties(), **properties}, "files": list(files)}
        record = cls.parse(json.dumps(data))
        assert record is not None
        return record

    @classmethod
    def parse(cls, text: str) -> "FileRecord | None":
        """Read a record; None if it is invalid."""
        try:
            data = json.loads(text)
            committed = datetime.fromisoformat(data["committed"])
            run = CommittedRun.of(data["properties"], int(data["version"]), committed)
            return None if run is None else cls(run, tuple(map(str, data["files"])), text)
        except (ValueError, KeyError, TypeError):
            return None


def parse_records(path: str, texts: Mapping[str, str]) -> list[FileRecord]:
    """Read the records of a folder by the names of their files, that of the last run first.

    Raises PipelineError if one cannot be read: a run that was left out would be written once more.
    """
    records = []
    for name, text in texts.items():
        record = FileRecord.parse(text)
        if record is None:
            message = (
                f"`{path}/{LEDGER}/{name}` is not the record of a run: it is damaged, or of another program"
            )
            run = name.removesuffix(SUFFIX)
            help = f"restore it from a copy; or delete it: then the run `{run}` no longer counts, and its rows stay"
            raise PipelineError(UNREADABLE_TABLE, message, help)
        records.append(record)
    return sorted(records, key=lambda record: (record.run.version, record.run.committed), reverse=True)


def records_in(path: str, storage: Storage = NO_STORAGE) -> list[FileRecord] | None:
    """Read the records of a folder of this machine or of an object store; None if it has none.

    Raises PipelineError for a damaged record, OSError or ValueError if the address cannot be opened.
    """
    if is_local(path):
        folder = Path(local_path(path), LEDGER)
        if not folder.is_dir():
            return None
        texts = {file.name: file.read_text("utf-8", "replace") for file in sorted(folder.glob(f"*{SUFFIX}"))}
        return parse_records(path, texts)
    from pyarrow import fs  # for start-up time

    system, root = storage.open_arrow(path)
    files = system.get_file_info(fs.FileSelector(f"{root.rstrip('/')}/{LEDGER}", allow_not_found=True))
    if not files:
        return None
    texts = {}
    for file in files:
        if file.base_name.endswith(SUFFIX):
            with system.open_input_stream(file.path) as stream:
                texts[file.base_name] = stream.read().decode("utf-8", "replace")
    return parse_records(path, texts)
