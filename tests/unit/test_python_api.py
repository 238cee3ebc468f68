"""What `schemac` offers to Python: types for the engines that come with it, names for every other."""

import subprocess
import sys
from pathlib import Path
from typing import Any, assert_type

import pytest

import schemac
from schemac.artifacts.targets import target_names
from schemac.engines import PUBLIC, api
from schemac.engines.lance._generated.lance.file_pb2 import Schema as LanceSchema
from schemac.registry.engine import builtin_engines

MANIFEST = "name: trips\nfields:\n  - {name: fare, type: Float64}\n"


@pytest.fixture(scope="module")
def trips() -> schemac.Dataset:
    (trips,) = schemac.compile_text(MANIFEST)
    return trips


def test_have_types(trips: schemac.Dataset) -> None:
    """mypy reads this: what a name says is a type, and not anything."""
    assert_type(trips.to_lance(), LanceSchema)
    assert_type(trips.to_spark_ddl(), str)
    assert_type(trips.to_paimon(), dict[str, Any])
    assert_type(trips.artifacts("lance"), dict[str, bytes])
    assert_type(schemac.from_spark(trips.to_spark()), schemac.Dataset)
    assert_type(schemac.compile_text(MANIFEST), list[schemac.Dataset])


def test_know_the_names_without_loading_them() -> None:
    assert tuple(api.__all__) == PUBLIC
    assert set(PUBLIC) <= set(dir(schemac))
    script = "import sys, schemac; print(sorted(m for m in sys.modules if m.startswith('schemac')))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == "['schemac', 'schemac.engines', 'schemac.version']\n"


def test_offer_every_engine_of_ours(trips: schemac.Dataset) -> None:
    for engine in builtin_engines():
        assert not engine.artifacts or callable(getattr(trips, f"to_{engine.name}"))
        assert not engine.formats or callable(getattr(schemac, f"from_{engine.name}"))


def test_read_all_datasets_of_a_source(tmp_path: Path) -> None:
    pytest.importorskip("sqlglot")
    script = "CREATE TABLE a (x int); CREATE TABLE b (y text NOT NULL)"
    for read in (schemac.from_postgres, schemac.from_duckdb, schemac.from_bigquery):
        assert [dataset.name for dataset in read(script)] == ["a", "b"]
    assert str(schemac.from_snowflake(script)[0].to_arrow().field("X").type) == "decimal128(38, 0)"
    with pytest.raises(schemac.SchemaError, match="there is no kind for nothing"):
        schemac.from_postgres("CREATE TABLE a (x nothing)")
    file = tmp_path / "c.yaml"
    file.write_text("dataContractSpecification: 1.2.1\nmodels: {a: {fields: {x: {type: long}}}, b: {}}\n")
    assert [dataset.name for dataset in schemac.from_datacontract(file)] == ["a", "b"]
    file.write_text("kind: DataContract\napiVersion: v3.1.0\nschema: [{name: a}, {name: b}]\n")
    assert [dataset.name for dataset in schemac.from_odcs(file)] == ["a", "b"]
    file.write_text("seeds: [{name: a}, {name: b}]\n")
    assert [dataset.name for dataset in schemac.from_dbt(file)] == ["a", "b"]


@pytest.mark.parametrize("target", target_names())
def test_write_what_a_build_writes(target: str, trips: schemac.Dataset) -> None:
    built = schemac.build_text(MANIFEST, targets=[target])
    made = {f"trips/{path}": content for path, content in trips.artifacts(target).items()}
    assert made
    assert made == {path: content for path, content in built.items() if path in made}


def test_refuse_what_a_target_cannot_hold() -> None:
    (dataset,) = schemac.compile_text("name: t\nfields:\n  - {name: x, type: Duration}\n")
    with pytest.raises(schemac.SchemaError, match="SC561"):
        dataset.artifacts("paimon")


def test_read_a_source_of_any_format(tmp_path: Path, trips: schemac.Dataset) -> None:
    for path, content in trips.artifacts("arrow").items():
        (tmp_path / Path(path).name).write_bytes(content)
    assert schemac.from_source(tmp_path / "schema.arrow", name="trips").schema == trips.schema
    assert schemac.from_source(tmp_path / "schema.arrow", format="arrow").name == "schema"
