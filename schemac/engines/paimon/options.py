"""Texts that Paimon reads by rules of its own: the keys and options of a table, and the default values of columns.

Layer: engines.
Shape: the options `primary-key` and `partition` become keys, and are options no more. A default is a text that Paimon casts to the
      column's type; where it would keep less than the author wrote (a text that is cut, a number that becomes null, an hour 25), the
      text is refused here.
Source: `Schema`, `CoreOptions.IMMUTABLE_OPTIONS` and `SchemaManager` of github.com/apache/paimon for options; for defaults
      `DefaultValueUtils` and the string rules of `CastExecutors`, each held against what Paimon 0.9.0 makes of such texts.
"""

import re
from collections.abc import Mapping
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from typing import Any, NamedTuple

from schemac.engines.paimon import attributes as paimon
from schemac.engines.paimon.types import BITS, PaimonType
from schemac.language.attributes.attribute import Attribute
from schemac.text.source.json_object import TreePath

IMMUTABLE = frozenset(
    {
        *("type", "bucket-key", "bucket-function.type", "data-file.path-directory", "merge-engine"),
        *("sequence.snapshot-ordering", "aggregation.remove-record-on-delete"),
        *("partial-update.remove-record-on-delete", "partial-update.remove-record-on-sequence-group"),
        *("rowkind.field", "primary-key", "primary-key.nullable", "partition"),
        *("dynamic-bucket.initial-buckets", "force-lookup", "row-tracking.enabled"),
        *("data-evolution.enabled", "index-file-in-data-file-dir", "blob-field", "blob-descriptor-field"),
        *("blob-view-field", "pk-clustering-override"),
    }
)
"""Fixed from the first snapshot on."""
NULL_TO_NOT_NULL = "alter-column-null-to-not-null.disabled"
EXPLICIT_CASTS = "disable-explicit-type-casting"
BEFORE_PARTITION = "add-column-before-partition"
OF_FILES = (
    *("file.", "parquet.", "orc.", "avro.", "vector.file.", "file-index.", "target-file-size"),
    *("changelog-file.", "manifest.", "metadata.stats-"),
)
"""What the names of options start with that are about how files are written."""
_ONE_WAY = frozenset({"ignore-delete", "ignore-update-before"})


def is_true(options: Mapping[str, str], key: str, default: bool = False) -> bool:
    """Whether an option is `true`."""
    return options.get(key, str(default)).strip().lower() == "true"


def option_error(key: str, old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """Return why Paimon refuses to change an option of a table with data; empty if it does not."""
    if key in IMMUTABLE:
        return f"the option `{key}` cannot change once the table has data"
    if key == "bucket":
        if key not in new:
            return "the option for a number of buckets cannot be removed"
        if "-1" in (old.get(key, "-1").strip(), new[key].strip()):
            return "a table with a number of buckets cannot become one without, nor the reverse"
    if key in _ONE_WAY and is_true(old, key) and not is_true(new, key):
        return f"the option `{key}` cannot be removed"
    if key == "deletion-vectors.enabled" and not is_true(old, "deletion-vectors.modifiable"):
        return f"the option `{key}` can change only if `deletion-vectors.modifiable` allows it"
    return ""


def after_renames(options: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    """Return the options after columns were renamed: Paimon renames the columns in them, too."""

    def renamed(text: str) -> str:
        return ",".join([names.get(name, name) for name in text.split(",")])

    updated: dict[str, str] = {}
    for key, value in options.items():
        if key.startswith("fields."):
            columns, dot, rest = key.removeprefix("fields.").partition(".")
            key = f"fields.{renamed(columns)}{dot}{rest}"
            value = renamed(value) if rest in ("sequence-group", "nested-key") else value
        elif key in ("bucket-key", "sequence.field"):
            value = renamed(value)
        updated[key] = value
    return updated


OPTION_OF = {paimon.PRIMARY_KEYS.key: "primary-key", paimon.PARTITION_KEYS.key: "partition"}
"""The option that says the same as an attribute."""


class KeyColumn(NamedTuple):
    """A column of a key, and where the schema names it."""

    name: str
    location: TreePath


class TableOptions(NamedTuple):
    """The keys and options of a table, as the attributes of its schema give them."""

    primary: tuple[KeyColumn, ...]
    partition: tuple[KeyColumn, ...]
    options: dict[str, str]
    duplicates: tuple[str, ...]
    """Keys of attributes that an option says again."""

    @property
    def primary_names(self) -> tuple[str, ...]:
        """The columns of the primary key."""
        return tuple([column.name for column in self.primary])

    @property
    def partition_names(self) -> tuple[str, ...]:
        """The columns that the table is partitioned by."""
        return tuple([column.name for column in self.partition])

    @property
    def is_of_first_version(self) -> bool:
        """Whether this is an append table as Paimon made them up to 0.7: one bucket, which no key leads to.

        Paimon reads such a table where its schema file has the version 1, for which it asks for no bucket key. Then the
        format has to be named, for in that version its default is another one.
        """
        is_plain = not self.primary and "bucket-key" not in self.options
        return is_plain and self.options.get("bucket", "").strip() == "1" and "file.format" in self.options

    def is_set(self, option: str) -> bool:
        """Whether an option is `true`."""
        return is_true(self.options, option)


def read_table(extra: Mapping[str, Any]) -> TableOptions:
    """Return the keys and options of a schema; the options that name keys are keys here."""
    options = dict(paimon.OPTIONS.read(extra) or {})
    duplicates: list[str] = []

    def key(attribute: Attribute[list[str]]) -> tuple[KeyColumn, ...]:
        """Return the columns of a key, from its attribute or else from its option."""
        option = OPTION_OF[attribute.key]
        text = options.pop(option, None)
        named = attribute.read(extra)
        if named is not None:
            duplicates.extend([attribute.key] if text is not None else [])
            return tuple([KeyColumn(name, ("extra", attribute.key, i)) for i, name in enumerate(named)])
        names = [name.strip() for name in (text or "").split(",")]
        return tuple([KeyColumn(name, ("extra", paimon.OPTIONS.key, option)) for name in names if name])

    primary, partition = key(paimon.PRIMARY_KEYS), key(paimon.PARTITION_KEYS)
    return TableOptions(primary, partition, options, tuple(duplicates))


_DAY = "([0-9]{1,2})-([0-9]{1,2})"
_CLOCK = r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:\.[0-9]{0,9})?"
_FORMS = {
    "BOOLEAN": ("(?ai:t|true|y|yes|1|f|false|n|no|0)", "true"),
    **dict.fromkeys(BITS, (r"([+-]?[0-9]+)(?:\.[0-9]*)?", "42")),
    **dict.fromkeys(
        ("FLOAT", "DOUBLE"),
        (r"\s*[+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?)\s*", "1.5"),
    ),
    "DECIMAL": (r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?", "1.5"),
    "DATE": (rf"\s*([0-9]{{1,4}})-{_DAY}(?: .*)?\s*", "2026-01-31"),
    "TIME": (
        r"\s*(?:[01]?[0-9]|2[0-3]):[0-5]?[0-9](?::[0-5]?[0-9](?:\.[0-9]{0,9})?)?\s*",
        "12:30:00",
    ),
    **dict.fromkeys(
        ("TIMESTAMP", "TIMESTAMP_LTZ"), (rf"([0-9]{{4}})-{_DAY}(?: {_CLOCK})?", "2026-01-31 12:30:00")
    ),
}
"""The form of a default value of each type that has any, and an example; of texts and bytes only the length counts."""


def default_error(type_: PaimonType, written: str) -> str | None:
    """Return why Paimon cannot take a text as the default value of a type; None if it can."""
    is_quoted = len(written) > 1 and written.startswith("'") and written.endswith("'")
    text = written[1:-1] if is_quoted else written
    if type_.root in ("CHAR", "VARCHAR", "BINARY", "VARBINARY"):
        length = len(text if type_.root.endswith("CHAR") else text.encode())
        return None if length <= type_.parameters[0] else f"it is longer than a {type_.type_text()}"
    if type_.root not in _FORMS:
        return f"Paimon has no default values for {type_.type_text()}"
    form, example = _FORMS[type_.root]
    match = re.fullmatch(form, text)
    has_date = type_.root in ("DATE", "TIMESTAMP", "TIMESTAMP_LTZ")
    if match is None or (has_date and not _is_timestamp(match.groups())):
        return f"it is not a valid {type_.type_text()}, such as {example}"
    has_room = type_.root != "DECIMAL" or _is_in_decimal(text, *type_.parameters)
    if type_.root in BITS:
        limit = 2 ** (BITS[type_.root] - 1)
        has_room = -limit <= int(match[1]) < limit
    return None if has_room else f"it is too large for a {type_.type_text()}"


def _is_in_decimal(text: str, precision: int, scale: int) -> bool:
    """Whether a number, rounded to the scale, has at most this many digits."""
    with localcontext() as context:
        context.prec = precision
        try:
            Decimal(text).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
        except InvalidOperation:
            return False
    return True


def _is_timestamp(parts: tuple[str | None, ...]) -> bool:
    """Whether these parts are a date, or a date and a time, that the calendar has."""
    numbers = [int(part) for part in parts if part is not None]
    try:
        date(*numbers) if len(numbers) == 3 else datetime(*numbers)  # type: ignore[arg-type]  # noqa: DTZ001
    except ValueError:
        return False
    return True
