"""Open Data Fabric: the standard form of a schema, as text and as FlatBuffers.

Layer: engines.
"""

from schemac.registry.engine import Engine, Format
from schemac.text.source.catalogue import codes_in, error, note, warning

ODF_LOSS = note("SC532", "odf-loss", "something that the ODF standard cannot express")
ODF_KIND = error("SC533", "odf-kind", "a kind that the ODF standard does not have")
ODF_LEFT_OUT = warning("SC534", "odf-left-out", "a dataset that is built without ODF")
CODES = codes_in(globals())
"""The diagnostics by number; each has a page in `pages/`."""

ENGINE = Engine(
    "odf",
    "ODF",
    position=50,
    is_default=True,
    is_optional=True,
    artifacts="schemac.engines.odf.artifact:TARGET",
    judge="schemac.engines.odf.judge:JUDGE",
    codes="schemac.engines.odf:CODES",
    pages="schemac.engines.odf.pages",
    formats=(Format("odf", "schemac.engines.odf.reader:IMPORTER", (".yaml", ".yml", ".bin")),),
)
