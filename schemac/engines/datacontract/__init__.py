"""Data Contract Specification: the models of a datacontract.yaml; they are read, not written.

Layer: engines.
"""

from typing import TYPE_CHECKING

from schemac.registry.engine import Engine, Format

if TYPE_CHECKING:
    from pathlib import Path

ENGINE = Engine(
    "datacontract",
    "Data Contract Specification",
    position=130,
    formats=(
        Format(
            "datacontract",
            "schemac.engines.datacontract.reader:IMPORTER",
            recognizes="schemac.engines.datacontract:is_contract",
        ),
    ),
)


def is_contract(path: "Path") -> bool:
    """Return whether a file has the version of the specification."""
    from schemac.importers.sources import has_top_keys  # for start-up time

    return has_top_keys(path, rb"dataContractSpecification[\"']?\s*:")
