"""The tests of verdicts notice mistakes in the rules of verdicts.

Shape: every mutant of a rule is put in the place of the rule; one that no test of verdicts notices survives. Those that survive
today are bounds that no two types meet, and a row of a table that other modules have copied when they were loaded. A change of
the rules may have no more survivors than before, else a case is missing in `tests/evolution`.
"""

import ast
from importlib import import_module
from pathlib import Path

import pytest

from schemac.language.logical.facts import Fact
from schemac.versions.evolution.changes import Change, Outcome
from schemac.versions.evolution.judge import for_old_readers
from tests.mutation import lot
from tests.mutation.mutants import Mutant, mutants, mutants_of
from tests.mutation.run import RULES, is_killed, reviewed, survivors
from tests.mutation.swap import swapped

MOST_SURVIVORS = {
    "schemac.versions.evolution.castability": 5,
    "schemac.versions.evolution.judge": 1,
    "schemac.engines.lance.judge": 3,
    "schemac.engines.paimon.judge": 2,
}
"""Survivors of each rule; without an entry there may be none. Those of Lance are met by kinds of one's own (`tests/unit/test_kinds.py`)."""

SOURCE = """
_TABLE = frozenset({Fact.A, Fact.B})

def judge(change):
    if change.a and change.b < 1:
        return SAFE
    match change.fact:
        case Fact.A if change.c:
            return Judgement(Outcome.REFUSED)
        case Fact.B:
            return Castability.NEVER
    return refused("so")

ROWS = {Fact.A: Judgement(Outcome.REFUSED)}
"""


def test_make_each_kind_of_mistake() -> None:
    assert [(mutant.line, mutant.what) for mutant in mutants(SOURCE)] == [
        (2, "without Fact.A"),
        (2, "without Fact.B"),
        (5, "not: change.a and change.b < 1"),
        (8, "not: change.c"),
        (8, "without case Fact.A"),
        (10, "without case Fact.B"),
        (5, "without: change.a"),
        (5, "without: change.b < 1"),
        (6, "SAFE becomes METADATA"),
        (12, "refused becomes SAFE"),
        (5, "change.b < 1: LtE"),
        (11, "Castability.NEVER becomes EQUAL"),
        (9, "Outcome.REFUSED becomes SAFE"),
        (14, "without Fact.A"),
        (14, "Outcome.REFUSED becomes SAFE"),
    ]


def test_make_programs() -> None:
    for mutant in mutants(SOURCE):
        compile(mutant.tree, mutant.what, "exec")


def test_swap_a_rule_and_put_it_back() -> None:
    module = import_module("schemac.versions.evolution.judge")
    named = Change(Fact.UNIT_CHANGED, "rides", "fare", None, "m")
    wrong = next(mutant for mutant in mutants_of(module) if mutant.what == "not: change.old is None")
    assert for_old_readers(named).outcome is Outcome.SAFE
    with swapped(module, wrong):
        assert for_old_readers(named).outcome is Outcome.REFUSED
    assert for_old_readers(named).outcome is Outcome.SAFE


def test_swap_what_a_judge_is_made_of() -> None:
    """Tables and closures too: without a mistake they judge alike, with one they do not."""
    name = "schemac.engines.arrow.judge"
    module, expected = import_module(name), reviewed()
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    assert not is_killed(name, Mutant(0, "nothing", ast.parse(source)), expected)
    for mistake in ("not: judgement.outcome is changes.Outcome.REFUSED", "without Fact.BECAME_REQUIRED"):
        wrong = next(mutant for mutant in mutants_of(module) if mutant.what.startswith(mistake))
        assert is_killed(name, wrong, expected)


def test_notice_a_wrong_rule() -> None:
    name = "schemac.engines.odf.judge"
    expected = reviewed()
    assert is_killed(name, next(mutants_of(import_module(name))), expected)
    assert reviewed() == expected


@pytest.mark.long
@pytest.mark.parametrize("name", RULES)
def test_leave_few_mistakes_unnoticed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = list(survivors(name))
    with capsys.disabled():
        print(f"\n{name}: {len(found)} survivors", *found, sep="\n  ")
    assert len(found) <= MOST_SURVIVORS.get(name, 0)


def test_every_room_has_tests_that_are_to_notice() -> None:
    rooms = {folder.name for folder in lot.PACKAGE.iterdir() if (folder / "__init__.py").is_file()}
    assert rooms == set(lot.TESTS)
    for room, names in lot.TESTS.items():
        missing = [name for name in names if "{" not in name and not (lot.ROOT / "tests" / name).exists()]
        assert not missing, room
