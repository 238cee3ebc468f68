"""What a manifest's own words add to the layout: the order of keys, and short forms of types.

Layer: formatting.
Shape: the nodes of fields and types are found from the schemas of a document, and from its groups.
"""

from collections.abc import Iterator, Sequence

from schemac.formatting.layout import fits_on_line
from schemac.formatting.tree import Node
from schemac.kinds.registry import BY_NAME
from schemac.syntax.scalars import resolve

_FIRST_OF_FIELD = ("name", "description", "type")
_FIRST_OF_TYPE = ("kind",)
_LAST = "extra"
_PARTS = ("inner", "itemType", "keyType", "valueType")
BARE = frozenset(name for name, kind in BY_NAME.items() if kind.has_short_form)
"""Kinds that may be written as their names alone."""


def arrange_schema(schema: Node) -> None:
    """Bring the fields of a schema, and of the groups next to them, into order."""
    _arrange_fields(schema.get("fields"), 1)
    groups = schema.get("groups")
    for entry in groups.entries if groups is not None else ():
        _arrange_fields(entry.value.get("fields"), 3)


def _arrange_fields(fields: Node | None, depth: int) -> None:
    for entry in fields.entries if fields is not None and fields.is_sequence else ():
        field = entry.value
        if not field.is_mapping:
            continue
        for part in field.entries:
            if part.key is not None and part.key.value == "type":
                part.value = _type(part.value, depth + 1)
        _order(field, _FIRST_OF_FIELD)


def _type(node: Node, depth: int) -> Node:
    """Return a type with its parts in order: a name where that is all, one line where nothing but parts is in it."""
    if not node.is_mapping:
        return node
    for entry in node.entries:
        if entry.key is None:
            continue
        if entry.key.value in _PARTS:
            entry.value = _type(entry.value, depth + 1)
        elif entry.key.value == "fields":
            _arrange_fields(entry.value, depth + 1)
    _order(node, _FIRST_OF_TYPE)
    kind = node.get("kind")
    is_bare = kind is not None and kind.value in BARE and not kind.properties and _is_text(kind)
    if (
        is_bare
        and kind is not None
        and len(node.entries) == 1
        and not node.properties
        and not _has_comments(node)
    ):
        return kind
    if not node.is_flow and not node.properties and _is_small(node):
        was = [one.is_flow for one in _collections(node)]
        for one in _collections(node):
            one.is_flow = True
        # As deep as a type stands in a struct of a struct; where it is deeper, it is laid out by lines.
        if not fits_on_line(node, 2 * depth + len("itemType: ")):
            for one, is_flow in zip(_collections(node), was, strict=True):
                one.is_flow = is_flow
    return node


def _is_text(node: Node) -> bool:
    return node.is_scalar and (node.style is not None or isinstance(resolve(node.raw), str))


def _order(node: Node, first: Sequence[str]) -> None:
    """Put keys into their order; where anchors and aliases are, theirs counts."""
    if any(_is_named(entry.value) for entry in node.entries):
        return
    keys = [entry.key.value if entry.key is not None else "" for entry in node.entries]
    if len(set(keys)) < len(keys):
        return
    ordered = [key for key in first if key in keys]
    ordered += [key for key in keys if key not in ordered and key != _LAST]
    ordered += [_LAST] if _LAST in keys else []
    if ordered == keys:
        return
    by_key = dict(zip(keys, node.entries, strict=True))
    top = node.entries[0]
    node.entries = [by_key[key] for key in ordered]
    if not any(top.lead) and node.entries[0] is not top:
        top.lead, node.entries[0].lead = node.entries[0].lead, top.lead


def _is_named(node: Node) -> bool:
    """Whether there are anchors, aliases or tags in a node."""
    is_named = bool(node.properties) or (node.is_scalar and node.style is None and node.raw.startswith("*"))
    return is_named or any(_is_named(entry.value) for entry in node.entries)


def _is_small(node: Node) -> bool:
    """Whether a type has no fields, no comments and no attributes of several lines."""
    if node.get("fields") is not None or _has_comments(node):
        return False
    extra = node.get(_LAST)
    parts = (entry.value for entry in node.entries if entry.value is not extra)
    return (extra is None or extra.is_flow) and all(p.is_scalar or p.is_flow or _is_small(p) for p in parts)


def _has_comments(node: Node) -> bool:
    return bool(node.foot) or any(
        entry.head or entry.tail or any(entry.lead) or _has_comments(entry.value) for entry in node.entries
    )


def _collections(node: Node) -> Iterator[Node]:
    if not node.is_scalar:
        yield node
        for entry in node.entries:
            yield from _collections(entry.value)
