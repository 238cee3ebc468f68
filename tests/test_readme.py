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
from tests.identity.trees import fields, locked

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return [text for word, text in found if word == language]


def test_compile_the_manifest_that_is_shown() -> None:
    (dataset,) = schemac.compile_text(blocks("yaml")[0])
    assert dataset.name == "rides"
    assert dataset.to_lance().fields[0].unenforced_primary_key_position == 1


def test_show_lines_of_a_lock_as_they_are_written() -> None:
    tags = {"kind": "Map", "keyType": {"kind": "String"}, "valueType": {"kind": "Int32"}}
    lock, _ = locked(fields(id="Int64", fare="Float64", tags=tags))
    lines = write_lock(Lock((lock,))).splitlines()
    (shown,) = (block for block in blocks("") if block.startswith("version "))
    assert set(shown.splitlines()) <= set(lines)


def test_read_the_settings_that_are_shown() -> None:
    Settings.model_validate(tomllib.loads(blocks("toml")[0]))


def test_read_the_pipeline_that_is_shown() -> None:
    pytest.importorskip("pyspark")
    from ruamel.yaml import YAML

    from schemac.pipeline.declaration.job import Job

    job = Job.model_validate(YAML(typ="safe", pure=True).load(blocks("yaml")[1]))
    assert job.max_quarantined.total == 0.05


def test_list_every_command_kind_and_attribute() -> None:
    assert set(re.findall(r"^\| `schemac (\w+)", README, re.MULTILINE)) == set(COMMANDS)
    assert all(re.search(rf"\b{kind}\b", README) for kind in BY_NAME)
    missing = [key for key, attribute in ATTRIBUTES.items() if f"`{attribute.name}`" not in README]
    assert missing == ["opendatafabric.org/linkedObjects"]
