"""A group is asked for a description where it is defined, once, however many manifests use it."""

from pathlib import Path

import pytest

from schemac.cli.main import main


def test_ask_for_descriptions_of_imported_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schemac.toml").write_text('manifests = ["tables"]\n[lint]\nselect = ["SC833"]\n')
    for name in ("tables", "groups"):
        (tmp_path / name).mkdir()
    audit = tmp_path / "groups/audit.yaml"
    audit.write_text("groups:\n  audit:\n    fields: [{name: by, type: String}]\n")
    for name in ("a", "b"):
        (tmp_path / f"tables/{name}.yaml").write_text(
            "imports: [../groups/audit.yaml]\nfields: [{use: audit}]\n"
        )
    for _ in range(2):
        assert main(["check"]) == 0
        said = capsys.readouterr().out
        assert said.count("the group 'audit' has no description") == 1
        assert " --> groups/audit.yaml:2:3" in said
    audit.write_text(audit.read_text().replace("  audit:\n", "  audit: # schemac: ignore[SC833] plain\n"))
    assert main(["check", "--fail-on", "warning"]) == 0
