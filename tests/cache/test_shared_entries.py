"""`lock` and `lock --check` use what the other has found out: no manifest is compiled twice."""

from pathlib import Path

import pytest

from schemac.cli.main import main
from schemac.project import stages
from schemac.project.cache.store import remove_cache

COUNT = 4


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A project with manifests; the names of those that were compiled."""
    names: list[str] = []
    real = stages.check_source

    def counted(source: object, *arguments: object, **named: object) -> object:
        names.append(source.name)  # type: ignore[attr-defined]
        return real(source, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(stages, "check_source", counted)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schemac.toml").write_text("")
    for number in range(COUNT):
        (tmp_path / f"t{number}.yaml").write_text("fields:\n- {name: a, type: Int64}\n")
    return names


def run(compiled: list[str], *words: str) -> tuple[int, int]:
    """The exit code of `schemac lock`, and how many manifests it compiled."""
    compiled.clear()
    return main(["lock", *words]), len(compiled)


def test_share_entries(compiled: list[str], tmp_path: Path) -> None:
    assert run(compiled) == (0, COUNT)
    assert run(compiled, "--check") == (0, 0)
    assert run(compiled) == (0, 0)
    # One that was edited is compiled again, and no other.
    edited = tmp_path / "t1.yaml"
    edited.write_text(edited.read_text() + "- {name: b, type: String}\n")
    code = run(compiled, "--check")[0]
    assert (code, set(compiled)) == (4, {"t1.yaml"})
    assert run(compiled)[0] == 0
    assert set(compiled) == {"t1.yaml"}
    assert run(compiled, "--check") == (0, 0)
    remove_cache(tmp_path)
    assert run(compiled, "--check") == (0, COUNT)
    assert run(compiled) == (0, 0)


def test_say_the_same_from_the_cache(
    compiled: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also of a name that a field had, which stays in the manifest after it was locked."""
    assert run(compiled)[0] == 0
    extra = "extra: {schemac.dev/renamedFrom: a}"
    (tmp_path / "t0.yaml").write_text(f"fields:\n- {{name: b, type: Int64, {extra}}}\n")
    assert run(compiled)[0] == 0
    capsys.readouterr()
    assert run(compiled, "--check") == (0, 0)
    kept = capsys.readouterr()
    assert run(compiled, "--check", "--no-cache")[0] == 0
    assert capsys.readouterr() == kept


def test_keep_nothing_of_a_lock_that_another_process_has_written(compiled: list[str], tmp_path: Path) -> None:
    assert run(compiled) == (0, COUNT)
    lock = tmp_path / "t2.lock"
    lock.write_text(lock.read_text().replace("Int64", "Int32"))
    assert run(compiled, "--check")[0] != 0
