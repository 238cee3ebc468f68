"""ODF: the standard's own SetDataSchema event, as YAML and as FlatBuffers.

Layer: engines.
Shape: `odf/schema.yaml`, the event in the standard's long form with every default written out, as `--strict` takes it;
      `odf/schema.bin`, the same event as FlatBuffers. `keysSorted` is written where it is false, as the reference implementation does
      coming from Arrow; `fixedLength` has no default and is left out. Encoding hints stay, for an author wrote them. The YAML is block
      style in the standard's order of keys; only the attributes' lists are on one line.
Why by hand: a YAML library takes a hundred times as long: the words are few, and what is more than a word is quoted.
Errors: SC533 odf-kind for kinds that the standard does not have; without ODF, where nobody asks for it, SC534; losses SC532.
Source: RFC-016; YAML 1.2, sections 5.1 (characters), 5.7 (escapes) and 7.4.2 (keys have 1024 characters at most). A union has no buffer
      of its own in FlatBuffers, so the root is the event's table. FlatBuffers' own verifiers stop at 64 tables inside each other, which
      is deeper than any engine here reads.
"""

import re
from typing import Any

from schemac.artifacts.targets import Artifact, ArtifactTarget, Emission
from schemac.engines.odf import ODF_KIND, ODF_LEFT_OUT, ODF_LOSS, binary
from schemac.language.attributes.builtin import TARGETS_OF
from schemac.language.logical.dataset import LogicalDataset
from schemac.language.logical.model import SchemaField, preorder
from schemac.versions.identity.compilation import Compilation

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[ ./-][A-Za-z0-9_]+)*")
_NOT_PLAIN = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))
"""Words that one reader of YAML or another takes for something else."""
_ESCAPED = re.compile('["\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_LONGEST_KEY = 1000
_TOPS = {
    "schema": "",
    "event": "kind: SetDataSchema\nschema:\n",
    "metadata-event": "kind: MetadataEvent\nversion: 1\ncontent:\n  kind: SetDataSchema\n  schema:\n",
    "snapshot": (
        "kind: DatasetSnapshot\nversion: 1\ncontent:\n  name: {name}\n  kind: Root\n"
        "  metadata:\n    - kind: SetDataSchema\n      schema:\n"
    ),
    "resource": (
        "$schema: https://opendatafabric.org/schemas/dataset/v1alpha1/Dataset\nheaders:\n  name: {name}\n"
        "spec:\n  kind: Root\n  metadata:\n    - kind: SetDataSchema\n      schema:\n"
    ),
}
"""What is above the schema in each form."""
_INDENTS = {"schema": "", "event": "  ", "metadata-event": "    ", "snapshot": " " * 8, "resource": " " * 8}


def to_text(dataset: LogicalDataset, form: str, lose: binary.Lose = binary.ignore) -> str:
    """Return the schema as YAML, in one of the standard's documents."""
    top = _TOPS[form].replace("{name}", scalar(dataset.name))
    return top + _Writer(lose).schema(dataset, _INDENTS[form])


class _Writer:
    """Writes a schema as YAML, and enters what the standard does not keep."""

    def __init__(self, lose: binary.Lose) -> None:
        self._lose = lose

    def schema(self, dataset: LogicalDataset, indent: str) -> str:
        """Return the lines of a schema, each after an indent."""
        text = indent + self._fields(dataset.columns, indent)
        extra = binary.standard_attributes(dataset.schema.extra)
        return text + (f"{indent}extra:{_block(extra, indent)}" if extra else "")

    def _fields(self, fields: tuple[SchemaField, ...], indent: str) -> str:
        """Return lines of YAML from `fields:` on; only its entries are indented."""
        if not fields:
            return "fields: []\n"
        below = indent + "    "
        parts = ["fields:\n"]
        for field in fields:
            type_ = self._type(field, below + "  ")
            parts.append(f"{indent}  - name: {scalar(field.segment)}\n{below}type:\n{type_}")
            if field.extra:
                parts.append(f"{below}extra:{_block(binary.standard_extra(field, self._lose), below)}")
        return "".join(parts)

    def _type(self, field: SchemaField, indent: str) -> str:
        """Return lines of YAML with a field's type, inside an Option if it has one."""
        if field.options:
            return f"{indent}kind: Option\n{indent}inner:\n{self._bare_type(field, indent + '  ')}"
        return self._bare_type(field, indent)

    def _bare_type(self, field: SchemaField, indent: str) -> str:
        """Return the lines of a type without its Option."""
        children = list(field.children)
        lines = [f"{indent}kind: {scalar(field.type.kind)}\n"]
        for item, value in binary.standard_properties(field, self._lose):
            if item.name == "fields":
                lines.append(indent + self._fields(field.children, indent))
            elif item.name.endswith("_type"):
                child = children.pop(0)
                if child.extra:
                    binary.standard_extra(child, self._lose)
                lines.append(f"{indent}{item.alias}:\n{self._type(child, indent + '  ')}")
            else:
                lines.append(f"{indent}{item.alias}: {scalar(value)}\n")
        return "".join(lines)


def _block(value: Any, indent: str) -> str:
    """Return the YAML of a value as it follows its key and colon, with the line break."""
    if value.__class__ is str:
        return f" {scalar(value)}\n"
    if not isinstance(value, dict) or not value:
        return f" {_flow(value)}\n"
    below = indent + "  "
    entries = [f"{below}{_key(key, below)}:{_block(item, below)}" for key, item in value.items()]
    return "\n" + "".join(entries)


def _flow(value: Any) -> str:
    """Return the YAML of a value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join([f"{_key(key, '')}: {_flow(item)}" for key, item in value.items()]) + "}"
    return "[" + ", ".join(map(_flow, value)) + "]" if isinstance(value, list) else scalar(value)


def _key(key: str, indent: str) -> str:
    """Return a key; a very long one is announced, as YAML requires it."""
    text = scalar(key)
    return text if len(text) < _LONGEST_KEY else f"? {text}\n{indent}"


def scalar(value: Any) -> str:
    """Return the YAML of a text, number, truth value or null."""
    if value.__class__ is str:
        if _PLAIN.fullmatch(value) and value.lower() not in _NOT_PLAIN:
            return str(value)
        return f'"{_ESCAPED.sub(_escape, value)}"'
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value)


def _escape(match: re.Match[str]) -> str:
    """Return the escape sequence of a character for a double-quoted scalar of YAML."""
    character = match.group()
    number = ord(character)
    return _SHORT.get(character) or (f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}")


def emit(compilation: Compilation, emission: Emission) -> list[Artifact]:
    """Return the event, as text and as bytes; nothing where the standard has no such kind."""
    strangers = [s for s in preorder(compilation.dataset.columns) if s.type.kind not in binary.TAGS]
    for field in strangers:
        message = f"{field.path_text}: the standard has no kind {field.type.kind}"
        help = f"leave it out of this dataset's engines with `{TARGETS_OF.key}` under the schema's `extra:`"
        emission.findings.at_type(field, ODF_KIND, message, help=help)
    if strangers:
        return []
    text = to_text(compilation.dataset, "event", emission.lose)
    return [
        Artifact("odf/schema.yaml", text.encode()),
        Artifact("odf/schema.bin", binary.write_binary(compilation.dataset)),
    ]


TARGET = ArtifactTarget("odf", ODF_LOSS, emit, left_out_code=ODF_LEFT_OUT)
