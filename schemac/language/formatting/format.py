"""`formatted`: a manifest's text in one style.

Layer: language.
Shape: line ends and the byte order mark stay; so does a text that is not a manifest, or that YAML cannot read. What comes out is read again
and has to have the same values: a layout that would change them is a mistake of the compiler, and nothing is written.
"""

from typing import Any

from schemac.language.formatting.layout import BARE, arrange_schema, document_text
from schemac.language.formatting.tree import Node, Reader, UntakenError
from schemac.language.manifest.documents import Documents, is_library
from schemac.text.source.report import Report
from schemac.text.source.text import SourceText
from schemac.text.syntax.document import Document, parse

_MARK = "\ufeff"


def formatted(text: str, name: str = "<text>") -> str:
    """Return a manifest in the style of schemac; any other text, or invalid YAML, unchanged."""
    mark = _MARK if text.startswith(_MARK) else ""
    body = text.removeprefix(_MARK)
    if "\r" in body.replace("\r\n", ""):
        return text
    unix = body.replace("\r\n", "\n")
    source, report = SourceText(unix, name), Report()
    documents = parse(source, report)
    if report.has_errors or not documents or not all(map(is_manifest, documents)):
        return text
    try:
        trees = Reader(unix, documents[0].positions.event_source).trees()
        for tree, document in zip(trees, documents, strict=True):
            # A file of groups alone is laid out as a schema is.
            paths = [()] if is_library(document.value) else [body.path for body in _bodies(document)]
            for path in paths:
                node = _at(tree.root, path)
                if node is not None:
                    arrange_schema(node)
        laid_out = "".join(document_text(tree, is_first=not n) for n, tree in enumerate(trees))
    except UntakenError:
        return text
    _check(documents, laid_out, name)
    is_windows = body.count("\r\n") * 2 > unix.count("\n")
    return mark + (laid_out.replace("\n", "\r\n") if is_windows else laid_out)


def is_manifest(document: Document) -> bool:
    """Whether a document holds schemas or groups."""
    return is_library(document.value) or bool(_bodies(document))


def _bodies(document: Document) -> list[Any]:
    return Documents(document, "dataset", False, False, lambda *_, **__: None).bodies()


def _at(node: Node, path: tuple[str | int, ...]) -> Node | None:
    for step in path:
        child = node.get(step) if isinstance(step, str) else None
        if isinstance(step, int) and node.is_sequence and step < len(node.entries):
            child = node.entries[step].value
        if child is None:
            return None
        node = child
    return node


def _check(before: list[Document], text: str, name: str) -> None:
    """Refuse a layout with other values. Raises AssertionError."""
    after = parse(SourceText(text, name), Report())
    if [_short(d.value) for d in before] != [_short(d.value) for d in after]:
        raise AssertionError(f"the layout of {name} would change what it means")


def _short(value: Any) -> Any:
    """Return a value with every kind that is alone as its name, wherever it is."""
    if isinstance(value, dict):
        if len(value) == 1 and isinstance(value.get("kind"), str) and value["kind"] in BARE:
            return value["kind"]
        return {key: _short(item) for key, item in value.items()}
    return [_short(item) for item in value] if isinstance(value, list) else value
