"""Recognizes files that are data contracts.

Layer: engines.
"""

from pathlib import Path

from schemac.importers.sniffing import has_top_keys


def is_contract(path: Path) -> bool:
    """Tell whether a file says of which version of the specification it is."""
    return has_top_keys(path, rb"dataContractSpecification[\"']?\s*:")
