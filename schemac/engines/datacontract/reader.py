"""Data Contract Specification: the models of a contract, a dataset each.

Layer: engines.
Shape: types are the logical ones; what a field takes from a definition counts as its own. Everything else that the contract
says of a field is a comment above it.
Errors: SC1xx for what is not YAML, SC551 unsupported-arrow-type, SC552 unreadable-source.
Source: the specification of version 1.2.1, "Data Types", "Field Object" and "Definition Object".
"""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from schemac.importers import datasets, declarations
from schemac.importers.importer import ImportedSchema, Importer
from schemac.importers.sources import has_top_keys
from schemac.language.attributes.builtin import OWNER
from schemac.language.logical.model import FieldPath, Part, dotted
from schemac.language.physical import pa
from schemac.text.source.json_object import Json

_DEEPEST = 50
_REFERENCE = "#/definitions/"
_PRECISION, _SCALE = 38, 0
"""Those of a number that does not say them."""
_PLAIN = frozenset(
    {"string", "text", "varchar", "int", "integer", "long", "bigint", "float", "double", "boolean", "bytes"}
    | {"timestamp", "timestamp_tz", "timestamp_ntz", "date", "time"}
)
"""Types that mean what these words mean elsewhere."""


def is_contract(path: Path) -> bool:
    """Return whether a file has the version of the specification."""
    return has_top_keys(path, rb"dataContractSpecification[\"']?\s*:")


def _models(contract: declarations.SourceNode) -> Iterator[ImportedSchema]:
    """Yield one dataset per model. Raises MisplacedError if the document names no version of the specification."""
    version = contract.text("dataContractSpecification")
    if version is None:
        raise declarations.MisplacedError("the document has to have a `dataContractSpecification`", ())
    definitions = dict(contract.members("definitions"))
    models = contract.members("models")
    info = contract.peek("info")
    owner = info.get("owner") if isinstance(info, dict) else None
    owned: Json = {OWNER.key: owner} if isinstance(owner, str) and owner else {}
    head = [f"from a contract of version {version} of the Data Contract Specification"]
    head += contract.loss_of_keys("contract")
    for name, model in models:
        yield _Reader(definitions).model(name, model, head, owned)


class _Reader(declarations.DatasetReader):
    """Reads one model."""

    def __init__(self, definitions: Mapping[str, declarations.SourceNode]) -> None:
        super().__init__()
        self._definitions = definitions
        self._named_key: list[str] = []
        """What the model itself says of its primary key."""

    def model(self, name: str, node: declarations.SourceNode, head: list[str], owner: Json) -> ImportedSchema:
        """Return a model as a dataset; its owner is that of the contract."""
        self._named_key = node.texts("primaryKey")
        fields = self._members(node, ())
        self.key = self._named_key or self.key
        return self.dataset(name, fields, node, head, owner)

    def _members(self, node: declarations.SourceNode, holder: FieldPath) -> list[Json]:
        """Return the fields of a model or struct as trees, in the order of the contract."""
        return [
            datasets.member(name, self._field(field, (*holder, name)))
            for name, field in node.members("fields")
        ]

    def _resolved(self, node: declarations.SourceNode) -> declarations.SourceNode:
        """Return a field merged with its definition; definitions outside of the contract are not read."""
        reference = node.text("$ref")
        if reference is None:
            return node
        definition = self._definitions.get(reference.removeprefix(_REFERENCE))
        if not reference.startswith(_REFERENCE) or definition is None:
            raise declarations.MisplacedError(
                f"the definition {reference} is not in the contract", (*node.path, "$ref")
            )
        whole = node.over(definition)
        whole.drop("$ref", "name", "domain")
        return whole

    def _field(self, node: declarations.SourceNode, path: FieldPath) -> Json:
        """Return a type with its attributes, which may be null unless it is required; the rest becomes notes."""
        node = self._resolved(node)
        if len(path) > _DEEPEST:
            raise declarations.MisplacedError("it is nested too deeply, or contains itself", node.path)
        is_required = node.flag("required")
        is_key = node.flag("primaryKey", "primary")
        if len(path) == 1 and (is_key or path[0] in self._named_key):
            self.key.append(str(path[0]))
            is_required = True if is_required is None else is_required
        elif is_key:
            self.notes.add(path, "not kept: primaryKey: true")
        self.constraints.add(path, declarations.rules(node))
        if node.flag("unique"):
            self.constraints.add_unique([dotted(path)], f"unique: true of {dotted(path)}")
        target = node.peek("references")
        if isinstance(target, str) and target.count(".") == 1:
            model, column = target.split(".")
            node.drop("references")
            self.constraints.add_reference([dotted(path)], model, [column], f"references: {target}")
        return self.finished(node, self._type(node, path), path, is_required=bool(is_required))

    def _type(self, node: declarations.SourceNode, path: FieldPath) -> Json:
        """Return a type with its attributes; note a missing type. Raises MisplacedError for an unknown one."""
        word = node.text("type")
        if word is None:
            return self.unknown(path, "the contract does not specify its type")
        name = word.casefold()
        if name in ("object", "record", "struct"):
            fields = self._members(node, path)
            return datasets.struct(fields) if fields else self.json(path)
        if name == "array":
            items = node.node("items")
            if items is None:
                return self.json(path)
            return datasets.list_of(self._field(items, (*path, Part.ITEM)))
        if name == "map":
            return self._map(node, path)
        if name in ("number", "decimal", "numeric"):
            precision = _digits(node, "precision", _PRECISION, range(1, datasets.MOST_DIGITS + 1))
            scale = _digits(node, "scale", _SCALE, range(precision + 1))
            return datasets.kind_of(datasets.decimal_type(precision, scale))
        if name == "null":
            return datasets.kind_of(pa.null())
        if name in ("variant", "json"):
            return datasets.any_json()
        known = declarations.type_of_text(name, None) if name in _PLAIN else None
        if known is None:
            raise declarations.MisplacedError(f"there is no type {word}", (*node.path, "type"))
        return known.tree

    def _map(self, node: declarations.SourceNode, path: FieldPath) -> Json:
        """Return a Map without attributes; keys are texts by default, and a missing type of values is noted."""
        keys, values = node.node("keys"), node.node("values")
        key = datasets.kind_of(pa.string())
        if keys is not None:
            keys = self._resolved(keys)
            keys.drop("required")
            self.constraints.add((*path, Part.KEY), declarations.rules(keys))
            key = self._type(keys, (*path, Part.KEY))
            self.note_losses(keys, path)
        if values is None:
            unknown = self.unknown(path, "the contract does not specify the type of its values")
            value = datasets.optional(unknown, is_required=False)
        else:
            value = self._field(values, (*path, Part.VALUE))
        return datasets.map_of(key, value)


def _digits(node: declarations.SourceNode, key: str, default: int, possible: range) -> int:
    """Return a number of digits, or its default. Raises MisplacedError for one that is not possible."""
    number = node.number(key)
    number = default if number is None else number
    if number not in possible:
        message = f"a {key} of {number} is not between {possible[0]} and {possible[-1]}"
        raise declarations.MisplacedError(message, (*node.path, key))
    return number


IMPORTER = Importer(
    "datacontract",
    "datacontract.yaml of the Data Contract Specification",
    partial(declarations.read_documents, "a data contract", _models),
)
