"""The guide is true: every example on its pages does what the page says."""

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

import schemac
from docs.guide import FOLDER, PARTS
from schemac.cli.main import parser_with
from schemac.project.settings import Settings
from tests.guide.examples import Example, commands, edited, examples, is_like
from tests.shell import Shell

PAGES = [
    *(file for part in PARTS for file in sorted((FOLDER / part).glob("*.md"))),
    FOLDER.parent / "README.md",
]
UNCHECKED = ("text", "diff", "make", "ninja", "kotlin", "lua", "elisp", "")
"""Languages whose blocks without a name are neither run nor read."""


def needs_session(page: Path) -> bool:
    """Whether the page runs a pipeline, or has code that works with a session of Spark."""
    return re.search(
        r"^\$ schemac run (?!.*--dry-run)", page.read_text("utf-8"), re.MULTILINE
    ) is not None or any(
        example.language == "python"
        and not example.name
        and re.search(r"\bspark\b|import fill_columns", example.text)
        for example in examples(page)
    )


def test_run_the_examples_of_a_page(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    shell = Shell(folder, monkeypatch)
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {"spark": request.getfixturevalue("spark")} if needs_session(page) else {}
    for example in examples(page):
        carry_out(example, folder, shell, names)


def test_links_lead_to_pages_and_headings(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text(encoding="utf-8")):
        name, _, heading = target.partition("#")
        file = page.parent / name if name else page
        assert file.exists(), target
        assert not heading or heading in _heading_ids(file), target


def _heading_ids(page: Path) -> list[str]:
    """The ids that Sphinx and code hosts give to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]


def carry_out(example: Example, folder: Path, shell: Shell, names: dict[str, Any]) -> None:
    file = folder / example.name
    if example.language == "diff" and example.name:
        file.write_text(edited(file.read_text(encoding="utf-8"), example.text), encoding="utf-8")
    elif example.name:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(example.text, encoding="utf-8")
    elif example.language == "console":
        type_commands(example.text, shell)
    elif example.language == "python":
        exec(compile(example.text, "example", "exec"), names)
    elif example.language == "sh":
        parse_commands(example.text)
    elif example.language == "toml":
        read_settings(example.text)
    elif example.language == "yaml":
        read_yaml(example.text)
    elif example.language == "json":
        json.loads(example.text)
    else:
        assert example.language in UNCHECKED, example
        is_python = re.search(r"^(from \S+ )?import ", example.text, re.MULTILINE) is not None
        assert not is_python, "mark code in Python as such, so that it is run"


def type_commands(text: str, shell: Shell) -> None:
    for command, code, expected in commands(text):
        returned, output = shell.run(command)
        assert returned == code, f"$ {command}\nexit code {returned}\n{output}"
        assert not expected or is_like(output, expected), f"$ {command}\n{output}\n--- expected\n{expected}"


def parse_commands(text: str) -> None:
    """Parse what is written for `schemac`; other programs are not tried."""
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        for part in split_at(words, "&&"):
            part = [
                word for word, before in zip(part, ["", *part], strict=False) if ">" not in (word, before)
            ]
            if part[:1] == ["schemac"] and len(part) > 1:
                _, unknown = parser_with((part[1],), part[1:]).parse_known_args(part[1:])
                assert unknown == [], line


def split_at(words: list[str], separator: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for word in words:
        if word == separator:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def read_settings(text: str) -> None:
    read = tomllib.loads(text)
    if "build-system" not in read:
        Settings.model_validate(read)


def read_yaml(text: str) -> None:
    value = YAML(typ="safe", pure=True).load(text)
    if isinstance(value, dict) and {"fields", "name"} <= value.keys():
        schemac.compile_text(text)
    elif isinstance(value, dict) and {"source", "sources"} & value.keys() and "target" in value:
        from schemac.pipeline.declaration.job import Job

        Job.model_validate(value)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of each page; those that run Spark are marked, and go where its session is."""
    if "page" in metafunc.fixturenames:
        metafunc.parametrize(
            "page",
            [
                pytest.param(page, id=page.relative_to(FOLDER.parent).as_posix(), marks=_marks(page))
                for page in PAGES
            ],
        )


def _marks(page: Path) -> list[pytest.MarkDecorator]:
    # The fixture is not among the arguments, by which tests/conftest.py marks and groups.
    of_spark = [pytest.mark.spark, pytest.mark.xdist_group("spark")] if needs_session(page) else []
    return [pytest.mark.slow, *of_spark]
