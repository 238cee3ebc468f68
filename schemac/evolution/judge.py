"""Facts into verdicts.

Floor: 10 (evolution).
"""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType

from schemac.evolution.changes import JUDGED_FACTS, Change
from schemac.evolution.readers import for_old_readers
from schemac.evolution.side import Pair
from schemac.evolution.verdict import NO_VERDICT, Judgement, Verdict

_ENGINES = ("arrow", "lance", "spark", "paimon", "odf")
JUDGES = tuple(name for name in _ENGINES if find_spec(f"schemac.evolution.engines.{name}") is not None)
"""The engines that are asked, in the order of the targets."""


def load(engines: Iterable[str]) -> None:
    """Load what the judges need, before a process is copied; loading takes longer than judging."""
    for engine in engines:
        _judge_of(engine)


def judge(
    changes: Iterable[Change],
    sides: Pair | None,
    engines: Iterable[str],
    versions: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Verdict, ...]:
    """What each engine makes of each change; `versions` names those of engines whose answer depends on it."""
    judges = [(engine, _judge_of(engine, versions.get(engine))) for engine in engines]
    return tuple(
        Verdict(change, engine, _asked(ask, change, sides), for_old_readers(change))
        for change in changes
        for engine, ask in judges
    )


def _asked(ask: Callable[[Change, Pair | None], Judgement], change: Change, sides: Pair | None) -> Judgement:
    """An engine's answer; it has one only to the facts that it was asked about when its judge was written."""
    return ask(change, sides) if change.fact in JUDGED_FACTS else NO_VERDICT


def _judge_of(engine: str, version: str | None = None) -> Callable[[Change, Pair | None], Judgement]:
    module = import_module(f"schemac.evolution.engines.{engine}")
    ask: Callable[[Change, Pair | None], Judgement] = (
        module.judge if version is None else module.judge_of(version)
    )
    return ask
