"""Logical datasets into manifest text.

Layer: language.
Shape: as a person would write it, with short forms where nothing is lost, `description:` next to `name` and small
mappings on one line. Notes stand as comments above their fields.
Source: RFC-016; the layout is that of the examples.
"""

from collections.abc import Callable, Sequence
from io import StringIO
from typing import Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from schemac.language.attributes.builtin import DESCRIPTION
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import Field, FieldPath, LogicalType, Part, Schema
from schemac.text.source.json_object import Json, rewritten
from schemac.text.source.phrases import printable
from schemac.text.syntax.events import scalar

_MAPPING, _SEQUENCE = 2, 4
"""Columns by which the text of a mapping's and of a sequence's values is indented."""
_WIDEST_FLOW = 90
"""Characters of a mapping that still goes on one line."""


NotesAt = Callable[[FieldPath], tuple[str, ...]]
"""The texts that are above a field."""
_OLD_BOOLEANS = ("yes", "no", "on", "off", "y", "n")
_PARTS = {"item_type": Part.ITEM, "key_type": Part.KEY, "value_type": Part.VALUE}


def write_manifest(
    dataset: LogicalDataset,
    comments: tuple[str, ...] = (),
    notes_at: NotesAt = lambda _: (),
    *,
    is_strict: bool = False,
) -> str:
    """Return the manifest of a dataset as a person would have written it, below these lines of comment.

    With `is_strict` it is a DatasetSnapshot, with descriptions as attributes; the schema may have nothing that the
    standard does not have.
    """
    head = "".join(f"# {line}\n" for line in map(_comment_line, comments))
    return head + _yaml_text(_Writer(notes_at, is_strict).document(dataset))


def write_fields(schema: Schema, notes_at: NotesAt) -> str:
    """Return the line `fields:` and what is below it, in the standard's form, with notes above the fields."""
    return _yaml_text(CommentedMap(fields=_Writer(notes_at, is_strict=True).fields(schema.fields, (), 0)))


def write_documents(values: Sequence[Any]) -> str:
    """Return a stream of documents; short types and attributes are on one line."""
    return "---\n".join(_yaml_text(_laid_out(value)) for value in values)


def _laid_out(value: Any) -> Any:
    """Return a value of JSON in ruamel's containers, small mappings and lists on one line."""
    if isinstance(value, dict):
        tree = CommentedMap({_ruamel_value(key): _laid_out(item) for key, item in value.items()})
        is_leaf = not any(
            isinstance(item, CommentedMap | CommentedSeq) and not item.fa.flow_style()
            for item in tree.values()
        )
        return _on_one_line(tree) if is_leaf and "name" not in tree and "content" not in tree else tree
    if isinstance(value, list):
        items = CommentedSeq([_laid_out(item) for item in value])
        return items if any(isinstance(item, CommentedMap) for item in items) else _on_one_line(items)
    return _ruamel_value(value)


def _comment_line(text: str) -> str:
    """Return a comment in one line, whatever signs it quotes."""
    return "".join(c if c.isprintable() else " " for c in text)


class _Writer(NamedTuple):
    """Writes fields and types; knows the column of the text that it is at, for comments are below each other."""

    notes_at: NotesAt
    is_strict: bool

    def document(self, dataset: LogicalDataset) -> CommentedMap:
        """Return the dataset with its name beside the fields, or in strict mode in the standard's envelope."""
        if not self.is_strict:
            return CommentedMap(name=_name_scalar(dataset.name), **self.holder(dataset.schema, 0))
        column = 2 * _MAPPING + _SEQUENCE
        event = CommentedMap(kind="SetDataSchema", schema=CommentedMap(self.holder(dataset.schema, column)))
        content = CommentedMap(name=_name_scalar(dataset.name), kind="Root", metadata=CommentedSeq([event]))
        return CommentedMap(kind="DatasetSnapshot", version=1, content=content)

    def holder(self, schema: Schema, column: int) -> Json:
        """Return the keys of a schema: description, attributes and fields."""
        extra = dict(schema.extra)
        holder: Json = {}
        if isinstance(extra.get(DESCRIPTION.key), str) and not self.is_strict:
            holder["description"] = _ruamel_value(extra.pop(DESCRIPTION.key))
        if extra:
            holder["extra"] = _ruamel_value(extra)
        holder["fields"] = self.fields(schema.fields, (), column)
        return holder

    def fields(self, fields: tuple[Field, ...], path: FieldPath, column: int) -> CommentedSeq:
        """Return the fields of what begins in this column."""
        sequence = CommentedSeq([self.field(f, (*path, f.name), column + _SEQUENCE) for f in fields])
        for i, field in enumerate(fields):
            if notes := self.notes_at((*path, field.name)):
                indent = column + _SEQUENCE - _MAPPING
                sequence.yaml_set_comment_before_after_key(
                    i, before="\n".join(map(_comment_line, notes)), indent=indent
                )
        return sequence

    def field(self, field: Field, path: FieldPath, column: int) -> CommentedMap:
        """Return a field, on one line where it is short enough."""
        extra = dict(field.extra)
        tree = CommentedMap(name=_name_scalar(field.name))
        if isinstance(extra.get(DESCRIPTION.key), str) and not self.is_strict:
            tree["description"] = _ruamel_value(extra.pop(DESCRIPTION.key))
        tree["type"] = self.type(field.type, path, column + _MAPPING)
        if extra:
            tree["extra"] = CommentedMap(
                {key: _on_one_line(_ruamel_value(extra[key])) for key in sorted(extra)}
            )
        return _on_one_line(tree)

    def type(self, type_: LogicalType, path: FieldPath, column: int) -> Any:
        """Return a type: the name of its kind where that is all, else a mapping without what is the default."""
        tree = CommentedMap()
        for name, info in type(type_).model_fields.items():
            value = getattr(type_, name)
            if name != "kind" and value == info.get_default(call_default_factory=True):
                continue
            below = (*path, _PARTS[name]) if name in _PARTS else path
            tree[info.alias or name] = self.value(value, below, column)
        if scalar(tree["kind"]) != tree["kind"]:
            # YAML reads something else, as it does for Null.
            tree["kind"] = DoubleQuotedScalarString(tree["kind"])
        if len(tree) == 1:
            return tree["kind"]
        if "extra" in tree:
            tree.move_to_end("extra")
        return _on_one_line(tree)

    def value(self, value: Any, path: FieldPath, column: int) -> Any:
        """Return the value of a property: a type, the fields of a struct, or plain JSON."""
        if isinstance(value, LogicalType):
            return self.type(value, path, column + _MAPPING)
        if isinstance(value, tuple):
            return self.fields(value, path, column)
        return _ruamel_value(value)


def _ruamel_value(value: Any) -> Any:
    """Return a value of JSON in ruamel's containers, which know their style, with texts in quotes where they need them."""
    if isinstance(value, dict):
        return CommentedMap({_ruamel_value(key): _ruamel_value(item) for key, item in value.items()})
    if isinstance(value, str):
        # The emitter leaves these plain: in flow style the C parser takes the sign for an indicator, older readers take
        # some words for booleans, and what a terminal obeys can be escaped in double quotes alone.
        is_misread = value.startswith((":", "?")) or value.lower() in _OLD_BOOLEANS
        is_obeyed = printable(value, keep="\n") != value
        return DoubleQuotedScalarString(value) if is_misread or is_obeyed else value
    return CommentedSeq([_ruamel_value(item) for item in value]) if isinstance(value, list) else value


def _on_one_line(tree: Any) -> Any:
    """Return the same on one line, where it is short enough."""
    if (
        isinstance(tree, CommentedMap | CommentedSeq)
        and len(str(rewritten(tree, dict))) <= _WIDEST_FLOW
        and "\n" not in str(tree)
        and not _has_comment(tree)
    ):
        tree.fa.set_flow_style()
    return tree


def _has_comment(tree: Any) -> bool:
    """Whether there is a comment at any depth in a container."""
    if not isinstance(tree, CommentedMap | CommentedSeq):
        return False
    return bool(tree.ca.items) or any(
        _has_comment(item) for item in (tree.values() if isinstance(tree, CommentedMap) else tree)
    )


def _name_scalar(name: str) -> str:
    """Return a name, in quotes if other YAML readers would not read it as a string."""
    scalar: str = _ruamel_value(name) if name.strip() else DoubleQuotedScalarString(name)
    return scalar


def _yaml_text(tree: CommentedMap) -> str:
    """Return a tree as YAML, without a marker before it, with characters that are not harmless escaped."""
    yaml = YAML()
    yaml.indent(mapping=_MAPPING, sequence=_SEQUENCE, offset=_SEQUENCE - _MAPPING)
    yaml.width = 4096
    yaml.allow_unicode = True
    stream = StringIO()
    yaml.dump(tree, stream)
    # What is not harmless stands in double quotes, where these escapes mean the character.
    return printable(stream.getvalue(), keep="\n")
