"""The same pipelines in a session of Spark Connect."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.pipeline.connect_program import FORMS, RECORDS
from tests.pipeline.s3_store import PYTHON

HAS_CONNECT = Path(PYTHON).exists()
pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(
        not HAS_CONNECT, reason="what Spark Connect needs is not here: `make test-where` installs it"
    ),
]


@pytest.mark.long
def test_run_over_connect(tmp_path: Path) -> None:
    root = str(Path(__file__).parents[2])
    command = [PYTHON, "-m", "tests.pipeline.connect_program", str(tmp_path)]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["class"].startswith("pyspark.sql.connect")
    assert found["zone"] == "Asia/Tokyo"
    bad = RECORDS // 3
    assert {form: found[form] for form in FORMS} == {
        form: [RECORDS, RECORDS - bad, bad, RECORDS - bad, []] for form in FORMS
    }
