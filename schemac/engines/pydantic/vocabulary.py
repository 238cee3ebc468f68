"""Names of pydantic, of Python's own types and of annotated_types, and what they are here.

Layer: engines.
Source: `__all__` of `pydantic.types`, `pydantic.networks` and `annotated_types`; tests/engines/pydantic/test_vocabulary.py asks for each.
"""

from schemac.attributes.own import DOMAIN
from schemac.engines.json_values import UUID_TYPE
from schemac.source.json_object import Json

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
    "StrictBool": {"kind": "Bool"},
    "StrictInt": {"kind": "Int64"},
    "StrictFloat": {"kind": "Float64"},
    "StrictStr": {"kind": "String"},
    "StrictBytes": {"kind": "Binary"},
}
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
    "Gt": ("gt",),
    "Ge": ("ge",),
    "Lt": ("lt",),
    "Le": ("le",),
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
