"""The examples on the page of each code do what they say: the wrong one gives that code, the right one none."""

import ast
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import schemac
from schemac.pipeline import codes as of_pipeline
from schemac.project.configuration import find_project
from schemac.registry.codes import builtin_codes, builtin_providers, codes_of
from schemac.registry.codes import page as page_of
from schemac.text.source import catalogue
from schemac.text.source.catalogue import CATALOGUE, INPUT_NOT_FOUND
from schemac.text.source.diagnostics import Code, Report, Severity
from tests.compiling import compile_bytes
from tests.page_files import Example, examples_of, files_of, lay_out
from tests.shell import Shell

PACKAGE = Path(schemac.__file__).parent
CONSTANTS = {**vars(catalogue), **vars(of_pipeline)}
"""The codes of pipelines by the names that raise them, among other things."""
CODES = list(builtin_codes().values())
STRICT = frozenset({"SC213", "SC214"})
"""Codes whose examples are compiled with `--strict`."""
SHOWN_BY = {
    "SC423": "tables/test_paimon_apply.py",
    "SC533": "kinds/test_kind_of_ones_own.py",
    "SC534": "kinds/test_kind_of_ones_own.py",
    "SC555": "constraints/test_metadata.py",
    "SC597": "engines/protobuf/test_artifact.py",
    "SC607": "documentation/test_docs.py",
    "SC613": "pipeline/test_drift.py",
    "SC644": "pipeline/test_codes.py",
    "SC647": "pipeline/test_increments.py",
    "SC648": "pipeline/test_increments.py",
    "SC659": "pipeline/test_commit.py",
    "SC660": "pipeline/test_killed_runs.py",
    "SC670": "pipeline/test_codes.py",
    "SC681": "pipeline/test_codes.py",
    "SC696": "pipeline/test_missing.py",
}
"""Codes whose examples need somebody else at the same moment, or another machine: the tests that give them."""
ON_SPARK = frozenset({"run", "python", "log"})
"""Languages of examples that `tests/pipeline/test_codes.py` runs."""
RUN_HERE = [code for code in CODES if code.id not in SHOWN_BY]
TRIPS = "fields:\n  - name: fare\n    type: Float64\n"


def _found(code: Code, page: str, example: Example, shell: Shell, folder: Path) -> tuple[set[str], set[str]]:
    """All codes that an example gives, and those among them that are errors."""
    if example.language == "shell":
        return _found_by_shell(example.text, shell, folder)
    if example.language == "toml":
        (folder / "schemac.toml").write_text(example.text)
        report = Report()
        find_project(folder, report)
        return {d.code for d in report.diagnostics}, {d.code for d in report.diagnostics}
    if example.language == "pipeline":
        lay_out(page, folder)
        (folder / "pipeline.yaml").write_text(example.text)
        return _found_by_shell("schemac run --dry-run pipeline.yaml", shell, folder)
    if code.id.startswith("SC8"):
        settings = next((file.text for file in files_of(page) if file.path == "schemac.toml"), None)
        (folder / "schemac.toml").write_text(settings or f'[lint]\nselect = ["{code.id}", "default"]\n')
        (folder / "rides.yaml").write_text(example.text)
        return _found_by_shell("schemac check rides.yaml", shell, folder)
    content = example.text.encode()
    if example.language == "bytes":
        content = re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes.fromhex(m[1].decode()), content)
    vocabulary = re.search(r"```json\n(.*?)\n```", page, re.DOTALL)
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
    assert "internal error" not in ran.output
    found = set(re.findall(r"\[(SC\d{3})\]", ran.output))
    errors = {code for code in found if builtin_codes()[code].severity is Severity.ERROR}
    assert (ran.code != 0) >= bool(errors), ran.output
    assert ran.code == 0 or found, ran.output
    return found, errors


@pytest.fixture
def shells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], tuple[Shell, Path]]:
    """A shell in a folder of its own, for each example of a page."""

    def made(name: str) -> tuple[Shell, Path]:
        folder = tmp_path / name
        folder.mkdir()
        return Shell(folder, monkeypatch), folder

    return made


@pytest.mark.parametrize("code", CODES, ids=lambda code: code.id)
def test_read_page(code: Code) -> None:
    page = page_of(code)
    title, blank, *prose = page.splitlines()
    assert title == f"# {code.id} {code.slug}"
    assert blank == ""
    assert len(" ".join(prose).split("```")[0]) > 80, "a page says what the code means"
    assert {example.is_right for example in examples_of(page)} == {True, False}


@pytest.mark.parametrize("code", RUN_HERE, ids=lambda code: code.id)
def test_give_code_for_wrong_example(code: Code, shells: Callable[[str], tuple[Shell, Path]]) -> None:
    page = page_of(code)
    for i, example in enumerate(
        e for e in examples_of(page) if not e.is_right and e.language not in ON_SPARK
    ):
        found, errors = _found(code, page, example, *shells(str(i)))
        assert code.id in found
        assert errors <= {code.id}


@pytest.mark.parametrize("code", RUN_HERE, ids=lambda code: code.id)
def test_give_nothing_for_right_example(code: Code, shells: Callable[[str], tuple[Shell, Path]]) -> None:
    page = page_of(code)
    for i, example in enumerate(e for e in examples_of(page) if e.is_right and e.language not in ON_SPARK):
        found, errors = _found(code, page, example, *shells(str(i)))
        assert code.id not in found
        assert not errors


@pytest.mark.parametrize(("id", "file"), SHOWN_BY.items())
def test_show_the_other_codes_elsewhere(id: str, file: str) -> None:
    text = (Path(__file__).parent / file).read_text(encoding="utf-8")
    constants = [name for name, value in CONSTANTS.items() if value is builtin_codes()[id]]
    assert id in text or any(re.search(rf"\b{constant}\b", text) for constant in constants)


@pytest.mark.parametrize("format", ["text", "json", "github", "sarif"])
def test_carry_the_code_of_a_run_in_every_format(
    format: str, shells: Callable[[str], tuple[Shell, Path]]
) -> None:
    shell, folder = shells("run")
    (folder / "pipeline.yaml").write_text(
        "source: {path: none.csv}\nschema: trips.yaml\ntarget: {path: t.lance}\n"
    )
    (folder / "trips.yaml").write_text(TRIPS)
    output = shell.run(f"schemac run --dry-run --format {format} pipeline.yaml").output
    assert INPUT_NOT_FOUND.id in output
    assert format == "text" or INPUT_NOT_FOUND.slug in output


def test_raise_each_pipeline_error_with_a_code_of_the_pipeline() -> None:
    raised = set()
    for path in (PACKAGE / "pipeline").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("PipelineError", "Cause"):
                code = ast.unparse(node.args[node.func.id == "Cause"])  # type: ignore[attr-defined]
                # Those that pass a code on: the constructor's callers, not the places where a mistake is found.
                if not code.endswith(("code", "['code']]")):
                    raised.add(CONSTANTS[code])
    assert len(raised) > 40
    assert all(code.id.startswith("SC6") for code in raised)


def test_find_every_page_where_its_code_is() -> None:
    """Those of an engine or of the pipeline lie in its folder."""
    folders = {"schemac.text.source.pages": tuple(CATALOGUE.values())} | {
        bringer.pages: codes_of(bringer) for bringer in builtin_providers() if bringer.pages or bringer.codes
    }
    for package, codes in folders.items():
        pages = PACKAGE.parent.joinpath(*package.split("."))
        assert {path.stem for path in pages.glob("*.md")} == {code.id for code in codes}


def test_list_codes_once() -> None:
    codes = [*CATALOGUE.values(), *(code for bringer in builtin_providers() for code in codes_of(bringer))]
    for names in ([code.id for code in codes], [code.slug for code in codes]):
        assert sorted(set(names)) == sorted(names)
