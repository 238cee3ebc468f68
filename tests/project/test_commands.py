"""The command line as a person uses it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from schemac.cli.main import COMMANDS, main
from schemac.version import __version__

pytestmark = pytest.mark.slow

SCHEMAC = [sys.executable, "-m", "schemac"]


def run(*arguments: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*SCHEMAC, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_try_the_compiler_of_this_tree(tmp_path: Path) -> None:
    """Also where another one is installed, or none: programs that tests start know nothing of pytest's paths."""
    words = [sys.executable, "-c", "import schemac; print(schemac.__file__)"]
    found = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.strip()
    assert Path(found) == Path(__file__).parents[2] / "schemac" / "__init__.py"


def test_start_a_project_that_works(tmp_path: Path) -> None:
    started = run("init", folder=tmp_path)
    assert started.returncode == 0
    assert "schemac check" in started.stdout
    for command in ("check", "build"):
        assert run(command, folder=tmp_path).returncode == 0
    assert (tmp_path / "build/trips/lance/schema.binpb").is_file()
    pytest.importorskip("pyspark", reason="pipelines need it")
    dry = run("run", "--dry-run", "pipeline.yaml", folder=tmp_path)
    assert (dry.returncode, dry.stdout) == (0, "")
    assert "pipeline.yaml can run" in dry.stderr


def test_start_nothing_over_files_that_are_there(tmp_path: Path) -> None:
    (tmp_path / "schemac.toml").write_text("# mine\n")
    refused = run("init", folder=tmp_path)
    assert refused.returncode == 2
    assert "schemac.toml would be overwritten" in refused.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["schemac.toml"]


def test_print_the_version_and_help(tmp_path: Path) -> None:
    assert run("--version", folder=tmp_path).stdout == f"schemac {__version__}\n"
    shown = run("--help", folder=tmp_path)
    assert all(command in shown.stdout for command in COMMANDS)
    assert run(folder=tmp_path).returncode == 2
    for command in COMMANDS:
        with pytest.raises(SystemExit) as end:
            main([command, "--help"])
        assert end.value.code == 0


def test_suggest_the_command_that_was_meant(tmp_path: Path) -> None:
    wrong = run("biuld", folder=tmp_path)
    assert wrong.returncode == 2
    assert "did you mean `schemac build`?" in wrong.stderr


def test_print_machine_formats_alone_on_standard_output(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("fields:\n  - {name: x, type: bigint}\n")
    found = run("check", "a.yaml", "--format", "json", folder=tmp_path)
    assert found.returncode == 1
    assert found.stderr == ""
    (diagnostic,) = json.loads(found.stdout)["diagnostics"]
    assert (diagnostic["line"], diagnostic["column"], diagnostic["end_column"], diagnostic["path"]) == (
        2,
        21,
        27,
        "x",
    )
    github = run("check", "a.yaml", "--format", "github", folder=tmp_path)
    assert github.stdout == (
        "::error file=a.yaml,line=2,endLine=2,col=21,endColumn=27,title=SC201 unknown-kind::"
        "there is no kind 'bigint'%0Ahelp: did you mean `Int64`?\n"
    )
    sarif = json.loads(run("check", "a.yaml", "--format", "sarif", folder=tmp_path).stdout)
    (result,) = sarif["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["region"]["startColumn"] == 21


def test_colour_on_a_terminal_only(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("fields:\n  - {name: x, type: bigint}\n")
    assert "\x1b[" not in run("check", "a.yaml", folder=tmp_path).stdout
    assert "\x1b[1;31merror[SC201]" in run("check", "a.yaml", folder=tmp_path, FORCE_COLOR="1").stdout
    assert "\x1b[" not in run("check", "a.yaml", folder=tmp_path, FORCE_COLOR="1", NO_COLOR="1").stdout


def test_cap_findings_with_a_count(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "fields:\n" + "".join(f"  - {{name: f{i}, type: bigint}}\n" for i in range(150))
    )
    shown = run("check", "a.yaml", folder=tmp_path)
    assert shown.stdout.count("error[SC201]") == 100
    assert shown.stdout.endswith("… and 50 errors more; see them with --max-findings 150\n")
    assert "150 errors" in shown.stderr


def test_fail_on_warnings_when_asked(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("fields:\n  - {name: x, type: {kind: Time, unit: Seconds}}\n")
    assert run("check", "a.yaml", folder=tmp_path).returncode == 0
    assert run("check", "a.yaml", "--fail-on", "warning", folder=tmp_path).returncode == 1


def test_call_a_mistake_of_ours_what_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("schemac.cli.compile_commands.compile_files", lambda *_, **__: 1 / 0)
    (tmp_path / "a.yaml").write_text("fields: []\n")
    assert main(["check"]) == 3
    assert "internal error: ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("parse", "project.stages.parse"),
        ("bind", "project.stages.read_datasets"),
        ("check", "project.stages.check"),
        ("lower", "arrow.to_arrow.to_arrow_fields"),
        ("emit", "project.targets.load_target"),
    ],
)
def test_name_the_stage_and_the_manifest_of_a_mistake_of_ours(
    name: str,
    called: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(f"schemac.{called}", lambda *_, **__: 1 / 0)
    (tmp_path / "a.yaml").write_text("fields: [{name: a, type: Int64}]\n")
    assert main(["build"]) == 3
    assert f"ZeroDivisionError: division by zero, in the stage {name} of a.yaml" in capsys.readouterr().err


def test_take_no_artifacts_of_another_build_for_manifests(tmp_path: Path) -> None:
    (tmp_path / "trips.yaml").write_text("fields: [{name: fare, type: Float64}]\n")
    for out in ("one", "two"):
        built = run("build", "--out", out, folder=tmp_path)
        assert (built.returncode, built.stderr.partition(":")[0]) == (0, "1 dataset")
    assert run("check", "one/trips/odf/schema.yaml", folder=tmp_path).returncode == 0
