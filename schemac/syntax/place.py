"""Where something is in a text.

Layer: syntax.
"""

from typing import TYPE_CHECKING, NamedTuple

from schemac.source.diagnostic import Label
from schemac.source.span import Span
from schemac.source.text import SourceText
from schemac.syntax.events import EventSource, fast_events

if TYPE_CHECKING:
    from schemac.syntax.entries import Entries, Entry


class Place(NamedTuple):
    """The place that a finding is about."""

    source: SourceText
    span: Span
    labels: tuple[Label, ...] = ()
    """Further places that explain this one, such as where a group is used."""
    at: int = -1
    """Where its key begins, or the item that it is; negative at the top of a document."""
    is_exact: bool = True
    """Whether what was asked for is here; otherwise it is what is nearest around it."""
    is_item: bool = False
    content: str = ""
    """What was read in place of the text, with every node where the text has it; empty if it was the text itself."""
    event_source: EventSource = fast_events

    @property
    def entry(self) -> "Entry | None":
        """The key with its value, or the item, that is here."""
        return None if self.at < 0 else self.entries.find(self.at, is_item=self.is_item)

    @property
    def entries(self) -> "Entries":
        """All entries of the text."""
        from schemac.syntax.entries import entries_of  # for start-up time: only a fix asks for them

        return entries_of(self.content or self.source.content, self.event_source)
