"""The diagnostics of Iceberg; each has a page in `pages/`.

Layer: engines.
"""

from schemac.source.code import Code, Severity

ICEBERG_TYPE = Code("SC581", "iceberg-type", Severity.ERROR, "a type that Iceberg cannot hold")
ICEBERG_NAME = Code("SC582", "iceberg-name", Severity.ERROR, "names that Iceberg cannot tell apart")
ICEBERG_KEY = Code("SC583", "iceberg-key", Severity.ERROR, "a field that cannot identify rows in Iceberg")
ICEBERG_DEFAULT = Code("SC584", "iceberg-default", Severity.ERROR, "a default value that Iceberg cannot have")
ICEBERG_LOSS = Code("SC585", "iceberg-loss", Severity.NOTE, "something that Iceberg does not keep")
CODES = (ICEBERG_TYPE, ICEBERG_NAME, ICEBERG_KEY, ICEBERG_DEFAULT, ICEBERG_LOSS)
"""By number."""
