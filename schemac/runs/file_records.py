"""Which runs a folder of files has: a record for each, beside the files.

Layer: runs.
Shape: JSON files in the folder `_schemac` of the target, which Spark and Arrow pass over: the identity of a run, its counts, its number
       and its files. A run is committed when its record is there.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from schemac.runs.history import CommittedRun
from schemac.runs.identity import RunIdentity
from schemac.runs.locations import local_path

LEDGER, SUFFIX = "_schemac", ".json"


@dataclass(frozen=True)
class FileRecord:
    """A run as the folder has it."""

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
        committed, told = datetime.now(UTC), {**run.properties(), **properties}
        found = CommittedRun.of(told, version, committed)
        assert found is not None
        names = tuple(files)
        text = {"committed": committed.isoformat(), "version": version, "properties": told, "files": names}
        return cls(found, names, json.dumps(text))

    @classmethod
    def parse(cls, text: str) -> "FileRecord | None":
        """Read a record; None for what is none."""
        try:
            told = json.loads(text)
            committed = datetime.fromisoformat(told["committed"])
            run = CommittedRun.of(told["properties"], told["version"], committed)
            return None if run is None else cls(run, tuple(told["files"]), text)
        except (ValueError, KeyError, TypeError):
            return None


def ordered(texts: Iterable[str]) -> list[FileRecord]:
    """Read records, that of the last run first; what is none is left out."""
    found = [record for text in texts if (record := FileRecord.parse(text)) is not None]
    return sorted(found, key=lambda record: (record.run.version, record.run.committed), reverse=True)


def records_in(path: str) -> list[FileRecord] | None:
    """Read the records of a folder on this machine; None where it has none."""
    folder = Path(local_path(path), LEDGER)
    if not folder.is_dir():
        return None
    return ordered(file.read_text(encoding="utf-8") for file in sorted(folder.glob(f"*{SUFFIX}")))
