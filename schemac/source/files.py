"""The files that a text may name.

Layer: source.
"""

import dataclasses
import errno
from dataclasses import dataclass
from hashlib import blake2b
from typing import Protocol


class Files(Protocol):
    """Files around one text, by their paths from the text's own folder, with `/`."""

    def read(self, path: str) -> bytes:
        """Return the content of a file. Raises OSError."""

    def name(self, path: str) -> str:
        """Return how a file is spoken of."""

    def key(self, path: str) -> str:
        """Return what stands for a file in this run, whichever text names it."""


class OutsideError(OSError):
    """A file that a text names in a place that it must not read."""

    def __init__(self, where: str, help: str) -> None:
        super().__init__(errno.EACCES, f"it is outside {where}")
        self.help = help


@dataclass(slots=True)
class Contents:
    """The content of files, or why they cannot be read; each is read once, however many texts name it."""

    _contents: dict[str, bytes | OSError] = dataclasses.field(default_factory=dict)

    def of(self, files: Files, path: str) -> bytes | OSError:
        """Return the content of a file."""
        key = files.key(path)
        if key not in self._contents:
            try:
                self._contents[key] = files.read(path)
            except OSError as error:
                self._contents[key] = error
        return self._contents[key]

    def digest(self, files: Files, path: str) -> str:
        """Return what stands for the content of a file; empty if there is none."""
        content = self.of(files, path)
        return "" if isinstance(content, OSError) else blake2b(content, digest_size=16).hexdigest()
