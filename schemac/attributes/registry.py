"""Every known attribute.

Layer: attributes.
Source: the domains of the core stand here, those of engines are found through the engines' `attributes`.
"""

from typing import Any

from schemac.attributes import arrow, lance, odf, own
from schemac.attributes.attribute import Attribute, Role
from schemac.registry.engine import Capability
from schemac.registry.installed import engines

_OF_ENGINES: Capability[tuple[Attribute[Any], ...]] = Capability("attributes", tuple)
_ENGINES = tuple(engine for engine in engines() if _OF_ENGINES.is_of(engine))

ATTRIBUTES: dict[str, Attribute[Any]] = {
    attribute.key: attribute
    for attributes in (
        *(domain.ATTRIBUTES for domain in (arrow, odf, lance)),
        *map(_OF_ENGINES.of, _ENGINES),
        own.ATTRIBUTES,
    )
    for attribute in attributes
}
"""All attributes of the closed domains by key."""

OPEN: dict[str, Attribute[Any]] = {odf.ARCHETYPE.key: odf.ARCHETYPE}
"""Known attributes of domains that stay open: checked where they occur, but others may stand beside them."""

DOMAINS = (arrow.DOMAIN, odf.DOMAIN, lance.DOMAIN, *(engine.domain for engine in _ENGINES), own.DOMAIN)
"""Domains in which an unknown name is an error."""


def known(key: str) -> Attribute[Any] | None:
    """Return the attribute of a key, or None where the key is foreign or unknown."""
    return ATTRIBUTES.get(key) or OPEN.get(key)


def domain_of(key: str) -> str:
    """Return the part of a key before the slash."""
    return key.partition("/")[0]


def roles(domain: str) -> dict[Role, Attribute[Any]]:
    """Return the attributes of a domain that have a role in the table."""
    return {a.role: a for a in ATTRIBUTES.values() if a.role is not None and domain_of(a.key) == domain}
