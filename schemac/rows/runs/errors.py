"""Errors of a run for the author of its pipeline.

Layer: rows.
Shape: one exception class; the code names the mistake, the message names the thing, the help can be acted on, and the
       place is the setting of the pipeline file that has to change, as keys from the root.
"""

import re

from schemac.registry.codes import builtin_codes
from schemac.source.diagnostic import Code

Place = tuple[str | int, ...]


class PipelineError(Exception):
    """A pipeline that cannot run, or that ran and was not committed, for a reason its author can act on."""

    def __init__(self, code: Code, message: str, help: str | None = None, *, place: Place = ()) -> None:
        super().__init__(code, message, help)
        self.code = code
        self.message = message
        self.help = help
        self.place = place
        """The setting that it is about, such as ("target", "path"); empty if it is about none."""

    def __str__(self) -> str:
        text = f"[{self.code.id}] {self.message}"
        if self.place:
            text += f" (setting: {'.'.join(map(str, self.place))})"
        return text if self.help is None else f"{text} (help: {self.help})"

    def at(self, *place: str | int) -> "PipelineError":
        """Return the error with its place."""
        return PipelineError(self.code, self.message, self.help, place=place)

    @classmethod
    def from_text(cls, text: str) -> "PipelineError | None":
        """Find the error that was raised in a task or at the commit, of which Spark keeps only the text."""
        match = _AS_TEXT.search(text)
        if match is None or match["code"] not in builtin_codes():
            return None
        parts = match["place"].split(".") if match["place"] else ()
        place = tuple(int(part) if part.isdigit() else part for part in parts)
        return cls(builtin_codes()[match["code"]], match["message"], match["help"], place=place)


_AS_TEXT = re.compile(
    r"PipelineError: \[(?P<code>SC\d{3})\] (?P<message>.+?)(?: \(setting: (?P<place>[\w.]+)\))?"
    r"(?: \(help: (?P<help>(?:(?! \(help: ).)+)\))?$",
    re.MULTILINE,
)
