"""The columns that every dataset of the standard carries besides its data.

Layer: logical.
Source: the standard's DatasetVocabulary and SetVocab for names and their defaults. RFC-016 and the standard's Parquet table
have UInt64 and UInt8; the reference implementation builds and expects Int64 and Int32.
"""

from typing import Literal, NamedTuple

Variant = Literal["rfc", "kamu"]
VARIANTS: dict[str, tuple[str, str]] = {"rfc": ("UInt64", "UInt8"), "kamu": ("Int64", "Int32")}
"""Kinds of the offset and of the operation, as the standard has them and as the reference implementation has."""


class SystemColumns(NamedTuple):
    """What the system columns of a dataset are called, in their order."""

    offset: str = "offset"
    operation: str = "op"
    system_time: str = "system_time"
    event_time: str = "event_time"


SETTINGS = ("offsetColumn", "operationTypeColumn", "systemTimeColumn", "eventTimeColumn")
"""The properties of SetVocab, in the same order."""


class Naming(NamedTuple):
    """The names of a dataset's system columns, and which of them its manifest gives."""

    names: SystemColumns = SystemColumns()
    explicit: frozenset[str] = frozenset()
