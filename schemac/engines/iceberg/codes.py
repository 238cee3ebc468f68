"""Diagnostic codes of Iceberg.

Layer: engines.
"""

from schemac.source.diagnostic import Code, Severity

ICEBERG_TYPE = Code("SC581", "iceberg-type", Severity.ERROR, "a type that Iceberg cannot hold")
ICEBERG_NAME = Code("SC582", "iceberg-name", Severity.ERROR, "names that Iceberg cannot tell apart")
ICEBERG_KEY = Code("SC583", "iceberg-key", Severity.ERROR, "a field that cannot identify rows in Iceberg")
ICEBERG_DEFAULT = Code("SC584", "iceberg-default", Severity.ERROR, "a default value that Iceberg cannot have")
ICEBERG_LEFT_OUT = Code(
    "SC585", "iceberg-left-out", Severity.WARNING, "a dataset that is built without Iceberg"
)
ICEBERG_LOSS = Code("SC586", "iceberg-loss", Severity.NOTE, "something that Iceberg does not keep")
