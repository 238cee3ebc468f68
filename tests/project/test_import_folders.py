"""Manifests import files of their project and its repository, and no other file of the machine."""

import json
from pathlib import Path

import pytest

import schemac
from schemac.cli.main import main
from schemac.lsp.projects import ProjectFolder

GROUPS = "groups:\n  secret:\n    fields:\n      - {name: stolen, type: String}\n"
PLACES = {"": "own", "sub": "sub", "..": "repository", "../..": "machine"}
"""Folders from that of the manifest, and what they belong to."""


def _tree(folder: Path, *, is_repository: bool, settings: str | None) -> Path:
    """A machine with a repository with a project with a manifest, and groups at each level."""
    project = folder / "repository" / "project"
    (project / "sub").mkdir(parents=True)
    if is_repository:
        (folder / "repository" / ".git").mkdir()
    if settings is not None:
        (project / "schemac.toml").write_text(settings)
    for place in PLACES:
        (project / place / "g.yaml").resolve().write_text(GROUPS)
    return project


def _found(project: Path, path: str, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    """The one finding about an import of a path, by every way in, empty where it is read."""
    manifest = project / "m.yaml"
    text = f"name: m\nimports: [{path}]\nfields: [{{use: secret}}]\n"
    manifest.write_text(text)
    main(["check", "m.yaml", "--no-cache", "--format", "json"])
    diagnostics: list[dict[str, object]] = json.loads(capsys.readouterr().out)["diagnostics"]
    found = diagnostics[0] if diagnostics else {}
    for command in ("build", "expand", "lock", "fmt --check", "docs"):
        code = main(command.split())
        assert (code == 0) == (not found) or command == "fmt --check", command
    assert "stolen" not in capsys.readouterr().out or not found
    checked = ProjectFolder(project, is_project=True).check({}).findings.get(str(manifest), ())
    assert [d.code for d in checked] == ([found["code"]] if found else [])
    if found:
        with pytest.raises(schemac.SchemaError):
            schemac.compile_file(manifest)
        with pytest.raises(schemac.SchemaError):
            schemac.compile_text(text, project=project)
    else:
        assert (
            schemac.compile_file(manifest)[0].schema == schemac.compile_text(text, project=project)[0].schema
        )
    for written in ("m.lock", "build", "site"):
        path_ = project / written
        if path_.is_dir():
            for file in sorted(path_.rglob("*"), reverse=True):
                file.rmdir() if file.is_dir() else file.unlink()
            path_.rmdir()
        else:
            path_.unlink(missing_ok=True)
    return found


@pytest.mark.parametrize("is_link", [False, True])
@pytest.mark.parametrize("settings", [None, "", 'importFolders = ["../.."]\n'])
@pytest.mark.parametrize("is_repository", [False, True])
def test_import_from_the_project_alone(
    is_repository: bool,
    settings: str | None,
    is_link: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    project = _tree(tmp_path, is_repository=is_repository, settings=settings)
    monkeypatch.chdir(project)
    for n, (place, owner) in enumerate(PLACES.items()):
        path = "/".join(part for part in (place, "g.yaml") if part)
        if is_link:
            (project / f"link{n}.yaml").symlink_to(project / path)
            path = f"link{n}.yaml"
        is_inside = (
            owner in ("own", "sub")
            or (owner == "repository" and is_repository)
            or (settings is not None and "importFolders" in settings)
        )
        found = _found(project, path, capsys)
        assert (found == {}) == is_inside, (place, found)
        if found:
            assert found["code"] == "SC234"
            assert "outside the project" in str(found["message"])
            assert "importFolders" in str(found["help"])


def test_follow_links_of_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project = _tree(tmp_path, is_repository=False, settings="")
    monkeypatch.chdir(project)
    (project / "inside").symlink_to(project / "sub")
    (project / "outside").symlink_to(tmp_path)
    assert _found(project, "inside/g.yaml", capsys) == {}
    assert _found(project, "outside/g.yaml", capsys)
