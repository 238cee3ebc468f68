"""A bar for long work, where a person looks.

Floor: 15 (cli).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(is_wanted: bool) -> Iterator[Callable[[str, int, int], None]]:
    """A function that is told what is under way, how much of it is done and how much there is."""
    if not is_wanted:
        yield lambda what, done, total: None
        return
    try:
        # Imported here: rich is an extra.
        from rich.console import Console
        from rich.progress import Progress
    except ModuleNotFoundError:
        yield lambda what, done, total: None
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1)

        def tell(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=max(total, 1))

        yield tell
