"""A library that is not installed: the message names the extra that brings it, whichever part needs it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from schemac.cli.main import main
from schemac.text.source.files import install_help

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


@pytest.mark.parametrize(
    ("library", "what"),
    [("lance.dataset", "'schemac[lance]'"), ("pyspark.sql", "'schemac[spark]'"), ("fastavro", "fastavro")],
)
def test_name_the_extra_of_a_library(library: str, what: str) -> None:
    assert install_help(ModuleNotFoundError(name=library)) == f"install it with: pip install {what}"


def test_every_extra_that_is_named_exists() -> None:
    extras = re.search(r"optional-dependencies\]\n(.*?)\n\n", PROJECT.read_text(), re.DOTALL)
    assert extras is not None
    declared = set(re.findall(r"^(\w+) = ", extras[1], re.MULTILINE))
    for library in (
        "lance",
        "pyspark",
        "rich",
        "markdown_it",
        "numpy",
        "sqlglot",
        "pyiceberg",
        "jinja2",
        "pygls",
    ):
        found = re.search(r"\[(\w+)\]", install_help(ModuleNotFoundError(name=library)))
        assert found is not None
        assert found[1] in declared


@pytest.mark.parametrize(
    ("library", "words", "extra"),
    [("sqlglot", ["import", "x.sql", "--from", "duckdb"], "sql"), ("jinja2", ["docs", "x.yaml"], "docs")],
)
def test_say_what_to_install(library: str, words: list[str], extra: str, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("fields:\n  - {name: a, type: Int32}\n")
    (tmp_path / "x.sql").write_text("CREATE TABLE x (a INTEGER)")
    script = f"import sys; sys.modules[{library!r}] = None; from schemac.cli.main import main; sys.exit(main({words!r}))"
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert f"needs {library}, which is not installed" in done.stdout + done.stderr
    assert f"pip install 'schemac[{extra}]'" in done.stdout + done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["plan", "x"],
        ["apply", "x", "--table", "x.lance"],
        ["verify", "x", "--table", "x.lance"],
        ["sample", "x"],
        ["runs", "x.lance"],
    ],
)
def test_say_what_to_install_for_tables_and_rows(words: list[str], tmp_path: Path) -> None:
    """`pip install schemac` is enough to compile; what else is needed has a name."""
    (tmp_path / "x.yaml").write_text("fields:\n  - {name: a, type: Int32}\n")
    (tmp_path / "x.lance" / "_versions").mkdir(parents=True)
    main(["lock", str(tmp_path / "x.yaml")])
    script = f"import sys; sys.modules['numpy'] = None; from schemac.cli.main import main; sys.exit(main({words!r}))"
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1, done.stderr
    assert "needs numpy, which is not installed" in done.stdout + done.stderr
    assert "pip install 'schemac[lance]'" in done.stdout + done.stderr


@pytest.mark.parametrize("call", ["validate([{'a': 1}])", "to_table([{'a': 1}])", "sample(3)"])
def test_say_what_to_install_in_python(call: str) -> None:
    script = (
        "import sys; sys.modules['numpy'] = None; import schemac;"
        "(x,) = schemac.compile_text('fields: [{name: a, type: Int32}]');"
        f"x.{call}"
    )
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: this needs numpy, which is not installed; install it with: pip install 'schemac[lance]'"
    )


def test_say_what_to_install_for_pipelines() -> None:
    script = "import sys; sys.modules['pyspark'] = None; from schemac.pipeline import run"
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: this needs pyspark, which is not installed; install it with: pip install 'schemac[spark]'"
    )
