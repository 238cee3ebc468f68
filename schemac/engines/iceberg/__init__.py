"""Apache Iceberg: table schemas of format 2 and 3.

Layer: engines.
Source: the Iceberg table specification (iceberg.apache.org/spec), and pyiceberg 0.12 for what it does with it.
"""

from schemac.registry.engine import Engine, Format
from schemac.text.source.catalogue import codes_in, error, note

ICEBERG_TYPE = error("SC581", "iceberg-type", "a type that Iceberg cannot hold")
ICEBERG_NAME = error("SC582", "iceberg-name", "names that Iceberg cannot tell apart")
ICEBERG_KEY = error("SC583", "iceberg-key", "a field that cannot identify rows in Iceberg")
ICEBERG_DEFAULT = error("SC584", "iceberg-default", "a default value that Iceberg cannot have")
ICEBERG_LOSS = note("SC585", "iceberg-loss", "something that Iceberg does not keep")
CODES = codes_in(globals())
"""The diagnostics by number; each has a page in `pages/`."""

ENGINE = Engine(
    "iceberg",
    "Iceberg",
    position=60,
    artifacts="schemac.engines.iceberg.artifact:TARGET",
    judge="schemac.engines.iceberg.judge:JUDGE",
    tables="schemac.engines.iceberg.tables:TABLES",
    row_reader="schemac.engines.iceberg.live_table:ROW_READER",
    table_help="iceberg://CATALOG/NAMESPACE.TABLE in a catalog of pyiceberg, or an Iceberg table's folder",
    domain="iceberg.apache.org",
    attributes="schemac.engines.iceberg.attributes:ATTRIBUTES",
    codes="schemac.engines.iceberg:CODES",
    pages="schemac.engines.iceberg.pages",
    formats=(
        Format(
            "iceberg",
            "schemac.engines.iceberg.reader:IMPORTER",
            recognizes="schemac.engines.iceberg.reader:is_source",
        ),
    ),
)
