"""Errors of a pipeline for its author.

Layer: pipeline.
Shape: `PipelineError` is the one exception class, as Python programs import it; `runs.errors` has it.
"""

from collections.abc import Iterable

from schemac.rows.runs.errors import PipelineError
from schemac.source.help import Help
from schemac.source.suggest import closest

__all__ = ["PipelineError", "did_you_mean"]

MOST_NAMES = 12
"""Known names that a help lists."""


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Name the nearest known word, or list a few known words; None if nothing is known."""
    names = sorted(set(known))
    near = closest(word, names)
    if near is not None:
        return Help.did_you_mean(near, word)
    if not names:
        return None
    names_text = ", ".join(f"`{name}`" for name in names[:MOST_NAMES])
    return f"known here: {names_text}" + (", …" if len(names) > MOST_NAMES else "")
