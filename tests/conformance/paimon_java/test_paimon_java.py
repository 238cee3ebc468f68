"""Paimon's own Java library makes tables of our schema files, writes and reads them, and changes them as our locks do.

Shape: `PAIMON_JARS` names the jars, joined as a class path is: paimon-bundle, and Hadoop's client, which it needs. Without it
those of `make test-connectors` are taken, with the Python of that environment, or the one that `PAIMON_JAVA_PYTHON` names.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import schemac
from schemac.pipeline.spark.startup import java_home
from tests.conformance.manifest_types import POSITIONS, TYPES, member, of

ENVIRONMENT = Path(__file__).parents[3] / ".venv-connectors"
PYTHON = Path(os.environ.get("PAIMON_JAVA_PYTHON") or ENVIRONMENT / "bin" / "python")
JARS = os.environ.get("PAIMON_JARS") or ":".join(
    map(str, sorted((ENVIRONMENT / "jars" / "paimon").glob("*.jar")))
)
SCRIPT = Path(__file__).with_name("catalog.py")
pytestmark = [
    pytest.mark.skipif(
        not (JARS and PYTHON.exists()),
        reason="no jars of paimon-bundle are here: `make test-connectors` installs them",
    ),
    pytest.mark.slow,
]
SINCE_2 = ("VECTOR",)
"""Types that the bundle of 1.4.2 does not know; Paimon has them since 2.0.0."""


class Answers:
    """The library, in a process of its own."""

    def __init__(self, warehouse: Path) -> None:
        environment = {**os.environ, "JAVA_HOME": str(java_home()), "PYTHONPATH": ""}
        self.process = subprocess.Popen(
            [PYTHON, SCRIPT, JARS, warehouse], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env=environment,
        )  # fmt: skip

    def ask(self, *question: Any) -> Any:
        """Ask, and wait for the answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("answer "):
                return json.loads(line.removeprefix("answer "))
        raise AssertionError(f"the library ended at {question}")


@pytest.fixture(scope="module")
def paimon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    found = Answers(tmp_path_factory.mktemp("warehouse"))
    with found.process:  # closes the pipes, and waits
        yield found


def without_time(text: str) -> Any:
    return {name: value for name, value in json.loads(text).items() if name != "timeMillis"}


def datasets(positions: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    for place in positions:
        for i, (name, type_) in enumerate(TYPES.items()):
            fields = [member("id", of("Int64")), POSITIONS[place](type_)]
            document = {"name": f"t{i}_{list(POSITIONS).index(place)}", "fields": fields}
            try:
                (dataset,) = schemac.compile_text(json.dumps(document))
                yield f"{name}, {place}", dataset.name, json.dumps(dataset.to_paimon())
            except schemac.SchemaError:
                continue


def assert_made(paimon: Answers, positions: tuple[str, ...]) -> None:
    count = 0
    for case, name, text in datasets(positions):
        answer = paimon.ask("create", name, text)
        if any(word in text for word in SINCE_2):
            assert "error" in answer, case
            continue
        assert isinstance(answer, str), (case, answer)
        assert without_time(answer) == without_time(text), case
        count += 1
    assert count > 15


def test_say_the_version(paimon: Answers, record_property: Any) -> None:
    version = paimon.ask("version")
    print(f"Paimon's Java library {version}, jars: {JARS}")
    record_property("paimon-bundle", version)
    assert version


def test_make_a_table_of_every_type(paimon: Answers) -> None:
    assert_made(paimon, ("optional column",))


@pytest.mark.long
def test_make_a_table_of_every_type_at_every_position(paimon: Answers) -> None:
    assert_made(paimon, tuple(place for place in POSITIONS if place != "optional column"))


def test_write_and_read_the_table_of_a_schema_file(paimon: Answers) -> None:
    fields = [member("id", of("Int64")), member("s", {"kind": "Option", "inner": "String"})]
    (dataset,) = schemac.compile_text(json.dumps({"name": "rows", "fields": fields}))
    paimon.ask("create", "rows", json.dumps(dataset.to_paimon()))
    rows = [[1, "é"], [2, "x"], [3, ""]]
    assert paimon.ask("rows", "rows", rows) == rows


def test_change_a_table_as_the_lock_does(
    paimon: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second version of a lock has the ids that the library itself gives to the changes."""
    from schemac.cli.main import main

    monkeypatch.chdir(tmp_path)
    manifest = tmp_path / "changing.yaml"
    manifest.write_text(
        "fields:\n  - {name: id, type: Int64}\n  - {name: a, type: {kind: Option, inner: Int32}}\n  - {name: b, type: {kind: Option, inner: String}}\n"
    )
    assert main(["lock"]) == 0
    assert main(["rename", "changing", "b", "c"]) == 0
    text = (
        manifest.read_text().replace("Int32", "Int64") + "  - {name: d, type: {kind: Option, inner: Date}}\n"
    )
    manifest.write_text(text)
    assert main(["lock"]) == 0
    assert main(["build", "--target", "paimon"]) == 0
    folder = tmp_path / "build" / "changing" / "paimon"
    first = paimon.ask("create", "changing", (folder / "schema-0").read_text())
    assert without_time(first) == without_time((folder / "schema-0").read_text())
    versions = ([["rename", "b", "c"]], [["type", "a", "BIGINT"], ["add", "d", "DATE"]])
    for version, steps in enumerate(versions, start=1):
        text = (folder / f"schema-{version}").read_text()
        # Whoever changes a table records the version that it has now.
        steps = [*steps, ["option", "schemac.version", json.loads(text)["options"]["schemac.version"]]]
        changed = paimon.ask("alter", "changing", version, steps)
        assert without_time(changed) == without_time(text)
