"""A storage version that is not for production: whoever makes the tables, it is told once."""

from pathlib import Path

import pytest

from schemac.cli.main import main


@pytest.mark.parametrize("targets", [None, ["spark"], ["lance"], ["lance", "spark"]])
@pytest.mark.parametrize("command", ["build", "check"])
def test_warn_of_an_unstable_storage_version(
    command: str,
    targets: list[str] | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = "" if targets is None else f"targets = {targets}\n".replace("'", '"')
    Path("schemac.toml").write_text(settings)
    Path("t.yaml").write_text(
        'extra: {lance.org/storageVersion: "2.3"}\nfields:\n  - {name: a, type: Int32}\n'
    )
    assert main([command]) == 0
    assert "".join(capsys.readouterr()).count("warning[SC507]") == 1
