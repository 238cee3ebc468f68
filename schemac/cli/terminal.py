"""Exit codes, and the one way to print: width, colours, tables, progress bars and the progress of long work.

Layer: cli.
Shape: any command that takes longer than a second shows a progress bar: an alarm signal comes after a second, and again some time after
      each one; Python runs its handler between two instructions. So there is no thread, which forked processes would not survive well,
      and a quick command pays nothing. The bar is erased before anything else is printed.
Source: no-color.org for `NO_COLOR`; `FORCE_COLOR` as in Node and rich; a terminal named `dumb` understands no escapes. Output that is
      not a terminal is the same on every machine.
"""

import argparse
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import IntEnum
from functools import partial
from itertools import chain
from types import FrameType
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from schemac.project.cache import WrongEntryError
from schemac.project.workers import PROGRESS
from schemac.text.source.phrases import counted, json_printable, printable

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")


class ExitCode(IntEnum):
    """0 clean, 1 findings, 2 usage or configuration, 3 internal error, 4 stale artifacts."""

    CLEAN = 0
    FINDINGS = 1
    USAGE = 2
    INTERNAL = 3
    STALE = 4


_SELF_REPORTING = ("run", "lsp")
"""Commands that show by themselves what is under way, or talk to a program."""
FIRST_SECONDS = 1.0
NEXT_SECONDS = 0.1


class _Bar:
    """The bar of a command; it is made when the system first rings."""

    def __init__(self, command: str) -> None:
        self._command = command
        self._progress_bar: Progress | None = None
        self._task: Any = None
        self._is_cleared = False

    def ring(self, _signal: int, frame: FrameType | None) -> None:
        """Redraw the bar, and set the timer again."""
        import signal  # for start-up time: most commands end before anything rings

        # A signal that came just before the timer was stopped is handled after it: it would start the timer again,
        # which kills the program once nobody handles the signal any more.
        if self._is_cleared:
            return
        try:
            # rich loads modules, and Python cannot do that in the middle of loading another.
            if not _is_loading(frame):
                if self._progress_bar is None:
                    # Imported here: most commands end before.
                    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

                    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
                    settings = dict.fromkeys(("auto_refresh", "redirect_stdout", "redirect_stderr"), False)
                    self._progress_bar = _rich_progress(*columns, **settings)
                    self._task = self._progress_bar.add_task(self._command, total=None)
                    self._progress_bar.start()
                from rich.markup import escape  # as above

                where = f": {PROGRESS.stage} {PROGRESS.manifest}" if PROGRESS.stage else ""
                self._progress_bar.update(
                    self._task,
                    description=escape(printable(f"{self._command}{where}")),
                    completed=PROGRESS.done,
                    total=PROGRESS.total or None,
                )
                self._progress_bar.refresh()
        except Exception:  # noqa: BLE001 — rich is an extra, and a terminal may go away: what is waited for goes on
            clear()
        else:
            signal.setitimer(signal.ITIMER_REAL, NEXT_SECONDS)

    def clear(self) -> None:
        """Take the bar away for good."""
        import signal  # as above

        self._is_cleared = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        if self._progress_bar is not None:
            with suppress(OSError):
                self._progress_bar.stop()
            self._progress_bar = None


def _rich_progress(*columns: Any, **settings: Any) -> "Progress":
    """Return a bar on standard error that is taken away at its end; rich is an extra."""
    from rich.console import Console  # for start-up time, as above
    from rich.progress import Progress

    return Progress(*columns, console=Console(stderr=True), transient=True, **settings)


def _is_loading(frame: FrameType | None) -> bool:
    """Whether what was interrupted is loading a module."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


_BARS: list[_Bar] = []
"""The bar of this process, while there may be one."""


def clear() -> None:
    """Take the bar away, because something else is written where it is."""
    while _BARS:
        _BARS.pop().clear()


@contextmanager
def bar_when_long(command: str, format: str) -> Iterator[None]:
    """Show a bar if the work inside takes long, on a terminal only: not in a pipe, for a program or in CI."""
    is_terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("CI")
    if command in _SELF_REPORTING or format != "text" or not is_terminal:
        yield
        return
    # For start-up time: only where somebody looks.
    import signal
    import threading

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    bar = _Bar(command)
    before = signal.signal(signal.SIGALRM, bar.ring)
    _BARS.append(bar)
    signal.setitimer(signal.ITIMER_REAL, FIRST_SECONDS)
    try:
        yield
    finally:
        clear()
        signal.signal(signal.SIGALRM, before)


def carry_out(options: argparse.Namespace, run: Callable[[], T]) -> T:
    """Run a command, with a bar if it takes long; once more without the cache if an entry of that was wrong."""
    with bar_when_long(options.command, options.format):
        try:
            return run()
        except WrongEntryError:
            # Nothing is printed or written before it is known that the cache is right.
            options.is_cache_forgotten = True
            return run()


RED, GREEN, YELLOW = "31", "32", "33"
"""SGR codes."""
_LEAST = 20
"""Columns of a text below which a table is not wrapped any more."""
_GOOD = 48
"""Columns of a text that is pleasant to read; where there are fewer next to its cells, it goes below them."""
_BELOW = 8


def width(stream: TextIO | None = None) -> int | None:
    """Return the columns of the terminal that a stream writes to, by default standard output; None if it writes to none."""
    import shutil  # for start-up time: only where a person looks

    return shutil.get_terminal_size().columns if (stream or sys.stdout).isatty() else None


def is_colourful(options: argparse.Namespace) -> bool:
    """Whether colors are enabled, and the output can show them."""
    if os.environ.get("NO_COLOR") or options.output_file is not None:
        return False
    forced = os.environ.get("FORCE_COLOR", "")
    if forced:
        return forced not in ("0", "false")
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def painted(text: str, colour: str, options: argparse.Namespace) -> str:
    """Return a text in a color, if colors are enabled."""
    return f"\x1b[{colour}m{text}\x1b[0m" if is_colourful(options) else text


def wrapped(start: str, text: str, *, prefix: str = "") -> str:
    """Return a line of a table: its cells, and a text that goes on below itself where the terminal ends.

    Where there is little room next to the cells, it is below them. `prefix` begins each further line.
    """
    columns, text = width(), printable(text)
    if columns is None or len(start) + len(text) <= columns:
        return f"{start}{text}".rstrip()
    room, indent, lines = columns - len(start), " " * len(start), []
    if prefix:
        indent = prefix
    elif room < _GOOD and len(start) > _BELOW:
        lines, indent = [start.rstrip()], " " * _BELOW
        room = columns - _BELOW
    if room < _LEAST:
        return f"{start}{text}".rstrip()
    import textwrap  # for start-up time, as above

    room = min(room, columns - len(indent))
    parts = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False)
    if lines:
        return "\n".join([*lines, *(f"{indent}{part}" for part in parts)])
    return start + f"\n{indent}".join(parts)


def folded(text: str, stream: TextIO) -> str:
    """Return a text wrapped at the terminal's width; unchanged if the output is not a terminal."""
    columns = width(stream)
    if columns is None:
        return text
    import textwrap  # for start-up time, as above

    wrap = partial(textwrap.wrap, width=columns, break_long_words=False, break_on_hyphens=False)
    lines = (wrap(line) if len(line) > columns else [line] for line in text.split("\n"))
    return "\n".join(chain.from_iterable(lines))


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose first row is its head, harmless to a terminal.

    Where it is wider than the terminal, each row is on lines of its own, with the heads of those cells that have something.
    """
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    columns = width()
    if columns is None or sum(widths) + 2 * (len(widths) - 1) <= columns:
        padded = (
            "  ".join(cell.ljust(n) for cell, n in zip(row, widths, strict=True)).rstrip() for row in cells
        )
        return "\n".join(padded)
    head, *body = cells
    lines = []
    for first, second, *rest in body:
        details = "; ".join(f"{name} {cell}" for name, cell in zip(head[2:], rest, strict=True) if cell)
        lines.append(wrapped("", f"{first}  {second}", prefix=" " * _BELOW))
        if details:
            lines.append(wrapped("    ", details, prefix="    "))
    return "\n".join(lines)


class OutputError(OSError):
    """Standard output takes nothing more."""


def put_rendered(text: str) -> None:
    """Write a text that is harmless to a terminal, and may be painted, to standard output, after the progress is cleared.

    Raises OutputError if the output takes no more.
    """
    clear()
    try:
        sys.stdout.write(text)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(error.errno, error.strerror) from error


def put(text: str) -> None:
    """Print lines whose names and values others wrote."""
    put_rendered(printable(text, keep="\n") + "\n")


def put_page(text: str) -> None:
    """Print a text of our own that ends its lines itself."""
    put_rendered(printable(text, keep="\n\t"))


def put_source(text: str) -> None:
    """Print a file's content: to the byte where a program or a file takes it, harmless where a person looks."""
    put_rendered(printable(text, keep="\n\t") if sys.stdout.isatty() else text)


def put_manifest(text: str, options: argparse.Namespace) -> None:
    """Print a manifest; for a program that reads JSON, it becomes a member of the document that comes at the end."""
    if options.format != "json":
        put_source(text)
        return
    options.manifest = text if options.manifest is None else f"{options.manifest}---\n{text}"


def put_json(document: Any) -> None:
    """Print a document as JSON, in which control characters of terminals are escaped."""
    import json  # for start-up time: people read text

    # Elsewhere a character that the encoding lacks would come out as something that is no JSON.
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "")
    text = json.dumps(document, ensure_ascii=encoding != "utf8", indent=2)
    put_rendered(json_printable(text) + "\n")


def notify(message: str) -> None:
    """Print a line in addition to the output for programs."""
    clear()
    sys.stderr.write(folded(printable(message, keep="\n"), sys.stderr) + "\n")


def clear_screen() -> None:
    """Begin an empty screen, where a person looks at one that can; elsewhere an empty line."""
    clear()
    is_screen = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    put_rendered("\x1b[2J\x1b[3J\x1b[H" if is_screen else "\n")
    sys.stdout.flush()


def ask(question: str) -> bool:
    """Ask the person at the terminal; return whether the answer is yes."""
    clear()
    sys.stderr.write(f"{printable(question)} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


LINE_EVERY_SECONDS = 10.0
WAIT_NOTICE_SECONDS = 60.0


@contextmanager
def progress_bar(is_enabled: bool, *, has_end: bool = True) -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function to call with the present step, how much of it is done, and how much there is.

    Without `has_end`, nobody knows how much there is: a spinner turns beside the step. Nothing is shown without rich, which is an extra.
    """
    try:
        # Imported here for start-up time: only where a person looks.
        from rich.markup import escape
        from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn
    except ModuleNotFoundError:
        is_enabled = False
    if not is_enabled:
        yield lambda what, done, total: None
        return
    clear()
    columns = () if has_end else (SpinnerColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with _rich_progress(*columns) as bar:
        task = bar.add_task("" if has_end else "starting", total=1 if has_end else None)

        def show(what: str, done: int, total: int) -> None:
            whole = max(total, 1) if has_end else None
            bar.update(task, description=escape(printable(what)), completed=done, total=whole)

        yield show


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
        notify(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {what}{records_text(records, rate)}")


def records_text(records: int, rate: float) -> str:
    """Return how many records were processed, and how many in a second, behind a step; empty before the first one."""
    pace = f", {rate:,.0f} a second" if rate else ""
    return f": {counted(records, 'record')}{pace}" if records else ""
