"""The diagnostics of Iceberg; each has a page in `pages/`.

Layer: engines.
"""

from schemac.text.source.code import codes_in, error, note

ICEBERG_TYPE = error("SC581", "iceberg-type", "a type that Iceberg cannot hold")
ICEBERG_NAME = error("SC582", "iceberg-name", "names that Iceberg cannot tell apart")
ICEBERG_KEY = error("SC583", "iceberg-key", "a field that cannot identify rows in Iceberg")
ICEBERG_DEFAULT = error("SC584", "iceberg-default", "a default value that Iceberg cannot have")
ICEBERG_LOSS = note("SC585", "iceberg-loss", "something that Iceberg does not keep")
CODES = codes_in(globals())
"""By number."""
