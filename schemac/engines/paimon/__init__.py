"""Apache Paimon: tables and their schema files.

Layer: engines.
"""

from schemac.registry.engine import Engine, Format, Trait
from schemac.text.source.catalogue import codes_in, error, note, warning

PAIMON_TYPE = error("SC561", "paimon-type", "a type that Paimon cannot represent")
PAIMON_NAME = error("SC562", "paimon-name", "a column name that Paimon reserves")
PAIMON_KEY = error("SC563", "paimon-key", "a key that Paimon does not allow")
PAIMON_BUCKET = error("SC564", "paimon-bucket", "a bucket setting that Paimon refuses")
PAIMON_OPTION = error("SC565", "paimon-option", "an option that contradicts the table")
PAIMON_DEFAULT = error("SC566", "paimon-default", "a default value that Paimon cannot read")
PAIMON_FORMAT = error("SC567", "paimon-format", "a type that the table's file format cannot store")
PAIMON_DESCRIPTION = error("SC568", "paimon-description", "a description that Paimon reads as a directive")
PAIMON_LEFT_OUT = warning("SC569", "paimon-left-out", "a dataset that is built without Paimon")
PAIMON_RELEASE = warning("SC570", "paimon-release", "a type that only newer releases of Paimon can store")
PAIMON_LOSS = note("SC576", "paimon-loss", "something that Paimon does not keep")
CODES = codes_in(globals())
"""The diagnostics by number; each has a page in `pages/`."""

ENGINE = Engine(
    "paimon",
    "Paimon",
    position=40,
    is_default=True,
    artifacts="schemac.engines.paimon.artifact:TARGET",
    numbering="schemac.engines.paimon.table_schema:NUMBERING",
    judge="schemac.engines.paimon.judge:JUDGE",
    tables="schemac.engines.paimon.tables:TABLES",
    table_help="a Paimon table's folder",
    domain="paimon.apache.org",
    attributes="schemac.engines.paimon.attributes:ATTRIBUTES",
    facts="schemac.engines.paimon.attributes:PaimonFact",
    is_optional=True,
    is_judged_on_request=True,
    codes="schemac.engines.paimon:CODES",
    pages="schemac.engines.paimon.pages",
    documents="schemac.engines.paimon.reader:DOCUMENTS",
    traits=frozenset({Trait.REFUSES_SCALE_ABOVE_PRECISION, Trait.LACKS_RUN_ENDS, Trait.IS_NOT_READ}),
    formats=(
        Format(
            "paimon",
            "schemac.engines.paimon.reader:IMPORTER",
            recognizes="schemac.engines.paimon.reader:is_source",
        ),
    ),
)
