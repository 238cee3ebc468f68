"""The site has a page for everything that it promises one for, and its links lead somewhere."""

import posixpath
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import schemac
import schemac.pipeline
from docs.external import requests
from docs.keys import PAGES as PAGES_WITH_KEYS
from docs.keys import with_keys
from docs.markdown import captioned, table
from docs.pictures import FOLDER as PICTURES
from docs.pictures import pictures, svg
from docs.site import pages, write
from schemac.cli.main import COMMANDS
from schemac.language.attributes.registry import ATTRIBUTES, OPEN, domain_of
from schemac.language.kinds.registry import KINDS
from schemac.language.logical.model import LogicalType
from schemac.language.manifest.json_schema_conditions import json_schema
from schemac.registry.codes import builtin_codes, loss_pages
from schemac.registry.engine import engines
from schemac.text.source.pages import rule_pages

_TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


@cache
def made() -> dict[str, str]:
    """All pages by path; made once, and not where tests are only collected."""
    return pages()


def entries(path: str) -> list[str]:
    """Paths of the pages that a page lists below itself."""
    lines = [line for block in _TOCTREE.findall(made()[path]) for line in block.splitlines()]
    names = [re.sub(r".*<(.*)>", r"\1", line) for line in lines if line and not line.startswith(":")]
    return [posixpath.join(posixpath.dirname(path), f"{name}.md") for name in names]


def test_have_a_page_for_everything() -> None:
    expected = {
        *(f"diagnostics/{code}.md" for code in builtin_codes()),
        *(f"rules/{name}.md" for name in rule_pages()),
        *(f"losses/{name}.md" for name in loss_pages()),
        *(f"kinds/{kind.__name__}.md" for kind in KINDS),
        *(f"engines/{engine.name}.md" for engine in engines()),
        *(f"commands/{name}.md" for name in COMMANDS),
    }
    assert expected - set(made()) == set()
    assert all(text.startswith("# ") and len(text) > 60 for text in made().values())


def test_describe_every_attribute() -> None:
    for key in {**ATTRIBUTES, **OPEN}:
        assert f"\n## `{key}`\n" in made()[f"attributes/{domain_of(key)}.md"]


def test_list_every_code_in_one_group() -> None:
    for code in builtin_codes():
        assert made()["diagnostics/index.md"].count(f"[{code}]({code}.md)") == 1


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_show_what_is_known_of_a_kind(kind: type[LogicalType]) -> None:
    page = made()[f"kinds/{kind.__name__}.md"]
    properties = set(json_schema(kind).get("properties", ())) - {"kind", "extra"}
    assert kind.__doc__ is not None
    for told in (kind.__doc__, kind.example, *(f"`{name}`" for name in (*kind.foreign_names, *properties))):
        assert told in page
    assert "| type | Arrow type |" in page


@pytest.mark.parametrize("command", COMMANDS)
def test_show_the_help_of_a_command(command: str) -> None:
    assert f"usage: schemac {command} " in made()[f"commands/{command}.md"]


def test_document_every_public_name() -> None:
    for name in dir(schemac):
        assert name == "__version__" or f":: schemac.{name}\n" in made()["python.md"]
    for name in schemac.pipeline.__all__:
        assert f":: schemac.pipeline.{name}\n" in made()["pipeline.md"]


def test_reach_every_page_from_the_first() -> None:
    reached, waiting = set(), ["index.md"]
    while waiting:
        path = waiting.pop()
        assert path not in reached, f"{path} is listed twice"
        reached.add(path)
        waiting += entries(path)
    assert reached == set(made())


def test_link_to_pages_that_exist() -> None:
    def targets(path: str) -> Iterator[str]:
        for link in re.findall(r"\]\(([^)#\s]+)", _BLOCK.sub("", made()[path])):
            if "://" not in link:
                yield posixpath.normpath(posixpath.join(posixpath.dirname(path), link))

    pictures_of_site = {f"pictures/{name}.svg" for name in pictures()}
    known = {*made(), *pictures_of_site}
    broken = {path: [target for target in targets(path) if target not in known] for path in made()}
    assert {path: missing for path, missing in broken.items() if missing} == {}


def test_leave_no_page_of_before(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "old.md").write_text("# Old\n")
    write(tmp_path / "site")
    assert {p.relative_to(tmp_path / "site").as_posix() for p in (tmp_path / "site").rglob("*.md")} == set(
        made()
    )


def test_keep_the_pictures_fresh() -> None:
    drawn = {f"{name}.svg": svg(picture) for name, picture in pictures().items()}
    assert {file.name: file.read_text(encoding="utf-8") for file in PICTURES.iterdir()} == drawn, (
        "write them with `python -m docs.pictures`"
    )


@pytest.mark.parametrize("page", PAGES_WITH_KEYS, ids=lambda page: page.stem)
def test_keep_the_tables_of_keys_fresh(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "| key | value | default | meaning |" in text
    assert text == with_keys(text), "write them with `make schemas`"


def test_name_the_examples() -> None:
    assert captioned("```yaml wrong\na: 1\n```\n") == "Wrong:\n\n```yaml\na: 1\n```\n"
    assert captioned("```csv rides.csv\na\n```\n") == "`rides.csv`:\n\n```text\na\n```\n"
    assert table(("a",), [("x|y",)]).endswith("| x\\|y |")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.html", '<script src="https://cdn.example/a.js"></script>'),
        ("a.html", '<link rel="stylesheet" href="//fonts.example/css">'),
        ("a.html", '<img src="http://example.com/badge.svg">'),
        ("a.html", "<style>@import 'https://example.com/a.css'</style>"),
        ("a.css", "src: url(https://example.com/font.woff2)"),
        ("a.js", 'fetch("https://example.com/data")'),
        ("a.svg", '<svg><image href="https://example.com/a.png"/></svg>'),
    ],
)
def test_find_requests_to_elsewhere(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert [path.as_posix() for path, _ in requests(tmp_path)] == [name]


def test_allow_links_that_readers_follow(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="https://example.com">x</a><link rel="index" href="https://x.example">'
    )
    (tmp_path / "a.css").write_text("src: url(fonts/a.woff2)")
    assert list(requests(tmp_path)) == []
