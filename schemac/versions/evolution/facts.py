"""All facts: those of the core, and those of engines.

Layer: versions.
Shape: a fact of an engine says that one of its attributes changed. Other engines see it as a change of an attribute that they do not know,
unless their judge has a rule for it. So a new engine needs no change in the others.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from schemac.language.logical.facts import AnyFact, Fact
from schemac.registry.engine import Engine, EngineError, load_as
from schemac.registry.installed import engines
from schemac.versions.evolution.changes import Change


@cache
def facts() -> dict[str, AnyFact]:
    """Return all facts by their text, those of the core first. Raises EngineError."""
    return {str(fact): fact for fact in (*Fact, *_bringing())}


def as_seen_by(name: str, change: Change) -> Change:
    """Return a change as an engine sees it: a fact of another engine becomes an attribute that was added, removed or changed."""
    if _bringing().get(change.fact, name) == name:
        return change
    return replace(change, fact=attribute_fact(change.old, change.new))


def attribute_fact(before: object, after: object) -> Fact:
    """Return the fact for a change of an unknown attribute; a value of None is an absent attribute."""
    if before is None:
        return Fact.ATTRIBUTE_ADDED
    return Fact.ATTRIBUTE_REMOVED if after is None else Fact.ATTRIBUTE_CHANGED


@cache
def _bringing() -> dict[AnyFact, str]:
    """Return the facts that engines bring, with the engine of each. Raises EngineError."""
    engines_by_fact: dict[AnyFact, str] = {}
    known_facts = set(map(str, Fact))
    for engine in engines():
        for fact in _engine_facts(engine):
            if str(fact) in known_facts:
                raise EngineError(f"the engine {engine.name} has a fact {fact}, which is already used")
            known_facts.add(str(fact))
            engines_by_fact[fact] = engine.name
    return engines_by_fact


def _engine_facts(engine: Engine) -> Iterable[AnyFact]:
    if not engine.facts:
        return ()
    what = f"`facts` of the engine {engine.name}"
    fact_type = load_as(engine.facts, type, what)
    if not issubclass(fact_type, AnyFact):
        raise EngineError(f"{what} ({engine.facts}) is not an enumeration of AnyFact")
    return tuple(fact_type)
