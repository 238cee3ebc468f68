"""What a checkout of somebody else may do: be read. Its rules are programs, and run where they are looked at, or not at all."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from schemac.cli.main import main
from schemac.documentation.html import comparison_page
from schemac.lsp.projects import ProjectFolder
from schemac.pipeline.reports.run_report import run_page

RULE = """\
from pathlib import Path

from schemac.language.lint.rule import Reporter, Subject, rule
from schemac.text.source.diagnostics import Code, Severity

with open({marker!r}, "a") as stream:
    stream.write("run ")

@rule(Code("ACME801", "acme-prefix", Severity.WARNING, "no prefix"), category="acme", is_default=True)
def acme_prefix(subject: Subject, say: Reporter) -> None:
    '''Ours begin so.'''
    for column in subject.dataset.columns:
        say.name(column, "no prefix")
"""
MANIFEST = "name: rides\nfields:\n  - {name: id, type: Int64}  # schemac: ignore[ACME801] old\n  - {name: at, type: Timestamp}\n"
LOOKING = ("check", "build", "check rides.yaml", "build --check")
"""Commands that look at rules."""
OTHERS = (
    *("fmt", "fmt --check", "lock", "lock --check", "lock --show 1 rides.yaml", "list", "list --deprecated"),
    *("expand", "sample rides -n 2", "docs", "docs --format markdown -o pages", "diff lock"),
    *("breaking --against lock", "rename rides at seen", "schema manifest", "explain SC201", "clean"),
)


@pytest.fixture
def marker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that rules of a project write to when they run."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path("rides.yaml").write_text(MANIFEST)
    return tmp_path / "marker"


def _settings(rules: str) -> None:
    Path("schemac.toml").write_text(
        f"targets = ['arrow']\n[lint]\nrules = [{json.dumps(rules)}]\nignore = ['acme']\n"
    )


def test_run_rules_only_where_they_are_looked_at(marker: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("r.py").write_text(RULE.format(marker=str(marker)))
    _settings("r.py")
    for command in OTHERS:
        main(command.split())
        assert not marker.exists(), command
    for command in LOOKING:
        assert main([*command.split(), "--no-project-rules"]) in {0, 4}, capsys.readouterr()
        assert not marker.exists(), command
    ProjectFolder(Path.cwd(), is_project=True, has_custom_rules=False).check({})
    assert not marker.exists()
    Path("schemac.toml").write_text(Path("schemac.toml").read_text().replace("ignore", "select"))
    capsys.readouterr()
    main(["check", "--format", "json"])
    assert [d["code"] for d in json.loads(capsys.readouterr().out)["diagnostics"]].count("ACME801") == 1
    assert marker.exists()
    checked = ProjectFolder(Path.cwd(), is_project=True).check({})
    assert "ACME801" in {d.code for found in checked.findings.values() for d in found}


@pytest.mark.parametrize("way", ["../r.py", "absolute", "link", "nowhere.py"])
def test_take_no_rules_from_elsewhere(way: str, marker: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outside = marker.parent / "r.py"
    outside.write_text(RULE.format(marker=str(marker)))
    if way == "link":
        Path("link.py").symlink_to(outside)
    _settings({"absolute": str(outside), "link": "link.py"}.get(way, way))
    for command in ("check", "build", "fmt", "lock", "list"):
        capsys.readouterr()
        assert main([*command.split(), "--format", "json"] if command != "lock" else ["lock"]) == 2
        assert "SC601" in capsys.readouterr().out
    ProjectFolder(Path.cwd(), is_project=True).check({})
    assert not marker.exists()


def test_refuse_a_cache_of_the_repository(marker: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", *words], check=True, capture_output=True)

    git("init", "-q")
    assert main(["lock"]) == 0
    assert main(["build"]) == 0
    assert list(Path(".schemac").rglob("*.sqlite"))
    git("add", "--force", ".schemac")
    for command in ("check", "build --check", "lock --check", "breaking --against lock", "diff lock"):
        capsys.readouterr()
        assert main(command.split()) == 1, command
        assert "SC603" in "".join(capsys.readouterr()), command
        assert main([*command.split(), "--no-cache"]) == 0, command
    git("rm", "-r", "-q", "--cached", ".schemac")
    assert main(["check"]) == 0
    assert not marker.exists()


def test_let_pages_do_nothing() -> None:
    page = comparison_page([], "lock", "no changes").decode()
    for text in (page, run_page("a", None, (), (), ())):
        (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
        assert "default-src 'none'" in policy
        assert "script-src" not in policy
        assert "<script" not in text
