"""Which rules are looked at, as projects and authors say it, and what they find."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import schemac
from schemac.cli.main import main
from schemac.language.lint.run import builtin_rules

ROOT = Path(schemac.__file__).parent.parent
RIDES = """\
name: rides
fields:
  - name: ride_id
    type: Int64
  - name: rideid
    type: Int64
  - name: fare
    type: Float64
"""


class Project:
    """A folder with a manifest and settings."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys
        (folder / ".git").mkdir()
        self.write("tables/rides.yaml", RIDES)

    def write(self, path: str, text: str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def found(self, *arguments: str) -> list[tuple[str, str, int]]:
        """Code, severity and line of what a check finds."""
        self._capsys.readouterr()
        main(["check", "--format", "json", *arguments])
        findings = json.loads(self._capsys.readouterr().out)["diagnostics"]
        return [(d["code"], d["severity"], d["line"]) for d in findings]

    def codes(self, settings: str, *arguments: str) -> list[str]:
        self.write("schemac.toml", settings)
        return [code for code, _, _ in self.found(*arguments)]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path, capsys)


def test_have_many_rules_of_many_sorts() -> None:
    rules = builtin_rules()
    assert len(rules) > 55
    assert len({rule.code.id for rule in rules}) == len({rule.code.slug for rule in rules}) == len(rules)
    assert len({rule.category for rule in rules}) >= 8
    assert 5 <= sum(rule.is_default for rule in rules) <= 10


def test_find_nothing_in_own_manifests(project: Project) -> None:
    """The rules that are wanted by default are quiet."""
    paths = [str(p) for p in (*ROOT.glob("examples/*"), ROOT / "schemac/cli/templates") if p.is_dir()]
    assert [found for found in project.found(*paths, "--no-cache") if found[0].startswith("SC8")] == []


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("", ["SC822"]),
        ('[lint]\nselect = ["keys"]\n', ["SC861"]),
        ('[lint]\nselect = ["float-money"]\n', ["SC842"]),
        ('[lint]\nselect = ["SC842", "SC861"]\n', ["SC861", "SC842"]),
        ('[lint]\nselect = ["SC84"]\n', ["SC842"]),
        ('[lint]\nextend-select = ["SC842"]\n', ["SC822", "SC842"]),
        ('[lint]\nextend-select = ["SC842"]\nignore = ["naming"]\n', ["SC842"]),
        ("[lint]\nselect = []\n", []),
        ('[lint]\nper-path = {"tables" = ["all"]}\n', []),
        ('[lint]\nper-path = {"tables/r*.yaml" = ["SC822"]}\n', []),
        ('[lint]\nper-path = {"other/**" = ["all"]}\n', ["SC822"]),
        ('[lint]\nselect = ["nameing"]\n', ["SC601"]),
        ('[lint]\nseverity = {SC999 = "error"}\n', ["SC601"]),
        ('[lint]\nseverity = {SC822 = "bad"}\n', ["SC601"]),
        ('[lint]\nselekt = ["naming"]\n', ["SC601"]),
        ('[lint]\nrules = ["nowhere.py"]\n', ["SC601"]),
        ("[lint]\nmax-fields = 0\n", ["SC601"]),
    ],
)
def test_choose_rules(project: Project, settings: str, expected: list[str]) -> None:
    assert project.codes(settings) == expected


def test_say_which_rule_was_meant(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    project.write("schemac.toml", '[lint]\nselect = [\n  "flaot-money",\n]\n')
    assert main(["check"]) == 2
    out = capsys.readouterr().out
    assert "there is no rule 'flaot-money'" in out
    assert "did you mean `float-money`?" in out


def test_weigh_rules(project: Project) -> None:
    project.write("schemac.toml", '[lint]\nseverity = {naming = "note", near-duplicate-name = "error"}\n')
    assert project.found() == [("SC822", "error", 5)]
    assert main(["check"]) == main(["build"]) == 1
    project.write("schemac.toml", '[lint]\nseverity = {naming = "note"}\n')
    assert project.found() == [("SC822", "note", 5)]


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("  - name: rideid  # schemac: ignore[SC822] both are needed", []),
        ("  # schemac: ignore[near-duplicate-name] both are needed\n  - name: rideid", []),
        ("  # schemac: ignore[SC822]\n  # and more\n\n  - name: rideid", []),
        ("  - name: rideid  # schemac: ignore-file[SC822, SC871]", ["SC801"]),
        ("  - name: rideid  # schemac: ignore[SC871]", ["SC801", "SC822"]),
        ("  - name: rideid  # schemac: ignore[SC842]", ["SC822"]),
        ("  - name: rideid  # schemac: ignore", ["SC802", "SC822"]),
        ("  - name: rideid  # schemac: ingore[SC822]", ["SC802", "SC822"]),
        ("  - name: rideid  # schemac: ignore[SC8222]", ["SC802", "SC822"]),
        ("  - name: rideid  # schemac: ignore[SC201]", ["SC802", "SC822"]),
        ("  - name: rideid\n    description: 'say # schemac: ignore[SC822]'", ["SC822"]),
    ],
)
def test_ignore_findings(project: Project, comment: str, expected: list[str]) -> None:
    project.write("tables/rides.yaml", RIDES.replace("  - name: rideid", comment))
    assert sorted(project.codes("")) == expected


def test_remove_comments_that_ignore_nothing(project: Project) -> None:
    project.write(
        "tables/rides.yaml",
        "# schemac: ignore-file[SC871]\n"
        + RIDES.replace("name: rideid", "name: rideid  # schemac: ignore[SC822, SC835] both"),
    )
    assert main(["check", "--fix"]) == 0
    text = (project.folder / "tables/rides.yaml").read_text()
    assert text == RIDES.replace("name: rideid", "name: rideid  # schemac: ignore[SC822] both")
    assert project.found() == []


def test_ignore_what_engines_say(project: Project) -> None:
    manifest = "fields:\n  - name: _distance{}\n    type: Float32\n"
    project.write("tables/rides.yaml", manifest.format(""))
    assert main(["build"]) == 0
    project.write("tables/rides.yaml", manifest.format("  # schemac: ignore[lance-name-risk]"))
    assert project.found() == []


def test_ignore_a_finding_in_a_group(project: Project) -> None:
    project.write(
        "groups/audit.yaml",
        "groups:\n  audit:\n    fields:\n      - {name: x, type: Int64, description: TODO}\n",
    )
    project.write("tables/rides.yaml", "imports: [../groups/audit.yaml]\nfields:\n  - use: audit\n")
    assert project.codes("", "tables") == ["SC835"]
    project.write(
        "groups/audit.yaml",
        "groups:\n  audit:\n    fields:\n      # schemac: ignore[SC835] later\n      - {name: x, type: Int64, description: TODO}\n",
    )
    assert project.codes("", "tables") == project.codes("") == []


def test_deny_losses(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    project.write("tables/rides.yaml", "fields:\n  - {name: t, type: {kind: Timestamp, unit: Nanosecond}}\n")
    assert main(["check"]) == main(["check", "--deny", "losses=arrow"]) == main(["build"]) == 0
    capsys.readouterr()
    for words in (
        ["check", "--deny", "losses"],
        ["check", "--deny", "losses=spark"],
        ["build", "--deny", "losses=spark"],
    ):
        assert main(words) == 1
        out, err = capsys.readouterr()
        assert "error[SC522]" in out
        assert words[0] == "check" or "nothing was written" in err
    assert project.found("--deny", "losses=spark") == [("SC522", "error", 2)]
    for wrong in ("loss", "losses=", "losses=sprak"):
        with pytest.raises(SystemExit) as stopped:
            main(["check", "--deny", wrong])
        assert stopped.value.code == 2


RULE = '''\
"""Rules of ours."""
from schemac.language.lint.rule import Reporter, Subject, rule
from schemac.text.source.diagnostics import Code, Severity

@rule(Code("ACME801", "acme-prefix", Severity.WARNING, "a column without our prefix"), category="acme", is_default=True)
def acme_prefix(subject: Subject, say: Reporter) -> None:
    """Ours begin so."""
    for column in subject.dataset.columns:
        if not str(column.segment).startswith("acme_"):
            say.name(column, f"{column.path_text} has no prefix", help="call it 'acme_…'")
'''


def test_take_rules_of_a_project(project: Project) -> None:
    project.write("lint_rules.py", RULE)
    assert project.codes('[lint]\nrules = ["lint_rules.py"]\n') == ["ACME801", "ACME801", "SC822", "ACME801"]
    assert project.codes('[lint]\nrules = ["lint_rules.py"]\nignore = ["acme-prefix"]\n') == ["SC822"]
    text = RIDES.replace("- name: fare", "- name: fare  # schemac: ignore[ACME801] old")
    project.write("tables/rides.yaml", text)
    assert project.codes('[lint]\nrules = ["lint_rules.py"]\nselect = ["acme"]\n') == ["ACME801", "ACME801"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (RULE.replace("ACME801", "SC899"), "write a code like ACME801"),
        (RULE.replace("acme-prefix", "unknown-kind"), "which is already used"),
        (
            RULE + RULE.replace("acme-", "acme-other-").replace("acme_", "other_"),
            "ACME801 acme-other-prefix, which",
        ),
        (
            RULE + RULE.replace("801", "802").replace("acme_", "other_"),
            "ACME802 acme-prefix, which is already",
        ),
        ("x = (", "cannot be loaded: SyntaxError"),
        ("x = 1\n", "defines no rule"),
    ],
)
def test_refuse_rules_that_cannot_be_used(
    project: Project, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    project.write("own.py", text)
    project.write("schemac.toml", '[lint]\nrules = ["own.py"]\n')
    assert main(["check"]) == 2
    assert said in capsys.readouterr().out


def test_blame_a_rule_that_fails(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    project.write("own.py", RULE.replace("for column in", "1 / 0\n    for column in"))
    project.write("schemac.toml", '[lint]\nrules = ["own.py"]\n')
    assert main(["check"]) == 2
    assert "the rule ACME801 failed: ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.slow
def test_take_rules_of_a_distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example is installed by its files, without a package manager."""
    example = ROOT / "examples/lint-rules"
    site = tmp_path / "site/acme_rules-1.0.dist-info"
    site.mkdir(parents=True)
    (site / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-rules\nVersion: 1.0\n")
    (site / "entry_points.txt").write_text("[schemac.language.lint]\nacme = acme_rules:RULES\n")
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{example}:{site.parent}")
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "rides.yaml").write_text(RIDES)
    ran = subprocess.run(
        [sys.executable, "-m", "schemac", "check", "rides.yaml"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "warning[ACME801]" in ran.stdout
    assert "warning[SC822]" in ran.stdout
    explained = subprocess.run(
        [sys.executable, "-m", "schemac", "explain", "acme-team"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert explained.stdout.startswith("# ACME801 acme-team\n")
