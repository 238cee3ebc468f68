"""Lines of a lock.

Layer: lsp.
"""

from collections.abc import Iterator

from schemac.identity.lock_lines import dataset_line
from schemac.lsp.places import DatasetField
from schemac.project.locking import identified, open_lock
from schemac.source.report import Report


def lines_of(dataset_field: DatasetField) -> Iterator[tuple[int, int]]:
    """Yield the lines of a field in the lock next to its manifest, one-based, with the column behind their ends."""
    report = Report()
    lock_file = open_lock(dataset_field.file.file.path, dataset_field.file.file.name, report)
    if lock_file is None or lock_file.text is None:
        return
    locked = lock_file.lock.dataset(dataset_field.dataset.name)
    if locked.newest is None:
        return
    id_ = identified(dataset_field.dataset, locked, Report()).ids.get(dataset_field.field)
    header = dataset_line(dataset_field.dataset.name)
    is_in_dataset = False
    for number, line in enumerate(lock_file.text.splitlines(), 1):
        if line.startswith("dataset "):
            is_in_dataset = line == header or line.startswith(f"{header} ")
        elif is_in_dataset and line.startswith(f"field {id_} "):
            yield number, len(line) + 1
