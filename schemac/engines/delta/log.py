"""The log of a Delta table: its files, and the schemas that they record.

Layer: engines.
Shape: commits are read line by line, and of checkpoints only the columns that matter, so that memory does not grow with the number of
      data files.
Why by hand: deltalake 1.6 has no clustering columns, so these same files would have to be read in addition. It refuses a whole table for
      one column of geometry or with a collation, and one that a catalog manages, though the schema is there to be read; its errors name
      neither file nor line nor column; to find the versions where a schema changed it replays the log from its checkpoint for each
      version (400 commits: 14 s, here 0.3 s). It judges this reader in `tests/conformance/test_delta.py`.
Errors: raises UnreadableSourceError with the file.
Source: the Delta protocol, "Delta Log Entries", "Actions", "Checkpoints" and "Table Features".
"""

import dataclasses
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemac.importers.importer import UnreadableSourceError, first_line
from schemac.importers.sources import ForeignDocument
from schemac.language.physical import pa

LOG = "_delta_log"
_COMMIT = re.compile(r"([0-9]{20})\.json")
_CHECKPOINT = re.compile(
    r"([0-9]{20})\.checkpoint(?:\.([0-9]{10})\.([0-9]{10})|\.[0-9a-fA-F-]{36})?\.(parquet|json)"
)


def is_source(path: Path) -> bool:
    """Whether a path is the folder of a table, or of its log."""
    return path.is_dir() and (path.name == LOG or (path / LOG).is_dir())


def log_folder(path: Path) -> Path:
    """Return the folder of the log of a table, which may be named itself."""
    return path if path.name == LOG and not (path / LOG).is_dir() else path / LOG


def log_files(folder: Path) -> tuple[dict[int, Path], dict[int, tuple[Path, ...]]]:
    """Return the commits and the whole checkpoints of a log, by the version of the table. Raises OSError if the folder does not exist.

    A checkpoint that lacks some of its parts is left out.
    """
    commits: dict[int, Path] = {}
    parts: dict[tuple[int, int], dict[int, Path]] = defaultdict(dict)
    for file in sorted(folder.iterdir()):
        if match := _COMMIT.fullmatch(file.name):
            commits[int(match[1])] = file
        elif match := _CHECKPOINT.fullmatch(file.name):
            parts[int(match[1]), int(match[3] or 1)][int(match[2] or 1)] = file
    checkpoints = {
        version: tuple(checkpoint_parts.values())
        for (version, count), checkpoint_parts in parts.items()
        if len(checkpoint_parts) == count
    }
    return commits, checkpoints


_DELTA = frozenset(
    {"commitInfo", "metaData", "protocol", "add", "remove", "txn", "cdc", "domainMetadata", "sidecar"}
    | {"checkpointMetadata"}
)


def _is_delta(value: Any) -> bool:
    """Whether a JSON document is one action of a commit."""
    if not isinstance(value, dict) or len(value) != 1:
        return False
    ((action, content),) = value.items()
    return action in _DELTA and isinstance(content, dict)


DOCUMENTS = (
    ForeignDocument(
        "a commit of a Delta table's log", _is_delta, "import the table's folder, which contains `_delta_log`"
    ),
)
"""What to import in place of such a file."""


_ACTIONS = ("metaData", "protocol", "domainMetadata")
_MARKS = tuple(f'"{action}"'.encode() for action in _ACTIONS)
_LONGEST_LINE = 64 * 1024 * 1024
_NEWEST_READER = 3
_READER_FEATURES = frozenset(
    {"catalogManaged", "catalogOwned-preview", "columnMapping", "deletionVectors", "timestampNtz"}
    | {"typeWidening", "typeWidening-preview", "v2Checkpoint", "vacuumProtocolCheck"}
    | {"variantType", "variantType-preview", "variantShredding", "variantShredding-preview"}
)
"""Features of readers under which a table's schema is what its metadata says."""
_CLUSTERING = "delta.clustering"


def unreadable(file: Path, reason: str) -> UnreadableSourceError:
    """Return the error for something in a log that is not as the protocol has it."""
    return UnreadableSourceError(f"it is not a Delta table: {file.name}: {reason}")


@dataclass(frozen=True, slots=True)
class Metadata:
    """A `metaData` action."""

    version: int
    """Of the table, when it became this; of one in a checkpoint, that of the checkpoint."""
    schema: str | None
    """Spark's StructType as JSON; None if the action has none, as that of a table to which none was given yet."""
    name: str | None
    description: str | None
    partitions: tuple[str, ...]
    properties: Mapping[str, str]


@dataclass(slots=True)
class Log:
    """What is known of a table at its newest version."""

    version: int
    metadata: list[Metadata] = dataclasses.field(default_factory=list)
    """Oldest first; the last one counts."""
    reader: int | None = None
    """The version that its readers need to know; None if no action says it."""
    features: tuple[str, ...] = ()
    """Those that its readers need to know."""
    clustering: tuple[tuple[str, ...], ...] = ()
    """Columns by their names in data files, each as a path."""


def read_log(folder: Path, *, with_history: bool) -> Log:
    """Return the content of a log, from its newest checkpoint on, or from its oldest with history. Raises UnreadableSourceError."""
    commits, checkpoints = log_files(folder)
    newest = max((*commits, *checkpoints), default=-1)
    if newest < 0:
        raise unreadable(folder, "it has neither a commit nor a checkpoint")
    lowest = newest + 1
    while lowest - 1 in commits:
        lowest -= 1
    bases = sorted(version for version in checkpoints if lowest - 1 <= version <= newest)
    if lowest > 0 and not bases:
        message = f"the commit {lowest - 1:020d}.json is missing, and a checkpoint for it"
        raise unreadable(folder, message)
    if with_history:
        bases = bases[:1] if lowest > 0 else []
    base = bases[-1] if bases else -1
    log = Log(newest)
    for file in checkpoints.get(base, ()):
        _enter_actions(_checkpoint(file), base, file, log)
    for version in range(base + 1, newest + 1):
        _enter_actions(_commit(commits[version]), version, commits[version], log)
    if not log.metadata or log.metadata[-1].schema is None:
        message = "it has no `metaData` with a `schemaString`, so the table has no schema"
        raise unreadable(folder, message)
    if log.reader is None:
        raise unreadable(folder, "it has no `protocol`")
    # The schema of a table that needs more of its readers than is known here may mean something else.
    if log.reader > _NEWEST_READER:
        reason = f"the table needs reader version {log.reader}, and {_NEWEST_READER} is the newest known"
        raise unreadable(folder, reason)
    unknown = sorted(set(log.features) - _READER_FEATURES)
    if unknown:
        reason = f"the table needs features of its readers that are not known: {', '.join(unknown)}"
        raise unreadable(folder, reason)
    return log


def _enter_actions(actions: Iterable[Mapping[str, Any]], version: int, file: Path, log: Log) -> None:
    """Enter metadata, protocol and domain metadata of one version into the log. Raises UnreadableSourceError."""
    for action in actions:
        if (written := action.get("metaData")) is not None:
            log.metadata.append(_metadata(written, version, file))
        if (written := action.get("protocol")) is not None:
            reader = written.get("minReaderVersion") if isinstance(written, dict) else None
            if not isinstance(reader, int):
                raise unreadable(file, "`protocol` has no number `minReaderVersion`")
            features = written.get("readerFeatures") or []
            if not isinstance(features, list):
                raise unreadable(file, "`readerFeatures` is not a list")
            log.reader, log.features = reader, tuple(map(str, features))
        if (written := action.get("domainMetadata")) is not None:
            _enter_clustering(written, log)


def _commit(file: Path) -> Iterator[Mapping[str, Any]]:
    """Yield those actions of a commit that matter; the others are only looked at for whether they are whole."""
    with file.open("rb") as stream:
        number = 0
        while line := stream.readline(_LONGEST_LINE + 1):
            number += 1
            if len(line) > _LONGEST_LINE:
                message = f"line {number} is longer than {_LONGEST_LINE // 1024**2} MiB"
                raise unreadable(file, message)
            line = line.strip()
            if not line:
                continue
            if not (line.startswith(b"{") and line.endswith(b"}")):
                raise unreadable(file, f"line {number} is not a complete JSON object")
            if not any(mark in line for mark in _MARKS):
                continue
            try:
                action = json.loads(line)
                json.dumps(action, ensure_ascii=False).encode()
            except (ValueError, RecursionError) as error:
                message = f"line {number} is not valid JSON: {first_line(error)}"
                raise unreadable(file, message) from error
            yield action


def _checkpoint(file: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the actions of a checkpoint in JSON or Parquet. Raises UnreadableSourceError."""
    if file.suffix == ".json":
        yield from _commit(file)
        return
    # Imported here for start-up time: this part of pyarrow is not loaded with it.
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(file) as opened:
            present = [name for name in _ACTIONS if name in opened.schema_arrow.names]
            for batch in opened.iter_batches(columns=present):
                for name in batch.schema.names:
                    yield from ({name: action} for action in batch.column(name).drop_null().to_pylist())
    except (pa.ArrowException, OSError, MemoryError, OverflowError, UnicodeDecodeError) as error:
        raise unreadable(file, f"it is not a checkpoint: {first_line(error)}") from error


def _metadata(written: Any, version: int, file: Path) -> Metadata:
    """Return the metadata that an action records, its properties as texts. Raises UnreadableSourceError."""
    if not isinstance(written, dict):
        raise unreadable(file, "`metaData` is not an object")
    configuration = written.get("configuration") or {}
    # Parquet has maps as pairs.
    pairs = configuration.items() if isinstance(configuration, dict) else configuration
    try:
        properties = {str(key): str(value) for key, value in pairs}
        partitions = tuple(str(name) for name in written.get("partitionColumns") or ())
    except (TypeError, ValueError):
        raise unreadable(file, "`configuration` or `partitionColumns` is malformed") from None
    # An empty text, and any other value, is none.
    values = [written.get(key) for key in ("schemaString", "name", "description")]
    schema, name, description = (value if isinstance(value, str) and value else None for value in values)
    return Metadata(version, schema, name, description, partitions, properties)


def _enter_clustering(written: Any, log: Log) -> None:
    """Enter the clustering columns of a domain action into the log; those of other domains are ignored."""
    if not isinstance(written, dict) or written.get("domain") != _CLUSTERING:
        return
    log.clustering = ()
    if written.get("removed"):
        return
    try:
        columns = json.loads(written.get("configuration") or "{}").get("clusteringColumns") or []
        log.clustering = tuple(tuple(map(str, column)) for column in columns)
    except (AttributeError, TypeError, ValueError, RecursionError):
        return
