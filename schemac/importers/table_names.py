"""Names of datasets for the tables of a script.

Layer: importers.
"""

from collections import Counter
from collections.abc import Sequence


def dataset_names(tables: Sequence[tuple[str, ...]]) -> list[str | None]:
    """Return namespace and table of names with catalogs, with the catalog only where two would be the same; None for no name."""
    short = ["/".join(name[-2:]).casefold() for name in tables]
    counts = Counter(short)
    names: list[str | None] = []
    for table, name in zip(tables, short, strict=True):
        holders = table[:-1] if counts[name] > 1 else table[-2:-1]
        names.append("/".join(filter(None, (".".join(holders), *table[-1:]))) or None)
    return names


def repeated(names: Sequence[str | None]) -> str | None:
    """Return the first name that occurs twice, whatever its case; None if there is none."""
    folded = [name.casefold() for name in names if name is not None]
    return next((name for name in names if name is not None and folded.count(name.casefold()) > 1), None)
