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
    from pyiceberg.catalog import load_catalog

    monkeypatch.setenv(f"PYICEBERG_CATALOG__{CATALOG.upper()}__TYPE", "sql")
    monkeypatch.setenv(f"PYICEBERG_CATALOG__{CATALOG.upper()}__URI", f"sqlite:///{tmp_path}/catalog.db")
    monkeypatch.setenv(f"PYICEBERG_CATALOG__{CATALOG.upper()}__WAREHOUSE", f"file://{tmp_path}/warehouse")
    found = load_catalog(CATALOG)
    found.create_namespace("n")
    yield found
    found.close()
