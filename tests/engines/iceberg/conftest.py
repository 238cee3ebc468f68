"""A catalog of pyiceberg on SQLite, with its files beside it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CATALOG = "local"


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The catalog `local`, which `load_catalog` finds as well; its namespace is `n`."""
    pytest.importorskip("pyiceberg", reason="pyiceberg is not installed: pip install 'schemac[iceberg]'")
    from pyiceberg import catalog as module
    from pyiceberg.utils.config import Config

    settings = {
        "TYPE": "sql",
        "URI": f"sqlite:///{tmp_path}/catalog.db",
        "WAREHOUSE": f"file://{tmp_path}/warehouse",
    }
    for key, value in settings.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__{CATALOG.upper()}__{key}", value)
    # pyiceberg reads the environment once, when it is imported.
    monkeypatch.setattr(module, "_ENV_CONFIG", Config())
    found = module.load_catalog(CATALOG)
    found.create_namespace("n")
    yield found
    found.close()
