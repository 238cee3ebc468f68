"""`schemac check` finds all that `schemac build` of the project's targets finds, and `build_text` gives what it writes."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

import schemac
from schemac.artifacts.targets import target_names
from schemac.cli.main import main
from tests.golden import CORPUS

MANIFESTS = sorted([*(CORPUS / "accepted").glob("*/manifest.yaml"), *(CORPUS / "rejected").glob("*/*.yaml")])
SETTINGS = (
    "",
    *(f'targets = ["{name}"]\n' for name in target_names()),
    'targets = ["lance", "spark"]\n',
    f"targets = {json.dumps(target_names())}\n",
    "strict = true\n",
    "metadata = false\n",
    'systemColumns = "rfc"\n',
    'encodings = {list = "list_view", string = "string_view"}\n',
    '[lint]\nselect = ["all"]\n',
)


@pytest.fixture
def findings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """What a command finds in a manifest, without the fixes; settings lie in another folder."""

    def found(command: str, manifest: Path, *words: str) -> set[str]:
        config = str(tmp_path / "schemac.toml")
        main([command, str(manifest), "--config", config, "--no-cache", "--format", "json", *words])
        return {json.dumps(one, sort_keys=True) for one in json.loads(capsys.readouterr().out)["diagnostics"]}

    return found


def _hold(manifest: Path, settings: str, folder: Path, findings: Any) -> None:
    (folder / "schemac.toml").write_text(settings)
    built = findings("build", manifest, "--out", str(folder / "out"))
    assert findings("check", manifest) >= built, settings


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_find_what_a_build_finds(manifest: Path, tmp_path: Path, findings: Any) -> None:
    draw = random.Random(str(manifest.relative_to(CORPUS)))
    for settings in draw.sample(SETTINGS, 2):
        _hold(manifest, settings, tmp_path, findings)


@pytest.mark.long
@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_find_what_a_build_finds_with_all_settings(manifest: Path, tmp_path: Path, findings: Any) -> None:
    for settings in SETTINGS:
        _hold(manifest, settings, tmp_path, findings)


@pytest.mark.parametrize("settings", SETTINGS)
def test_build_of_a_text_what_the_command_writes(settings: str, tmp_path: Path, findings: Any) -> None:
    (tmp_path / "schemac.toml").write_text(settings)
    compared = 0
    for manifest in MANIFESTS:
        if "accepted" not in manifest.parts:
            continue
        text = manifest.read_bytes().decode("utf-8")
        out = tmp_path / "out" / manifest.parent.name
        found = findings("build", manifest, "--out", str(out))
        if any(json.loads(one)["severity"] == "error" for one in found):
            with pytest.raises(schemac.SchemaError):
                schemac.build_text(text, name=str(manifest), project=tmp_path)
            continue
        files = {
            path.relative_to(out).as_posix(): path.read_bytes()
            for path in out.rglob("*")
            if path.is_file() and path.name != "artifacts.json"
        }
        assert schemac.build_text(text, name=str(manifest), project=tmp_path) == files
        compared += 1
    assert compared
