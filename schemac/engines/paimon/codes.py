"""The diagnostics of Paimon; each has a page in `pages/`.

Layer: engines.
"""

from schemac.text.source.code import codes_in, error, note, warning

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
"""By number."""
