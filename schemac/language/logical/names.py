"""The names of datasets, and of the system columns that the standard gives each of them.

Layer: language.
Shape: values without a schema, for those who compile nothing.
Source: the standard's DatasetVocabulary and SetVocab for names and their defaults. RFC-016 and the standard's Parquet table have UInt64
      and UInt8; the reference implementation builds and expects Int64 and Int32.
"""

from collections.abc import Sequence
from dataclasses import Field, dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeVar


class Resource(Protocol):
    """What a manifest declares under a name; a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def name(self) -> str:
        """The name of the dataset."""

    @property
    def is_source(self) -> bool:
        """Whether this is what a source reads."""


@dataclass(frozen=True, slots=True)
class DatasetName:
    """The name of a dataset, and where it is, without its schema."""

    name: str
    is_source: bool = False


R = TypeVar("R", bound=Resource)


def with_distinct_names(resources: Sequence[R]) -> list[R]:
    """Return the resources, where a Source with the name of a Dataset is called `<name>.source`."""
    dataset_names = {resource.name.casefold() for resource in resources if not resource.is_source}
    return [
        replace(resource, name=f"{resource.name}.source")
        if resource.is_source and resource.name.casefold() in dataset_names
        else resource
        for resource in resources
    ]


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
