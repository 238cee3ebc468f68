"""Where something is in a text.

Layer: text.
"""

from typing import NamedTuple

from schemac.text.source.diagnostic import Fix, Label
from schemac.text.source.help import Help
from schemac.text.source.span import Span
from schemac.text.source.text import SourceText
from schemac.text.syntax.entries import Entry, Root


class Location(NamedTuple):
    """Where something is that a finding is about."""

    source: SourceText
    span: Span
    labels: tuple[Label, ...] = ()
    """Further locations that explain this one, such as where a group is used."""
    entry: Entry | None = None
    """The key with its value, or the item, that is here; None for a document as a whole."""
    root: Root | None = None
    """The value of the document, where this is the document as a whole."""
    is_exact: bool = True
    """Whether what was asked for is here; otherwise it is what is nearest around it."""

    def fix(self, help: Help) -> Fix | None:
        """Return the fix that a help names; None where the text here is written in a way that it would damage."""
        from schemac.text.syntax.fixes import Finding, fix_of

        root = self.root.target if self.root is not None else None
        return fix_of(help, Finding(self.source, self.span, self.entry, root, self.is_exact))
