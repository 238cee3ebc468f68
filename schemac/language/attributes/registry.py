"""Every known attribute.

Layer: language.
Source: the domains of the core stand here, those of engines are found through the engines' `attributes`.
"""

from functools import cache
from typing import Any

from schemac.language.attributes import arrow, builtin, constraints
from schemac.language.attributes.attribute import Attribute, Extra, Role
from schemac.registry.engine import Engine, EngineError, engines, load_as

_CORE = (arrow.DOMAIN, builtin.ODF_DOMAIN)


def _engine_attributes(engine: Engine) -> tuple[Attribute[Any], ...]:
    """Return the attributes of an engine. Raises EngineError."""
    what = f"`attributes` of the engine {engine.name}"
    attributes = load_as(engine.attributes, tuple, what)
    others = [other.domain for other in _BRINGING[: _BRINGING.index(engine)]]
    if not engine.domain or engine.domain in {*others, *_CORE, builtin.DOMAIN}:
        raise EngineError(f"{what} need a `domain` of their own, not '{engine.domain}'")
    for attribute in attributes:
        if not isinstance(attribute, Attribute) or domain_of(attribute.key) != engine.domain:
            raise EngineError(
                f"{what} ({engine.attributes}) has an item that is not an Attribute of {engine.domain}"
            )
    return attributes


def domain_of(key: str) -> str:
    """Return the part of a key before the slash."""
    return key.partition("/")[0]


_BRINGING = tuple(engine for engine in engines() if engine.attributes)
"""Engines that bring attributes."""

ATTRIBUTES: dict[str, Attribute[Any]] = {
    attribute.key: attribute
    for attributes in (
        arrow.ATTRIBUTES,
        builtin.ODF_ATTRIBUTES,
        *map(_engine_attributes, _BRINGING),
        builtin.ATTRIBUTES,
        constraints.ATTRIBUTES,
    )
    for attribute in attributes
}
"""All attributes of the closed domains by key."""

OPEN: dict[str, Attribute[Any]] = {builtin.ARCHETYPE.key: builtin.ARCHETYPE}
"""Known attributes of domains that stay open: checked where they occur, but others may be next to them."""

DOMAINS = (*_CORE, *(engine.domain for engine in _BRINGING), builtin.DOMAIN)
"""Domains in which an unknown name is an error."""

_TELLING = frozenset(ATTRIBUTES) - {builtin.DESCRIPTION.key}


def are_telling(extra: Extra) -> bool:
    """Whether any attribute affects the compiler, unlike a description; most fields have none."""
    return not _TELLING.isdisjoint(extra)


def known(key: str) -> Attribute[Any] | None:
    """Return the attribute of a key, or None if the key is foreign or unknown."""
    return ATTRIBUTES.get(key) or OPEN.get(key)


def roles(domain: str) -> dict[Role, Attribute[Any]]:
    """Return the attributes of a domain that have a role."""
    return {a.role: a for a in ATTRIBUTES.values() if a.role is not None and domain_of(a.key) == domain}


@cache
def of_role(role: Role) -> tuple[Attribute[Any], ...]:
    """Return the attributes of all domains that have a role."""
    return tuple([attribute for attribute in ATTRIBUTES.values() if attribute.role is role])


def has_role(extra: Extra, role: Role) -> bool:
    """Whether one of these attributes has a role."""
    return any(attribute.key in extra for attribute in of_role(role))
