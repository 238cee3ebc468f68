"""What pipeline tests share; without PySpark they are skipped."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("lance")

import lance
import pyarrow as pa
from pyspark.sql import SparkSession

from schemac.pipeline.declaration.job import Job
from schemac.pipeline.runner import RunReport, run
from tests.spark_session import GENERATED_CODE

DATA = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture
def generated_code(spark: SparkSession) -> Iterator[None]:
    """Spark compiles its plans, as it does outside of these tests."""
    before = {name: spark.conf.get(name) for name in GENERATED_CODE}
    for name, text in GENERATED_CODE.items():
        spark.conf.set(name, text)
    yield
    for name, text in before.items():
        spark.conf.set(name, text)


@contextmanager
def another_session(spark: SparkSession) -> Iterator[SparkSession]:
    """Make a session that is not ours; afterwards ours is the active one again, for Python and for Java."""
    yield spark.newSession()
    SparkSession._instantiatedSession = spark
    SparkSession._get_j_spark_session_class(spark._jvm).setActiveSession(spark._jsparkSession)


@pytest.fixture
def data() -> Path:
    if not DATA.is_dir():
        pytest.skip("the real files are not here")
    return DATA


Runner = Callable[..., tuple[RunReport, list[dict[str, Any]], dict[str, list[tuple[str, str, str | None]]]]]


@pytest.fixture
def ingest(spark: SparkSession, tmp_path: Path) -> Runner:
    """Runs a job over texts: the report, the good rows, and the reasons of each bad record by its raw text."""

    def runner(schema: pa.Schema, records: list[Any] | str, suffix: str = "json", **settings: Any) -> Any:
        source = tmp_path / f"in.{suffix}"
        if isinstance(records, str):
            source.write_text(records)
        else:
            lines = (record if isinstance(record, str) else json.dumps(record) for record in records)
            source.write_text("".join(line + "\n" for line in lines))
        target = tmp_path / "out.lance"
        options = settings.pop("source", {})
        job = Job.model_validate(
            {
                "source": {"path": str(source), "format": suffix, **options},
                "target": {"path": str(target), "allowEmpty": True},
                **settings,
            }
        )
        report = run(job, schema, spark=spark)
        rows = rows_of(str(target))
        assert report.rows_in == report.rows_written + report.rows_quarantined
        assert report.rows_written == len(rows)
        return report, rows, reasons_of(report)

    return runner


def rows_of(path: str) -> list[dict[str, Any]]:
    """Rows of a table; nanoseconds as counts, which is all that Python without pandas can hold."""
    table = lance.dataset(path).to_table()
    assert table.validate(full=True) is None
    for i, field in enumerate(table.schema):
        if getattr(field.type, "unit", None) == "ns":
            table = table.set_column(i, field.name, table.column(i).cast(pa.int64()))
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def reasons_of(report: RunReport) -> dict[str, list[tuple[str, str, str | None]]]:
    if report.quarantine_path is None:
        return {}
    rows = lance.dataset(report.quarantine_path).to_table().to_pylist()
    assert len(rows) == report.rows_quarantined
    return {row["raw"]: [(e["path"], e["rule"], e["value"]) for e in row["errors"]] for row in rows}
