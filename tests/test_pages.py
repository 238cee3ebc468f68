"""The examples on the page of each code do what they say: the wrong one gives that code, the right one none."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from schemac.project.configuration import find_project
from schemac.source.catalogue import CATALOGUE
from schemac.source.diagnostic import Code, Severity
from schemac.source.pages import Example, Page, read_page
from schemac.source.report import Report
from tests.compiling import compile_bytes
from tests.shell import Shell

CODES = list(CATALOGUE.values())
STRICT = frozenset({"SC213", "SC214"})
"""Codes whose examples are compiled with `--strict`."""
NOT_RUN = frozenset({"SC423", "SC613"})
"""Codes whose examples need Spark, which `tests/pipeline/test_drift.py` runs, or somebody else at the same moment."""
TRIPS = "fields:\n  - name: fare\n    type: Float64\n"


def _found(code: Code, page: Page, example: Example, shell: Shell, folder: Path) -> tuple[set[str], set[str]]:
    """All codes that an example gives, and those among them that are errors."""
    if example.language == "shell":
        return _found_by_shell(example.text, shell, folder)
    if example.language == "toml":
        (folder / "schemac.toml").write_text(example.text)
        report = Report()
        find_project(folder, report)
        return {d.code for d in report.diagnostics}, {d.code for d in report.diagnostics}
    if example.language == "pipeline":
        (folder / "pipeline.yaml").write_text(example.text)
        (folder / "rides.yaml").write_text(TRIPS)
        (folder / "rides.ndjson").write_text('{"fare": 1.5}\n')
        return _found_by_shell("schemac run --dry-run pipeline.yaml", shell, folder)
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


def _found_by_shell(script: str, shell: Shell, folder: Path) -> tuple[set[str], set[str]]:
    (folder / "trips.yaml").write_text(TRIPS)
    (folder / ".git").mkdir()
    ran = shell.run(script)
    assert "internal error" not in ran.said
    found = set(re.findall(r"\[(SC\d{3})\]", ran.said))
    errors = {code for code in found if CATALOGUE[code].severity is Severity.ERROR}
    assert (ran.code != 0) >= bool(errors), ran.said
    assert ran.code == 0 or found, ran.said
    return found, errors


@pytest.fixture
def shells(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], tuple[Shell, Path]]:
    """A shell in a folder of its own, for each example of a page."""

    def made(name: str) -> tuple[Shell, Path]:
        folder = tmp_path / name
        folder.mkdir()
        return Shell(folder, capsys, monkeypatch), folder

    return made


@pytest.mark.parametrize("code", CODES, ids=lambda code: code.id)
def test_read_page(code: Code) -> None:
    page = read_page(code)
    title, blank, *prose = page.text.splitlines()
    assert title == f"# {code.id} {code.slug}"
    assert blank == ""
    assert len(" ".join(prose).split("```")[0]) > 80, "a page says what the code means"
    assert {example.is_right for example in page.examples} == {True, False}


@pytest.mark.parametrize("code", [c for c in CODES if c.id not in NOT_RUN], ids=lambda code: code.id)
def test_give_code_for_wrong_example(code: Code, shells: Callable[[str], tuple[Shell, Path]]) -> None:
    page = read_page(code)
    for i, example in enumerate(e for e in page.examples if not e.is_right):
        found, errors = _found(code, page, example, *shells(str(i)))
        assert code.id in found
        assert errors <= {code.id}


@pytest.mark.parametrize("code", [c for c in CODES if c.id not in NOT_RUN], ids=lambda code: code.id)
def test_give_nothing_for_right_example(code: Code, shells: Callable[[str], tuple[Shell, Path]]) -> None:
    page = read_page(code)
    for i, example in enumerate(e for e in page.examples if e.is_right):
        found, errors = _found(code, page, example, *shells(str(i)))
        assert code.id not in found
        assert not errors


def test_find_no_page_without_code() -> None:
    folder = Path(__file__).parent.parent / "schemac" / "source" / "pages"
    assert {path.stem for path in folder.glob("*.md")} == set(CATALOGUE)


def test_list_codes_once() -> None:
    slugs = [code.slug for code in CODES]
    assert sorted(set(slugs)) == sorted(slugs)
