"""A help that can be carried out.

Layer: source.
Shape: a remedy is the text of a help, made where the help is made; what it does to the text around a finding, it says itself. So a
fix never says another thing than its help. A help put together of several is a plain text again, and has no fix.
"""

from abc import abstractmethod
from typing import Protocol

from schemac.source.diagnostic import Fix, Label
from schemac.source.span import Region, Span


class Lines(Protocol):
    """What a report needs of a text: a `SourceText`."""

    name: str

    def region(self, span: Span) -> Region:
        """Lines and columns of a span."""

    def line(self, number: int) -> str:
        """Return the text of a line without its line end."""


class Spot(Protocol):
    """Where a finding is in a text: a `Place`."""

    @property
    def source(self) -> Lines:
        """The text."""

    @property
    def span(self) -> Span:
        """What the finding underlines."""

    @property
    def labels(self) -> tuple[Label, ...]:
        """Further places that explain this one."""


class Remedy(str):
    """The help of a finding, and the way to carry it out."""

    __slots__ = ()

    @abstractmethod
    def fix(self, spot: Spot) -> Fix | None:
        """Return the edits at a place; None if the text there is written in a way that they would damage."""
