"""Does something again and again, from a thread of its own, for as long as a run goes on."""

from collections.abc import Callable
from threading import Event, Thread
from types import TracebackType
from typing import Self


class Heartbeat:
    """A context that calls `beat` every `seconds`, for the first time after that many; its end waits for a call under way."""

    def __init__(self, seconds: float, beat: Callable[[], None]) -> None:
        self.seconds = seconds
        self.beat = beat
        self._ended = Event()
        self._thread = Thread(target=self._go, daemon=True)

    def _go(self) -> None:
        while not self._ended.wait(self.seconds):
            self.beat()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, stack: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
