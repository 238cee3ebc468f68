"""Apache Arrow: schemas in IPC form, and the rules of those who read Arrow and Parquet files.

Layer: engines.
"""

from schemac.registry.engine import Engine, Format
from schemac.text.source.catalogue import codes_in, note

ARROW_LOSS = note("SC531", "arrow-loss", "something that the Arrow artifact does not keep")
CODES = codes_in(globals())
"""The diagnostics by number; each has a page in `pages/`."""

ENGINE = Engine(
    "arrow",
    "Arrow",
    position=10,
    is_default=True,
    artifacts="schemac.engines.arrow.artifact:TARGET",
    judge="schemac.engines.arrow.judge:JUDGE",
    row_reader="schemac.engines.arrow.reader:ROW_READER",
    codes="schemac.engines.arrow:CODES",
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
