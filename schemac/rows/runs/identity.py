"""The identity of a run: the same in the table, in the quarantine, and next to what is not committed yet.

Layer: rows.
Shape: `RunIdentity` is a value. It travels as JSON to the tasks, and as properties of the transactions that the run
       commits, so that a table alone tells which runs it is of (see `history`).
Units: `started` is in UTC.
"""

import json
import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.modes import Mode
from schemac.rows.runs.processes import this_process
from schemac.source.catalogue import SINK_OPTION
from schemac.source.json_object import Json

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
        """Read an identity out of `to_json`, or out of an id that somebody gave to the sink."""
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
        properties = {
            RUN: self.id,
            STARTED: self.started.isoformat(),
            SOURCE: self.source,
            MODE: self.mode,
        }
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
        """Describe the identity as reports for programs have it."""
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
    """Strip the user and the password off the address of a path."""
    if "://" not in path:
        return path
    parts = urlsplit(path)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
