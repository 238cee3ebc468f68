"""What a renaming writes: texts and locks, all of them or none.

Layer: project.
Errors: SC406 lock-contention, SC542 write-failed.
"""

from dataclasses import dataclass
from pathlib import Path

from schemac.project.locking import LockFile, save_locks
from schemac.text.source.catalogue import WRITE_FAILED
from schemac.text.source.diagnostics import Report
from schemac.text.source.text import read_content


@dataclass(frozen=True, slots=True)
class Renamed:
    """What a renaming did to one dataset."""

    file: str
    """The file that has the name; of another dataset with the field from the same group, its manifest."""
    path: str
    """Where the field is now."""
    version: int | None
    """The locked version that has the new name; None if there is no lock."""


_MARK = b"\xef\xbb\xbf"
"""Of UTF-8, which some editors put before a text."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A text before and after."""

    path: Path
    name: str
    """How the file is spoken of."""
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Rewriting:
    """All that a renaming changes; nothing of it is written yet."""

    renamed: tuple[Renamed, ...]
    """The dataset that was asked for, and the others that have the field from the same group."""
    texts: tuple[Rewritten, ...]
    locks: tuple[LockFile, ...]
    """Those that there are; a manifest without a lock has none."""


def write(rewriting: Rewriting, report: Report) -> bool:
    """Write locks and texts, all of them or none; False after reporting why not."""
    contents: dict[Path, bytes] = {}
    for text in rewriting.texts:
        content = read_content(text.path, text.name, report)
        if content is None:
            return False
        mark = _MARK if content.startswith(_MARK) else b""
        if content.removeprefix(_MARK) != text.before.encode():
            message = f"{text.name} was changed by another program in the meantime; nothing was written"
            report.add(WRITE_FAILED, message, file=text.name)
            return False
        contents[text.path] = mark + text.after.encode()
    names = {text.path: text.name for text in rewriting.texts}
    return save_locks(rewriting.locks, report, contents, names)
