"""Facts into verdicts.

Layer: evolution.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from schemac.evolution.changes import JUDGED_FACTS, Change
from schemac.evolution.facts import as_seen_by
from schemac.evolution.readers import for_old_readers
from schemac.evolution.verdict import NO_VERDICT, Judgement, Verdict
from schemac.evolution.version_pair import VersionPair
from schemac.logical.facts import AnyFact
from schemac.registry.engine import Capability
from schemac.registry.installed import blamed, engine, engines

Ask = Callable[[Change, VersionPair | None], Judgement]
"""An engine's answer to a change; without version pair, to its fact alone."""


@dataclass(frozen=True, slots=True)
class Judge:
    """An engine's verdicts."""

    ask: Ask
    of_version: Callable[[str], Ask] | None = None
    """The judge for a version of the engine, where verdicts depend on it. Raises ValueError for what is not a version."""
    facts: frozenset[AnyFact] = JUDGED_FACTS
    """The facts that it has an answer to: those of the core, and its own. An engine of another distribution names all that it was
    written for, so that one that joins later is refused."""


JUDGE: Capability[Judge] = Capability("judge", Judge)


def judged_engines() -> tuple[str, ...]:
    """Return the names of the engines that judge changes, in the order of all engines."""
    return JUDGE.names(engines())


def load(names: Iterable[str]) -> None:
    """Load what the judges need, before a process is copied; loading takes longer than judging."""
    for name in names:
        _judge_of(name)


def judge(
    changes: Iterable[Change],
    pair: VersionPair | None,
    names: Iterable[str],
    versions: Mapping[str, str] = MappingProxyType({}),
    *,
    is_by_any_way: bool = False,
) -> tuple[Verdict, ...]:
    """Return what each engine makes of each change; `versions` names those of engines whose answer depends on it.

    By any way, an engine that alters the tables of another refuses no change that the other one can make.
    """
    names = tuple(names)
    others = {engine(name).alters for name in names if is_by_any_way} - {""}
    judges = {
        name: partial(_asked, name, _judge_of(name, versions.get(name)), JUDGE.of(engine(name)).facts)
        for name in dict.fromkeys((*names, *sorted(others)))
    }
    verdicts: list[Verdict] = []
    for change in changes:
        judged = {name: ask(change, pair) for name, ask in judges.items()}
        readers = for_old_readers(change)
        for name in names:
            direct, other = judged[name], judged.get(engine(name).alters) if is_by_any_way else None
            verdicts.append(
                Verdict(change, name, direct if other is None else _easier(direct, other), readers)
            )
    return tuple(verdicts)


def _easier(direct: Judgement, other: Judgement) -> Judgement:
    """Return what it takes to change a table by one way or another."""
    if other.outcome.rank >= direct.outcome.rank:
        return direct
    return Judgement(other.outcome, f"through `schemac apply`: {direct.reason}", other.way_out)


def _asked(
    name: str, ask: Ask, facts: frozenset[AnyFact], change: Change, pair: VersionPair | None
) -> Judgement:
    """Return an engine's answer; it has one only to the facts that it was asked about when its judge was written."""
    visible_change = change if change.fact in facts else as_seen_by(name, change)
    if visible_change.fact not in facts:
        return NO_VERDICT
    with blamed(name):
        return ask(visible_change, pair)


def _judge_of(name: str, version: str | None = None) -> Ask:
    judge = JUDGE.of(engine(name))
    if version is None:
        return judge.ask
    assert judge.of_version is not None, f"verdicts of {name} do not depend on a version"
    return judge.of_version(version)
