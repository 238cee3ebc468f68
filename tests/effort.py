"""How many examples of a law, and how many of many cases, are tried: a part of them in an ordinary run, all under `make test-long`.

Shape: `max_examples` of the profile is how many of a hundred are made, from the same strategies. `make test-long` runs the laws
with the profile `full`; laws that also have a run of thousands are marked `long` there.
"""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

FEWEST = 4

# No test judges how long something takes: on a busy machine an example may take any time.
settings.register_profile("schemac", deadline=None, max_examples=12)
settings.register_profile("full", deadline=None, max_examples=100)


def law(examples: int) -> settings:
    """Return the settings of a law that has this many examples at full size, the same ones each time."""
    share = settings().max_examples
    return settings(
        max_examples=max(FEWEST, examples * share // 100),
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )


def every_nth(cases: Iterable[Any], n: int) -> list[Any]:
    """Return cases of which an ordinary run has the first and every n-th one after it; the others are `long`."""
    return [
        pytest.param(case, marks=() if number % n == 0 else pytest.mark.long)
        for number, case in enumerate(cases)
    ]
