"""Where the log of a Delta table is, and which JSON around it is neither a schema nor data.

Layer: engines.
Source: the Delta protocol, "Delta Log Entries" and "Checkpoints".
      JSON around the tables of Delta that is neither a schema nor data: the Delta protocol, "Actions".
"""

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemac.importers.sniffing import ForeignDocument

LOG = "_delta_log"
_COMMIT = re.compile(r"([0-9]{20})\.json")
_CHECKPOINT = re.compile(
    r"([0-9]{20})\.checkpoint(?:\.([0-9]{10})\.([0-9]{10})|\.[0-9a-fA-F-]{36})?\.(parquet|json)"
)


@dataclass(frozen=True, slots=True)
class LogFiles:
    """The files of a log that tell of a table's schema, by the version of the table."""

    commits: dict[int, Path]
    checkpoints: dict[int, tuple[Path, ...]]
    """Whole ones: the parts of one that lacks some are left out."""

    @property
    def newest(self) -> int:
        """The newest version; -1 if there is none."""
        return max((*self.commits, *self.checkpoints), default=-1)


def is_source(path: Path) -> bool:
    """Whether a path is the folder of a table, or of its log."""
    return path.is_dir() and (path.name == LOG or (path / LOG).is_dir())


def log_folder(path: Path) -> Path:
    """Return the folder of the log of a table, which may be named itself."""
    return path if path.name == LOG and not (path / LOG).is_dir() else path / LOG


def log_files(folder: Path) -> LogFiles:
    """Return the files of a log. Raises OSError if there is no such folder."""
    commits: dict[int, Path] = {}
    whole: dict[int, Path] = {}
    parts: dict[tuple[int, int], dict[int, Path]] = defaultdict(dict)
    for file in sorted(folder.iterdir()):
        if match := _COMMIT.fullmatch(file.name):
            commits[int(match[1])] = file
        elif match := _CHECKPOINT.fullmatch(file.name):
            if match[2] is None:
                whole[int(match[1])] = file
            else:
                parts[int(match[1]), int(match[3])][int(match[2])] = file
    checkpoints = {
        version: tuple(checkpoint_parts.values())
        for (version, count), checkpoint_parts in parts.items()
        if len(checkpoint_parts) == count
    }
    return LogFiles(commits, checkpoints | {version: (file,) for version, file in whole.items()})


_DELTA = frozenset(
    {"commitInfo", "metaData", "protocol", "add", "remove", "txn", "cdc", "domainMetadata", "sidecar"}
    | {"checkpointMetadata"}
)


def _is_delta(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and len(value) == 1
        and set(value) <= _DELTA
        and all(isinstance(item, dict) for item in value.values())
    )


DOCUMENTS = (
    ForeignDocument(
        "a commit of a Delta table's log",
        _is_delta,
        "import the table's folder, which contains `_delta_log`",
    ),
)
"""What to import in place of such a file."""
