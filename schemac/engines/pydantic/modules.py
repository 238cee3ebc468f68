"""A Python file with models: its classes, their fields, its expressions and the names that it uses; it is parsed and never run.

Layer: engines.
Errors: SC552 for what is not Python.
Source: `__all__` of `pydantic.types`, `pydantic.networks` and `annotated_types`; tests/engines/pydantic/test_vocabulary.py asks for
      each name.
"""

import ast
import json
from collections.abc import Collection, Iterator
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, NamedTuple, Self

from schemac.engines.json_values import UUID_TYPE
from schemac.importers.importer import UnreadableSourceError, first_line
from schemac.language.attributes.builtin import DOMAIN
from schemac.text.source.diagnostics import Located, Region, Report, SourceText, Span
from schemac.text.source.json_object import Json
from schemac.text.source.text import decode_text

BASES = frozenset({"BaseModel", "Record", "LanceModel"})
PLAIN: dict[str, Json] = {
    "bool": {"kind": "Bool"},
    "int": {"kind": "Int64"},
    "float": {"kind": "Float64"},
    "str": {"kind": "String"},
    "bytes": {"kind": "Binary"},
    "date": {"kind": "Date"},
    "datetime": {"kind": "Timestamp", "unit": "Microsecond"},
    "AwareDatetime": {"kind": "Timestamp", "unit": "Microsecond"},
    "NaiveDatetime": {"kind": "Timestamp", "unit": "Microsecond", "timezone": None},
    "time": {"kind": "Time", "unit": "Microsecond"},
    "timedelta": {"kind": "Duration", "unit": "Microsecond"},
    "None": {"kind": "Null"},
    "UUID": UUID_TYPE,
}
PLAIN |= {f"Strict{name.capitalize()}": PLAIN[name] for name in ("bool", "int", "float", "str", "bytes")}
JSON = frozenset({"Any", "object", "JsonValue", "Json", "dict", "Dict"})
LISTS = frozenset({"list", "List", "Sequence", "Iterable", "set", "Set", "frozenset", "FrozenSet"})
MAPS = frozenset({"dict", "Dict", "Mapping", "MutableMapping"})
_SIGNED = {
    "Positive": "exclusiveMinimum",
    "NonNegative": "minimum",
    "Negative": "exclusiveMaximum",
    "NonPositive": "maximum",
}
PLAIN |= {
    f"{sign}{name}": {"kind": kind, "extra": {f"{DOMAIN}/{rule}": 0}}
    for sign, rule in _SIGNED.items()
    for name, kind in (("Int", "Int64"), ("Float", "Float64"))
}
READ = frozenset({"strict", "default", "alias", "description", "json_schema_extra", "deprecated"})
"""Arguments of `Field` that are read elsewhere, or say nothing of values."""
RULES = {
    "ge": "minimum",
    "le": "maximum",
    "gt": "exclusiveMinimum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
    "min_length": "minLength",
    "max_length": "maxLength",
    "pattern": "pattern",
    "regex": "pattern",
    "min_items": "minItems",
    "max_items": "maxItems",
    "unique_items": "uniqueItems",
}
"""Constraints by the arguments of `Field` that say them; of lists, lengths are numbers of items."""

_TEXTS = (
    "EmailStr", "NameEmail", "AnyUrl", "AnyHttpUrl", "FileUrl", "FtpUrl", "HttpUrl", "WebsocketUrl", "AnyWebsocketUrl", "PostgresDsn",
    "CockroachDsn", "AmqpDsn", "RedisDsn", "MongoDsn", "KafkaDsn", "NatsDsn", "MySQLDsn", "MariaDBDsn", "ClickHouseDsn", "SnowflakeDsn",
    "IPvAnyAddress", "IPvAnyInterface", "IPvAnyNetwork", "IPv4Address", "IPv6Address", "IPv4Interface", "IPv6Interface", "IPv4Network",
    "IPv6Network", "SecretStr", "Base64Str", "Base64UrlStr", "ImportString", "FilePath", "DirectoryPath", "NewPath", "SocketPath",
    "Path", "PurePath", "PaymentCardNumber", "Pattern",
)  # fmt: skip
NARROWER: dict[str, Json] = {
    **{name: {"kind": "String"} for name in _TEXTS},
    **{name: {"kind": "Binary"} for name in ("SecretBytes", "Base64Bytes", "Base64UrlBytes")},
    **{name: {"kind": "Date"} for name in ("PastDate", "FutureDate")},
    **{name: {"kind": "Timestamp", "unit": "Microsecond"} for name in ("PastDatetime", "FutureDatetime")},
    **dict.fromkeys(("UUID1", "UUID3", "UUID4", "UUID5", "UUID6", "UUID7", "UUID8"), UUID_TYPE),
    "ByteSize": {"kind": "Int64"},
    "FiniteFloat": {"kind": "Float64"},
}
"""Types whose values are some of those of a type here; which ones is a loss."""
ANNOTATIONS: dict[str, tuple[str, ...]] = {
    **{name: (name.lower(),) for name in ("Gt", "Ge", "Lt", "Le")},
    "Interval": (),
    "MultipleOf": ("multiple_of",),
    "MinLen": ("min_length",),
    "MaxLen": ("max_length",),
    "Len": ("min_length", "max_length"),
}
"""Classes of annotated_types, with the arguments of `Field` that theirs are, in order."""
VALIDATORS = frozenset(
    ["field_validator", "validator", "model_validator", "root_validator", "computed_field", "field_serializer", "model_serializer"]
)  # fmt: skip
"""Decorators of functions of a model that decide about its values."""
CONFIG_READ = frozenset({"title", "json_schema_extra"})
"""Settings of a model that are kept."""


SETTERS = frozenset({"Field", "StringConstraints", *ANNOTATIONS})
"""What is in `Annotated` and narrows values."""


def choices_of(node: ast.expr) -> list[ast.expr] | None:
    """Return what a type is one of: `A | B`, `Optional[A]`, `Union[A, B]`; None for a type that is not a choice."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [*(choices_of(node.left) or [node.left]), *(choices_of(node.right) or [node.right])]
    if isinstance(node, ast.Subscript):
        name = name_of(node.value)
        arguments = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name == "Optional":
            return [arguments[0], ast.Constant(None)]
        if name == "Union":
            return [part for argument in arguments for part in (choices_of(argument) or [argument])]
    return None


def is_none(node: ast.expr) -> bool:
    """Whether an expression is None."""
    return isinstance(node, ast.Constant) and node.value is None


def name_of(node: ast.expr) -> str:
    """Return the last part of a name, also of what is called or subscripted: `Field` of `pydantic.Field(...)`."""
    if isinstance(node, ast.Call):
        return name_of(node.func)
    if isinstance(node, ast.Subscript):
        return name_of(node.value)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def keywords_of(node: ast.Call | ast.ClassDef) -> Json:
    """Return the values of arguments by their keywords."""
    return {keyword.arg: literal(keyword.value) for keyword in node.keywords if keyword.arg is not None}


def settings_of(node: ast.expr | None) -> Json:
    """Return the arguments of `Field`; of a plain default, that."""
    name = name_of(node) if isinstance(node, ast.Call) else ""
    if isinstance(node, ast.Call) and name in ANNOTATIONS:
        words = zip(ANNOTATIONS[name], map(literal, node.args), strict=False)
        return {**dict(words), **keywords_of(node)}
    if isinstance(node, ast.Call) and name in ("Field", "StringConstraints"):
        settings = keywords_of(node)
        if node.args and ast.unparse(node.args[0]) != "...":
            settings["default"] = literal(node.args[0])
        return settings
    if isinstance(node, ast.Constant) and not compiler_metadata(node):
        return {"default": node.value}
    return {}


def compiler_metadata(node: ast.expr) -> Json:
    """Return the metadata that the compiler wrote into a text; nothing for any other expression."""
    try:
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        metadata: Any = json.loads(ast.literal_eval(node)) if is_text else None
    except ValueError:
        return {}
    is_ours = isinstance(metadata, dict) and (
        isinstance(metadata.get("kind"), str) or isinstance(metadata.get("extra"), dict)
    )
    return metadata if is_ours else {}


def written_value(node: ast.Call) -> str | None:
    """Return a number or a date that a call makes, as a manifest writes it; None for any other call."""
    arguments = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
    if len(arguments) < len(node.args):
        return None
    if name_of(node.func) == "Decimal" and len(arguments) == 1:
        return str(arguments[0])
    maker: Any = {"date": date, "datetime": datetime, "time": time}.get(name_of(node.func))
    zones = {keyword.arg: ast.unparse(keyword.value).rpartition(".")[2].upper() for keyword in node.keywords}
    if maker is None or (zones and zones != {"tzinfo": "UTC"}):
        return None
    try:
        return f"{maker(*arguments).isoformat()}{'Z' if zones else ''}"
    except (TypeError, ValueError):
        return None


def literal(node: ast.expr | None) -> Any:
    """Return the value of an expression that is one; its text for any other."""
    if node is None:
        return None
    if isinstance(node, ast.Call) and (written := written_value(node)) is not None:
        return written
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return ast.unparse(node)


class ModelField(NamedTuple):
    """A field of a model."""

    name: str
    annotation: ast.expr
    value: ast.expr | None


class Module:
    """The classes and the names at the top of a file, also those that depend on a condition."""

    def __init__(self, tree: ast.Module, source: SourceText) -> None:
        self.source = source
        self.classes: dict[str, ast.ClassDef] = {}
        self.values: dict[str, ast.expr] = {}
        """What names stand for; a name that is given several things stands for none."""
        self._several: set[str] = set()
        self._imported: dict[str, str] = {}
        """Names of other modules by the names that this one gives them."""
        for node in _top(tree.body):
            if isinstance(node, ast.ClassDef):
                self.classes[node.name] = node
            elif isinstance(node, ast.ImportFrom):
                self._imported |= {name.asname: name.name for name in node.names if name.asname}
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    self._name(target, node.value)
            elif isinstance(node, ast.AnnAssign):
                self._name(node.target, node.value)

    @classmethod
    def read(cls, path: Path, report: Report) -> Self | None:
        """Return the module of a file; None for what is in the report."""
        source = decode_text(path.read_bytes(), str(path), report)
        if source is None:
            return None
        try:
            return cls(ast.parse(source.content), source)
        except SyntaxError as error:
            lines = source.content.splitlines(keepends=True)
            at = sum(map(len, lines[: (error.lineno or 1) - 1])) + max((error.offset or 1) - 1, 0)
            span = Span(at, min(at + 1, len(source.content)))
            reason = f"it is not valid Python: {error.msg}"
            raise UnreadableSourceError(reason, Located(source, span)) from error
        except (ValueError, RecursionError, MemoryError) as error:
            reason = f"it is not valid Python: {first_line(error)}"
            raise UnreadableSourceError(reason) from error

    def _name(self, target: ast.expr | None, value: ast.expr | None) -> None:
        """Record the meaning of a name."""
        if not isinstance(target, ast.Name) or value is None:
            return
        if ast.dump(self.values.get(target.id, value)) != ast.dump(value):
            self._several.add(target.id)
        self.values[target.id] = value
        if target.id in self._several:
            del self.values[target.id]

    def bases(self, class_name: str) -> list[str]:
        """Return the names of a class's bases, those of other modules by the names that they have there."""
        names = [name_of(base) for base in self.classes[class_name].bases]
        return [self._imported.get(name, name) if name not in self.classes else name for name in names]

    def lineage(self, class_name: str) -> list[ast.ClassDef]:
        """Return the classes of the file that a class has its fields from, the most basic first."""
        names: list[str] = []

        def enter(name: str, above: tuple[str, ...]) -> None:
            for base in reversed(self.bases(name)):
                if base in self.classes and base not in above:
                    enter(base, (*above, base))
            if name not in names:
                names.append(name)

        enter(class_name, (class_name,))
        return [self.classes[name] for name in names]

    def descends(self, class_name: str, from_: Collection[str]) -> bool:
        """Whether a class has one of some bases, directly or through others of the file."""
        return any(base in from_ for one in self.lineage(class_name) for base in self.bases(one.name))

    def members(self, class_name: str) -> list[ModelField]:
        """Return the fields of a class, those of its bases first; a field that is declared again keeps its place."""
        members: dict[str, ModelField] = {}
        for one in self.lineage(class_name):
            for statement in one.body:
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    name = statement.target.id
                    is_variable = "ClassVar" in ast.dump(statement.annotation)
                    if not name.startswith("_") and name != "model_config" and not is_variable:
                        members[name] = ModelField(name, statement.annotation, statement.value)
        return list(members.values())

    def region(self, node: ast.expr) -> Region:
        """Return where an expression begins; Python counts its columns in bytes."""
        before = self.source.line(node.lineno).encode()[: node.col_offset].decode(errors="replace")
        column = len(before) + 1
        return Region.within(node.lineno, column, column + len(ast.unparse(node)))


def _top(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a module, also those that depend on a condition; what functions do is not looked at."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            for name in ("body", "orelse", "finalbody"):
                yield from _top(getattr(node, name, []))
            for handler in getattr(node, "handlers", []):
                yield from _top(handler.body)
