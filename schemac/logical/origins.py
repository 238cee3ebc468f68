"""Where a schema was written, carried beside it.

Layer: logical.
"""

from typing import NamedTuple

from schemac.source.span import Span
from schemac.source.text import SourceText
from schemac.syntax.document import Document, TreePath


class Origins(NamedTuple):
    """The document and the place in it of one schema's mapping; without a document, a file name alone."""

    file: str
    document: Document | None = None
    base: TreePath = ()
    named_at: TreePath | None = None
    """Where the document gives the dataset its name; None where it does not."""

    @property
    def source(self) -> SourceText | None:
        """The text, where there is one."""
        return self.document.source if self.document is not None else None

    def span(self, path: TreePath) -> Span | None:
        """Return the place of a value; `path` starts at the schema's mapping."""
        return self.document.span((*self.base, *path)) if self.document is not None else None

    def key_span(self, path: TreePath) -> Span | None:
        """Return the place of a value's key."""
        return self.document.key_span((*self.base, *path)) if self.document is not None else None

    @property
    def name_span(self) -> Span | None:
        """The place of the dataset's name, or of what stands first in its schema."""
        if self.named_at is not None:
            return self.document.span(self.named_at) if self.document is not None else None
        return self.key_span(("fields",))

    def has(self, path: TreePath) -> bool:
        """Whether the text has a value at exactly this path."""
        return self.document is not None and self.document.has((*self.base, *path))
