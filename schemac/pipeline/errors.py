"""Errors of pipelines, and warnings about paths that no record of a source has, as their authors get them.

Layer: pipeline.
Shape: `PipelineError` is the one exception class, as Python programs import it; `runs.errors` has it.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from schemac.rows.runs.errors import PipelineError
from schemac.text.source.catalogue import ABSENT_LIST, ABSENT_PATH, EMPTIED_TABLE
from schemac.text.source.json_object import TreePath
from schemac.text.source.phrases import Help, closest

__all__ = ["PipelineError", "did_you_mean"]

MOST_NAMES = 12
"""Known names that a help lists."""


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Return a help that names the nearest known word, or some known words; None if nothing is known."""
    names = sorted(set(known))
    near = closest(word, names)
    if near is not None:
        return Help.did_you_mean(near, word)
    if not names:
        return None
    names_text = ", ".join(f"`{name}`" for name in names[:MOST_NAMES])
    return f"known here: {names_text}" + (", …" if len(names) > MOST_NAMES else "")


def leave_out(key: str = "", more: str = "") -> str:
    """Return the help to leave a setting out; what a run does then, its author may not have meant."""
    return Help.remove(help=f"leave {f'`{key}`' if key else 'it'} out{more}", is_safe=False)


@contextmanager
def located(*place: str) -> Iterator[None]:
    """Give a mistake its place in the file; one in a source keeps what is below `source` in its own place."""
    try:
        yield
    except PipelineError as error:
        rest = error.place[1:] if error.place[:1] == ("source",) else ()
        raise error.at(*place, *rest) from error


@dataclass(frozen=True)
class AbsentPath:
    """A path that no record of a source has."""

    path: str
    """As the author wrote it."""
    use: str
    """What is read from there."""
    place: TreePath
    """The setting that names it."""
    help: str | None = None
    loses_records: bool = False
    """Whether records without it give no row."""
    searched: int | None = None
    """How many of the first records were searched; None for all."""

    @property
    def message(self) -> str:
        """Return what is missing."""
        if self.searched is None:
            none = "no record that was read"
        else:
            none = f"none of the first {self.searched:,} records"
        return f"{none} has `{self.path}`, {self.use}"

    def warning(self) -> PipelineError:
        """Report it in addition to the report of a run."""
        return PipelineError(ABSENT_PATH, self.message, self.help, place=self.place)

    def error(self) -> PipelineError:
        """Refuse a run that would lose all records of the source."""
        message = f"{self.message}: the source would give no row"
        return PipelineError(ABSENT_LIST, message, self.help, place=self.place)


def with_likely_cause(error: PipelineError, absent: Sequence[AbsentPath]) -> PipelineError:
    """Return the error with the path that is most likely its cause: records of which none fits may all lack it."""
    if error.code is not EMPTIED_TABLE or not absent:
        return error
    cause = absent[0]
    way_out = "; ".join(filter(None, (cause.message, cause.help, error.way_out)))
    message, state = error.message, error.commit_state
    return PipelineError(error.code, message, way_out, place=cause.place, commit_state=state)
