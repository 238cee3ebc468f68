"""Data Contract Specification: the models of a datacontract.yaml; they are read, not written.

Layer: engines.
"""

from schemac.registry.engine import Engine, Format

ENGINE = Engine(
    "datacontract",
    "Data Contract Specification",
    position=130,
    formats=(
        Format(
            "datacontract",
            "schemac.engines.datacontract.reader:IMPORTER",
            recognizes="schemac.engines.datacontract.reader:is_contract",
        ),
    ),
)
