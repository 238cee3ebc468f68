"""`formatted`: a manifest's text in one style.

Layer: language.
Shape: two spaces a level, also for lists below a key. A collection on one line stays on one line if it fits into `WIDTH` columns and has no
comments; any other collection has one entry a line. Quotes are written where YAML readers need them. The keys of fields and types are
ordered, and short forms of types are used. Line ends and the byte order mark stay; a text that is not a manifest, or that YAML cannot
read, is returned unchanged. The result is read again and has to have the same values: anything else is a bug, and nothing is written.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from schemac.language.formatting.tree import (
    CommentedDocument,
    CommentedEntry,
    CommentedNode,
    CommentNode,
    Reader,
    UntakenError,
)
from schemac.language.kinds.registry import BY_NAME
from schemac.language.logical.model import TYPE_KEYS
from schemac.language.manifest.documents import schemas_of
from schemac.text.source.diagnostics import Report, SourceText
from schemac.text.source.json_object import Json, rewritten
from schemac.text.syntax.document import parse
from schemac.text.syntax.events import is_plain, resolve

WIDTH = 100
"""Columns of a line that is laid out here; texts and comments are never broken."""
_INDENT = "  "


def document_text(tree: CommentedDocument, *, is_first: bool) -> str:
    """Return a document with its marker and comments."""
    _hoist(tree.root)
    lines = _squeeze_blanks(tree.lead, is_start=is_first)
    if tree.is_marked:
        lines.append(_with_comment("---", tree.mark))
    if _is_on_line(tree.root, 0):
        lines.append(_one_line(tree.root, is_in_flow=False) or "")
    else:
        lines += _block_lines(tree.root, 0)
    if not tree.is_marked and not tree.lead:
        lines = _without_first_blanks(lines)
    foot = _squeeze_blanks(tree.foot)
    while foot and not foot[-1]:
        foot.pop()
    return "\n".join([*lines, *foot]) + "\n"


def _hoist(node: CommentedNode) -> None:
    """Move the comments above the first entry of an item above its dash."""
    for entry in node.entries:
        _hoist(entry.value)
        if entry.key is None and entry.value.entries and not entry.value.properties:
            first = entry.value.entries[0]
            entry.lead, first.lead = [*entry.lead, *first.lead], []


def _block_lines(node: CommentedNode, depth: int) -> list[str]:
    """Return the lines of a collection with an entry a line."""
    indent = _INDENT * depth
    lines: list[str] = []
    for entry in node.entries:
        lines += [f"{indent}{line}" if line else "" for line in _squeeze_blanks(entry.lead)]
        lines += _entry_lines(entry, depth)
    lines += [f"{indent}{line}" if line else "" for line in _squeeze_blanks(node.foot)]
    return lines


def _entry_lines(entry: CommentedEntry, depth: int) -> list[str]:
    """Return the lines of an entry with its comments, one line if it fits."""
    indent = _INDENT * depth
    start = f"{indent}-" if entry.key is None else f"{indent}{_scalar_text(entry.key, is_in_flow=False)}:"
    value, tail = entry.value, entry.tail
    comments = f"{entry.head} {tail}" if entry.head and tail else entry.head or tail
    space = " " if value.raw or value.properties or not value.is_scalar else ""
    if value.is_scalar:
        # The comment of the key's line goes to the end of the one line that there is.
        return _scalar_lines(f"{start}{space}", value, depth, comments)
    is_bare = not (entry.head and entry.key is not None)
    if is_bare and _is_on_line(value, len(start) + 1):
        return [_with_comment(f"{start} {_one_line(value, is_in_flow=False)}", comments)]
    if not value.entries:
        empty = "{}" if value.is_mapping else "[]"
        inside = [f"{_INDENT * (depth + 1)}{line}" for line in value.foot if line]
        return [*inside, _with_comment(f"{start} {_anchor(value)}{empty}", comments)]
    properties = f" {value.properties}" if value.properties else ""
    lines = _block_lines(value, depth + 1)
    # The comment of a line that is broken stays with what the line begins with.
    above = [f"{indent}{tail}"] if tail and entry.key is None else []
    head = comments if entry.key is not None else entry.head
    if entry.key is None and not properties and not head:
        # The first entry of an item stands on the line of its dash.
        first, *rest = _without_first_blanks(lines)
        return [*above, f"{start} {first[len(indent) + 2 :]}", *rest]
    return [*above, _with_comment(f"{start}{properties}", head), *lines]


def _is_on_line(node: CommentedNode, column: int) -> bool:
    """Whether a collection is on one line."""
    return node.is_flow and _fits_on_line(node, column)


def _one_line(node: CommentedNode, *, is_in_flow: bool) -> str | None:
    """Return a node on one line; None if that is not possible."""
    if node.is_scalar:
        text = _scalar_text(node, is_in_flow=is_in_flow)
        is_one = "\n" not in text and node.style not in ("|", ">")
        is_safe = not is_in_flow or node.style is not None or not any(c in node.raw for c in ",[]{}")
        return text if is_one and is_safe else None
    if node.foot or any(e.tail or e.head or any(e.lead) for e in node.entries):
        return None
    parts: list[str] = []
    for entry in node.entries:
        value = _one_line(entry.value, is_in_flow=True)
        key = _one_line(entry.key, is_in_flow=True) if entry.key is not None else ""
        if value is None or key is None:
            return None
        parts.append(value if entry.key is None else f"{key}: {value}" if value else f"{key}:")
    inside = ", ".join(parts)
    return _anchor(node) + (f"{{{inside}}}" if node.is_mapping else f"[{inside}]")


def _fits_on_line(node: CommentedNode, column: int) -> bool:
    """Whether a collection could be on one line from a column on; an empty one always can, unless it has a comment."""
    text = _one_line(node, is_in_flow=False)
    return text is not None and (column + len(text) <= WIDTH or not node.entries)


def _scalar_text(node: CommentedNode, *, is_in_flow: bool) -> str:
    """Return a scalar of one line without quotes that it does not need."""
    is_quoted = node.style in ("'", '"') and not node.properties
    if is_quoted and "\n" not in node.raw and is_plain(node.value, is_in_flow=is_in_flow):
        return node.value
    return _anchor(node) + node.raw


def _scalar_lines(start: str, node: CommentedNode, depth: int, tail: str) -> list[str]:
    """Return the lines of a scalar behind `start`, one or several, with its comment. Raises UntakenError."""
    text = _scalar_text(node, is_in_flow=False)
    if "\n" not in text:
        return [_with_comment(f"{start}{text}".rstrip(), tail)]
    first, *rest = text.split("\n")
    if node.style not in ("|", ">"):
        *middle, last = [_INDENT * (depth + 1) + line.strip() if line.strip() else "" for line in rest]
        return [f"{start}{first}".rstrip(), *middle, _with_comment(last, tail)]
    if re.search(r"[0-9+]", first.partition("#")[0]):
        raise UntakenError("a block of text with an indentation of its own")
    # The first line with a character is as deep as the block; blanks beyond that, and tabs, are a part of the text.
    indented = next((line for line in rest if line.strip(" ")), None)
    if indented is None and any(rest):
        raise UntakenError("a block of blanks")
    deep = len(indented) - len(indented.lstrip(" ")) if indented is not None else 0
    while rest and len(rest[-1]) <= deep:
        rest.pop()
    moved = [_INDENT * (depth + 1) + line[deep:] if len(line) > deep else "" for line in rest]
    if tail:
        raise UntakenError("a comment after a block of text")
    return [f"{start}{first}".rstrip(), *moved]


def _anchor(node: CommentedNode) -> str:
    """Return anchor and tag with a space behind them, or an empty text."""
    return f"{node.properties} " if node.properties else ""


def _with_comment(line: str, comment: str) -> str:
    """Return a line with a comment at its end, which stays where it is aligned with others."""
    if not comment:
        return line
    column = comment.column if isinstance(comment, CommentNode) else 0
    return f"{line:<{column}}{comment}" if len(line) + 2 <= column else f"{line}  {comment}"


def _squeeze_blanks(lines: Sequence[str], *, is_start: bool = False) -> list[str]:
    """Return comments with no two blank lines in a row."""
    squeezed: list[str] = []
    for line in lines:
        if line or (squeezed and squeezed[-1]) or (not squeezed and not is_start):
            squeezed.append(line)
    return squeezed


def _without_first_blanks(lines: list[str]) -> list[str]:
    """Return lines from the first one on that is not blank."""
    start = next((n for n, line in enumerate(lines) if line), 0)
    return lines[start:]


_FIRST_OF_FIELD = ("name", "description", "type")
_FIRST_OF_TYPE = ("kind",)
_LAST = "extra"
BARE = frozenset(name for name, kind in BY_NAME.items() if kind.has_short_form)
"""Kinds that may be written as their names alone."""


def arrange_schema(schema: CommentedNode) -> None:
    """Bring the fields of a schema, and of the groups next to them, into order."""
    _arrange_fields(schema.get("fields"), 1)
    groups = schema.get("groups")
    for entry in groups.entries if groups is not None else ():
        _arrange_fields(entry.value.get("fields"), 3)


def _arrange_fields(fields: CommentedNode | None, depth: int) -> None:
    """Bring the keys of fields and of their types into order; `depth` is that of the list of fields."""
    for entry in fields.entries if fields is not None and fields.is_sequence else ():
        field = entry.value
        if not field.is_mapping:
            continue
        for part in field.entries:
            if part.key is not None and part.key.value == "type":
                part.value = _arrange_type(part.value, depth + 1)
        _order_keys(field, _FIRST_OF_FIELD)


def _arrange_type(node: CommentedNode, depth: int) -> CommentedNode:
    """Return a type with its parts in order: a name where that is all, one line where nothing but parts is in it."""
    if not node.is_mapping:
        return node
    for entry in node.entries:
        if entry.key is None:
            continue
        if entry.key.value in TYPE_KEYS:
            entry.value = _arrange_type(entry.value, depth + 1)
        elif entry.key.value == "fields":
            _arrange_fields(entry.value, depth + 1)
    _order_keys(node, _FIRST_OF_TYPE)
    kind = node.get("kind")
    is_alone = len(node.entries) == 1 and not node.properties and not _has_comments(node)
    is_bare = is_alone and kind is not None and kind.is_scalar and kind.value in BARE and not kind.properties
    # Without quotes a kind may be something else to YAML, as `Null` is.
    if kind is not None and is_bare and (kind.style is not None or isinstance(resolve(kind.raw), str)):
        return kind
    # As deep as a type stands in a struct of a struct; where it is deeper, it is laid out by lines.
    is_short = _is_small(node) and _fits_on_line(node, 2 * depth + len("itemType: "))
    if is_short and not node.is_flow and not node.properties:
        for one in _collections(node):
            one.is_flow = True
    return node


def _order_keys(node: CommentedNode, first: Sequence[str]) -> None:
    """Sort keys; a mapping with anchors or aliases keeps its order."""
    if any(_has_names(entry.value) for entry in node.entries):
        return
    keys = [entry.key.value if entry.key is not None else "" for entry in node.entries]
    ordered = sorted(keys, key=lambda key: (key == _LAST, first.index(key) if key in first else len(first)))
    if ordered == keys:
        return
    by_key = dict(zip(keys, node.entries, strict=True))
    top = node.entries[0]
    node.entries = [by_key[key] for key in ordered]
    if not any(top.lead) and node.entries[0] is not top:
        top.lead, node.entries[0].lead = node.entries[0].lead, top.lead


def _has_names(node: CommentedNode) -> bool:
    """Whether there are anchors, aliases or tags in a node."""
    is_named = bool(node.properties) or (node.is_scalar and node.style is None and node.raw.startswith("*"))
    return is_named or any(_has_names(entry.value) for entry in node.entries)


def _is_small(node: CommentedNode) -> bool:
    """Whether a type has no fields, no comments and no attributes of several lines."""
    if node.get("fields") is not None or _has_comments(node):
        return False
    extra = node.get(_LAST)
    parts = (entry.value for entry in node.entries if entry.value is not extra)
    return (extra is None or extra.is_flow) and all(p.is_scalar or p.is_flow or _is_small(p) for p in parts)


def _has_comments(node: CommentedNode) -> bool:
    """Whether there are comments or blank lines at any depth in a node."""
    return bool(node.foot) or any(
        entry.head or entry.tail or any(entry.lead) or _has_comments(entry.value) for entry in node.entries
    )


def _collections(node: CommentedNode) -> Iterator[CommentedNode]:
    """Yield a node and all nodes in it, without scalars."""
    if not node.is_scalar:
        yield node
        for entry in node.entries:
            yield from _collections(entry.value)


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
    if report.has_errors or not documents or not all(map(schemas_of, documents)):
        return text
    try:
        trees = Reader(unix, documents[0].positions.event_source).trees()
        for tree, document in zip(trees, documents, strict=True):
            for path in schemas_of(document):
                node: CommentedNode | None = tree.root
                for step in path:
                    node = node.child(step) if node is not None else None
                if node is not None:
                    arrange_schema(node)
        laid_out = "".join(document_text(tree, is_first=not n) for n, tree in enumerate(trees))
    except UntakenError:
        return text
    after = parse(SourceText(laid_out, name), Report())
    before, now = ([rewritten(d.value, _short_type) for d in one] for one in (documents, after))
    if before != now:
        raise AssertionError(f"the layout of {name} would change what it means")
    is_windows = body.count("\r\n") * 2 > unix.count("\n")
    return mark + (laid_out.replace("\n", "\r\n") if is_windows else laid_out)


def _short_type(object: Json) -> Any:
    """Return a kind that is alone as its name, and any other object as it is."""
    is_bare = len(object) == 1 and isinstance(object.get("kind"), str) and object["kind"] in BARE
    return object["kind"] if is_bare else object
