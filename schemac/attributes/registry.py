"""Every known attribute.

Layer: attributes.
"""

from typing import Any

from schemac.attributes import arrow, iceberg, lance, odf, own, paimon, spark
from schemac.attributes.attribute import Attribute

ATTRIBUTES: dict[str, Attribute[Any]] = {
    attribute.key: attribute
    for domain in (arrow, odf, lance, spark, paimon, iceberg, own)
    for attribute in domain.ATTRIBUTES
}
"""All attributes of the closed domains by key."""

OPEN: dict[str, Attribute[Any]] = {odf.ARCHETYPE.key: odf.ARCHETYPE}
"""Known attributes of domains that stay open: checked where they occur, but others may stand beside them."""

DOMAINS = (arrow.DOMAIN, odf.DOMAIN, lance.DOMAIN, spark.DOMAIN, paimon.DOMAIN, iceberg.DOMAIN, own.DOMAIN)
"""Domains in which an unknown name is an error."""


def known(key: str) -> Attribute[Any] | None:
    """Return the attribute of a key, or None where the key is foreign or unknown."""
    return ATTRIBUTES.get(key) or OPEN.get(key)


def domain_of(key: str) -> str:
    """Return the part of a key before the slash."""
    return key.partition("/")[0]
