"""What programs and terminals get: places that lead to the files, and lines that fit."""

import json
import re
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from schemac.cli.main import COMMANDS, main
from tests.cli.repository import RIDES, Repository, repository

__all__ = ["repository"]

# RFC 3986: the characters of a path; the first segment of a relative reference has no colon.
_PATH = r"(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})*"
_REFERENCE = re.compile(rf"(?:[a-z][a-z0-9+.\-]*://{_PATH}|(?!/)(?![^/]*:){_PATH})")
FAULTY = "fields:\n  - {name: fare, type: Flota64}\n"
NAMES = [
    "a b.yaml",
    "größe.yaml",
    "100%.yaml",
    "a#b?c.yaml",
    "a\nb.yaml",
    "a:b.yaml",
    "[a].yaml",
    "a\\b.yaml",
]


def results(out: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(out)["runs"][0]["results"]
    return found


def artifacts(out: str) -> list[dict[str, str]]:
    return [
        place["physicalLocation"]["artifactLocation"]
        for result in results(out)
        for place in (*result.get("locations", []), *result.get("relatedLocations", []))
        if "physicalLocation" in place
    ]


@pytest.mark.parametrize("name", NAMES)
def test_lead_programs_to_a_file_of_any_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "deep er" / "tables"
    folder.mkdir(parents=True)
    for place in (folder, folder.parent):
        (place / name).write_text(FAULTY)
    (folder / "working").mkdir()
    monkeypatch.chdir(folder / "working")
    words = ["check", f"../{name}", f"../../{name}", "--format"]
    assert main([*words, "sarif"]) == 1
    uris = artifacts(capsys.readouterr().out)
    assert {uri["uriBaseId"] for uri in uris} == {"%SRCROOT%"}
    assert all(_REFERENCE.fullmatch(uri["uri"]) for uri in uris), uris
    assert {(tmp_path / unquote(uri["uri"])).resolve() for uri in uris} == {
        folder / name,
        folder.parent / name,
    }
    assert main([*words, "github"]) == 1
    out = capsys.readouterr().out
    files = re.findall(r"::error file=([^,]*),line=", out)
    assert {tmp_path / unquote(file) for file in files} == {folder / name, folder.parent / name}


def test_tell_a_file_outside_of_the_repository_by_its_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "repository/.git").mkdir(parents=True)
    (tmp_path / "out side.yaml").write_text(FAULTY)
    monkeypatch.chdir(tmp_path / "repository")
    assert main(["check", "../out side.yaml", "--format", "sarif"]) == 1
    (uri,) = {uri["uri"] for uri in artifacts(capsys.readouterr().out)}
    assert _REFERENCE.fullmatch(uri)
    assert unquote(urlsplit(uri).path) == str(tmp_path / "out side.yaml")
    assert main(["check", "../out side.yaml", "--format", "github"]) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"::error title=SC201 unknown-kind::{tmp_path}/out side.yaml:2:")


def test_name_files_from_the_root_wherever_one_works(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository.folder / "tables")
    for form in ("sarif", "github"):
        _, out, _ = repository.run("breaking", "--against", "git:v1", "--format", form)
        places = [a["uri"] for a in artifacts(out)] if form == "sarif" else re.findall("file=([^,:]*)", out)
        assert set(places) == {"tables/rides.yaml"}


def test_name_what_is_gone_by_the_place_that_it_had(repository: Repository) -> None:
    (repository.folder / "tables/stops.yaml").unlink()
    repository.edit("tables/rides.yaml", "  - name: note\n    type: {kind: Option, inner: String}\n", "")
    _, out, _ = repository.run("breaking", "--against", "git:HEAD", "--format", "sarif")
    assert {a["uri"] for a in artifacts(out)} == {"tables/rides.yaml", "tables/stops.yaml"}


def test_give_each_engine_its_own_reason(repository: Repository) -> None:
    """What programs get says no less than the text for people."""
    repository.edit("tables/rides.yaml", "Int64", "String")
    repository.edit("tables/stops.yaml", "lat, type: Float64", "lat, type: Int32")
    words = ("breaking", "--against", "git:HEAD", "tables", "--ignore-readers")
    _, text, _ = repository.run(*words)
    _, verdicts, _ = repository.run(*words, "--format", "json")
    _, sarif, _ = repository.run(*words, "--format", "sarif")
    _, github, _ = repository.run(*words, "--format", "github")
    told = [result["message"]["text"] for result in results(sarif)]
    grave = [v for v in json.loads(verdicts)["verdicts"] if v["oldData"]["code"]]
    assert len({v["oldData"]["reason"] for v in grave}) > 1
    for verdict in grave:
        data = verdict["oldData"]
        (mine,) = (
            one
            for one in told
            if verdict["engine"] in re.split("[(), ]+", one.partition("\n")[0].rpartition("(")[2])
            and one.startswith(f"{verdict['field']}: ")
        )
        assert data["reason"] in mine
        assert data["wayOut"] in mine
        assert data["reason"] in text
        assert data["reason"] in github.replace("%25", "%")


def test_say_all_that_is_wrong_with_a_field_of_a_broken_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(
        "fields:\n"
        "  - {name: id, type: bigint, extra: {lance.org/primaryKy: {position: 1}, lance.org/blob: true}}\n"
        "  - {name: id, type: Int64}\n"
        "  - name: s\n"
        "    nullable: true\n"
        "    type: {kind: List, itemType: {kind: Struct, fields: [{name: x, type: Intt}, {name: x, type: Int8, extra: {k: 1}}]}}\n"
        "  - {name: m, type: {kind: Map, keyType: Strin, valueType: {kind: Option, inner: {kind: Option, inner: Int8}}}}\n"
    )
    assert main(["check", "a.yaml", "--format", "json"]) == 1
    found = [(d["code"], d["path"]) for d in json.loads(capsys.readouterr().out)["diagnostics"]]
    assert found == [
        ("SC201", "id"),
        ("SC310", "id"),
        ("SC312", "id"),
        ("SC301", "id"),
        ("SC202", "s"),
        ("SC201", "s.item.x"),
        ("SC301", "s.item.x"),
        ("SC309", "s.item.x"),
        ("SC201", "m.key"),
        ("SC304", "m.value"),
    ]


@pytest.mark.parametrize("command", COMMANDS)
def test_say_which_option_was_meant(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """For every option of every command, with two letters in the wrong order."""
    with pytest.raises(SystemExit):
        main([command, "--help"])
    options = set(re.findall(r"--[a-z][a-z-]+", capsys.readouterr().out.partition("options:")[2]))
    assert "--help" in options
    for option in sorted(options):
        slip = f"{option[:-2]}{option[-1]}{option[-2]}"
        if slip in options:
            continue
        with pytest.raises(SystemExit) as exit:
            main([command, slip, "x"])
        assert exit.value.code == 2
        assert f"there is no option '{slip}'; did you mean `" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([command, "--tbale=x"])
    assert "there is no option '--tbale'; " in capsys.readouterr().err


@pytest.mark.parametrize("columns", [50, 80, 200])
def test_fit_the_terminal(columns: int, repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    long = "# " + "x" * 300
    repository.write("tables/wide.yaml", f"name: wide\nfields:\n  - {{name: fare, type: Flota64}} {long}\n")
    monkeypatch.setenv("COLUMNS", str(columns))
    words = ("breaking", "--against", "git:v1", "tables/rides.yaml")
    piped = [repository.run("check", "tables"), repository.run(*words)]
    assert max(map(len, piped[0][1].splitlines())) == 4 + 120
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    _, out, _ = repository.run("check", "tables")
    assert max(map(len, out.splitlines())) == columns
    assert "^^^^^^^" in out
    _, out, _ = repository.run(*words)
    rows = [line for line in out.splitlines() if line.startswith("    ")]
    if columns >= 80:
        assert max(map(len, rows)) <= columns
    # Nothing is lost but where the lines end.
    assert out.split() == piped[1][1].split()


def test_plan_a_table_for_the_engines_that_were_asked_for(repository: Repository) -> None:
    import lance
    import pyarrow as pa

    path = str(repository.folder / "rides.lance")
    schema = pa.schema([pa.field("id", pa.int32(), nullable=False), pa.field("note", pa.string())])
    lance.write_dataset(pa.table({"id": [1], "note": ["a"]}, schema=schema), path)
    words = ("plan", "rides", "--table", path, "--format", "json")
    own = {"command", "schemac", "diagnostics", "summary"}
    assert json.loads(repository.run(*words)[1]).keys() - own == {"steps"}
    assert json.loads(repository.run(*words, "--engine", "lance")[1]).keys() - own == {"steps"}
    code, out, _ = repository.run(*words, "--engine", "spark")
    assert (code, "spark" in json.loads(out), "steps" in json.loads(out)) == (1, True, False)
    both = json.loads(repository.run(*words, "--engine", "spark", "--engine", "lance")[1])
    assert {"spark", "steps"} <= both.keys()
    code, out, _ = repository.run(*words[:-2], "--engine", "paimon")
    assert (code, "error[SC421]" in out, "possible engines: lance or spark" in out) == (1, True, True)


def test_count_datasets_that_are_not_up_to_date(repository: Repository) -> None:
    assert repository.run("build", "tables", "--check")[0] == 4
    assert repository.run("build", "tables")[0] == 0
    words = ("build", "tables", "--check")
    assert repository.run(*words)[2] == "2 datasets are up to date\n"
    repository.edit("tables/rides.yaml", "Int64", "Int16")
    code, out, err = repository.run(*words, "--no-metadata")
    assert code == 4
    assert re.fullmatch(r"1 of 2 datasets is not up to date: \d+ errors, 1 warning\n", err), err
    assert out.count("error[SC541]") > 1
    repository.edit("tables/rides.yaml", "Int16", "Int61")
    assert repository.run(*words)[2].startswith("checked 2 datasets: 1 error")
    assert "nothing was written" not in repository.run(*words)[2]
    assert repository.run("build", "tables")[2].startswith("nothing was written: 1 error")


def test_show_no_direction_marks_of_a_name(repository: Repository) -> None:
    repository.write("tables/a\u202eb\nc.yaml", RIDES.replace("rides", "odd"))
    repository.git("add", "--all")
    repository.git("commit", "-m", "odd")
    repository.edit("tables/a\u202eb\nc.yaml", "Int32", "String")
    for command in (("diff", "git:HEAD"), ("breaking", "--against", "git:HEAD")):
        _, out, _ = repository.run(*command, "tables")
        assert "\u202e" not in out
        assert "tables/a\\u202eb\\nc.yaml" in out


@pytest.mark.parametrize("option", ["build --target", "breaking --against lock --engine", "import x --from"])
def test_suggest_the_engine_that_was_meant(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([*option.split(), "lanse" if "import" in option else "paimmon"])
    meant = "lance" if "import" in option else "paimon"
    assert f"did you mean `{meant}`?" in capsys.readouterr().err
