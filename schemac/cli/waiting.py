"""A progress bar on the terminal for any command that takes longer than a second.

Layer: cli.
Shape: an alarm signal after a second, and again some time after each one; Python runs its handler between two instructions. So there is
no thread, which forked processes would not survive well, and a quick command pays nothing. The bar is erased before anything else is
printed.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any

from schemac.project.workers import PROGRESS

if TYPE_CHECKING:
    from rich.progress import Progress

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

    def ring(self, _signal: int, frame: FrameType | None) -> None:
        """Redraw the bar, and set the timer again."""
        import signal  # for start-up time: most commands end before anything rings

        try:
            # rich loads modules, and Python cannot do that in the middle of loading another.
            if not _is_loading(frame):
                self._show()
        except Exception:  # noqa: BLE001 — rich is an extra, and a terminal may go away: what is waited for goes on
            clear()
        else:
            signal.setitimer(signal.ITIMER_REAL, NEXT_SECONDS)

    def _show(self) -> None:
        if self._progress_bar is None:
            # Imported here: most commands end before.
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
            self._progress_bar = Progress(
                *columns,
                console=Console(stderr=True),
                transient=True,
                auto_refresh=False,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._task = self._progress_bar.add_task(self._command, total=None)
            self._progress_bar.start()
        total = PROGRESS.total or None
        self._progress_bar.update(self._task, description=self._text(), completed=PROGRESS.done, total=total)
        self._progress_bar.refresh()

    def _text(self) -> str:
        from rich.markup import escape  # as above

        from schemac.text.source.phrases import printable

        return escape(
            printable(
                f"{self._command}: {PROGRESS.stage} {PROGRESS.manifest}" if PROGRESS.stage else self._command
            )
        )

    def clear(self) -> None:
        """Take the bar away for good."""
        import signal  # as above

        signal.setitimer(signal.ITIMER_REAL, 0)
        if self._progress_bar is not None:
            with suppress(OSError):
                self._progress_bar.stop()
            self._progress_bar = None


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
    if command in _SELF_REPORTING or not _is_enabled(format):
        yield
        return
    import signal  # as above

    bar = _Bar(command)
    before = signal.signal(signal.SIGALRM, bar.ring)
    _BARS.append(bar)
    signal.setitimer(signal.ITIMER_REAL, FIRST_SECONDS)
    try:
        yield
    finally:
        clear()
        signal.signal(signal.SIGALRM, before)


def _is_enabled(format: str) -> bool:
    is_terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("CI")
    if format != "text" or not is_terminal:
        return False
    # For start-up time: only where somebody looks.
    import signal
    import threading

    is_main = threading.current_thread() is threading.main_thread()
    return is_main and hasattr(signal, "setitimer")
