"""Findings about one document.

Layer: manifest.
"""

from typing import Any

from schemac.logical.path import Part, dotted
from schemac.source.catalogue import EMPTY_DOCUMENT, UNKNOWN_DOCUMENT
from schemac.source.diagnostic import Code, Severity
from schemac.source.report import Report
from schemac.syntax.document import Document, TreePath

_PARTS = {"itemType": Part.ITEM, "keyType": Part.KEY, "valueType": Part.VALUE}


class DocumentFindings:
    """Adds findings at tree paths of a document to a report.

    Whether a file that nobody named is a manifest is not known: what it is else is a note.
    """

    def __init__(self, document: Document, report: Report, *, is_named: bool) -> None:
        self._document = document
        self._report = report
        self._is_named = is_named

    def __call__(
        self, code: Code, path: TreePath, message: str, *, help: str = "", on_key: bool = False
    ) -> None:
        """Add a finding about a value, or about its key."""
        place = self._document.place(path, on_key=on_key)
        is_foreign = code in (UNKNOWN_DOCUMENT, EMPTY_DOCUMENT) and not self._is_named
        self._report.add(
            code,
            message,
            location=place,
            path=self._path_text(path),
            help=help,
            severity=Severity.NOTE if is_foreign else None,
        )

    def _path_text(self, path: TreePath) -> str:
        """Return the field that a tree path leads into."""
        value: Any = self._document.value
        segments: list[str | Part] = []
        before: str | int = ""
        for segment in path:
            if isinstance(value, dict):
                value = value.get(str(segment))
            elif isinstance(value, list) and isinstance(segment, int) and segment < len(value):
                value = value[segment]
            else:
                break
            if before == "fields" and isinstance(segment, int):
                name = value.get("name") if isinstance(value, dict) else None
                segments.append(name if isinstance(name, str) else f"[{segment}]")
            elif isinstance(segment, str) and segment in _PARTS and before != "extra":
                segments.append(_PARTS[segment])
            elif segment == "extra" and segments:
                break
            before = segment
        return dotted(tuple(segments))
