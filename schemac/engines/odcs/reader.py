"""Open Data Contract Standard: the objects of a contract, a dataset each.

Layer: engines.
Shape: a column has its physical name, and the physical type where that is known in the dialect of the contract's server; else
the logical type. Everything else that the contract says of a column is a comment above it.
Errors: SC1xx for what is not YAML, SC551 unsupported-arrow-type, SC552 unreadable-source.
Source: the JSON Schema of the standard, version 3.1.0, and its page "Schema".
"""

from collections.abc import Iterator
from functools import partial
from operator import itemgetter
from pathlib import Path

from schemac.importers import datasets, declarations
from schemac.importers.importer import ImportedSchema, Importer
from schemac.importers.sources import has_top_keys
from schemac.language.logical.model import FieldPath, Part, dotted
from schemac.language.physical import arrow_type, pa
from schemac.text.source.json_object import Json

_INTEGERS = {
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
}
_OF_ADMINISTRATION = (
    *("version", "id", "name", "tenant", "tags", "status", "servers", "dataProduct", "description", "domain"),
    *("support", "price", "team", "roles", "slaDefaultElement", "slaProperties", "authoritativeDefinitions"),
    *("customProperties", "contractCreatedTs", "type"),
)
"""What is said of the contract, and not of its tables, in the order of the standard."""


def is_contract(path: Path) -> bool:
    """Return whether a file has the kind of a contract, and the version of the standard."""
    return has_top_keys(path, rb"kind[\"']?\s*:\s*[\"']?DataContract\b", rb"apiVersion[\"']?\s*:")


def _objects(contract: declarations.SourceNode) -> Iterator[ImportedSchema]:
    """Yield one dataset per object. Raises MisplacedError for another document or an unsupported version."""
    version = contract.text("apiVersion") or ""
    if contract.text("kind") != "DataContract" or not version:
        message = "the document has to have `kind: DataContract` and an `apiVersion`"
        raise declarations.MisplacedError(message, ())
    is_second = version.lstrip("v").startswith("2.")
    if not (is_second or version.lstrip("v").startswith("3.")):
        message = f"version {version} is not supported; 2.2, 3.0 and 3.1 are"
        help = "if it has the form of one of these, write that version, such as `apiVersion: v3.1.0`"
        raise declarations.MisplacedError(message, ("apiVersion",), help)
    head = [f"from a contract of version {version} of the Open Data Contract Standard"]
    if is_second:
        systems = {contract.text("driver", "sourceSystem")}
    else:
        systems = {server.text("type") for server in contract.nodes("servers")}
    dialects = set(map(declarations.dialect_of, systems))
    # Types of several systems cannot be told apart.
    dialect = dialects.pop() if len(dialects) == 1 else None
    tables = contract.nodes("dataset" if is_second else "schema")
    ignored_keys = [] if is_second else [key for key in _OF_ADMINISTRATION if contract.has(key)]
    contract.drop(*ignored_keys)
    ignored_keys += map(str, contract.unread())
    if ignored_keys:
        head.append(f"not kept of the contract: {', '.join(ignored_keys)}")
    for table in tables:
        table = table.calling(_TABLE) if is_second else table
        yield _Reader(dialect, is_second=is_second).object(table, head)


_TABLE = {"name": "table", "properties": "columns"}
_COLUMN = {"name": "column", "primaryKey": "isPrimaryKey", "unique": "isUnique", "required": "isNullable"}
"""What version 2 calls keys of version 3; `isNullable` says the contrary."""
_SILENT_IF_FALSE = ("partitionStatus", "clusterStatus", "criticalDataElementStatus", "encryptedColumnName")
_SILENT_IF_MINUS_ONE = ("partitionKeyPosition", "clusterKeyPosition")


class _Reader(declarations.DatasetReader):
    """Reads one object."""

    def __init__(self, dialect: str | None, *, is_second: bool) -> None:
        super().__init__()
        self._dialect = dialect
        self._is_second = is_second
        self._keys: list[tuple[int, str]] = []
        """Columns of the primary key, each with its position in it."""

    def object(self, node: declarations.SourceNode, head: list[str]) -> ImportedSchema:
        """Return an object as a dataset."""
        name = node.needed_text("name")
        fields = [self._property(property, ()) for property in node.nodes("properties")]
        node.drop("logicalType")
        self.key = [name for _, name in sorted(self._keys, key=itemgetter(0))]
        return self.dataset(name, fields, node, head)

    def _property(self, node: declarations.SourceNode, holder: FieldPath) -> Json:
        """Return a field under its physical name; note the logical name if it differs."""
        if self._is_second:
            node = node.calling(_COLUMN)
            node.drop(*(key for key in _SILENT_IF_FALSE if node.peek(key) is False))
            node.drop(*(key for key in _SILENT_IF_MINUS_ONE if node.peek(key) == -1))
        logical_name = node.needed_text("name")
        name = node.text("physicalName") or logical_name
        path = (*holder, name)
        if name != logical_name:
            self.notes.add(path, f"its name in the contract is {logical_name}")
        return datasets.member(name, self._field(node, path))

    def _field(self, node: declarations.SourceNode, path: FieldPath) -> Json:
        """Return a type with its attributes, which may be null unless it is required; the rest becomes notes."""
        is_key = node.flag("primaryKey")
        position = node.number("primaryKeyPosition")
        is_required = node.flag("required")
        if self._is_second:
            is_required = not is_required
        if is_key and len(path) == 1:
            self._keys.append((position if position is not None and position > 0 else 2**31, str(path[0])))
            is_required = True if is_required is None else is_required
        elif is_key:
            self.notes.add(path, "not kept: primaryKey: true")
        if not node.flag("partitioned"):
            node.drop("partitionKeyPosition")
        else:
            self.notes.add(path, "not kept: partitioned: true")
        if node.flag("unique"):
            self.constraints.add_unique([dotted(path)], f"unique: true of {dotted(path)}")
        return self.finished(node, self._type(node, path), path, is_required=bool(is_required))

    def _type(self, node: declarations.SourceNode, path: FieldPath) -> Json:
        """Return a type with its attributes, from its properties, items, physical type or else logical type."""
        logical, physical = node.text("logicalType"), node.text("physicalType")
        options = node.node("logicalTypeOptions") or declarations.SourceNode({}, node.path)
        properties, items = node.nodes("properties"), node.node("items")
        if properties:
            tree = datasets.struct([self._property(property, path) for property in properties])
        elif items is not None:
            tree = datasets.list_of(self._field(items, (*path, Part.ITEM)))
        else:
            known = declarations.type_of_text(physical, self._dialect) if physical is not None else None
            # The logical type may say more than the physical type of an unknown system: the bits of a number, a zone.
            is_vague = self._dialect is None and (
                options.has("format")
                if logical in ("integer", "number")
                else str(physical).casefold() == "timestamp"
            )
            if known is not None and not is_vague:
                self.notes.merge(known.notes, path)
                tree, physical = known.tree, None
            else:
                tree = self._logical(node, options, path)
        if physical is not None and physical.casefold() not in (str(logical).casefold(), "object", "array"):
            self.notes.add(path, f"not kept: physicalType: {physical}")
        self.constraints.add(path, declarations.rules(options))
        self.note_losses(options, path)
        return tree

    def _logical(
        self, node: declarations.SourceNode, options: declarations.SourceNode, path: FieldPath
    ) -> Json:
        """Return a logical type with its attributes; note a missing one. Raises MisplacedError for an unknown one."""
        logical = node.text("logicalType")
        if logical in ("object", "array"):
            return self.json(path)
        if logical == "integer":
            format = options.text("format") or "i32"
            if format in ("i128", "u128"):
                self.notes.add(path, f"not kept: format: {format}, whose numbers may have 39 digits")
                return datasets.kind_of(pa.decimal128(38, 0))
            if format not in _INTEGERS:
                raise declarations.MisplacedError(f"there is no format {format} of integers", options.path)
            return datasets.kind_of(arrow_type(_INTEGERS[format]))
        if logical == "number":
            return datasets.kind_of(pa.float32() if options.text("format") == "f32" else pa.float64())
        if logical == "timestamp":
            # A timestamp that says nothing of its zone is in UTC, by the standard.
            return datasets.kind_of(pa.timestamp("us", None if options.flag("timezone") is False else "UTC"))
        if logical == "time":
            if options.flag("timezone"):
                self.notes.add(path, "not kept: timezone: true")
            return datasets.kind_of(pa.time64("us"))
        plain = {"string": pa.string, "date": pa.date32, "boolean": pa.bool_}
        if logical in plain:
            return datasets.kind_of(plain[logical]())
        if logical is None:
            return self.unknown(path, "the contract does not specify its type")
        if not self._is_second:
            message = f"there is no logicalType {logical}"
            raise declarations.MisplacedError(message, (*node.path, "logicalType"))
        known = declarations.type_of_text(logical, self._dialect)
        return known.tree if known else self.unknown(path, f"there is no kind for its type {logical}")


IMPORTER = Importer(
    "odcs",
    "contract of the Open Data Contract Standard",
    partial(declarations.read_documents, "a contract of ODCS", _objects),
)
