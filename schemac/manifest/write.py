"""Logical datasets into manifest text.

Floor: 5 (manifest).
Shape: as a person would write it, with short forms where nothing is lost, `description:` beside `name` and small
mappings on one line.
Source: RFC-016; the layout is that of the examples.
"""

import re
from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from schemac.attributes.odf import DESCRIPTION
from schemac.logical.dataset import LogicalDataset
from schemac.logical.model import Field, LogicalType, Schema

_WIDEST_FLOW = 90
"""Characters of a mapping that still goes on one line."""


def write_manifest(dataset: LogicalDataset, comments: tuple[str, ...] = ()) -> str:
    """The manifest of a dataset as a person would have written it, below these lines of comment."""
    top = CommentedMap(name=dataset.name, **_friendly_holder(dataset.schema))
    return "".join(f"# {line}\n" for line in comments) + _text(top)


def _friendly_holder(schema: Schema) -> dict[str, Any]:
    extra = dict(schema.extra)
    holder: dict[str, Any] = {}
    if isinstance(extra.get(DESCRIPTION.key), str):
        holder["description"] = extra.pop(DESCRIPTION.key)
    if extra:
        holder["extra"] = _value(extra)
    holder["fields"] = [_friendly_field(field) for field in schema.fields]
    return holder


def _friendly_field(field: Field) -> CommentedMap:
    extra = dict(field.extra)
    tree = CommentedMap(name=_name(field.name))
    if isinstance(extra.get(DESCRIPTION.key), str):
        tree["description"] = extra.pop(DESCRIPTION.key)
    tree["type"] = _friendly_type(field.type)
    if extra:
        tree["extra"] = CommentedMap({key: _flow(_value(extra[key])) for key in sorted(extra)})
    return _flow(tree)


def _friendly_type(type_: LogicalType) -> Any:
    tree = CommentedMap()
    for name, info in type(type_).model_fields.items():
        value = getattr(type_, name)
        if name != "kind" and value == info.get_default(call_default_factory=True):
            continue
        tree[info.alias or name] = _friendly_value(value)
    if len(tree) == 1:
        return _quoted_kind(tree["kind"])
    tree["kind"] = _quoted_kind(tree["kind"])
    _last(tree, "extra")
    return _flow(tree)


def _friendly_value(value: Any) -> Any:
    if isinstance(value, LogicalType):
        return _friendly_type(value)
    if isinstance(value, tuple):
        return [_friendly_field(member) for member in value]
    return _value(value)


def _value(value: Any) -> Any:
    """JSON into ruamel's containers, which know their style."""
    if isinstance(value, dict):
        return CommentedMap({_value(key): _value(item) for key, item in value.items()})
    if isinstance(value, str) and value.startswith((":", "?")):
        # The emitter leaves these plain in flow style, where the C parser takes the sign for an indicator.
        return DoubleQuotedScalarString(value)
    return CommentedSeq([_value(item) for item in value]) if isinstance(value, list) else value


def _flow(tree: Any) -> Any:
    """The same on one line, where it is short enough."""
    if (
        isinstance(tree, CommentedMap | CommentedSeq)
        and len(str(_plain(tree))) <= _WIDEST_FLOW
        and "\n" not in str(tree)
    ):
        tree.fa.set_flow_style()
    return tree


def _plain(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _plain(item) for key, item in tree.items()}
    return [_plain(item) for item in tree] if isinstance(tree, list) else tree


def _last(tree: CommentedMap, key: str) -> None:
    if key in tree:
        tree.move_to_end(key)


def _quoted_kind(kind: str) -> str:
    """Null needs quotes in YAML."""
    return DoubleQuotedScalarString(kind) if kind == "Null" else kind


def _name(name: str) -> str:
    """Names that other readers of YAML would take for something else get quotes."""
    is_word = name.lower() in ("yes", "no", "on", "off", "y", "n")
    needs_quotes = is_word or not name.strip() or name.startswith((":", "?"))
    return DoubleQuotedScalarString(name) if needs_quotes else name


def _text(tree: CommentedMap) -> str:
    yaml = YAML()
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.width = 4096
    yaml.allow_unicode = True
    stream = StringIO()
    yaml.dump(tree, stream)
    return stream.getvalue()


def scalar(text: str, like: str = "") -> str:
    """A text as a YAML scalar on one line, plain where it may be; with the quotes that `like` has, where that goes."""
    if like.startswith("'") and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS and not like.startswith('"'):
        return text
    return '"' + "".join(_escaped(character) for character in text) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
