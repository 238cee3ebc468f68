"""Apache Iceberg: table schemas of format 2 and 3.

Layer: engines.
Source: the Iceberg table specification (iceberg.apache.org/spec), and pyiceberg 0.12 for what it does with it.
"""

from schemac.registry.engine import Engine, Format

ENGINE = Engine(
    "iceberg",
    "Iceberg",
    position=60,
    artifacts="schemac.engines.iceberg.artifact:TARGET",
    judge="schemac.engines.iceberg.judge:JUDGE",
    tables="schemac.engines.iceberg.tables.capability:TABLES",
    row_reader="schemac.engines.iceberg.rows:ROW_READER",
    table_help="iceberg://CATALOG/NAMESPACE.TABLE in a catalog of pyiceberg, or an Iceberg table's folder",
    domain="iceberg.apache.org",
    attributes="schemac.engines.iceberg.attributes:ATTRIBUTES",
    codes="schemac.engines.iceberg.codes:CODES",
    pages="schemac.engines.iceberg.pages",
    formats=(
        Format(
            "iceberg",
            "schemac.engines.iceberg.reader:IMPORTER",
            recognizes="schemac.engines.iceberg.sources:is_source",
        ),
    ),
)
