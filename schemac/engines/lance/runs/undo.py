"""Takes back what a run has written: files that no version names, and commits that are not to count.

Layer: engines.
Shape: a `Place`, or the path of a dataset; what others have written since stays.
"""

import os
import shutil

import pyarrow as pa

from schemac.engines.lance.dataset import find_dataset, lance_errors
from schemac.engines.lance.runs.history import find_run, named_files
from schemac.engines.lance.runs.moving import is_move, move_back
from schemac.engines.lance.storage import options_for
from schemac.engines.lance.transactions import DATA, close_staging, file_names, remove_data, remove_if_empty
from schemac.rows.runs import staging
from schemac.rows.runs.locations import is_local
from schemac.rows.runs.storage import Storage
from schemac.rows.runs.tables import Place


def discard(place: Place, fragments: list[str]) -> None:
    """Remove what a run wrote and did not commit; what a version of the table names stays."""
    table = find_dataset(place.path, place.storage_options)
    if table is not None:
        named = named_files(table, place.run)
        happened = find_run(place.run, place.path, place.storage_options) is not None
        fragments = [text for text in fragments if not happened and named.isdisjoint(file_names([text]))]
    if not place.is_staged:
        _remove_remote(place, fragments)
        return
    remove_data(place.path, file_names(fragments))
    close_staging(place)


def give_up(place: Place, fragments: list[str]) -> None:
    """Remove what an attempt wrote whose run another attempt has committed: no version names it, and none will."""
    if place.is_staged:
        close_staging(place)
    else:
        _remove_remote(place, fragments)


def _remove_remote(place: Place, fragments: list[str]) -> None:
    try:
        file_system, root = place.storage_options.open_arrow(place.path)
        for name in file_names(fragments):
            file_system.delete_file(f"{root}/{DATA}/{name}")
    except (OSError, pa.ArrowException):
        pass  # Lance's own clean-up takes files that no version names.


def take_back(place: Place, version: int, run: str) -> None:
    """Undo a commit of this run: the dataset as it was before, by a new version, or gone where it was new."""
    try:
        take_back_at(place.path, version, run, place.storage_options)
    except (OSError, RuntimeError):
        # Where there is no room to write the version that takes the rows back, the next run does it.
        if place.is_staged:
            staging.give_up(place.staging)


def take_back_at(path: str, version: int, run: str, storage_options: Storage | None) -> None:
    """Do the same for a dataset that no run has open."""
    import lance

    options = options_for(path, storage_options)
    latest = lance.dataset(path, storage_options=options)
    if is_move(latest, version):
        move_back(path, version, storage_options)
        return
    with lance_errors():
        if latest.version != version or (version == 1 and not is_local(path)):
            # Others have written since: what is theirs stays.
            latest.delete(f"run = '{run}'")
        elif version > 1:
            lance.dataset(path, version=version - 1, storage_options=options).restore()
        else:
            _remove_dataset(path)


def _remove_dataset(path: str) -> None:
    """Remove the table at a path, not what runs have staged in it."""
    for name in os.listdir(path):
        if not name.startswith(staging.PREFIX):
            entry = os.path.join(path, name)
            shutil.rmtree(entry) if os.path.isdir(entry) else os.remove(entry)
    remove_if_empty(path)
