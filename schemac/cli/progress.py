"""Progress of long work, for people at a terminal.

Layer: cli.
"""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from schemac.cli.terminal import notify
from schemac.cli.waiting import clear
from schemac.text.source.phrases import counted, printable

LINE_EVERY_SECONDS = 10.0
WAIT_NOTICE_SECONDS = 60.0


@contextmanager
def progress_bar(is_enabled: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function to call with the present step, how much of it is done, and how much there is."""
    if not is_enabled:
        yield lambda what, done, total: None
        return
    try:
        # Imported here: rich is an extra.
        from rich.console import Console
        from rich.markup import escape
        from rich.progress import Progress
    except ModuleNotFoundError:
        yield lambda what, done, total: None
        return
    clear()
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1)

        def notify(what: str, done: int, total: int) -> None:
            bar.update(task, description=escape(printable(what)), completed=done, total=max(total, 1))

        yield notify


@contextmanager
def records_bar(is_enabled: bool) -> Iterator[Callable[[str, int, float], None]]:
    """Yield a function to call with the present step, the records so far, and the records per second.

    The number of records is unknown before the end, so the bar has no length.
    """
    if not is_enabled:
        yield lambda what, records, rate: None
        return
    try:
        # Imported here: rich is an extra.
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    except ModuleNotFoundError:
        yield lambda what, records, rate: None
        return
    columns = (SpinnerColumn(), TimeElapsedColumn(), TextColumn("{task.description}{task.fields[count]}"))
    clear()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None, count="")

        def notify(what: str, records: int, rate: float) -> None:
            bar.update(task, description=what, count=_count(records, rate))

        yield notify


class WaitNotice:
    """Prints one line if a run waits long for an executor; where no progress is shown it would wait in silence."""

    def __init__(self) -> None:
        self.since: float | None = None

    def look(self, is_waiting: bool, advice: str) -> None:
        """Take note of whether the run waits at this moment; `advice` says what can be done."""
        now = time.monotonic()
        if not is_waiting:
            self.since = None
        elif self.since is None:
            self.since = now
        elif now - self.since > WAIT_NOTICE_SECONDS:
            self.since = math.inf
            notify(
                f"schemac: no executor has taken a task for {WAIT_NOTICE_SECONDS:g} seconds, and the run waits; {advice}"
            )


class ProgressLines:
    """Prints progress as lines for a log: one for each step, and one every 10 seconds within a long step."""

    def __init__(self) -> None:
        self.what = ""
        self.printed_at = 0.0

    def notify(self, what: str, records: int, rate: float) -> None:
        """Print a line for a new step, or after 10 seconds in the same one."""
        now = time.monotonic()
        if what == self.what and now - self.printed_at < LINE_EVERY_SECONDS:
            return
        self.what, self.printed_at = what, now
        notify(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {what}{_count(records, rate)}")


def _count(records: int, rate: float) -> str:
    pace = f", {rate:,.0f} a second" if rate else ""
    return f": {counted(records, 'record')}{pace}" if records else ""
