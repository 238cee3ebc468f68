"""The files that a text may name, and the extras that bring a library.

Layer: text.
Source: The extra of schemac that installs a library: the requirements in the package's own metadata.
"""

import dataclasses
import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
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
        """Return the key of a file in this run, the same for every path that leads to it."""


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
        """Return the digest of a file's content; empty if there is no such file."""
        content = self.of(files, path)
        return "" if isinstance(content, OSError) else blake2b(content, digest_size=16).hexdigest()


_OF_EXTRA = re.compile(r"""([\w.-]+).*;.*\bextra == ['"](\w+)['"]""")
_NO_PARTS = ("all", "dev")
"""Extras that bring what others bring."""


def install_help(error: ModuleNotFoundError) -> str:
    """Return the command that installs what could not be imported.

    >>> install_help(ModuleNotFoundError(name="sqlglot.expressions"))
    "install it with: pip install 'schemac[sql]'"
    """
    library = (error.name or "").partition(".")[0]
    extra = _extra_of(library)
    what = library if extra is None else f"'schemac[{extra}]'"
    return f"install it with: pip install {what}"


def missing_library(error: BaseException | None) -> ModuleNotFoundError | None:
    """Return the error, or the cause of it, that an optional library is not installed; None if it is about something else."""
    while error is not None:
        if isinstance(error, ModuleNotFoundError) and _extra_of((error.name or "").partition(".")[0]):
            return error
        error = error.__cause__
    return None


def missing_text(error: ModuleNotFoundError) -> str:
    """Return which library is not installed, and the command that installs it."""
    library = (error.name or "").partition(".")[0]
    return f"this needs {library}, which is not installed; {install_help(error)}"


@contextmanager
def extra_named() -> Iterator[None]:
    """Let the ModuleNotFoundError for a missing library that is raised inside name the extra which installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if missing_library(error) is None:
            raise
        raise ModuleNotFoundError(missing_text(error), name=error.name, path=error.path) from None


def _extra_of(library: str) -> str | None:
    """Return the extra that is called as the library is, or has a package that is: `markdown-it-py` has `markdown_it`."""
    from importlib import metadata  # for start-up time: most libraries are there

    pairs = [
        match.groups() for text in metadata.requires("schemac") or () if (match := _OF_EXTRA.match(text))
    ]
    parts = [(package, extra) for package, extra in pairs if extra not in _NO_PARTS]
    name = library.replace("_", "-")
    if name in {extra for _, extra in parts}:
        return name
    return next((extra for package, extra in parts if package in (name, f"{name}-py")), None)
