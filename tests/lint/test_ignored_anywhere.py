"""Comments that ignore findings count in every text that findings stand in."""

from pathlib import Path

import pytest

from schemac.cli.main import main

MANIFEST = """\
name: trips
extra:
  schemac.dev/references:
    - {{fields: [city], dataset: cities}}{of_reference}
groups:
  spare:{of_group}
    fields: [{{name: x, type: Int64}}]
fields:
  - {{name: city, type: Int64}}
---
name: cities
fields:
  - {{name: city, type: Int64}}
"""


def test_ignore_what_only_all_manifests_together_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    trips = tmp_path / "trips.yaml"
    trips.write_text(MANIFEST.format(of_reference="", of_group=""))
    main(["check"])
    told = capsys.readouterr().out
    assert "SC344" in told
    assert "SC235" in told
    comments = {
        "of_reference": "  # schemac: ignore[SC344] few rows",
        "of_group": "  # schemac: ignore[SC235] soon",
    }
    trips.write_text(MANIFEST.format(**comments))
    assert main(["check", "--fail-on", "warning"]) == 0, capsys.readouterr().out
