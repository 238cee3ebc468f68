"""What lance-spark cannot do with a table of Lance is a warning, for the version that a project has."""

from pathlib import Path

import pytest

from schemac.cli.main import main

CANNOT_BEFORE_0_5 = {
    "a map": ("{kind: Map, keyType: String, valueType: Int32}", "", "x: ", "cannot read a table with a Map"),
    "a map in a list": (
        "{kind: List, itemType: {kind: Map, keyType: String, valueType: Int32}}",
        "",
        "x.item: ",
        "cannot read a table with a Map",
    ),
    "a blob": (
        "{kind: Option, inner: Binary}",
        ", extra: {lance.org/blob: {}}",
        "x: ",
        "refuses the CREATE TABLE of a blob in files of version 2.2",
    ),
    "a uuid": (
        "{kind: Binary, fixedLength: 16}",
        ", extra: {arrow.apache.org/extensionType: {name: arrow.uuid}}",
        "x: ",
        "writes `arrow.uuid` from a DataFrame as bytes of any length, which no reader can read",
    ),
}


@pytest.fixture(autouse=True)
def _in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def checked(folder: Path, capsys: pytest.CaptureFixture[str], version: str | None) -> str:
    settings = "" if version is None else f'lanceSpark = "{version}"\n'
    (folder / "schemac.toml").write_text(settings)
    capsys.readouterr()
    main(["check", "t.yaml"])
    return "\n".join(line for line in capsys.readouterr().out.splitlines() if "[SC523]" in line)


@pytest.mark.parametrize("name", CANNOT_BEFORE_0_5)
def test_warn_of_what_a_version_cannot(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    type_, extra, path, what = CANNOT_BEFORE_0_5[name]
    (tmp_path / "t.yaml").write_text(f"name: t\nfields:\n  - {{name: x, type: {type_}{extra}}}\n")
    assert checked(tmp_path, capsys, "0.4.0") == f"warning[SC523]: {path}lance-spark 0.4.0 {what}"
    assert checked(tmp_path, capsys, "0.5.1") == ""
    assert checked(tmp_path, capsys, None) == ""


def test_let_the_blob_be_made_in_older_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The way out of the warning."""
    type_, extra, *_ = CANNOT_BEFORE_0_5["a blob"]
    field = f"  - {{name: x, type: {type_}{extra}}}\n"
    (tmp_path / "t.yaml").write_text(f'name: t\nextra: {{lance.org/storageVersion: "2.1"}}\nfields:\n{field}')
    assert checked(tmp_path, capsys, "0.4.0") == ""


@pytest.mark.parametrize("is_locked", [False, True])
@pytest.mark.parametrize("holder", ["{fields}", "{{kind: List, itemType: {fields}}}"])
def test_warn_of_a_member_that_came_later(
    holder: str, is_locked: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before the change is locked, which is before it is applied, and as long as rows may be older."""

    def write(members: str, more: str = "") -> None:
        struct = holder.format(fields=f"{{kind: Struct, fields: [{members}]}}")
        (tmp_path / "t.yaml").write_text(f"name: t\nfields:\n  - {{name: s, type: {struct}}}\n{more}")

    write("{name: a, type: Int32}")
    assert checked(tmp_path, capsys, "0.4.0") == ""
    assert main(["lock", "t.yaml"]) == 0
    both = "{name: a, type: Int32}, {name: b, type: {kind: Option, inner: Int32}}"
    # A struct that is new as a whole has all its members in every row.
    new = f"  - {{name: n, type: {{kind: Option, inner: {{kind: Struct, fields: [{both}]}}}}}}\n"
    write(both, new)
    if is_locked:
        assert main(["lock", "t.yaml"]) == 0
    path = "s.b" if holder == "{fields}" else "s.item.b"
    assert checked(tmp_path, capsys, "0.4.0") == (
        f"warning[SC523]: {path}: lance-spark 0.4.0 stops the JVM when it reads rows that were written before their"
        " struct had this member"
    )
    assert checked(tmp_path, capsys, "0.5.1") == ""
