"""The pages of `schemac docs`: all that is known, every link leads somewhere, and texts of others stay texts."""

import json
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
from markdown_it import MarkdownIt

from schemac.cli.main import main
from schemac.documentation.pages import LIST, write_pages
from schemac.text.source.diagnostics import Report
from tests.documentation.projects import HARM, shop

__all__ = ["shop"]
OUTSIDE = ("https://wiki.example/fax",)
"""What a description links to; no page asks for it."""
SHOWN = HARM.replace("\u202e", "\\u202e")


class _Page(HTMLParser):
    """Elements with their attributes, ids and texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    @property
    def links(self) -> list[str]:
        return [link for _, had in self.elements for name in ("href", "src") if (link := had.get(name))]

    @property
    def has_history(self) -> bool:
        return any("data-history" in had for _, had in self.elements)

    @property
    def ids(self) -> set[str]:
        return {found for _, had in self.elements if (found := had.get("id"))}


def _docs(*words: str) -> None:
    assert main(["docs", "-q", *words]) == 0


def _pages(folder: Path) -> Iterator[tuple[Path, _Page]]:
    for path in sorted(folder.rglob("*.html")):
        yield path, _Page(path.read_text(encoding="utf-8"))


@pytest.fixture
def site(shop: Path) -> Path:
    pytest.importorskip("jinja2", reason="jinja2, which the extra `docs` brings, is not installed")
    _docs("--title", HARM)
    return shop / "site"


def test_lead_somewhere_with_every_link(site: Path) -> None:
    pages = dict(_pages(site))
    for path, page in pages.items():
        for link in page.links:
            if link in OUTSIDE:
                continue
            assert not re.match(r"[a-z]+:|//", link), link
            place, part = urldefrag(link)
            target = (path.parent / unquote(place)).resolve() if place else path
            assert target.is_file(), link
            assert not part or unquote(part) in pages[target].ids
    text = (site / "search-data.js").read_text().removeprefix("window.schemacSearch = ").removesuffix(";\n")
    for entry in json.loads(text):
        place, part = urldefrag(entry["url"])
        assert not part or unquote(part) in pages[site / unquote(place)].ids


def test_show_texts_of_others_as_texts(site: Path) -> None:
    known = {
        "script": {"src", "defer", "type", "data-history"},
        "meta": {"charset", "name", "content", "http-equiv"},
    }
    for path, page in _pages(site):
        for tag, had in page.elements:
            assert tag not in ("img", "iframe", "object", "style"), path
            assert not [name for name in had if name.startswith("on")], path
            assert tag not in known or had.keys() <= known[tag], path
        scripts = [had for tag, had in page.elements if tag == "script"]
        assert str(scripts[0].get("src")).endswith("site.js")
        assert [had.get("type") for had in scripts[1:]] == ["application/json"] * page.has_history
    reviews = dict(_pages(site))[site / "datasets/reviews.html"]
    assert reviews.text.count(SHOWN) >= 8
    assert "49" not in reviews.text
    assert "\u202e" not in reviews.text


def test_tell_all_that_is_known(site: Path) -> None:
    pages = dict(_pages(site))
    customers = pages[site / "datasets/customers.html"].text
    for told in ("Who ordered", "Never reused", "primary key", "deprecated until 2027-03-31", "personal", "core",
                 "BIGINT NOT NULL", "int64 not null", "Struct<city>"):  # fmt: skip
        assert told in customers
    orders = pages[site / "datasets/orders.html"]
    for told in (
        "minimum",
        "precision raised",
        "Decimal(9, 2)",
        "description added",
        "field added",
        "elsewhere",
    ):
        assert told in orders.text
    parts = {had["id"] for tag, had in orders.elements if tag == "details" and had.get("id")}
    assert {"field-codes", "field-vector", "field-codes.item"} <= parts
    assert "field-vector.item" not in parts, "the type of the list says all"
    assert "Part." not in orders.text
    labels = [had for tag, had in orders.elements if tag == "option"]
    assert len(labels) == 2 * 4, "any two of four versions"
    assert "with changes that are not locked yet" in orders.text


def test_write_the_same_bytes_again_and_remove_what_is_gone(site: Path, shop: Path) -> None:
    before = {
        path: (path.read_bytes(), path.stat().st_mtime_ns) for path in site.rglob("*") if path.is_file()
    }
    _docs("--title", HARM)
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in before} == before
    (site / "mine.txt").write_text("mine")
    (shop / "tables/reviews.yaml").unlink()
    (shop / "tables/reviews.lock").unlink()
    _docs()
    assert not (site / "datasets/reviews.html").exists()
    assert (site / "mine.txt").read_text() == "mine"


def test_refuse_a_folder_of_others(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", "--format", "markdown", "-o", "tables"]) == 1
    assert "error[SC543]" in capsys.readouterr().out
    assert sorted(path.suffix for path in (shop / "tables").iterdir()) == [".lock"] * 3 + [".yaml"] * 3


@pytest.mark.parametrize("content", ["", "[]", '{"files": ["../x"]}', '{"files": ["/x"]}', '{"files": [1]}'])
def test_remove_nothing_where_the_list_is_damaged(content: str, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (tmp_path / "x").touch()
    (folder / LIST).write_text(content)
    report = Report()
    write_pages(folder, "site", [("index.html", b"")], report)
    assert [d.code for d in report.diagnostics] == ["SC543"]
    assert (tmp_path / "x").exists()


def test_write_nothing_of_manifests_with_errors(shop: Path) -> None:
    (shop / "tables/bad.yaml").write_text("fields: [{name: a, type: Int9}]\n")
    assert main(["docs", "--format", "markdown"]) == 1
    assert not (shop / "site").exists()


def test_say_which_extra_is_missing(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    for name in [name for name in sys.modules if name.startswith("schemac.documentation")]:
        monkeypatch.delitem(sys.modules, name)
    assert main(["docs"]) == 1
    assert main(["diff", "lock", "--html", "x.html"]) == 1
    out = capsys.readouterr().out
    assert out.count("error[SC607]") == 2
    assert "pip install 'schemac[docs]'" in out
    _docs("--format", "markdown")


def test_write_markdown_that_shows_texts_as_they_are(shop: Path) -> None:
    _docs("--format", "markdown", "-o", "md", "--title", HARM)
    for path in (shop / "md").glob("*.md"):
        tokens = (
            MarkdownIt("commonmark", {"html": True}).enable("table").parse(path.read_text(encoding="utf-8"))
        )
        inline = [child for token in tokens for child in token.children or ()]
        markup = {
            token.content for token in (*tokens, *inline) if token.type in ("html_inline", "html_block")
        }
        assert markup <= {"<code>", "</code>", "<br>", "<!-- -->"}
        links = [str(token.attrs["href"]) for token in inline if token.type == "link_open"]
        assert all((shop / "md" / unquote(link)).is_file() for link in links)
        assert path.name == "index.md" or not links
        assert not any(token.type in ("image", "strong_open", "em_open") for token in inline)
        if path.stem == "reviews":
            assert SHOWN in "".join(
                token.content for token in inline if token.type in ("text", "text_special")
            )


def test_write_changes_as_a_page_of_their_own(shop: Path) -> None:
    pytest.importorskip("jinja2", reason="jinja2, which the extra `docs` brings, is not installed")
    assert main(["diff", "lock:1", "--html", "changes.html"]) == 0
    page = _Page((shop / "changes.html").read_text(encoding="utf-8"))
    assert page.links == []
    assert "field added" in page.text
    assert "Decimal(8, 2) → Decimal(9, 2)" in re.sub(r"\s+", " ", page.text)
