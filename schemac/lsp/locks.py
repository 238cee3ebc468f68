"""Lines of a lock.

Layer: lsp.
"""

from collections.abc import Iterator

from schemac.identity.lock_lines import dataset_line
from schemac.lsp.places import Found
from schemac.project.locking import identified, open_lock
from schemac.source.report import Report


def lines_of(found: Found) -> Iterator[tuple[int, int]]:
    """Yield the lines of a field in the lock beside its manifest, one-based, with the column behind their ends."""
    report = Report()
    held = open_lock(found.file.file.path, found.file.file.name, report)
    if held is None or held.text is None:
        return
    locked = held.lock.dataset(found.dataset.name)
    if locked.newest is None:
        return
    id_ = identified(found.dataset, locked, Report()).ids.get(found.slot)
    own = dataset_line(found.dataset.name)
    is_own = False
    for number, line in enumerate(held.text.splitlines(), 1):
        if line.startswith("dataset "):
            is_own = line == own or line.startswith(f"{own} ")
        elif is_own and line.startswith(f"field {id_} "):
            yield number, len(line) + 1
