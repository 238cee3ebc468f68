"""Names that Iceberg cannot distinguish.

Layer: engines.
Source: `index_by_name` of pyiceberg and `IndexByName` of Java: a field is found by its full name, which joins the names
from the column down with dots, and in which elements, keys and values are called so.
"""

from collections.abc import Iterator, Sequence

from schemac.engines.iceberg.types import IcebergSchema

Path = Sequence[str]
NAME_MAPPING = "schema.name-mapping.default"
"""The table property that says which field a column of a file without ids is."""


def full_name(path: Path) -> str:
    """Return the name by which Iceberg finds a field."""
    return ".".join(path)


def collisions(schema: IcebergSchema) -> Iterator[tuple[Path, Path]]:
    """Fields whose full name an earlier one has, with that one first."""
    known: dict[str, Path] = {}
    for path, _ in schema.preorder():
        first = known.setdefault(full_name(path), path)
        if first is not path:
            yield first, path
