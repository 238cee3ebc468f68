"""Apache Arrow: schemas in IPC form, and the rules of those who read Arrow and Parquet files.

Layer: engines.
"""

from schemac.registry.engine import Engine, Format

ENGINE = Engine(
    "arrow",
    "Arrow",
    position=10,
    is_default=True,
    artifacts="schemac.engines.arrow.artifact:TARGET",
    judge="schemac.engines.arrow.judge:JUDGE",
    row_reader="schemac.engines.arrow.rows:ROW_READER",
    codes="schemac.engines.arrow.codes:CODES",
    pages="schemac.engines.arrow.pages",
    formats=(
        Format(
            "arrow",
            "schemac.engines.arrow.reader:IMPORTER",
            (".arrow", ".arrows", ".feather", ".ipc"),
            magic=b"ARROW1",
        ),
    ),
)
