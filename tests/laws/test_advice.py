"""Every text that a message tells an author to write is accepted where it is written."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import CollectionNode, Node

from schemac.language.attributes.attribute import Attribute
from schemac.language.attributes.registry import ATTRIBUTES
from schemac.language.kinds.registry import KINDS
from schemac.text.source.diagnostics import Diagnostic
from schemac.text.syntax.events import flow
from tests.fixing import Sort, Text, corpus, errors, findings_of, pages

_WRITE = re.compile(
    r"(?:[^`:]+: )?write `(?P<text>[^`…]+)`(?:, for example|, one for each|,? or .*)?(?:; .*)?"
)
_KEYS = ("inner", "itemType", "items", "type", "of", "size", "precison", "unit", "fields")
_VALUES = ("String", "{kind: Option, inner: Int8}", "7", "x y")
_NO_VALUES = ("5", "text", "true", "null", "[1]", "[[1]]", "{a: {b: 1}}", "[{a: 1}]")
_NAMES = ("id", "day", "other_field", "driver_id", "ended_at", "started_at")
"""Fields that examples name."""
_TYPES = ("String", "{kind: List, itemType: Float32, fixedLength: 8}")


def _of_kinds() -> Iterator[Text]:
    """Types with a key that may be of another kind."""
    for kind in KINDS:
        for key in _KEYS:
            for value in _VALUES:
                text = f"fields:\n  - {{name: a, type: {{kind: {kind.__name__}, {key}: {value}}}}}\n"
                yield Text(f"{kind.__name__} {key} {value}", text.encode())


def _of_attribute(attribute: Attribute[Any], value: str) -> Iterator[Text]:
    """An attribute with a value, on a field of each type that it may fit, or on the schema."""
    extra = f"extra: {{{attribute.key}: {value}}}"
    others = "".join(f"  - {{name: {name}, type: Int64}}\n" for name in _NAMES)
    fitting = [k.example for k in KINDS if attribute.fits is None or k.family in attribute.fits]
    for type_ in (*_TYPES, *fitting) if attribute.on_field else ():
        text = f"fields:\n  - {{name: a, type: {type_}, {extra}}}\n{others}"
        yield Text(f"{attribute.key} {value} {type_}", text.encode())
    if attribute.on_schema:
        yield Text(f"{attribute.key} {value}", f"{extra}\nfields:\n{others}".encode())


def _around(content: str, found: Diagnostic) -> list[Node]:
    """The values that a finding may be about: the innermost at its place, and the collections around it."""
    around: list[Node] = []

    def visit(node: Node, above: list[Node]) -> None:
        start = (node.start_mark.line + 1, node.start_mark.column + 1)
        end = (node.end_mark.line + 1, node.end_mark.column + 1)
        if start == (found.line, found.column) or start <= (found.line, found.column) < end:
            around[:] = [node, *above]
        for child in node.value if isinstance(node, CollectionNode) else ():
            for one in child if isinstance(child, tuple) else (child,):
                visit(one, [node, *above])

    root = YAML(typ="rt", pure=True).compose(content)
    if root is not None:
        visit(root, [])
    return around[:5]


def _written(content: str, node: Node, advice: str) -> Iterator[str]:
    """A text with the advice in the place of a value; an entry or an item belongs into the collection that the value is."""
    start, end = node.start_mark.index, node.end_mark.index
    kept = content[start:end]
    behind = kept[len(kept.rstrip()) :] + content[end:]
    yield content[:start] + advice + behind
    yaml = YAML(typ="safe", pure=True)
    try:
        new, old = yaml.load(advice), yaml.load(kept)
    except YAMLError:
        return
    if advice.startswith("- "):
        yield content[:start] + flow(new) + behind
    elif isinstance(new, dict) and not advice.startswith("{"):
        new = {key: [] if value is None else value for key, value in new.items()}
        yield content[:start] + flow({**(old if isinstance(old, dict) else {}), **new}) + behind


def _is_accepted(text: Text, found: Diagnostic, advice: str) -> bool:
    before = Counter(errors(findings_of(text)))
    content = text.content.decode()
    for node in _around(content, found):
        for new in _written(content, node, advice):
            after = Counter(errors(findings_of(text._replace(content=new.encode()))))
            # What engines say comes to light once the manifest is sound.
            if after[found.code] < before[found.code] and all(code >= "SC5" for code in after - before):
                return True
    return False


@cache
def _advice(text: Text) -> list[tuple[Diagnostic, str]]:
    """The errors of a manifest whose help has a text to write, but for fixes, which have laws of their own."""
    advice = [
        (found, match["text"])
        for found in findings_of(text)
        if found.fix is None and found.severity == "error"
        for match in (_WRITE.fullmatch(found.help),)
        if match is not None
    ]
    try:
        documents = list(YAML(typ="rt", pure=True).compose_all(text.content.decode())) if advice else ()
    except (YAMLError, UnicodeDecodeError):
        return []
    return advice if len(documents) == 1 else []


def test_accept_what_authors_are_told_to_write() -> None:
    tried, refused = Counter[str](), []
    for text in (*_of_kinds(), *corpus(), *pages()):
        for found, advice in _advice(text) if text.sort is Sort.MANIFEST else ():
            if found.help.endswith("for example"):
                # It names fields of its own.
                continue
            tried[found.code] += 1
            if not _is_accepted(text, found, advice):
                refused.append((text.name, found.code, found.help))
    assert refused == [], "\n".join(map(str, refused))
    assert tried["SC203"] > 50


WORDS = {
    "SC105": "fields: with what only the author knows",
    "SC113": "an anchor, in a text that is no YAML before",
    "SC202": "a type with a place for the author's own",
    "SC231": "the file that only the author knows",
    "SC235": "a warning: a parameter where its value belongs",
    "SC236": "the name that only the author knows",
    "SC327": "an example of a condition",
    "SC561": "a length that only the author knows",
    "SC570": "a warning",
}
"""Codes whose advice has a place for what only the author knows, or that no text can be put in place for."""


def test_try_every_text_to_write() -> None:
    """It is a fix, is tried above, or is known to leave something to the author."""
    others = set()
    for text in (*corpus(), *pages()):
        for found in findings_of(text) if text.sort is Sort.MANIFEST else ():
            is_tried = found.fix is not None or any(found == one for one, _ in _advice(text))
            if "write `" in found.help and not is_tried:
                others.add(found.code)
    assert others == WORDS.keys()


def test_accept_the_examples_of_attributes() -> None:
    shown = set()
    for attribute in ATTRIBUTES.values():
        for value in _NO_VALUES:
            texts = _of_attribute(attribute, value)
            advice = ((text, *one) for text in texts for one in _advice(text) if one[0].code == "SC312")
            first = next(advice, None)
            if first is not None:
                shown.add(attribute.key)
                is_accepted = any(_is_accepted(*one) for one in chain((first,), advice))
                assert is_accepted, (attribute.key, value, first[1].help)
    for attribute in ATTRIBUTES.values():
        wrong = [d for text in _of_attribute(attribute, "5") for d in findings_of(text)]
        has_parts = any("has to be a mapping" in d.message or "has to be a list" in d.message for d in wrong)
        assert not has_parts or attribute.key in shown, attribute.key
