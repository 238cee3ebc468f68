"""The tables that lance-spark itself makes of our statements.

Shape: `LANCE_SPARK_PYTHON` names a Python whose pyspark has the connector's jars in its folder, `LANCE_SPARK_VERSION` the
connector's version (0.4.0 by default). Without the first these tests are skipped; nothing is downloaded here.
"""

import json
import os
import subprocess
from pathlib import Path

import lance
import pyarrow as pa
import pytest

import schemac
from schemac.artifacts.targets import Emission
from schemac.engines.lance.tables.fields import differences, lance_fields_of
from schemac.engines.spark import SPARK_LOSS
from schemac.engines.spark import artifact as spark
from schemac.engines.spark.artifact import key_columns, schema_properties
from schemac.engines.spark.connector import made_table
from schemac.engines.spark.versions import Connector
from schemac.text.source.diagnostics import Report
from tests.conformance.manifest_types import POSITIONS, TYPES, member, of

PYTHON = os.environ.get("LANCE_SPARK_PYTHON", "")
VERSION = os.environ.get("LANCE_SPARK_VERSION", "0.4.0")
SCRIPT = Path(__file__).with_name("run_statements.py")
NOT_IN_SPARK_3 = ("TIME(", "VARIANT")
pytestmark = pytest.mark.skipif(
    not PYTHON, reason="LANCE_SPARK_PYTHON names no Python with the jars of lance-spark"
)


def datasets(positions: tuple[str, ...]) -> list[tuple[str, schemac.Dataset]]:
    """A dataset for every type at these positions that both Lance and Spark can hold."""
    found: list[tuple[str, schemac.Dataset]] = []
    for place in positions:
        for name, type_ in TYPES.items():
            document = {
                "name": f"t{len(found)}",
                "fields": [member("id", of("Int64")), POSITIONS[place](type_)],
            }
            try:
                (dataset,) = schemac.compile_text(json.dumps(document))
                dataset.to_lance()
                statement = dataset.to_spark_statements()[0]
            except schemac.SchemaError:
                continue
            if not any(word in statement for word in NOT_IN_SPARK_3):
                found.append((f"{name}, {place}", dataset))
    return found


def assert_made_as_said(cases: list[tuple[str, schemac.Dataset]], folder: Path) -> None:
    """The tables are those of the model, and differ from the artifact where a loss says so and nowhere else."""
    errors = run([list(dataset.to_spark_statements()) for _, dataset in cases], folder)
    for (name, dataset), error in zip(cases, errors, strict=True):
        if "blob" in dataset.to_spark_statements()[0] and VERSION == "0.4.0":
            assert error is not None, "0.4.0 refuses blobs in files of version 2.2"
            continue
        assert error is None, (name, error)
        table = lance.dataset(folder / "tables" / f"{dataset.name}.lance")
        compilation = dataset._compilation._replace(versions={"spark": VERSION})
        emission = Emission(compilation.dataset, "spark", SPARK_LOSS, Report())
        columns = spark.to_fields(
            compilation.lowered, Emission(compilation.dataset, "spark", SPARK_LOSS, Report())
        )
        spark.emit(compilation, emission)
        properties = schema_properties(compilation, columns)
        assert table.data_storage_version == properties["file_format_version"]
        key = key_columns(compilation)
        made_schema = pa.schema(made_table(Connector(VERSION), columns, properties, key))
        assert differences(lance_fields_of(made_schema), table.lance_schema, ids=False) == (), name
        wanted = dataset.to_lance().fields
        # A view is lost by the JSON alone: Lance stores it as a text in any case.
        lost = [loss for loss in emission.losses if "view" not in loss.lost]
        assert bool(differences(wanted, table.lance_schema, ids=False)) == bool(lost), (name, lost)


def run(statements: list[list[str]], folder: Path) -> list[str | None]:
    """Run the statements of each table; the first error of each."""
    (folder / "tables").mkdir()
    (folder / "statements.json").write_text(json.dumps(statements))
    environment = {**os.environ, "PYSPARK_PYTHON": PYTHON, "PYTHONPATH": ""}
    command = [PYTHON, str(SCRIPT), str(folder / "tables"), str(folder / "statements.json")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    errors: list[str | None] = json.loads(done.stdout.splitlines()[-1])
    return errors


def test_make_a_table_of_every_type(tmp_path: Path) -> None:
    assert_made_as_said(datasets(("optional column",)), tmp_path)


@pytest.mark.long
def test_make_a_table_of_every_type_at_every_position(tmp_path: Path) -> None:
    assert_made_as_said(datasets(tuple(POSITIONS)), tmp_path)
