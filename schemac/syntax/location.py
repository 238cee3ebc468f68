"""Where something is in a text.

Layer: syntax.
"""

from typing import TYPE_CHECKING, NamedTuple

from schemac.source.diagnostic import Fix, Label
from schemac.source.help import Help
from schemac.source.span import Span
from schemac.source.text import SourceText
from schemac.syntax.events import EventSource, fast_events

if TYPE_CHECKING:
    from schemac.syntax.entries import Entries, Entry


class Location(NamedTuple):
    """Where something is that a finding is about."""

    source: SourceText
    span: Span
    labels: tuple[Label, ...] = ()
    """Further places that explain this one, such as where a group is used."""
    at: int = -1
    """Where its key begins, or the item that it is; negative at the top of a document."""
    is_exact: bool = True
    """Whether what was asked for stands here; otherwise it is what stands nearest around it."""
    is_item: bool = False
    event_source: EventSource = fast_events

    @property
    def entry(self) -> "Entry | None":
        """The key with its value, or the item, that stands here."""
        return None if self.at < 0 else self.entries.find(self.at, is_item=self.is_item)

    @property
    def entries(self) -> "Entries":
        """All entries of the text."""
        from schemac.syntax.entries import entries_of  # for start-up time: only a fix asks for them

        return entries_of(self.source.content, self.event_source)

    def fix(self, help: Help) -> Fix | None:
        """Return the fix that a help names; None where the text here is written in a way that it would damage."""
        from schemac.syntax.fixes import Finding, fix_of  # for start-up time: most manifests have no mistake

        entry = self.entry
        root = self.entries.roots.get(self.span.start) if entry is None else None
        return fix_of(help, Finding(self.source, self.span, entry, root, self.is_exact))
