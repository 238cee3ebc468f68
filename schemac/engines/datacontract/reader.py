"""Data Contract Specification: the models of a contract, a dataset each.

Layer: engines.
Shape: types are the logical ones; what a field takes from a definition counts as its own. Everything else that the contract
says of a field is a comment above it.
Errors: SC1xx for what is not YAML, SC551 unsupported-arrow-type, SC552 unreadable-source.
Source: the specification of version 1.2.1, "Data Types", "Field Object" and "Definition Object".
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from schemac.importers.datasets import Constraints, mark_key
from schemac.importers.declarations import (
    MisplacedError,
    Node,
    finished,
    kind_of,
    list_of,
    map_of,
    meaning,
    member,
    optional,
    part,
    read_documents,
    rules,
    struct,
)
from schemac.importers.importer import Imported, Importer, Notes
from schemac.language.attributes.builtin import OWNER
from schemac.language.logical.model import FieldPath, Part, dotted
from schemac.language.physical import ArrowType, pa
from schemac.text.source.json_object import Json
from schemac.text.source.report import Report

_TITLE = "a data contract"
_DEEPEST = 50
_REFERENCE = "#/definitions/"
_PRECISION, _SCALE, _NARROW, _MOST_DIGITS = 38, 0, 38, 76
"""Those of a number that does not say them, and the most digits of 128 and of 256 bits."""
_JSON = "its parts are not described; this is its JSON"
_PLAIN: Mapping[str, Callable[[], ArrowType]] = {
    **dict.fromkeys(("string", "text", "varchar"), lambda: pa.string()),
    **dict.fromkeys(("int", "integer"), lambda: pa.int32()),
    **dict.fromkeys(("long", "bigint"), lambda: pa.int64()),
    "float": lambda: pa.float32(),
    "double": lambda: pa.float64(),
    "boolean": lambda: pa.bool_(),
    **dict.fromkeys(("timestamp", "timestamp_tz"), lambda: pa.timestamp("us", "UTC")),
    "timestamp_ntz": lambda: pa.timestamp("us"),
    "date": lambda: pa.date32(),
    "time": lambda: pa.time64("us"),
    "bytes": lambda: pa.binary(),
    **dict.fromkeys(("variant", "json"), lambda: pa.json_()),
}
_DECIMALS = ("number", "decimal", "numeric")
_STRUCTS = ("object", "record", "struct")


def read(path: Path, report: Report) -> Imported | None:
    """Return the models of a contract."""
    return read_documents(path, _TITLE, _models, report)


def _models(contract: Node) -> Iterator[Imported]:
    version = contract.text("dataContractSpecification")
    if version is None:
        raise MisplacedError("the document has to have a `dataContractSpecification`", ())
    definitions = dict(contract.members("definitions"))
    models = contract.members("models")
    info = contract.peek("info")
    owner = info.get("owner") if isinstance(info, dict) else None
    owned: Json = {OWNER.key: owner} if isinstance(owner, str) and owner else {}
    head = [f"from a contract of version {version} of the Data Contract Specification"]
    lost_keys = [loss.removeprefix("not kept: ").partition(":")[0] for loss in contract.losses()]
    if lost_keys:
        head.append(f"not kept of the contract: {', '.join(lost_keys)}")
    for name, model in models:
        yield _Reader(definitions).model(name, model, head, owned)


class _Reader:
    """Reads one model."""

    def __init__(self, definitions: Mapping[str, Node]) -> None:
        self._definitions = definitions
        self._notes = Notes()
        self._constraints = Constraints(self._notes)

    def model(self, name: str, node: Node, head: list[str], owner: Json) -> Imported:
        """Return a model as a dataset; its owner is that of the contract."""
        key = node.texts("primaryKey")
        key_columns: list[str] = []
        fields = [
            self._field(field_name, field, (), key_columns, key)
            for field_name, field in node.members("fields")
        ]
        tree: Json = {"fields": fields}
        if extra := {**owner, **meaning(node)}:
            tree["extra"] = extra
        comments = [*head, *node.losses()]
        key = key or key_columns
        if not mark_key(tree, key):
            comments.append(f"not kept: the primary key {', '.join(key)}, because a part of it may be null")
        comments += self._constraints.put(tree)
        return Imported(tree, tuple(comments), name, self._notes)

    def _field(
        self, name: str, node: Node, holder: FieldPath, key_columns: list[str], key: list[str]
    ) -> Json:
        path = (*holder, name)
        tree, extra = self._schema_field(node, path, key_columns, key)
        return member(name, tree, extra)

    def _resolved(self, node: Node) -> Node:
        """Return a field merged with its definition; definitions outside of the contract are not read."""
        reference = node.text("$ref")
        if reference is None:
            return node
        definition = self._definitions.get(reference.removeprefix(_REFERENCE))
        if not reference.startswith(_REFERENCE) or definition is None:
            raise MisplacedError(f"the definition {reference} is not in the contract", (*node.path, "$ref"))
        whole = node.over(definition)
        whole.drop("$ref", "name", "domain")
        return whole

    def _schema_field(
        self, node: Node, path: FieldPath, key_columns: list[str] | None = None, key: list[str] | None = None
    ) -> tuple[Json, Json]:
        """Return a type, which may be null unless it is required, and its attributes; the rest becomes notes."""
        node = self._resolved(node)
        if len(path) > _DEEPEST:
            raise MisplacedError("it is nested too deeply, or contains itself", node.path)
        is_required = node.flag("required")
        is_key = node.flag("primaryKey", "primary")
        if key_columns is not None and len(path) == 1 and (is_key or path[0] in (key or ())):
            key_columns.append(str(path[0]))
            is_required = True if is_required is None else is_required
        elif is_key:
            self._notes.add(path, "not kept: primaryKey: true")
        self._constraints.add(path, rules(node))
        if node.flag("unique"):
            self._constraints.add_unique([dotted(path)], f"unique: true of {dotted(path)}")
        target = node.peek("references")
        if isinstance(target, str) and target.count(".") == 1:
            model, column = target.split(".")
            node.drop("references")
            self._constraints.add_reference([dotted(path)], model, [column], f"references: {target}")
        converted = self._type(node, path)
        return finished(node, converted, path, self._notes, is_required=bool(is_required))

    def _type(self, node: Node, path: FieldPath) -> tuple[Json, Json]:
        word = node.text("type")
        if word is None:
            self._notes.add(path, "the contract does not specify its type: set it")
            return kind_of(pa.string())
        name = word.casefold()
        if name in _STRUCTS:
            fields = [self._field(n, f, path, [], []) for n, f in node.members("fields")]
            return (struct(fields), {}) if fields else self._json(path)
        if name == "array":
            items = node.node("items")
            if items is None:
                return self._json(path)
            return list_of(part(*self._schema_field(items, (*path, Part.ITEM)))), {}
        if name == "map":
            return self._map(node, path)
        if name in _DECIMALS:
            return self._decimal(node)
        if name == "null":
            return kind_of(pa.null())
        if name not in _PLAIN:
            raise MisplacedError(f"there is no type {word}", (*node.path, "type"))
        return kind_of(_PLAIN[name]())

    def _json(self, path: FieldPath) -> tuple[Json, Json]:
        self._notes.add(path, _JSON)
        return kind_of(pa.json_())

    def _map(self, node: Node, path: FieldPath) -> tuple[Json, Json]:
        keys, values = node.node("keys"), node.node("values")
        key, _ = kind_of(pa.string())
        if keys is not None:
            keys = self._resolved(keys)
            keys.drop("required")
            self._constraints.add((*path, Part.KEY), rules(keys))
            key = part(*self._type(keys, (*path, Part.KEY)))
            for loss in keys.losses():
                self._notes.add(path, loss)
        if values is None:
            self._notes.add(path, "the contract does not specify the type of its values: set it")
            value = optional(kind_of(pa.string())[0], is_required=False)
        else:
            value = part(*self._schema_field(values, (*path, Part.VALUE)))
        return map_of(key, value), {}

    def _decimal(self, node: Node) -> tuple[Json, Json]:
        precision, scale = node.number("precision"), node.number("scale")
        precision = _PRECISION if precision is None else precision
        if not 0 < precision <= _MOST_DIGITS:
            raise MisplacedError(
                f"a precision of {precision} is not between 1 and {_MOST_DIGITS}", (*node.path, "precision")
            )
        scale = _SCALE if scale is None else scale
        if not 0 <= scale <= precision:
            raise MisplacedError(
                f"a scale of {scale} is not between 0 and {precision}", (*node.path, "scale")
            )
        make = pa.decimal128 if precision <= _NARROW else pa.decimal256
        return kind_of(make(precision, scale))


IMPORTER = Importer("datacontract", "datacontract.yaml of the Data Contract Specification", read)
