"""The examples on the page of each code do what they say: the wrong one gives that code, the right one none."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from schemac.project.configuration import find_project
from schemac.source.catalogue import CATALOGUE
from schemac.source.diagnostic import Code, Severity
from schemac.source.pages import Example, Page, read_page
from schemac.source.report import Report
from tests.compiling import compile_bytes

CODES = list(CATALOGUE.values())
STRICT = frozenset({"SC213", "SC214"})
"""Codes whose examples are compiled with `--strict`."""
NOT_RUN = frozenset({"SC423", "SC613"})
"""Codes whose examples need Spark, which `tests/pipeline/test_drift.py` runs, or somebody else at the same moment."""
TRIPS = "fields:\n  - name: fare\n    type: Float64\n"


def _found(code: Code, page: Page, example: Example, folder: Path) -> tuple[set[str], set[str]]:
    """All codes that an example gives, and those among them that are errors."""
    if example.language == "shell":
        return _found_by_shell(example.text, folder)
    if example.language == "toml":
        (folder / "schemac.toml").write_text(example.text)
        report = Report()
        find_project(folder, report)
        return {d.code for d in report.diagnostics}, {d.code for d in report.diagnostics}
    if example.language == "pipeline":
        (folder / "pipeline.yaml").write_text(example.text)
        (folder / "rides.yaml").write_text(TRIPS)
        (folder / "rides.ndjson").write_text('{"fare": 1.5}\n')
        return _found_by_shell("schemac run --dry-run pipeline.yaml", folder)
    content = example.text.encode()
    if example.language == "bytes":
        content = re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes.fromhex(m[1].decode()), content)
    vocabulary = re.search(r"```json\n(.*?)\n```", page.text, re.DOTALL)
    if vocabulary:
        (folder / "schemac.toml").write_text('[vocabularies]\n"example.com" = "vocabulary.json"\n')
        (folder / "vocabulary.json").write_text(vocabulary[1])
    compiled = compile_bytes(
        content,
        "example.yaml",
        strict=code.id in STRICT,
        show_losses=code.severity is Severity.NOTE,
        folder=folder,
    )
    return compiled.codes, compiled.errors


def _found_by_shell(script: str, folder: Path) -> tuple[set[str], set[str]]:
    (folder / "trips.yaml").write_text(TRIPS)
    (folder / ".git").mkdir()
    programs = folder / ".bin"
    programs.mkdir()
    for name, words in (("schemac", " -m schemac"), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}"{words} "$@"\n')
        (programs / name).chmod(0o755)
    root = str(Path(__file__).parent.parent)
    environment = {
        **os.environ,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": root,
        "NO_COLOR": "1",
    }
    run = subprocess.run(
        ["sh", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "internal error" not in run.stderr
    found = set(re.findall(r"\[(SC\d{3})\]", run.stdout + run.stderr))
    errors = {code for code in found if CATALOGUE[code].severity is Severity.ERROR}
    assert (run.returncode != 0) >= bool(errors), run.stdout + run.stderr
    assert run.returncode == 0 or found, run.stdout + run.stderr
    return found, errors


@pytest.mark.parametrize("code", CODES, ids=lambda code: code.id)
def test_read_page(code: Code) -> None:
    page = read_page(code)
    title, blank, *prose = page.text.splitlines()
    assert title == f"# {code.id} {code.slug}"
    assert blank == ""
    assert len(" ".join(prose).split("```")[0]) > 80, "a page says what the code means"
    assert {example.is_right for example in page.examples} == {True, False}


@pytest.mark.parametrize("code", [c for c in CODES if c.id not in NOT_RUN], ids=lambda code: code.id)
def test_give_code_for_wrong_example(code: Code, tmp_path: Path) -> None:
    page = read_page(code)
    for i, example in enumerate(e for e in page.examples if not e.is_right):
        folder = tmp_path / str(i)
        folder.mkdir()
        found, errors = _found(code, page, example, folder)
        assert code.id in found
        assert errors <= {code.id}


@pytest.mark.parametrize("code", [c for c in CODES if c.id not in NOT_RUN], ids=lambda code: code.id)
def test_give_nothing_for_right_example(code: Code, tmp_path: Path) -> None:
    page = read_page(code)
    for i, example in enumerate(e for e in page.examples if e.is_right):
        folder = tmp_path / str(i)
        folder.mkdir()
        found, errors = _found(code, page, example, folder)
        assert code.id not in found
        assert not errors


def test_find_no_page_without_code() -> None:
    folder = Path(__file__).parent.parent / "schemac" / "source" / "pages"
    assert {path.stem for path in folder.glob("*.md")} == set(CATALOGUE)


def test_list_codes_once() -> None:
    slugs = [code.slug for code in CODES]
    assert sorted(set(slugs)) == sorted(slugs)
