"""Checks of attributes that engines bring.

Layer: language.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from schemac.language.logical.findings import Findings
from schemac.language.logical.schema_fields import SchemaField
from schemac.registry.engine import Capability
from schemac.registry.installed import blamed, engines


class Checks(NamedTuple):
    """Checks of an engine's attributes that apply to every schema, whatever it is built for."""

    field: Callable[[SchemaField, Findings], None]
    """Checks one field that has attributes of closed domains; those that are not sound by themselves have been taken out of it."""


CHECKS = Capability("checks", Checks)


def run_engine_checks(field: SchemaField, findings: Findings) -> None:
    """Run the checks of all engines on one field. Raises EngineError."""
    for name, checks in _all():
        with blamed(name):
            checks.field(field, findings)


@cache
def _all() -> tuple[tuple[str, Checks], ...]:
    return tuple([(engine.name, CHECKS.of(engine)) for engine in engines() if CHECKS.is_of(engine)])
