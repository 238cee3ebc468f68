"""Overlays: other names, options and encodings in one environment, and never another meaning."""

from pathlib import Path

import pyarrow as pa
import pytest

from schemac.language.attributes.registry import ATTRIBUTES
from schemac.language.manifest.overlay import is_stored
from tests.identity.commands import schemac

TRIPS = """\
name: trips
extra:
  paimon.apache.org/options: {manifest.format: orc, file.format: parquet}
fields:
  - name: id
    type: Int64
  - name: stop
    type: {kind: Struct, fields: [{name: place, type: String}]}
"""
OVERLAY = """\
description: Large tables
datasets:
  trips:
    name: trips_prod
    extra:
      paimon.apache.org/options: {manifest.format: avro}
      lance.org/storageVersion: "2.1"
    fields:
      stop.place:
        extra:
          arrow.apache.org/bufferEncoding: {kind: Contiguous, offsetBitWidth: 64}
"""


def lay_out(folder: Path, overlay: str = OVERLAY) -> Path:
    (folder / "trips.yaml").write_text(TRIPS)
    (folder / "prod.yaml").write_text(overlay)
    (folder / "schemac.toml").write_text("")
    return folder


def arrow(folder: Path, dataset: str) -> pa.Schema:
    return pa.ipc.read_schema(pa.py_buffer((folder / f"build/{dataset}/arrow/schema.arrow").read_bytes()))


def test_lay_names_options_and_encodings_over(tmp_path: Path) -> None:
    lay_out(tmp_path)
    assert schemac(tmp_path, "lock").returncode == 0
    lock = (tmp_path / "trips.lock").read_text()
    for _ in range(2):
        ran = schemac(tmp_path, "build", "--overlay", "prod.yaml", "--locked")
        assert (ran.returncode, ran.stdout) == (0, "")
        assert {path.name for path in (tmp_path / "build").iterdir()} == {"artifacts.json", "trips_prod"}
        schema = arrow(tmp_path, "trips_prod")
        assert schema.field("stop").type.field("place").type == pa.large_string()
        options = schema.metadata[b"paimon.apache.org/options"]
        assert options == b'{"file.format":"parquet","manifest.format":"avro"}'
        assert b"2.1" in schema.metadata[b"lance.org/storageVersion"]
    assert schemac(tmp_path, "build").returncode == 0
    assert arrow(tmp_path, "trips").field("stop").type.field("place").type == pa.string()
    assert (tmp_path / "trips.lock").read_text() == lock


@pytest.mark.parametrize(
    ("old", "new", "code", "said"),
    [
        ('lance.org/storageVersion: "2.1"', 'lance.org/storageVersion: "9"', "SC312", "2.0, 2.1, 2.2 or 2.3"),
        ('lance.org/storageVersion: "2.1"', "schemac.dev/owner: me", "SC237", "defines what the data mean"),
        ('lance.org/storageVersion: "2.1"', "acme.com/x: 1", "SC237", "defines what the data mean"),
        ("stop.place", "stop.plaec", "SC237", "did you mean `stop.place`?"),
        ("  trips:\n", "  trisp:\n", "SC237", "did you mean `trips`?"),
        ("trips_prod", "a/b/c", "SC217", "is not a valid dataset name"),
        ("    name:", "    nmae:", "SC202", "did you mean `name`?"),
        ("datasets:", "dataset:", "SC237", "is not an overlay"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", ["check", "build"])
def test_refuse_what_an_overlay_may_not_say(
    tmp_path: Path, command: str, old: str, new: str, code: str, said: str
) -> None:
    assert old in OVERLAY
    ran = schemac(lay_out(tmp_path, OVERLAY.replace(old, new)), command, "--overlay", "prod.yaml")
    assert ran.returncode == 1
    assert f"[{code}]" in ran.stdout
    assert said in ran.stdout
    assert "prod.yaml:" in ran.stdout or code == "SC237"
    assert not (tmp_path / "build").exists()


def test_refuse_one_name_for_two(tmp_path: Path) -> None:
    lay_out(tmp_path)
    (tmp_path / "other.yaml").write_text(TRIPS.replace("name: trips", "name: TRIPS_PROD"))
    ran = schemac(tmp_path, "build", "--overlay", "prod.yaml")
    assert ran.returncode == 1
    assert "SC216" in ran.stdout


def test_let_no_attribute_of_meaning_differ() -> None:
    """What may differ is a closed list: whoever adds an attribute decides."""
    assert {key for key, attribute in ATTRIBUTES.items() if is_stored(attribute)} == {
        "arrow.apache.org/bufferEncoding",
        "arrow.apache.org/dateEncoding",
        "arrow.apache.org/decimalEncoding",
        "arrow.apache.org/dictionaryEncoding",
        "iceberg.apache.org/tableProperties",
        "lance.org/encoding",
        "lance.org/storageVersion",
        "paimon.apache.org/options",
        "schemac.dev/targets",
        "spark.apache.org/tableProperties",
    }
