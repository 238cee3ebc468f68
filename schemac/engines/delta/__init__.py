"""Delta Lake: tables as their log tells of them; they are read, not written.

Layer: engines.
Source: PROTOCOL.md of delta-io/delta.
"""

from schemac.registry.engine import Engine, Format

ENGINE = Engine(
    "delta",
    "Delta Lake",
    position=70,
    documents="schemac.engines.delta.log:DOCUMENTS",
    formats=(
        Format(
            "delta", "schemac.engines.delta.reader:IMPORTER", recognizes="schemac.engines.delta.log:is_source"
        ),
    ),
)
