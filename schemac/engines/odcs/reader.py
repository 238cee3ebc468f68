"""Open Data Contract Standard: the objects of a contract, a dataset each.

Layer: engines.
Shape: a column has its physical name, and the physical type where that is known in the dialect of the contract's server; else
the logical type. Everything else that the contract says of a column is a comment above it.
Errors: SC1xx for what is no YAML, SC551 unsupported-arrow-type, SC552 unreadable-source.
Source: the JSON Schema of the standard, version 3.1.0, and its page "Schema".
"""

from collections.abc import Iterator
from pathlib import Path

from schemac.attributes.odf import DESCRIPTION
from schemac.importers.declared import (
    MisplacedError,
    Node,
    list_of,
    member,
    optional,
    part,
    read_documents,
    struct,
)
from schemac.importers.importer import Imported, Importer, Notes
from schemac.importers.keys import mark_key
from schemac.importers.type_texts import TypeFound, dialect_of, kind_of, type_of_text
from schemac.logical.path import FieldPath, Part
from schemac.physical.arrow import pa
from schemac.source.json_object import Json
from schemac.source.report import Report

_TITLE = "a contract of ODCS"
_JSON = "its parts are not described; this is its JSON"
_INTEGERS = {
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
}
_OF_ADMINISTRATION = (
    *("version", "kind", "apiVersion", "id", "name", "tenant", "tags", "status", "servers", "dataProduct"),
    *("description", "domain", "support", "price", "team", "roles", "slaDefaultElement", "slaProperties"),
    *("authoritativeDefinitions", "customProperties", "contractCreatedTs", "type"),
)
"""What is said of the contract, and not of its tables."""


def read(path: Path, report: Report) -> Imported | None:
    """Return the objects of a contract."""
    return read_documents(path, _TITLE, _objects, report)


def _objects(contract: Node) -> Iterator[Imported]:
    version = contract.text("apiVersion") or ""
    if contract.text("kind") != "DataContract" or not version:
        raise MisplacedError("the document has to have `kind: DataContract` and an `apiVersion`", ())
    if not version.lstrip("v").startswith("3."):
        raise MisplacedError(f"version {version} is not read; 3.0 and 3.1 are", ("apiVersion",))
    servers = {dialect_of(server.text("type")) for server in contract.nodes("servers")}
    # Types of several systems cannot be told apart.
    dialect = servers.pop() if len(servers) == 1 else None
    head = [f"from a contract of version {version} of the Open Data Contract Standard"]
    said = [key for key in _OF_ADMINISTRATION if key not in ("kind", "apiVersion") and contract.has(key)]
    contract.drop(*_OF_ADMINISTRATION)
    if said:
        head.append(f"not kept of the contract: {', '.join(said)}")
    for object in contract.nodes("schema"):
        yield _Reader(dialect).object(object, head)


class _Reader:
    """Reads one object."""

    def __init__(self, dialect: str | None) -> None:
        self._dialect = dialect
        self._notes = Notes()

    def object(self, node: Node, head: list[str]) -> Imported:
        """Return an object as a dataset."""
        name = node.needed_text("name")
        description = node.text("description")
        keys: list[tuple[int, str]] = []
        fields = [self._property(property, (), keys) for property in node.nodes("properties")]
        tree: Json = {"fields": fields}
        if description:
            tree["extra"] = {DESCRIPTION.key: description}
        node.drop("logicalType")
        comments = [*head, *node.losses()]
        key = [name for _, name in sorted(keys, key=lambda found: found[0])]
        if not mark_key(tree, key):
            comments.append(f"not kept: the primary key {', '.join(key)}, because a part of it may be null")
        return Imported(tree, tuple(comments), name, self._notes)

    def _property(self, node: Node, holder: FieldPath, keys: list[tuple[int, str]]) -> Json:
        logical_name = node.needed_text("name")
        name = node.text("physicalName") or logical_name
        path = (*holder, name)
        if name != logical_name:
            self._notes.add(path, f"its name in the contract is {logical_name}")
        tree, extra = self._slot(node, path, keys)
        return member(name, tree, extra)

    def _slot(self, node: Node, path: FieldPath, keys: list[tuple[int, str]] | None) -> tuple[Json, Json]:
        """Return a type, which may be null unless it is required, and its attributes; the rest becomes notes."""
        description = node.text("description")
        is_key = node.flag("primaryKey")
        position = node.number("primaryKeyPosition")
        is_required = node.flag("required")
        if is_key and keys is not None and len(path) == 1:
            keys.append((position if position is not None and position > 0 else 2**31, str(path[0])))
            is_required = True if is_required is None else is_required
        elif is_key:
            self._notes.add(path, "not kept: primaryKey: true")
        if not node.flag("partitioned"):
            node.drop("partitionKeyPosition")
        else:
            self._notes.add(path, "not kept: partitioned: true")
        tree, extra = self._type(node, path)
        if description:
            extra = {DESCRIPTION.key: description, **extra}
        for loss in node.losses():
            self._notes.add(path, loss)
        return optional(tree, is_required=bool(is_required)), extra

    def _type(self, node: Node, path: FieldPath) -> tuple[Json, Json]:
        logical, physical = node.text("logicalType"), node.text("physicalType")
        options = node.node("logicalTypeOptions") or Node({}, node.path)
        properties, items = node.nodes("properties"), node.node("items")
        found: tuple[Json, Json]
        if properties:
            fields = [self._property(property, path, []) for property in properties]
            found = struct(fields), {}
        elif items is not None:
            tree, extra = self._slot(items, (*path, Part.ITEM), None)
            found = list_of(part(tree, extra)), {}
        else:
            known = type_of_text(physical, self._dialect) if physical is not None else None
            if known is not None and not self._is_vague(logical, options, str(physical)):
                found, physical = self._taken(known, path), None
            else:
                found = self._logical(logical, options, node, path)
        if physical is not None and physical.casefold() not in (str(logical).casefold(), "object", "array"):
            self._notes.add(path, f"not kept: physicalType: {physical}")
        for loss in options.losses():
            self._notes.add(path, loss)
        return found

    def _is_vague(self, logical: str | None, options: Node, physical: str) -> bool:
        """Whether the logical type says more than a physical one of an unknown system: the bits of a number, a zone."""
        if self._dialect is not None:
            return False
        return (
            options.has("format") if logical in ("integer", "number") else physical.casefold() == "timestamp"
        )

    def _taken(self, known: TypeFound, path: FieldPath) -> tuple[Json, Json]:
        self._notes.merge(known.notes, path)
        return known.tree, known.extra

    def _logical(self, logical: str | None, options: Node, node: Node, path: FieldPath) -> tuple[Json, Json]:
        if logical in ("object", "array"):
            self._notes.add(path, _JSON)
            return kind_of(pa.json_())
        if logical == "integer":
            format = options.text("format") or "i32"
            if format in ("i128", "u128"):
                self._notes.add(path, f"not kept: format: {format}, whose numbers may have 39 digits")
                return kind_of(pa.decimal128(38, 0))
            if format not in _INTEGERS:
                raise MisplacedError(f"there is no format {format} of integers", options.path)
            return kind_of(getattr(pa, _INTEGERS[format])())
        if logical == "number":
            return kind_of(pa.float32() if options.text("format") == "f32" else pa.float64())
        if logical == "timestamp":
            # A timestamp that says nothing of its zone is in UTC, by the standard.
            return kind_of(pa.timestamp("us", None if options.flag("timezone") is False else "UTC"))
        if logical == "time":
            if options.flag("timezone"):
                self._notes.add(path, "not kept: timezone: true")
            return kind_of(pa.time64("us"))
        plain = {"string": pa.string, "date": pa.date32, "boolean": pa.bool_}
        if logical in plain:
            return kind_of(plain[logical]())
        if logical is not None:
            raise MisplacedError(f"there is no logicalType {logical}", (*node.path, "logicalType"))
        self._notes.add(path, "the contract does not say its type: set it")
        return kind_of(pa.string())


IMPORTER = Importer("odcs", "contract of the Open Data Contract Standard", read)
