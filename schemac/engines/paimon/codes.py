"""The diagnostics of Paimon; each has a page in `pages/`.

Layer: engines.
"""

from schemac.source.code import Code, Severity

PAIMON_TYPE = Code("SC561", "paimon-type", Severity.ERROR, "a type that Paimon cannot represent")
PAIMON_NAME = Code("SC562", "paimon-name", Severity.ERROR, "a column name that Paimon reserves")
PAIMON_KEY = Code("SC563", "paimon-key", Severity.ERROR, "a key that Paimon does not allow")
PAIMON_BUCKET = Code("SC564", "paimon-bucket", Severity.ERROR, "a bucket setting that Paimon refuses")
PAIMON_OPTION = Code("SC565", "paimon-option", Severity.ERROR, "an option that contradicts the table")
PAIMON_DEFAULT = Code("SC566", "paimon-default", Severity.ERROR, "a default value that Paimon cannot read")
PAIMON_FORMAT = Code(
    "SC567", "paimon-format", Severity.ERROR, "a type that the table's file format cannot store"
)
PAIMON_DESCRIPTION = Code(
    "SC568", "paimon-description", Severity.ERROR, "a description that Paimon reads as a directive"
)
PAIMON_LEFT_OUT = Code("SC569", "paimon-left-out", Severity.WARNING, "a dataset that is built without Paimon")
PAIMON_RELEASE = Code(
    "SC570", "paimon-release", Severity.WARNING, "a type that only newer releases of Paimon can store"
)
PAIMON_LOSS = Code("SC576", "paimon-loss", Severity.NOTE, "something that Paimon does not keep")
CODES = (
    PAIMON_TYPE,
    PAIMON_NAME,
    PAIMON_KEY,
    PAIMON_BUCKET,
    PAIMON_OPTION,
    PAIMON_DEFAULT,
    PAIMON_FORMAT,
    PAIMON_DESCRIPTION,
    PAIMON_LEFT_OUT,
    PAIMON_RELEASE,
    PAIMON_LOSS,
)
"""By number."""
