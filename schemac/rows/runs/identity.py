"""Who a run is, which one somebody asks for, in which mode, and which process drives it.

What a run does with the rows that a table has.

Layer: rows.
Shape: `RunIdentity` is a value. It travels as JSON to the tasks, and as properties of the transactions that the run commits, so that a
      table alone tells which runs it is of (see `history`).
      The process that drives a run, and whether it is still alive: a label of the process, which any process of the same machine can
      ask about, and which says nothing to others: the machine (a digest of its name, its start and the namespace of process numbers),
      the number, and the tick of its start.
Rule: The request for a run: a run that was committed is not committed again. Which run it is says its id, or the interval of a schedule
      that it is for, or else what it reads: the same records for the same table are the same run, unless it is asked for `again`.
Units: `started` is in UTC.
Source: proc(5). A number of a process is given again; together with the tick at which the process started it is not.
"""

import hashlib
import json
import os
import re
import socket
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from schemac.rows.runs.errors import PipelineError
from schemac.text.source.catalogue import INVALID_RUN, SINK_OPTION
from schemac.text.source.json_object import Json


class Mode(StrEnum):
    """What happens to a table that already exists."""

    CREATE = "create"
    APPEND = "append"
    OVERWRITE = "overwrite"
    UPSERT = "upsert"
    BACKFILL = "backfill"
    """Its rows stay, and get values in some columns."""


BOOT, NAMESPACE = "/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"
GONE_STATES = ("Z", "X")


def this_process() -> str:
    """Return the label of this process."""
    number = os.getpid()
    try:
        _, tick = _process_state(number) or ("", "")
    except OSError:
        tick = ""
    return f"{_machine_id() or 'unknown'}-{number}-{tick}"


def is_gone(label: str) -> bool | None:
    """Whether a process has ended; None if that is unknown: it runs on another machine, or the system does not report it."""
    machine, _, rest = label.partition("-")
    number, _, tick = rest.partition("-")
    if machine != _machine_id() or not number.isdigit() or not tick:
        return None
    try:
        state = _process_state(int(number))
    except OSError:
        return None
    return state is None or state[1] != tick or state[0] in GONE_STATES


def is_here(label: str | None) -> bool:
    """Whether a process runs, or ran, on this machine; one that is not known is taken to."""
    return label is None or label.partition("-")[0] == (_machine_id() or "unknown")


def _machine_id() -> str | None:
    """Return 16 hexadecimal digits of host, boot and process namespace; None where the system has no such files."""
    try:
        boot = f"{Path(BOOT).read_text().strip()} {os.readlink(NAMESPACE)}"
    except OSError:
        return None
    return hashlib.sha256(f"{socket.gethostname()} {boot}".encode()).hexdigest()[:16]


def _process_state(number: int) -> tuple[str, str] | None:
    """Return the state of a process, such as `S`, and the tick at which it started.

    None if there is no such process. Raises OSError if the system cannot report it, as with too many open files.
    """
    try:
        fields = Path(f"/proc/{number}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return fields[0], fields[19]


RUN, STARTED, SOURCE, MODE = "schemac.run", "schemac.run.started", "schemac.run.source", "schemac.run.mode"
PROCESS, INTERVAL, SCHEMA = "schemac.run.process", "schemac.run.interval", "schemac.run.schema"
IDENTIFIER = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


@dataclass(frozen=True)
class RunIdentity:
    """One run: which, since when, and what it reads."""

    id: str
    started: datetime
    source: str = ""
    """What is read: format and paths, of several sources a list of them, as JSON; never options, which may hold secrets."""
    mode: str = Mode.APPEND.value
    process: str | None = None
    """The label of the process that drives the run; None if it is not known, as for a frame that is written to the sink directly."""
    interval: str = ""
    """The interval of a schedule that it is for, as `START..END`."""
    schema: str = ""
    """The version of its schema: the number in the lock, or a digest."""

    @classmethod
    def new(
        cls,
        id: str,
        sources: Iterable[tuple[str, Iterable[str]]],
        mode: str,
        *,
        interval: str = "",
        schema: str = "",
    ) -> "RunIdentity":
        """Identify a run that starts now, in this process, and reads these sources: each a format and its paths."""
        parts = [
            {"format": format, "path": [without_secrets(path) for path in paths]} for format, paths in sources
        ]
        source_json = json.dumps(parts[0] if len(parts) == 1 else parts, ensure_ascii=False)
        return cls(id, datetime.now(UTC), source_json, mode, this_process(), interval, schema)

    @classmethod
    def parse(cls, text: str) -> "RunIdentity":
        """Read an identity from `to_json`, or from an id that was passed to the sink."""
        if text.startswith("{"):
            identity = cls.from_properties(json.loads(text))
            assert identity is not None
            return identity
        if text and not IDENTIFIER.match(text):
            message = f"option `run` is `{text}`: an id has up to 64 letters, digits, `_` and `-`"
            raise PipelineError(SINK_OPTION, message, "leave `run` out to get an id of its own")
        return cls(text or random_id(), datetime.now(UTC))

    def to_json(self) -> str:
        """Write the identity as `parse` reads it."""
        return json.dumps(self.properties())

    def properties(self) -> dict[str, str]:
        """Write the identity as properties of a transaction."""
        properties = {RUN: self.id, STARTED: self.started.isoformat(), SOURCE: self.source, MODE: self.mode}
        more = {INTERVAL: self.interval, SCHEMA: self.schema, PROCESS: self.process}
        return properties | {key: text for key, text in more.items() if text}

    @classmethod
    def from_properties(cls, properties: Mapping[str, Any] | None) -> "RunIdentity | None":
        """Read the identity that a transaction carries; None if it is of no run."""
        if not properties or RUN not in properties:
            return None
        return cls(
            properties[RUN],
            datetime.fromisoformat(properties[STARTED]),
            properties.get(SOURCE, ""),
            properties.get(MODE, Mode.APPEND.value),
            properties.get(PROCESS),
            properties.get(INTERVAL, ""),
            properties.get(SCHEMA, ""),
        )

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of all sources."""
        sources = json.loads(self.source) if self.source else []
        parts = sources if isinstance(sources, list) else [sources]
        return tuple(path for part in parts for path in part.get("path", ()))

    def report(self) -> Json:
        """Return the identity as JSON, as reports have it."""
        return {
            "id": self.id,
            "started": self.started.isoformat(),
            "mode": self.mode,
            "interval": self.interval or None,
            "schema": self.schema or None,
            "source": json.loads(self.source) if self.source else None,
        }


def random_id() -> str:
    """Return an id that no other run has."""
    return uuid.uuid4().hex


def without_secrets(path: str) -> str:
    """Return a path without the user and the password of its address."""
    if "://" not in path:
        return path
    parts = urlsplit(path)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


@dataclass(frozen=True)
class Replay:
    """Which records of the quarantine are replayed; by default all of them."""

    run: str = ""
    """Of one run."""
    rule: str = ""
    """That broke this rule, such as `range`."""
    path: str = ""
    """With a reason at this path, without positions, such as `stops[].name`."""


@dataclass(frozen=True)
class RunRequest:
    """Which run is asked for; by default the one that the input identifies."""

    id: str = ""
    """Up to 64 letters, digits, `_` and `-`."""
    interval: str = ""
    """Of a schedule, as `START..END` of two ISO 8601 dates or times."""
    again: bool = False
    """Whether input that was read before is to be read once more, as another run."""
    replay: Replay | None = None
    """The records of the quarantine that are read in place of the source."""
    is_batch: bool = False
    """Whether the source is one batch of a stream, which may lack what others have."""

    def __post_init__(self) -> None:
        if self.id and not IDENTIFIER.match(self.id):
            message = f"the run id `{self.id}` is not valid"
            raise PipelineError(INVALID_RUN, message, "write up to 64 letters, digits, `_` and `-`")
        if self.id and self.again:
            message = f"the run `{self.id}` cannot be run with both its id and `again`"
            raise PipelineError(INVALID_RUN, message, "give it a new id")
        if self.interval:
            start, dots, end = self.interval.partition("..")
            try:
                is_right = bool(dots) and datetime.fromisoformat(start) < datetime.fromisoformat(end)
            except (ValueError, TypeError):  # no timestamp, or one with a zone beside one without
                is_right = False
            if not is_right:
                message = f"the interval `{self.interval}` is not valid"
                help = (
                    "write START..END, such as 2026-01-01..2026-01-02 or 2026-01-01T00:00Z..2026-01-01T01:00Z"
                )
                raise PipelineError(INVALID_RUN, message, help)
