"""A report names the database of time zones by which its instants were read."""

from pathlib import Path
from zoneinfo import TZPATH

import pytest

from schemac.pipeline.reports import run_report as zones


def test_name_the_database_of_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first folder that has zones counts, as for Python."""
    empty, first, second = (tmp_path / name for name in ("empty", "first", "second"))
    for folder in (empty, first, second):
        folder.mkdir()
    for folder, version in ((first, "2025a"), (second, "2026a")):
        (folder / "UTC").write_bytes(b"TZif")
        (folder / "tzdata.zi").write_text(f"# version {version}\nR d 1916\n")
    monkeypatch.setattr(zones, "TZPATH", tuple(map(str, (empty, first, second))))
    assert zones.zone_database() == f"2025a in {first}"
    (first / "tzdata.zi").unlink()
    assert zones.zone_database() == f"unknown version in {first}"
    monkeypatch.setattr(zones, "TZPATH", (str(empty),))
    assert zones.zone_database().endswith(" of the package tzdata") or zones.zone_database() == "none"


def test_name_the_database_here() -> None:
    name = zones.zone_database()
    assert any(name.endswith(f" in {folder}") for folder in TZPATH) or name.endswith(" of the package tzdata")
