"""Lance: tables, their schemas as protobufs, and their encodings.

Layer: engines.
"""

import os
from typing import TYPE_CHECKING

from schemac.registry.engine import Engine, Format, Trait
from schemac.text.source.catalogue import codes_in, error, note, warning

if TYPE_CHECKING:
    from pathlib import Path

# fmt: off
LANCE_TYPE = error("SC501", "lance-type", "a type that Lance cannot store")
LANCE_NAME = error("SC502", "lance-name", "a field name that Lance does not allow")
LANCE_NAME_RISK = warning("SC503", "lance-name-risk", "a field name that Lance accepts but that causes problems")
LANCE_STORAGE_VERSION = error("SC504", "lance-storage-version", "a type that needs a newer storage version")
LANCE_STRUCTURE = error("SC505", "lance-structure", "a structure that Lance accepts but cannot read back")
LANCE_READ_RISK = warning("SC506", "lance-read-risk", "a structure that Lance reads only partly")
LANCE_UNSTABLE_VERSION = warning("SC507", "lance-unstable-version", "a storage version that is not for production")
LANCE_LOSS = note("SC511", "lance-loss", "something that Lance does not keep")
LANCE_NULL_VECTOR = note("SC554", "lance-null-vector", "a nullable vector with non-nullable items")
CODES = codes_in(globals())
"""The diagnostics by number; each has a page in `pages/`."""

ENGINE = Engine(
    "lance",
    "Lance",
    position=20,
    is_default=True,
    artifacts="schemac.engines.lance.artifact:TARGET",
    optional_artifacts=("lance/schema.txtpb",),
    numbering="schemac.engines.lance.fields:NUMBERING",
    judge="schemac.engines.lance.judge:JUDGE",
    tables="schemac.engines.lance.tables.apply:TABLES",
    table_help="a Lance table",
    sink="schemac.engines.lance.runs.sink:SINK",
    source="schemac.engines.lance.dataset:SOURCE",
    column_sink="schemac.engines.lance.runs.column_sink:COLUMN_SINK",
    row_writer="schemac.engines.lance.dataset:ROW_WRITER",
    row_reader="schemac.engines.lance.dataset:ROW_READER",
    table_suffix=".lance",
    domain="lance.org",
    facts="schemac.engines.lance.attributes:LanceFact",
    codes="schemac.engines.lance:CODES",
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
            recognizes="schemac.engines.lance:is_table",
        ),
    ),
)


def is_table(path: "Path") -> bool:
    """Return whether a path is the folder of a Lance table, which has its versions in `_versions`."""
    return os.path.isdir(path / "_versions")
