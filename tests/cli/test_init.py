"""Projects that `init` writes: each works as it is, and nothing is overwritten."""

import importlib.util
import json
import os
import shlex
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from schemac.cli.main import main
from schemac.cli.project_commands import CI, TEMPLATES


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("template", TEMPLATES)
def test_write_project_without_findings(
    template: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", "--template", template]) == 0
    assert main(["fmt", "--check"]) == 0
    capsys.readouterr()
    assert main(["check", "--fail-on", "warning"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["fmt", "--check", "."]) == 0
    assert main(["build"]) == 0
    assert main(["build", "--check"]) == 0
    ignored = (folder / ".gitignore").read_text().splitlines()
    assert {"/build/", ".schemac/"} <= set(ignored)


def test_list_templates_and_write_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "--list-templates"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(TEMPLATES)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("taken", ["schemac.toml", "tables/trips.yaml", ".github/workflows/schemas.yml"])
def test_overwrite_nothing(taken: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / taken).parent.mkdir(parents=True, exist_ok=True)
    (folder / taken).write_text("mine")
    before = sorted(folder.rglob("*"))
    assert main(["init", "--template", "minimal", "--ci", "github"]) == 2
    assert f"{taken} would be overwritten" in capsys.readouterr().err
    assert sorted(folder.rglob("*")) == before
    assert (folder / taken).read_text() == "mine"


def test_write_the_ci_file_alone_where_manifests_are_locked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A project that was imported gets no example, whose missing lock would make its CI red."""
    (folder / "tables").mkdir()
    (folder / "tables/rides.yaml").write_text("fields:\n  - {name: fare, type: Float64}\n")
    assert main(["lock"]) == 0
    before = {path for path in folder.rglob("*") if path.is_file()}
    assert main(["init", "--ci", "github"]) == 0
    written = {path for path in folder.rglob("*") if path.is_file()} - before
    assert written == {folder / CI["github"]}
    assert "pipeline.yaml" not in capsys.readouterr().out
    assert main(["build", "--locked"]) == 0
    assert main(["init", "--ci", "github"]) == 2
    assert main(["init", "--template", "minimal"]) == 0


def test_refuse_a_file_in_the_place_of_the_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "trips.yaml").write_text("mine")
    assert main(["init", "trips.yaml"]) == 2
    assert "trips.yaml is a file; name a folder" in capsys.readouterr().err
    assert (folder / "trips.yaml").read_text() == "mine"


def test_leave_gitignore_and_say_what_it_lacks(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / ".gitignore").write_text(".schemac/\n")
    assert main(["init", "--template", "minimal"]) == 0
    assert (folder / ".gitignore").read_text() == ".schemac/\n"
    assert capsys.readouterr().out.endswith(".gitignore was not changed; add this to it: /build/\n")


@pytest.mark.skipif(
    importlib.util.find_spec("check_jsonschema") is None,
    reason="check-jsonschema, which has the schemas of CI files, is not installed",
)
@pytest.mark.parametrize(("server", "schema"), [("github", "github-workflows"), ("gitlab", "gitlab-ci")])
def test_write_ci_files_that_their_servers_take(server: str, schema: str, folder: Path) -> None:
    assert main(["init", "--ci", server]) == 0
    _validate(folder / CI[server], schema)


@pytest.mark.skipif(
    importlib.util.find_spec("check_jsonschema") is None,
    reason="check-jsonschema, which has the schema of actions, is not installed",
)
def test_have_an_action_that_github_takes() -> None:
    _validate(Path(__file__).parent.parent.parent / "action.yml", "github-actions")


def _validate(file: Path, schema: str) -> None:
    text = files("check_jsonschema").joinpath(f"builtin_schemas/vendor/{schema}.json").read_text()
    wanted: Any = json.loads(text)
    validator = jsonschema.validators.validator_for(wanted)(wanted)
    assert [error.message for error in validator.iter_errors(YAML(typ="safe").load(file))] == []


def test_run_in_gitlab_as_its_shell_does(folder: Path) -> None:
    """For merge requests, where GitLab has the commit that they began at, and for the default branch, where it has none."""
    assert main(["init", "--template", "minimal", "--ci", "gitlab"]) == 0
    job = YAML(typ="safe").load(folder / CI["gitlab"])["schemas"]
    # A job without rules gets no pipelines of merge requests.
    conditions = [rule["if"] for rule in job["rules"]]
    assert any("merge_request_event" in condition for condition in conditions)
    assert any("$CI_DEFAULT_BRANCH" in condition for condition in conditions)
    assert main(["lock"]) == 0
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "start")):
        subprocess.run([*git, *words], check=True)
    start = subprocess.run(
        [*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()
    (folder / "bin").mkdir()
    command = folder / "bin/schemac"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m schemac "$@"\n')
    command.chmod(0o755)
    root = Path(__file__).parent.parent.parent
    environment = {
        **os.environ,
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(root),
    }

    def exit_code(**variables: str) -> int:
        script = "set -e\n" + "\n".join(job["script"])
        return subprocess.run(
            ["sh", "-c", script], env=environment | variables, check=False, capture_output=True
        ).returncode

    assert exit_code() == 0
    assert exit_code(CI_MERGE_REQUEST_DIFF_BASE_SHA=start) == 0
    assert json.loads((folder / job["artifacts"]["reports"]["codequality"]).read_text()) == []
    (manifest,) = folder.glob("tables/*.yaml")
    manifest.write_text(manifest.read_text() + "  - {name: more, type: Int8}\n")
    assert exit_code() == 4
    assert main(["lock"]) == 0
    assert exit_code() == 0
    assert exit_code(CI_MERGE_REQUEST_DIFF_BASE_SHA=start) == 1


OPTIONAL = "  - name: remark\n    type: {kind: Option, inner: String}\n"


def _commands(server: str) -> list[str]:
    """What a CI file runs for a change that is to be merged into main."""
    wanted = YAML(typ="safe").load(Path(CI[server]))
    if server == "github":
        words = [step["run"] for step in wanted["jobs"]["schemas"]["steps"] if "run" in step]
    else:
        words = wanted["schemas"]["script"]
    lines = [line.strip().partition(" #")[0] for word in words for line in word.splitlines()]
    base = {"$BASE": "main", "$CI_MERGE_REQUEST_DIFF_BASE_SHA": "main"}
    commands = [line for line in lines if line.startswith("schemac ")]
    for name, value in base.items():
        commands = [command.replace(name, value) for command in commands]
    assert len(commands) == 3
    return [command.replace("git:origin/", "git:") for command in commands]


@pytest.mark.parametrize("server", CI)
@pytest.mark.parametrize("template", TEMPLATES)
def test_pass_an_optional_column_and_refuse_what_is_not_locked(
    template: str, server: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The commonest change is green once it is locked, and red before."""
    assert main(["init", "--template", template, "--ci", server]) == 0
    assert "schemac lock" in capsys.readouterr().out
    assert main(["lock"]) == 0
    for words in ("init -q -b main", "add -A", "commit -q -m start"):
        identity = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *identity, *words.split()], check=True, capture_output=True)
    commands = [shlex.split(command)[1:] for command in _commands(server)]
    assert [main(command) for command in commands] == [0, 0, 0]
    for manifest in folder.glob("tables/*.yaml"):
        manifest.write_text(manifest.read_text() + OPTIONAL)
    assert [main(command) for command in commands] == [0, 4, 0]
    assert main(["lock"]) == 0
    capsys.readouterr()
    assert [main(command) for command in commands] == [0, 0, 0], capsys.readouterr().out
    # Who asks about one way is told about this one.
    assert main(["breaking", "--against", "git:main", "--engine", "spark"]) == 1
