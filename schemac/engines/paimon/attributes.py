"""`paimon.apache.org`: keys, options and richer types of Paimon tables, and what changes of them are.

Layer: engines. Values only.
Source: Paimon's schema specification.
"""

import re
from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from schemac.language.attributes.attribute import Attribute, Facts, Family, Renaming, Role
from schemac.language.attributes.builtin import distinct
from schemac.language.logical.facts import AnyFact


class PaimonFact(AnyFact):
    """Keys, options, types and default values of Paimon tables."""

    PRIMARY_KEYS_CHANGED = "paimon-primary-keys-changed"
    PARTITION_KEYS_CHANGED = "paimon-partition-keys-changed"
    OPTION_SET = "paimon-option-set"
    OPTION_REMOVED = "paimon-option-removed"
    COMMENT_CHANGED = "paimon-comment-changed"
    TYPE_CHANGED = "paimon-type-changed"
    DEFAULT_VALUE_CHANGED = "default-value-changed"


DOMAIN = "paimon.apache.org"
Columns = Annotated[list[str], Field(min_length=1), distinct("a column")]
_TYPE = (
    r"^((VARCHAR|CHAR|VARBINARY|BINARY)\([1-9][0-9]{0,9}\)|(TIME|TIMESTAMP|TIMESTAMP_LTZ)\([0-9]\)"
    r"|VARIANT|MULTISET|BLOB|VECTOR|ARRAY)$"
)
_WITH_LENGTH = frozenset({"char", "varchar", "varbinary"})
_COLUMN_OPTIONS = frozenset(
    {
        *("blob-field", "bucket-key", "clustering.columns", "record-level.time-field", "rowkind.field"),
        *("sequence.field", "vector-field"),
    }
)
_COLUMNS_OPTION = re.compile(r"fields\..+\.sequence-group|file-index\..+\.columns")
"""Options whose values are columns, with commas between."""


def _keeping(type_: str, length: int | None) -> str | None:
    """Return the type of a MULTISET, and of texts and bytes with a length."""
    if length is None:
        return "MULTISET" if type_ == "multiset" else None
    return f"{type_.upper()}({length})" if type_ in _WITH_LENGTH else None


def _renamed_options(options: dict[str, str], old: str, new: str) -> Iterator[Renaming]:
    """Yield the options that name a column: in their value, or in their key as in `fields.<column>.aggregate-function`."""
    for key, value in options.items():
        if key in _COLUMN_OPTIONS or _COLUMNS_OPTION.fullmatch(key):
            names = re.split(r"(\s*,\s*)", value)
            if old in names:
                yield Renaming((key,), "".join(new if name == old else name for name in names))
        steps = key.split(".")
        if steps[0] == "fields" and len(steps) > 2 and old in steps[1].split(","):
            steps[1] = ",".join(new if name == old else name for name in steps[1].split(","))
            yield Renaming((key,), ".".join(steps), is_key=True)


PRIMARY_KEYS = Attribute[list[str]](
    f"{DOMAIN}/primaryKeys",
    Columns,
    "columns of the primary key, in order",
    on_field=False,
    on_schema=True,
    role=Role.PRIMARY_KEY,
    facts=Facts.all(PaimonFact.PRIMARY_KEYS_CHANGED),
    example="[id]",
)
PARTITION_KEYS = Attribute[list[str]](
    f"{DOMAIN}/partitionKeys",
    Columns,
    "columns that the table is partitioned by",
    on_field=False,
    on_schema=True,
    role=Role.PARTITION_KEY,
    facts=Facts.all(PaimonFact.PARTITION_KEYS_CHANGED),
    example="[day]",
)
OPTIONS = Attribute[dict[str, str]](
    f"{DOMAIN}/options",
    dict[str, str],
    "options of the table, as text",
    on_field=False,
    on_schema=True,
    role=Role.OPTIONS,
    renamed=_renamed_options,
    facts=Facts(PaimonFact.OPTION_SET, PaimonFact.OPTION_REMOVED, PaimonFact.OPTION_SET),
    example="{bucket: '4'}",
)
COMMENT = Attribute[str](
    f"{DOMAIN}/comment",
    str,
    "comment of the table",
    on_field=False,
    on_schema=True,
    facts=Facts.all(PaimonFact.COMMENT_CHANGED),
)
DEFAULT_VALUE = Attribute[str](
    f"{DOMAIN}/defaultValue",
    str,
    "default value of the column, as text",
    facts=Facts.all(PaimonFact.DEFAULT_VALUE_CHANGED),
    foreign_keys=("default",),
)
TYPE = Attribute[str](
    f"{DOMAIN}/type",
    Annotated[str, Field(pattern=_TYPE)],
    "Paimon's type, if it is more specific than the kind, such as VARCHAR(20)",
    fits=frozenset(
        {Family.TEXT, Family.BYTES, Family.TIME, Family.TIMESTAMP, Family.LIST, Family.MAP, Family.STRUCT}
    ),
    keeps=_keeping,
    facts=Facts.all(PaimonFact.TYPE_CHANGED),
)
NULLABLE_KEY = Attribute[bool](
    f"{DOMAIN}/nullableKey",
    bool,
    "whether Paimon's type of the map key (for a MULTISET: of the element) allows nulls, as Flink declares it",
    fits=frozenset({Family.MAP}),
)
ATTRIBUTES = (PRIMARY_KEYS, PARTITION_KEYS, OPTIONS, COMMENT, DEFAULT_VALUE, TYPE, NULLABLE_KEY)
