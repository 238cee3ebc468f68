"""A change, and what is to be found of it."""

from dataclasses import dataclass

from schemac.language.logical.facts import AnyFact
from tests.conformance.manifest_types import Manifest


@dataclass(frozen=True)
class Case:
    """A change with its name, which says what is done."""

    name: str
    old: Manifest
    new: Manifest
    facts: tuple[AnyFact, ...]
    earlier: tuple[Manifest, ...] = ()
    """Versions before the old one, in a lock with both."""
    between: tuple[Manifest, ...] = ()
    """Versions after the old one and before the new one, in a lock with both."""
