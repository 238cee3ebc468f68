"""Which mutants of the rules of verdicts the tests of verdicts let pass: `python -m tests.mutation.run [MODULE…]`."""

import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from itertools import chain, zip_longest

from schemac.registry.engine import engines
from schemac.versions.evolution.judge import JUDGE
from tests.conformance.pypaimon.evolving import Evolution
from tests.conformance.pypaimon.test_evolution import CASES as PAIMON_CASES
from tests.evolution.test_verdicts import GOLDENS
from tests.mutation.mutants import Mutant, mutants_of
from tests.mutation.swap import swapped

RULES = (
    "schemac.versions.evolution.castability",
    "schemac.versions.evolution.judge",
    *(engine.judge.partition(":")[0] for engine in engines() if JUDGE.is_of(engine)),
)
"""Modules that say what a change means."""


def reviewed() -> list[str]:
    """Every line that the tests of verdicts compare with what was reviewed."""
    return list(_lines())


def _lines() -> Iterator[str]:
    yield from chain.from_iterable(lines() for lines in GOLDENS.values())
    # pypaimon itself is asked in another environment; the outcomes of its cases are compared there.
    for name, evolution in _evolutions().items():
        yield f"{name}: {evolution.worst}"


@cache
def _evolutions() -> dict[str, Evolution]:
    return {name: Evolution.of(old, new) for name, (old, new, _) in PAIMON_CASES.items()}


def is_killed(name: str, mutant: Mutant, expected: list[str]) -> bool:
    """Whether a test of verdicts fails with a mutant in the place of a module."""
    module = import_module(name)
    compile(mutant.tree, name, "exec")  # a mutant that is no program would count as noticed
    try:
        with swapped(module, mutant):
            return any(actual != line for actual, line in zip_longest(_lines(), expected))
    except Exception:  # noqa: BLE001 — whatever a mutant raises, a test of verdicts would fail
        return True


def survivors(name: str) -> Iterator[str]:
    """Those mutants of a module that no test of verdicts tells from it."""
    expected = reviewed()
    for mutant in mutants_of(import_module(name)):
        if not is_killed(name, mutant, expected):
            yield f"{name}:{mutant.line}: {mutant.what}"


if __name__ == "__main__":
    for rule in sys.argv[1:] or RULES:
        for survivor in survivors(rule):
            print(survivor, flush=True)
