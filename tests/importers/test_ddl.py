"""Scripts of SQL as others write them: keys, partitions, names and several statements."""

import json
from pathlib import Path
from typing import Any

import pytest

import schemac
from schemac.cli.main import main
from schemac.language.manifest.standard import fitted_name, is_dataset_name

SCRIPT = """\
USE cat;
CREATE TABLE cat.db.t (id BIGINT, Day DATE NOT NULL, PRIMARY KEY (ID) NOT ENFORCED)
USING lance PARTITIONED BY (day) TBLPROPERTIES ('file_format_version' = '2.1', 'a' = 'b');
DROP TABLE IF EXISTS x;
CREATE TABLE u (id INT, at TIMESTAMP_NTZ, PRIMARY KEY (ID, at) NOT ENFORCED) USING paimon PARTITIONED BY (ID) TBLPROPERTIES ('bucket' = '4');
CREATE TABLE `odd name!` (`a;b` INT CONSTRAINT c UNIQUE NOT ENFORCED COMMENT 'hi');
ALTER TABLE `odd name!` SET UNENFORCED PRIMARY KEY (`a;b`);
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_import_a_script_as_a_stream(folder: Path) -> None:
    (folder / "s.sql").write_text(SCRIPT)
    assert main(["import", "s.sql", "--out", "s.yaml"]) == 0
    assert main(["check", "s.yaml"]) == 0
    t, u, odd = schemac.compile_file("s.yaml")
    assert (t.name, u.name, odd.name) == ("db/t", "u", "odd name_")
    assert t.schema.extra == {
        "lance.org/storageVersion": "2.1",
        "spark.apache.org/tableProperties": {"a": "b"},
    }
    assert t.schema.fields[0].type.type_text() == "Int64"
    assert t.schema.fields[0].extra == {"lance.org/primaryKey": {"position": 1}}
    assert u.schema.extra == {
        "paimon.apache.org/primaryKeys": ["id", "at"],
        "paimon.apache.org/partitionKeys": ["id"],
        "paimon.apache.org/options": {"bucket": "4"},
    }
    assert odd.schema.fields[0].extra["lance.org/primaryKey"] == {"position": 1}
    text = (folder / "s.yaml").read_text()
    assert "# not kept: USE cat\n" in text
    assert "# not kept: PARTITIONED BY (day)\n" in text
    assert "# its name was odd name!\n" in text
    assert "# from the table cat.db.t\n" in text


def test_import_a_script_into_a_folder(folder: Path) -> None:
    (folder / "s.sql").write_text(SCRIPT)
    assert main(["import", "s.sql", "--out", "tables/"]) == 0
    assert sorted(p.name for p in (folder / "tables").iterdir()) == ["db.t.yaml", "odd name_.yaml", "u.yaml"]
    assert main(["check", "tables"]) == 0
    assert main(["import", "s.sql", "--out", "tables"]) == 1
    assert len(list((folder / "tables").iterdir())) == 3


@pytest.mark.parametrize("strict", [[], ["--strict"]])
def test_write_what_passes(folder: Path, strict: list[str]) -> None:
    (folder / "s.sql").write_text(SCRIPT)
    assert main(["import", "s.sql", "--out", "s.yaml", *strict]) == 0
    assert main(["check", "s.yaml", *strict]) == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "CREATE TABLE a (x INT);\nALTER TABLE a ADD COLUMN y INT;",
            "a CREATE TABLE statement that includes the change is expected here",
        ),
        ("CREATE TABLE a (x INT);\nFROBNICATE a;", "CREATE TABLE is expected here, not FROBNICATE"),
        ("CREATE TABLE a (x INT) PRIMARY;", "a clause of CREATE TABLE is expected here"),
        ("CREATE TABLE a (x INT NOT ENFORCED)", "NULL is expected here, not ENFORCED"),
    ],
)
def test_refuse_what_would_be_lost(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    (folder / "s.sql").write_text(text)
    assert main(["import", "s.sql", "--format", "json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert found["message"].removeprefix("cannot read s.sql: ").startswith(message)
    assert found["line"] > 0


def test_name_one_dataset_only(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "s.sql").write_text(SCRIPT)
    assert main(["import", "s.sql", "--name", "x"]) == 1
    assert "s.sql holds 3 datasets, but --name gives one name" in capsys.readouterr().err
    with pytest.raises(schemac.SchemaError, match="holds 3 datasets"):
        schemac.from_spark_ddl(SCRIPT)


def test_import_every_dataset_of_a_document(folder: Path) -> None:
    (folder / "two.yaml").write_text("fields: []\nname: a\n---\nfields: []\nname: b\n")
    assert main(["import", "two.yaml", "--out", "m.yaml"]) == 0
    assert [d.name for d in schemac.compile_file("m.yaml")] == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "fitted"),
    [
        ("a.b/c", "a.b/c"),
        ("a/b/c", "b/c"),
        ("x@y", "x_y"),
        (" a. ", "a"),
        ("!!", "_"),
        ("", "dataset"),
        ("/", "dataset"),
    ],
)
def test_fit_a_name(name: Any, fitted: str) -> None:
    assert fitted_name(name) == fitted
    assert is_dataset_name(fitted)


@pytest.mark.parametrize("using", ["", "USING lance", "USING parquet", "USING delta"])
def test_build_what_another_engine_partitions(using: str, folder: Path) -> None:
    """Paimon has no type for an interval and no partition by a map; who never spoke of Paimon is not held to that."""
    columns = "id INT, i INTERVAL DAY TO SECOND, v VOID, m MAP<STRING, INT>"
    (folder / "s.sql").write_text(f"CREATE TABLE t ({columns}) {using} PARTITIONED BY (m, id)")
    assert main(["import", "s.sql", "--out", "s.yaml"]) == 0
    assert "# not kept: PARTITIONED BY (m, id)\n" in (folder / "s.yaml").read_text()
    assert main(["build", "s.yaml"]) == 0
