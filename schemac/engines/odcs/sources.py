"""Recognizes files that are contracts of the standard.

Layer: engines.
"""

from pathlib import Path

from schemac.importers.sniffing import has_top_keys


def is_contract(path: Path) -> bool:
    """Tell whether a file has the kind of a contract, and the version of the standard."""
    return has_top_keys(path, rb"kind[\"']?\s*:\s*[\"']?DataContract\b", rb"apiVersion[\"']?\s*:")
