"""What a pipeline tells the person who wrote it when it cannot run.

Shape: one exception class; the slug names the mistake, the message names the thing, the help can be acted on.
"""

import difflib
from collections.abc import Iterable


class PipelineError(Exception):
    """A pipeline that cannot run, or that ran and was not committed, for a reason its author can act on."""

    def __init__(self, code_slug: str, message: str, help: str | None = None) -> None:
        super().__init__(code_slug, message, help)
        self.code_slug = code_slug
        self.message = message
        self.help = help

    def __str__(self) -> str:
        return self.message if self.help is None else f"{self.message} (help: {self.help})"


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A help text that names the nearest known word, or lists a few known words."""
    names = sorted(set(known))
    folded = {name.casefold(): name for name in names}
    near = difflib.get_close_matches(word.casefold(), folded, n=1)
    if near:
        return f"did you mean `{folded[near[0]]}`?"
    if not names:
        return None
    shown = ", ".join(f"`{name}`" for name in names[:12])
    return f"known here: {shown}" + (", …" if len(names) > 12 else "")
