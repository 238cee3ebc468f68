"""Apache Paimon: tables and their schema files.

Layer: engines.
"""

from schemac.registry.engine import Engine, Format, Trait

ENGINE = Engine(
    "paimon",
    "Paimon",
    position=40,
    is_default=True,
    artifacts="schemac.engines.paimon.artifact:TARGET",
    numbering="schemac.engines.paimon.numbering:NUMBERING",
    judge="schemac.engines.paimon.judge:JUDGE",
    tables="schemac.engines.paimon.tables.capability:TABLES",
    table_help="a Paimon table's folder",
    domain="paimon.apache.org",
    attributes="schemac.engines.paimon.attributes:ATTRIBUTES",
    facts="schemac.engines.paimon.attributes:PaimonFact",
    is_optional=True,
    is_judged_on_request=True,
    codes="schemac.engines.paimon.codes:CODES",
    pages="schemac.engines.paimon.pages",
    documents="schemac.engines.paimon.sources:DOCUMENTS",
    traits=frozenset({Trait.REFUSES_SCALE_ABOVE_PRECISION, Trait.LACKS_RUN_ENDS, Trait.IS_NOT_READ}),
    formats=(
        Format(
            "paimon",
            "schemac.engines.paimon.reader:IMPORTER",
            recognizes="schemac.engines.paimon.sources:is_source",
        ),
    ),
)
