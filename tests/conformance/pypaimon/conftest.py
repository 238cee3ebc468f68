"""One pypaimon for all tests of a session."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.pypaimon.client import PYTHON, Paimon


@pytest.fixture(scope="session")
def paimon() -> Iterator[Paimon]:
    """The real pypaimon, which answers questions."""
    if not PYTHON.exists():
        pytest.skip(f"{PYTHON.parent.parent.name} is not there; `make test` makes it")
    server = Paimon()
    yield server
    server.close()


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    """A folder for tables."""
    return tmp_path / "warehouse"
