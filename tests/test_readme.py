"""The README is true: its manifest compiles, its settings are read, its commands and attributes exist."""

import re
import tomllib
from pathlib import Path

import pytest

import schemac
from schemac.attributes.registry import ATTRIBUTES
from schemac.cli.main import COMMANDS
from schemac.identity.lock import Lock
from schemac.identity.lockfile import write_lock
from schemac.kinds.registry import BY_NAME
from schemac.project.settings import Settings
from tests.identity.commands import schemac as run
from tests.identity.trees import fields, locked

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    # All of them in one go: the end of one block looks like the start of one without a language.
    found = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return [text for of, text in found if of == language]


def test_compile_the_manifest_that_is_shown() -> None:
    (dataset,) = schemac.compile_text(blocks("yaml")[0])
    assert dataset.name == "rides"
    assert dataset.to_lance().fields[0].unenforced_primary_key_position == 1


def test_compile_the_constraints_that_are_shown() -> None:
    (shown,) = (block for block in blocks("yaml") if "schemac.dev/unique" in block)
    (dataset,) = schemac.compile_text(shown)
    assert (dataset.name, dataset.warnings) == ("rides", ())


def test_show_lines_of_a_lock_as_they_are_written() -> None:
    tags = {"kind": "Map", "keyType": {"kind": "String"}, "valueType": {"kind": "Int32"}}
    lock, _ = locked(fields(id="Int64", fare="Float64", tags=tags))
    lines = write_lock(Lock((lock,))).splitlines()
    (shown,) = (block for block in blocks("") if block.startswith("version "))
    assert set(shown.splitlines()) <= set(lines)


def test_compile_the_groups_that_are_shown(tmp_path: Path) -> None:
    library, rides, overlay = (
        next(block for block in blocks("yaml") if sign in block)
        for sign in ("parameters:", "imports:", "rides_production")
    )
    (tmp_path / "groups").mkdir()
    (tmp_path / "groups/common.yaml").write_text(library)
    (tmp_path / "rides.yaml").write_text(rides)
    (tmp_path / "production.yaml").write_text(overlay)
    (tmp_path / "schemac.toml").write_text("")
    (dataset,) = schemac.compile_file(tmp_path / "rides.yaml")
    assert [field.name for field in dataset.schema.fields] == [
        "ride_id",
        "fare_amount",
        "fare_currency",
        "stop",
    ]
    ran = run(tmp_path, "build", "--overlay", "production.yaml")
    assert (ran.returncode, (tmp_path / "build/rides_production").is_dir()) == (0, True), ran.stdout
    (tmp_path / "groups/common.yaml").write_text(
        library.replace("by\n        type: String", "by\n        type: Strin")
    )
    (shown,) = (block for block in blocks("") if block.startswith("error") and "'Strin'" in block)
    assert run(tmp_path, "check", "rides.yaml").stdout == f"{shown}\n"


def test_read_the_settings_that_are_shown() -> None:
    (shown,) = (block for block in blocks("toml") if "[build-system]" not in block)
    Settings.model_validate(tomllib.loads(shown))


def test_read_the_pipeline_that_is_shown() -> None:
    pytest.importorskip("pyspark")
    from ruamel.yaml import YAML

    from schemac.pipeline.declaration.job import Job

    shown = next(block for block in blocks("yaml") if block.startswith("source:"))
    job = Job.model_validate(YAML(typ="safe", pure=True).load(shown))
    assert job.max_quarantined.total == 0.05


def test_list_every_command_kind_and_attribute() -> None:
    assert set(re.findall(r"^\| `schemac (\w+)", README, re.MULTILINE)) == set(COMMANDS)
    assert all(re.search(rf"\b{kind}\b", README) for kind in BY_NAME)
    missing = [key for key, attribute in ATTRIBUTES.items() if f"`{attribute.name}`" not in README]
    assert missing == ["opendatafabric.org/linkedObjects"]
