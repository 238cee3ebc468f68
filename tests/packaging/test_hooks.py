"""Other programs' hooks: the steps of the GitHub Action by bash, wheels by hatchling, and depfiles by make."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hatchling.bridge.app import Application
from ruamel.yaml import YAML

from schemac.cli.main import main
from schemac.packaging import SchemacBuildHook

ROOT = Path(__file__).parent.parent.parent
SOUND = "fields: [{name: a, type: Int8}]\n"
EXPRESSION = re.compile(r"\$\{\{ inputs\.([\w-]+) \}\}")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """With a command `schemac`, and its hook as hatchling finds it."""
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin/schemac"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m schemac "$@"\n')
    command.chmod(0o755)
    about = tmp_path / "plugins/schemac_hook-0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: schemac-hook\nVersion: 0\n")
    (about / "entry_points.txt").write_text("[hatch]\nschemac = schemac.packaging\n")
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    python = os.pathsep.join(
        [str(ROOT), str(tmp_path / "plugins"), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    return {**os.environ, "PATH": path, "PYTHONPATH": python}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = tmp_path / "project"
    (found / "tables").mkdir(parents=True)
    (found / "tables/trips.yaml").write_text(SOUND)
    monkeypatch.chdir(found)
    return found


def _action(folder: Path, environment: dict[str, str], **given: str) -> list[tuple[str, int, str]]:
    """Run the steps that inputs ask for, but those that install and fetch; return their names, codes and output."""
    action: Any = YAML(typ="safe").load(ROOT / "action.yml")
    defaults = {name: one["default"] for name, one in action["inputs"].items()}
    inputs = {**defaults, "against": "", **{name.replace("_", "-"): text for name, text in given.items()}}
    wanted = {"Check": True, "Findings as SARIF": bool(inputs["sarif-file"])}
    wanted |= {"Build": inputs["build"] != "false", "Find breaking changes": bool(inputs["against"])}
    done: list[tuple[str, int, str]] = []
    for step in action["runs"]["steps"]:
        if not wanted.get(step["name"]):
            continue
        # Inputs reach the shell in variables alone, or a name could be a command.
        assert "${{" not in step["run"]
        variables = {
            name: EXPRESSION.sub(lambda found: inputs[found[1]], text) for name, text in step["env"].items()
        }
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        run = subprocess.run(
            words, cwd=folder, env=environment | variables, capture_output=True, text=True, check=False
        )
        done.append((step["name"], run.returncode, run.stdout + run.stderr))
    return done


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not here")
def test_run_the_steps_of_the_action(folder: Path, environment: dict[str, str]) -> None:
    assert main(["lock"]) == 0
    (folder / "tables/trips.yaml").write_text("fields: [{name: a, type: Utf8}]\n")
    found = _action(folder, environment, sarif_file="x.sarif", build="true")
    assert [(name, code) for name, code, _ in found] == [("Findings as SARIF", 0), ("Check", 1), ("Build", 1)]
    assert found[1][2].startswith("::error file=tables/trips.yaml,line=1")
    assert '"SC201"' in (folder / "x.sarif").read_text()
    (folder / "tables/trips.yaml").write_text("fields: [{name: a, type: String}]\n")
    found = _action(folder, environment, against="lock", paths="tables/trips.yaml tables")
    assert [(name, code) for name, code, _ in found] == [("Check", 0), ("Find breaking changes", 1)]
    assert "::error file=tables/trips.yaml" in found[1][2]
    ((_, code, said),) = _action(folder, environment, paths="$(touch hacked) ;touch hacked")
    assert code == 1, said
    assert not (folder / "hacked").exists()


PROJECT = """\
[build-system]
requires = ["hatchling", "schemac"]
build-backend = "hatchling.build"
[project]
name = "rides"
version = "1"
[tool.hatch.build.targets.wheel]
packages = ["rides"]
[tool.hatch.build.hooks.schemac]
{hook}
[tool.schemac]
manifests = ["tables"]
"""


def _wheel(folder: Path, environment: dict[str, str], hook: str) -> subprocess.CompletedProcess[str]:
    (folder / "rides").mkdir(exist_ok=True)
    (folder / "rides/__init__.py").touch()
    (folder / "pyproject.toml").write_text(PROJECT.format(hook=hook))
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_build_artifacts_into_a_wheel(folder: Path, environment: dict[str, str]) -> None:
    run = _wheel(folder, environment, 'out = "rides/schemas"\ntargets = ["arrow", "jsonschema"]')
    assert run.returncode == 0, run.stderr
    (wheel,) = folder.glob("dist/*.whl")
    main(["build", "--target", "arrow", "--target", "jsonschema", "--out", "../compared"])
    with zipfile.ZipFile(wheel) as packed:
        names = [name for name in packed.namelist() if name.startswith("rides/schemas/")]
        assert {"rides/schemas/trips/arrow/schema.arrow", "rides/schemas/artifacts.json"} <= set(names)
        for name in names:
            same = folder.parent / "compared" / name.removeprefix("rides/schemas/")
            assert packed.read(name) == same.read_bytes()
    assert not (folder / "build").exists()
    (folder / "tables/trips.yaml").write_text("fields: [{name: a, type: Int9}]\n")
    wheel.unlink()
    broken = _wheel(folder, environment, 'out = "rides/schemas"')
    assert broken.returncode != 0
    assert "error[SC201]" in broken.stdout + broken.stderr
    assert not list(folder.glob("dist/*.whl"))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "needs `out`"),
        ({"out": "../x"}, "needs `out`"),
        ({"out": "/x"}, "needs `out`"),
        ({"out": "x", "outt": 1}, "has no setting outt"),
        ({"out": "x", "paths": "tables"}, "`paths` has to be a list"),
        ({"out": "x", "targets": ["arow"]}, "there is no target arow"),
    ],
)
def test_refuse_wrong_settings_of_the_hook(
    settings: Any, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unasked: Any = None
    hook = SchemacBuildHook(str(folder), settings, unasked, unasked, str(folder), "wheel", Application())
    with pytest.raises(SystemExit):
        hook.initialize("standard", {})
    out, err = capsys.readouterr()
    assert said in out + err


RULES = {
    "make": ("Makefile", """\
build/artifacts.json:
\t@schemac build --depfile build.d -q && touch $@
-include build.d
"""),
    "ninja": ("build.ninja", """\
rule schemac
  command = schemac build --depfile build.d -q && touch $out
  depfile = build.d
build build/artifacts.json: schemac
"""),
}  # fmt: skip
"""The rules that the guide shows, for the file that each program reads."""
ASKED = {"make": ["make", "-q"], "ninja": ["ninja", "-n", "-v"]}
NAMES = ("plain", "a b", "c$d", "e#f", "g:h", "i%j", "k(l)", "[t]", "é", "~u")


@pytest.mark.slow
@pytest.mark.parametrize("program", RULES)
@pytest.mark.skipif(sys.platform == "win32", reason="other systems refuse such file names")
def test_build_what_changed(program: str, folder: Path, environment: dict[str, str]) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not here")
    name, rules = RULES[program]
    (folder / name).write_text(rules)
    (folder / "schemac.toml").write_text('manifests = ["tables"]\n')
    (folder / "groups.yaml").write_text("groups: {g: {fields: [{name: b, type: Int8}]}}\n")
    (folder / "tables/trips.yaml").write_text("imports: [../groups.yaml]\nfields: [{use: g}]\n")
    for number, odd in enumerate(NAMES):
        (folder / f"tables/{odd}.yaml").write_text(f"name: n{number}\n{SOUND}")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)

    def is_stale() -> bool:
        asked = run(*ASKED[program])
        return asked.returncode == 1 if program == "make" else "no work to do" not in asked.stdout

    def build() -> None:
        made = run(program)
        assert made.returncode == 0, made.stdout + made.stderr

    def touch(path: Path, second: int) -> None:
        os.utime(path, (second, second))

    build()
    assert not is_stale()
    now = int(os.stat(folder / "build/artifacts.json").st_mtime)
    for path in [folder / "groups.yaml", *(folder / f"tables/{odd}.yaml" for odd in NAMES)]:
        touch(path, now + 100)
        assert is_stale(), path
        touch(path, now - 100)
    assert not is_stale()
    (folder / "tables/new.yaml").write_text(f"name: new\n{SOUND}")
    touch(folder / "tables", now + 100)
    build()
    assert (folder / "build/new").exists()
    touch(folder / "tables", now - 100)
    (folder / "tables/new.yaml").unlink()
    build()
    assert not (folder / "build/new").exists(), "a manifest that was removed ends no build"


def test_refuse_depfile_that_cannot_be_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "--depfile", "nowhere/build.d"]) == 1
    assert "cannot write nowhere/build.d" in capsys.readouterr().out
    assert not (folder / "build").exists()


def test_description_of_the_wheel_has_no_relative_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page of a registry shows it, where `docs/…` leads nowhere."""
    from hatchling.build import prepare_metadata_for_build_wheel

    monkeypatch.chdir(ROOT)
    folder = prepare_metadata_for_build_wheel(str(tmp_path))
    metadata = (tmp_path / folder / "METADATA").read_text()
    assert "Description-Content-Type: text/markdown" in metadata
    links = re.findall(r"\]\(([^)]*)\)|(?:src|href)=\"([^\"]*)\"", metadata)
    assert [link for pair in links for link in pair if link and not link.startswith(("https://", "#"))] == []
    named = set(re.findall(r"`((?:docs/)?[\w/-]+\.md)`", metadata))
    assert len(named) > 10
    assert [page for page in named if not (ROOT / page).is_file()] == []
