"""The refresh option of the golden files; where programs find the compiler; and one worker for all that needs Spark."""

import os
from collections.abc import Generator
from fnmatch import fnmatch
from pathlib import Path

import pytest
from hypothesis import settings

from tests import effort  # noqa: F401  the profiles
from tests.golden import Golden

settings.load_profile("schemac")

# Programs that tests start, wherever they run, are those of this tree, whether it is installed or not.
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, (str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH")))
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--refresh", metavar="GLOB", help="rewrite the golden files of the corpus cases whose path matches"
    )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compares with the files of one case, or writes them where `--refresh` names the case."""
    pattern = request.config.getoption("--refresh")

    def is_refreshed(case: str) -> bool:
        return pattern is not None and (fnmatch(case, pattern) or fnmatch(case, f"*/{pattern}"))

    return Golden(is_refreshed)


@pytest.hookimpl(wrapper=True)  # before the workers read the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None]:
    """Spark is started once, so its tests go to one worker, which begins with them."""
    for item in items:
        if item.get_closest_marker("spark") is not None:
            item.add_marker(pytest.mark.xdist_group("spark"))
    items.sort(key=lambda item: item.get_closest_marker("spark") is None)
    yield
