"""Errors of a run for the author of its pipeline.

Layer: rows.
Shape: one exception class; the code names the mistake, the message names the thing, the help can be acted on, and the
       place is the setting of the pipeline file that has to change, as keys from the root. Whether the run has committed
       anything is part of the error, and its help says so.
"""

import re
from copy import copy
from enum import Enum

from schemac.registry.codes import builtin_codes
from schemac.text.source.diagnostics import Code
from schemac.text.source.json_object import TreePath


class CommitState(Enum):
    """Whether a run that ends in an error has committed anything; the value begins the help of the error."""

    UNCOMMITTED = "nothing of this run was written"
    UNKNOWN = ""


class PipelineError(Exception):
    """A pipeline that cannot run, or that ran and was not committed, for a reason its author can act on."""

    def __init__(
        self,
        code: Code,
        message: str,
        help: str | None = None,
        *,
        place: TreePath = (),
        commit_state: CommitState = CommitState.UNKNOWN,
        on_key: bool = False,
    ) -> None:
        super().__init__(code, message, help)
        self.code = code
        self.message = message
        self.way_out = help
        """The help without what it says of the commit."""
        self.place = place
        """The setting that it is about, such as ("target", "path"); empty if it is about none."""
        self.commit_state = commit_state
        self.on_key = on_key
        """Whether the last key of the place is itself wrong, not what is behind it."""

    @classmethod
    def uncommitted(
        cls, code: Code, message: str, help: str | None = None, *, place: TreePath = ()
    ) -> "PipelineError":
        """Return the error of a run of which nothing is in its target."""
        return cls(code, message, help, place=place, commit_state=CommitState.UNCOMMITTED)

    @property
    def help(self) -> str | None:
        """What can be done, behind what is certain of the commit; None if there is neither."""
        return _joined(self.commit_state.value, self.way_out)

    def __str__(self) -> str:
        text = f"[{self.code.id}] {self.message}"
        if self.place:
            text += f" (setting: {'.'.join(map(str, self.place))})"
        return text if self.help is None else f"{text} (help: {self.help})"

    def at(self, *place: str | int) -> "PipelineError":
        """Return the error with its place."""
        placed = copy(self)
        placed.place = place
        return placed

    def with_outcome(self, outcome: str) -> "PipelineError":
        """Return the error with what is known of the commit, in place of a promise that nothing was written.

        An error whose help makes no such promise stays unchanged.
        """
        if self.way_out is not None and self.commit_state is CommitState.UNKNOWN:
            return self
        return PipelineError(self.code, self.message, _joined(outcome, self.way_out), place=self.place)

    @classmethod
    def from_text(cls, text: str) -> "PipelineError | None":
        """Find the error that was raised in a task or at the commit, of which Spark keeps only the text."""
        match = _AS_TEXT.search(text)
        if match is None or match["code"] not in builtin_codes():
            return None
        parts = match["place"].split(".") if match["place"] else ()
        place = tuple(int(part) if part.isdigit() else part for part in parts)
        return cls(
            builtin_codes()[match["code"]],
            match["message"],
            match["help"] or None,
            place=place,
            commit_state=CommitState(match["state"] or ""),
        )


def _joined(*texts: str | None) -> str | None:
    """Return the texts that are not empty with semicolons between them; None if all are."""
    known = [text for text in texts if text]
    # A help alone keeps the fix that it names.
    return "; ".join(known) if len(known) > 1 else known[0] if known else None


_AS_TEXT = re.compile(
    r"PipelineError: \[(?P<code>SC\d{3})\] (?P<message>.+?)(?: \(setting: (?P<place>[\w.]+)\))?"
    rf"(?: \(help: (?:(?P<state>{CommitState.UNCOMMITTED.value})(?:; )?)?(?P<help>(?:(?! \(help: ).)*)\))?$",
    re.MULTILINE,
)
