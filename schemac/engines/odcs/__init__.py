"""Open Data Contract Standard: contracts of version 3; they are read, not written.

Layer: engines.
"""

from typing import TYPE_CHECKING

from schemac.registry.engine import Engine, Format

if TYPE_CHECKING:
    from pathlib import Path

ENGINE = Engine(
    "odcs",
    "Open Data Contract Standard",
    position=120,
    formats=(
        Format("odcs", "schemac.engines.odcs.reader:IMPORTER", recognizes="schemac.engines.odcs:is_contract"),
    ),
)


def is_contract(path: "Path") -> bool:
    """Return whether a file has the kind of a contract, and the version of the standard."""
    from schemac.importers.sources import has_top_keys  # for start-up time

    return has_top_keys(path, rb"kind[\"']?\s*:\s*[\"']?DataContract\b", rb"apiVersion[\"']?\s*:")
