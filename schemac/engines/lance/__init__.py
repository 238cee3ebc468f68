"""Lance: tables, their schemas as protobufs, and their encodings.

Layer: engines.
"""

from schemac.registry.engine import Engine, Format, Trait

ENGINE = Engine(
    "lance",
    "Lance",
    position=20,
    is_default=True,
    artifacts="schemac.engines.lance.artifact:TARGET",
    optional_artifacts=("lance/schema.txtpb",),
    numbering="schemac.engines.lance.numbering:NUMBERING",
    judge="schemac.engines.lance.judge:JUDGE",
    tables="schemac.engines.lance.tables.capability:TABLES",
    table_help="a Lance table",
    sink="schemac.engines.lance.runs.sink:SINK",
    source="schemac.engines.lance.runs.source:SOURCE",
    column_sink="schemac.engines.lance.runs.column_sink:COLUMN_SINK",
    row_writer="schemac.engines.lance.rows:ROW_WRITER",
    row_reader="schemac.engines.lance.rows:ROW_READER",
    table_suffix=".lance",
    domain="lance.org",
    facts="schemac.engines.lance.attributes:LanceFact",
    codes="schemac.engines.lance.codes:CODES",
    pages="schemac.engines.lance.pages",
    traits=frozenset({Trait.LACKS_RUN_ENDS, Trait.COMPRESSES_RUNS, Trait.ROUNDS}),
    attributes="schemac.engines.lance.attributes:ATTRIBUTES",
    arrow_form="schemac.engines.lance.arrow_form:FORM",
    checks="schemac.engines.lance.checks:CHECKS",
    formats=(
        Format(
            "lance",
            "schemac.engines.lance.reader:IMPORTER",
            (".lance", ".binpb", ".txtpb"),
            recognizes="schemac.engines.lance.sources:is_table",
        ),
    ),
)
