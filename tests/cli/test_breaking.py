"""`schemac breaking` in a repository: verdicts, findings, exit codes."""

import json
import re
import subprocess
from typing import Any

import pytest

from tests.cli.repository import Repository, repository

__all__ = ["repository"]


def _findings(repository: Repository, *words: str) -> tuple[int, list[Any]]:
    code, out, _ = repository.run("breaking", *words, "--format", "sarif")
    return code, json.loads(out)["runs"][0]["results"]


def test_judge_for_every_engine(repository: Repository) -> None:
    code, out, err = repository.run("breaking", "--against", "git:v1", "tables")
    assert code == 1
    assert out.splitlines()[:3] == [
        "rides: v1:tables/rides.yaml → tables/rides.yaml",
        "  id: integer-widened: Int32 → Int64",
        "    arrow        safe",
    ]
    assert "    lance        rewrite          [SC414]  the column is rewritten, under a new id" in out
    assert (
        "    spark        rewrite          [SC414]  through `schemac apply`: lance-spark ≤ 0.7.1 cannot change types"
        in out
    )
    assert "    old readers  depends on data  [SC413]  old readers expect Int32" in out
    assert err == "1 change: 1 refused, 1 depends on data, 1 rewrite\n"


@pytest.mark.parametrize(("engine", "code"), [("arrow", 0), ("lance", 0), ("spark", 1), ("odf", 1)])
def test_ask_one_engine(engine: str, code: int, repository: Repository) -> None:
    found, out, _ = repository.run("breaking", "--against", "lock:1", "tables", "--engine", engine)
    assert found == code
    assert [line.split()[0] for line in out.splitlines()[2:]] == [engine, "old"]


def test_ask_an_engine_that_the_dataset_is_not_built_for(repository: Repository) -> None:
    repository.edit(
        "tables/rides.yaml", "name: rides\n", "name: rides\nextra: {schemac.dev/targets: [arrow]}\n"
    )
    _, out, _ = repository.run("breaking", "--against", "git:v1", "tables")
    assert "spark" not in out
    _, out, _ = repository.run("breaking", "--against", "git:v1", "tables", "--engine", "odf")
    assert "    odf          refused          [SC411]  the standard allows no change of type" in out


def test_leave_readers_out(repository: Repository) -> None:
    repository.edit("tables/rides.yaml", "  - name: note\n    type: {kind: Option, inner: String}\n", "")
    words = ("--against", "git:HEAD", "tables", "--engine", "lance")
    code, out, err = repository.run("breaking", *words)
    assert (code, "old readers  refused" in out) == (1, True)
    assert err == "1 change: 1 refused\n"
    code, out, err = repository.run("breaking", *words, "--ignore-readers")
    assert (code, "old readers" in out) == (0, False)
    assert err == "1 change, none of them critical\n"


def test_judge_against_every_version(repository: Repository) -> None:
    repository.edit("tables/rides.yaml", "Int64", "Int32")
    words = ("--against", "lock", "tables", "--engine", "lance", "--format", "json")
    _, out, _ = repository.run("breaking", *words)
    assert [v["from"] for v in json.loads(out)["verdicts"]] == ["lock:2"]
    repository.edit("tables/rides.yaml", "Int32", "Int16")
    _, out, _ = repository.run("breaking", *words, "--transitive")
    verdicts = json.loads(out)["verdicts"]
    assert [(v["from"], v["oldData"]["outcome"]) for v in verdicts] == [
        ("lock:1", "depends on data"),
        ("lock:2", "depends on data"),
    ]


def test_print_json(repository: Repository) -> None:
    code, out, _ = repository.run(
        "breaking", "--against", "git:v1", "tables", "--format", "json", "--engine", "lance"
    )
    assert code == 0
    (verdict,) = json.loads(out)["verdicts"]
    assert (verdict["rule"], verdict["field"], verdict["newPlace"]) == (
        "lance.integer-widened",
        "id",
        "tables/rides.yaml:3:5",
    )
    assert verdict["oldData"] == {
        "code": "SC414",
        "outcome": "rewrite",
        "reason": "the column is rewritten, under a new id",
        "wayOut": "",
    }
    assert verdict["oldReaders"]["outcome"] == "depends on data"


def test_print_findings_for_programs(repository: Repository) -> None:
    code, findings = _findings(repository, "--against", "git:v1", "tables")
    assert code == 1
    assert {f["ruleId"] for f in findings} == {"SC411", "SC413", "SC414"}
    region = findings[0]["locations"][0]["physicalLocation"]
    assert (region["artifactLocation"]["uri"], region["region"]["startLine"]) == ("tables/rides.yaml", 3)
    _, out, _ = repository.run("breaking", "--against", "git:v1", "tables", "--format", "github")
    assert "::error file=tables/rides.yaml,line=3" in out
    assert "SC411 refused-change" in out


def test_say_where_a_dataset_was(repository: Repository) -> None:
    (repository.folder / "tables/stops.yaml").unlink()
    code, out, _ = repository.run("breaking", "--against", "git:HEAD", "tables")
    assert code == 1
    assert out.startswith("stops: HEAD:tables/stops.yaml → nothing\n  dataset-dropped\n")


@pytest.mark.parametrize("fail_on", ["error", "warning"])
def test_fail_on_warnings_when_asked(fail_on: str, repository: Repository) -> None:
    words = ("--against", "git:v1", "tables", "--engine", "arrow", "--fail-on", fail_on)
    assert repository.run("breaking", *words)[0] == (fail_on == "warning")


def test_find_no_change(repository: Repository) -> None:
    for words in (["git:HEAD"], ["lock"], ["tables"]):
        assert repository.run("breaking", "--against", *words, "tables") == (0, "", "no changes\n")


@pytest.mark.parametrize("form", ["text", "json", "github", "sarif"])
@pytest.mark.parametrize("against", ["git:--help", "lock:x", "nowhere", "git:"])
def test_say_what_cannot_be_compared_with(against: str, form: str, repository: Repository) -> None:
    code, out, _ = repository.run("breaking", "--against", against, "tables", "--format", form)
    assert (code, "SC408" in out) == (1, True)


def test_show_a_broken_manifest(repository: Repository) -> None:
    repository.edit("tables/rides.yaml", "Int64", "Itn64")
    code, out, _ = repository.run("breaking", "--against", "git:HEAD", "tables")
    assert (code, "error[SC201]" in out) == (1, True)


def test_refuse_a_damaged_lock(repository: Repository) -> None:
    repository.edit("tables/rides.lock", "Int64", "Int32")
    code, out, _ = repository.run("breaking", "--against", "lock", "tables")
    assert (code, "error[SC402]" in out) == (1, True)


def test_refuse_an_engine_that_there_is_not(repository: Repository) -> None:
    with pytest.raises(SystemExit) as exit:
        repository.run("breaking", "--against", "lock", "--engine", "hive")
    assert exit.value.code == 2


def test_name_a_command_that_works_where_a_lock_was_damaged_then(repository: Repository) -> None:
    """A help of git's has the commit and the path of the lock apart, and can be typed as it stands."""
    repository.edit("tables/rides.lock", "Int64", "Int63")
    repository.git("commit", "-am", "damaged")
    repository.git("checkout", "v1", "--", "tables/rides.lock")
    code, out, _ = repository.run("breaking", "--against", "git:HEAD", "tables")
    assert (code, "HEAD:tables/rides.lock: this line was edited by hand" in out) == (1, True)
    (command,) = re.findall("git log .*", out)
    assert command == "git log --oneline HEAD -- tables/rides.lock"
    told = subprocess.run(command.split(), capture_output=True, text=True, check=True, cwd=repository.folder)
    assert [line.split()[1] for line in told.stdout.splitlines()] == ["damaged", "two", "one"]
