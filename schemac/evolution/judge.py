"""Facts into verdicts.

Floor: 10 (evolution).
"""

from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.util import find_spec

from schemac.evolution.changes import Change
from schemac.evolution.readers import for_old_readers
from schemac.evolution.side import Pair
from schemac.evolution.verdict import Judgement, Verdict

_ENGINES = ("arrow", "lance", "spark", "paimon", "odf")
JUDGES = tuple(name for name in _ENGINES if find_spec(f"schemac.evolution.engines.{name}") is not None)
"""The engines that are asked, in the order of the targets."""


def load(engines: Iterable[str]) -> None:
    """Load what the judges need, before a process is copied; loading takes longer than judging."""
    for engine in engines:
        _judge_of(engine)


def judge(changes: Iterable[Change], sides: Pair | None, engines: Iterable[str]) -> tuple[Verdict, ...]:
    """What each engine makes of each change."""
    judges = [(engine, _judge_of(engine)) for engine in engines]
    return tuple(
        Verdict(change, engine, ask(change, sides), for_old_readers(change))
        for change in changes
        for engine, ask in judges
    )


def _judge_of(engine: str) -> Callable[[Change, Pair | None], Judgement]:
    ask: Callable[[Change, Pair | None], Judgement] = import_module(
        f"schemac.evolution.engines.{engine}"
    ).judge
    return ask
