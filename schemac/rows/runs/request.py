"""The request for a run.

Layer: rows.
Rule: a run that was committed is not committed again. Which run it is says its id, or the interval of a schedule that it is
      for, or else what it reads: the same records for the same table are the same run, unless it is asked for `again`.
"""

from dataclasses import dataclass
from datetime import datetime

from schemac.rows.runs.errors import PipelineError
from schemac.rows.runs.identity import IDENTIFIER
from schemac.source.catalogue import INVALID_RUN


@dataclass(frozen=True)
class Replay:
    """The records of the quarantine to replay; by default all of them."""

    run: str = ""
    """Of one run."""
    rule: str = ""
    """That broke this rule, such as `range`."""
    path: str = ""
    """With a reason at this path, without positions, such as `stops[].name`."""


@dataclass(frozen=True)
class RunRequest:
    """What is asked for; by default whatever the input says."""

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
            _check_interval(self.interval)


def _check_interval(text: str) -> None:
    start, dots, end = text.partition("..")
    try:
        is_right = bool(dots) and datetime.fromisoformat(start) < datetime.fromisoformat(end)
    except (ValueError, TypeError):  # no timestamp, or one with a zone beside one without
        is_right = False
    if not is_right:
        message = f"the interval `{text}` is not valid"
        help = "write START..END, such as 2026-01-01..2026-01-02 or 2026-01-01T00:00Z..2026-01-01T01:00Z"
        raise PipelineError(INVALID_RUN, message, help)
