"""Whatever lies in a file, a command ends by itself, with an exit code of its own and without a traceback."""

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest

import schemac
from schemac.cli.main import main
from tests.effort import every_nth
from tests.project.hostile import DEEP

ROOT = Path(__file__).parent.parent.parent
SOUND = {0, 1, 2, 4}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes among files, and no fork"),
]


@pytest.mark.parametrize(
    ("start", "step"),
    [(5, 197), *(pytest.param(start, 4, marks=pytest.mark.long) for start in range(4))],
)
def test_end_with_a_code_of_its_own(tmp_path: Path, start: int, step: int) -> None:
    """Every kind of file × every shape × every command; the quick run takes one in two hundred."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.project.hostile", str(tmp_path), str(start), str(step)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=3_600,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    met = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    assert len(met) >= 3_000 // step
    wrong = [
        m
        for m in met
        if m["case"]["status"] not in SOUND or "Traceback" in m["said"] or "internal" in m["said"]
    ]
    assert wrong == []


@pytest.mark.parametrize("command", ["run --dry-run", "verify trips --table", "plan trips --table", "init"])
@pytest.mark.parametrize("path", ["x" * 5_000, "x/" * 5_000, "loop"], ids=["long", "deep", "link"])
def test_refuse_a_path_that_no_system_takes(
    command: str, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    Path("trips.yaml").write_text("name: trips\nfields: [{name: a, type: Int8}]\n")
    assert main(["lock", "trips.yaml"]) == 0
    assert main([*command.split(), path]) in SOUND - {0}


METADATA = {
    "brackets": "[" * DEEP,
    "closed brackets": "[" * DEEP + "]" * DEEP,
    "brackets that JSON reads": "[" * 900 + "]" * 900,
    "brackets that YAML does not": "[" * 300 + "]" * 300,
    "braces": '{"a":' * DEEP,
    "number": "9" * 10_000,
    "half a pair": '"\\ud800"',
}
KEYS = (
    "acme.com/x",
    "lance.org/encoding",
    "ARROW:extension:metadata",
    "PARQUET:field_id",
    "lance-encoding:blob",
)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("text", METADATA.values(), ids=METADATA.keys())
@pytest.mark.parametrize(
    "extension", every_nth(["arrow.fixed_shape_tensor", None, "arrow.opaque", "acme.x"], 2)
)
def test_take_any_arrow_metadata(key: str, text: str, extension: str | None) -> None:
    metadata = {key: text, **({"ARROW:extension:name": extension} if extension else {})}
    for type_ in (
        pa.int32(),
        pa.list_(pa.field("item", pa.int8(), metadata=metadata)),
        pa.list_(pa.float32(), 4),
    ):
        for schema in (
            pa.schema([pa.field("a", type_, False, metadata=metadata)]),
            pa.schema([pa.field("a", type_, False)], metadata=metadata),
        ):
            with suppress(schemac.SchemaError):
                dataset = schemac.from_arrow(schema)
                dataset.to_arrow()
                dataset.to_odf()


def _spark(**changes: object) -> dict[str, object]:
    field = {"name": "a", "type": "integer", "nullable": True, "metadata": {}, **changes}
    return {"type": "struct", "fields": [field]}


@pytest.mark.parametrize(
    "document",
    [
        _spark(name="\ud800"),
        _spark(metadata={"x": "\ud800"}),
        _spark(metadata={"\ud800": 1}),
        _spark(metadata={"comment": "\ud800"}),
        _spark(type="\ud800"),
        _spark(type={"type": "array", "elementType": "\ud800", "containsNull": True}),
    ],
)
def test_refuse_half_a_character_in_spark_json(document: dict[str, object]) -> None:
    with pytest.raises(schemac.SchemaError):
        schemac.from_spark(document)


@pytest.mark.parametrize("text", ["a\ud800 INT", "a INT COMMENT '\ud800'", "CREATE TABLE `\ud800` (a INT)"])
def test_refuse_half_a_character_in_ddl(text: str) -> None:
    with pytest.raises(schemac.SchemaError):
        schemac.from_spark_ddl(text)
