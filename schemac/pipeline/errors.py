"""What a pipeline tells the person who wrote it when it cannot run.

Layer: pipeline.
Shape: one exception class; the code names the mistake, the message names the thing, the help can be acted on.
"""

import re
from collections.abc import Iterable

from schemac.source.catalogue import CATALOGUE
from schemac.source.diagnostic import Code
from schemac.source.suggest import closest

MOST_NAMES = 12
"""Known names that a help lists."""


class PipelineError(Exception):
    """A pipeline that cannot run, or that ran and was not committed, for a reason its author can act on."""

    def __init__(
        self, code: Code, message: str, help: str | None = None, *, place: tuple[str | int, ...] = ()
    ) -> None:
        super().__init__(code, message, help)
        self.place = place
        """Keys of the pipeline file that lead to what is wrong; empty where it is in no one place."""
        self.code = code
        self.message = message
        self.help = help

    def __str__(self) -> str:
        told = f"[{self.code.id}] {self.message}"
        return told if self.help is None else f"{told} (help: {self.help})"

    @classmethod
    def found_in(cls, text: str) -> "PipelineError | None":
        """Find the error that was raised in a task or at the commit, of which Spark keeps only the text."""
        found = _AS_TEXT.search(text)
        if found is None or found["code"] not in CATALOGUE:
            return None
        return cls(CATALOGUE[found["code"]], found["message"], found["help"])


_AS_TEXT = re.compile(
    r"PipelineError: \[(?P<code>SC\d{3})\] (?P<message>.+?)(?: \(help: (?P<help>(?:(?! \(help: ).)+)\))?$",
    re.MULTILINE,
)


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Name the nearest known word, or list a few known words; None where nothing is known."""
    names = sorted(set(known))
    near = closest(word, names)
    if near is not None:
        return f"did you mean `{near}`?"
    if not names:
        return None
    shown = ", ".join(f"`{name}`" for name in names[:MOST_NAMES])
    return f"known here: {shown}" + (", …" if len(names) > MOST_NAMES else "")
