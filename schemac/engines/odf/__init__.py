"""Open Data Fabric: the standard form of a schema, as text and as FlatBuffers.

Layer: engines.
"""

from schemac.registry.engine import Engine, Format

ENGINE = Engine(
    "odf",
    "ODF",
    position=50,
    is_default=True,
    is_optional=True,
    artifacts="schemac.engines.odf.artifact:TARGET",
    judge="schemac.engines.odf.judge:JUDGE",
    codes="schemac.engines.odf.codes:CODES",
    pages="schemac.engines.odf.pages",
    formats=(Format("odf", "schemac.engines.odf.reader:IMPORTER", (".yaml", ".yml", ".bin")),),
)
