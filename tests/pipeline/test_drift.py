"""A table that is not what its manifest compiles to: the examples on the page of SC613, run."""

from pathlib import Path

import lance
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from schemac.cli.main import main
from schemac.text.source.catalogue import PIPELINE_DRIFT
from schemac.text.source.pages import read_page
from tests.page_files import examples_of

pytestmark = pytest.mark.spark


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Records, their manifest, and an older table whose column has another field id."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rides.yaml").write_text("fields:\n  - {name: fare, type: Float64}\n")
    (tmp_path / "rides.ndjson").write_text('{"fare": 1.5}\n')
    columns = [pa.field("gone", pa.int8()), pa.field("fare", pa.float64(), nullable=False)]
    table = pa.table({"gone": [1], "fare": [2.0]}, pa.schema(columns))
    lance.write_dataset(table, "older.lance").drop_columns(["gone"])
    return tmp_path


@pytest.mark.parametrize(
    "example", examples_of(read_page(PIPELINE_DRIFT.id)), ids=lambda e: "right" if e.is_right else "wrong"
)
def test_run_the_examples(
    example: object, folder: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    is_right, text = example.is_right, example.text  # type: ignore[attr-defined]
    (folder / "pipeline.yaml").write_text(text)
    assert main(["run", "pipeline.yaml"]) == (0 if is_right else 1)
    shown = capsys.readouterr().out
    assert ("SC613" in shown) == (not is_right)
    assert ("the table's schema matches the artifact" in shown) == is_right
