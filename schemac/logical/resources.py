"""What the resources of a project are called.

Layer: logical.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    # For start-up time: a name needs no schema.
    from schemac.logical.dataset import LogicalDataset


@dataclass(frozen=True, slots=True)
class Named:
    """What is known of a dataset as long as nobody needs more."""

    name: str
    is_source: bool = False


R = TypeVar("R", Named, "LogicalDataset")


def with_distinct_names(resources: Sequence[R]) -> list[R]:
    """Return the resources, where a Source with the name of a Dataset is called `<name>.source`."""
    dataset_names = {resource.name.casefold() for resource in resources if not resource.is_source}
    return [
        replace(resource, name=f"{resource.name}.source")
        if resource.is_source and resource.name.casefold() in dataset_names
        else resource
        for resource in resources
    ]
