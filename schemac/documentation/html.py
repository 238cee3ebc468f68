"""The pages of the site and of a comparison as HTML, with all texts escaped.

Layer: documentation.
Shape: pages are alone in a folder and ask no server and no other host for anything: `index.html`, `references.html`,
`datasets/<name>.html`, `style.css`, `site.js`, `search-data.js`. The page of a comparison needs no other file.
Source: descriptions are CommonMark 0.31, with tables of GitHub Flavored Markdown. HTML in a text remains text, and a picture is a link to
it. Links lead to `https`, `http` and `mailto` addresses; all others stay as they were written, for what they are relative to is not on
the site.
"""

import json
from collections.abc import Iterator, Sequence
from importlib.resources import files
from itertools import chain
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import jinja2
from jinja2.utils import htmlsafe_json_dumps
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from schemac.documentation.model import DatasetPage, Site, json_or_text
from schemac.documentation.picture import draw
from schemac.language.attributes.builtin import Classification
from schemac.language.logical.facts import Fact
from schemac.text.source.html import environment_of
from schemac.text.source.json_object import Json
from schemac.text.source.phrases import counted, printable
from schemac.versions.evolution.changes import Change

if TYPE_CHECKING:
    from schemac.project.comparing import Comparison

_PRIVATE = (Classification.CONFIDENTIAL, Classification.PERSONAL, Classification.SENSITIVE)
_ASSETS = ("style.css", "site.js")


def html_pages(site: Site) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the bytes of each file."""
    environment = environment_of_pages()
    assets = files("schemac.documentation").joinpath("assets")
    for name in _ASSETS:
        yield name, assets.joinpath(name).read_bytes()
    yield "search-data.js", _search_data(site).encode()
    filters = {one.name: _filter_values(one) for one in site.datasets}
    # What the list of datasets can be filtered by, with the values that there are.
    choices = {
        name: values
        for name in ("owner", "tag", "classification")
        if (values := sorted({*chain.from_iterable(of[name] for of in filters.values())}))
    }
    yield "index.html", _render(environment, "index.html", site, "", filters=filters, choices=choices)
    if site.relations:
        yield "references.html", _render(environment, "references.html", site, "", drawn=draw(site.relations))
    for one in site.datasets:
        drawn = draw(site.relations_with(one.name))
        page = _render(environment, "dataset.html", site, "../", one=one, drawn=drawn)
        yield f"datasets/{one.file}.html", page


def environment_of_pages() -> jinja2.Environment:
    """Return what fills templates in; it escapes every text that is not a template's own."""
    environment = environment_of("schemac.documentation", keep="\n\t")
    environment.filters |= {
        "plain": plain,
        "prose": prose,
        "text": json_or_text,
        "json": lambda value: json.dumps(value, ensure_ascii=False),
        "url": quote,
        # The data by which `site.js` compares versions.
        "history": lambda history: htmlsafe_json_dumps(history, default=vars, separators=(",", ":")),
        "is_digit": str.isdigit,
        "kind_of_change": kind_of_change,
    }
    environment.globals["private"] = [str(one) for one in _PRIVATE]
    return environment


def kind_of_change(change: Change) -> str:
    """Return `added`, `dropped` or `changed`: the colour of a change."""
    if change.fact in (Fact.FIELD_ADDED, Fact.DATASET_ADDED):
        return "added"
    return "dropped" if change.fact in (Fact.FIELD_DROPPED, Fact.DATASET_DROPPED) else "changed"


def _render(environment: jinja2.Environment, template: str, site: Site, root: str, **known: Any) -> bytes:
    """Return the bytes of a rendered template; `root` is the relative path from the page to the site's top."""
    text = environment.get_template(template).render(site=site, root=root, **known)
    return text.encode("utf-8", "backslashreplace")


def _filter_values(one: DatasetPage) -> dict[str, list[str]]:
    """Return the owners, tags and classifications of a dataset and of its fields, sorted."""
    known = [one.ownership, *(field.ownership for field in one.all_fields)]
    return {
        "owner": sorted({of.owner for of in known if of.owner}),
        "tag": sorted({tag for of in known for tag in of.tags}),
        "classification": sorted({of.classification for of in known if of.classification}),
    }


def _search_data(site: Site) -> str:
    """Return the script that search loads: a page that was opened from a folder may load scripts, and nothing else."""
    text = json.dumps(list(_search_entries(site)), ensure_ascii=True, separators=(",", ":"))
    return f"window.schemacSearch = {text};\n"


def _search_entries(site: Site) -> Iterator[Json]:
    """Yield the entries of all datasets and of their fields."""
    for one in site.datasets:
        url = f"datasets/{quote(one.file)}.html"
        yield _search_entry(one.name, "", counted(len(one.fields), "column"), plain(one.description), url)
        for field in one.all_fields:
            if field.is_member:
                inside = field.path.removesuffix(field.name).rstrip(".")
                in_ = f"{one.name}.{inside}" if inside else one.name
                owner, tags, classification, _ = field.ownership
                words = (plain(field.description), *tags, classification or "", owner or "")
                place = f"{url}#{quote(field.anchor)}"
                yield _search_entry(field.name, in_, field.type_text, " ".join(words).strip(), place)


def _search_entry(name: str, in_: str, type: str, text: str, url: str) -> Json:
    """Return one entry of the search, its texts without control characters; `in_` is the dataset of a field."""
    parts = {"name": name, "in": in_, "type": type, "text": text}
    return {**{key: printable(value) for key, value in parts.items()}, "url": url}


def comparison_page(comparisons: "Sequence[Comparison]", against: str, summary: str) -> bytes:
    """Return the page; `summary` has all changes in a few words."""
    style = files("schemac.documentation").joinpath("assets/style.css").read_text(encoding="utf-8")
    template = environment_of_pages().get_template("comparison.html")
    # The style is our own, and has nothing that ends it.
    text = template.render(
        comparisons=[(one, one.rename_findings()) for one in comparisons],
        title=f"Changes since {against}",
        summary=summary,
        style=Markup(style),  # noqa: S704 — a file of this package
    )
    return text.encode("utf-8", "backslashreplace")


_SCHEMES = ("https://", "http://", "mailto:")
_HEADINGS_BELOW = 3
"""The levels of headings that a page has of its own."""
_BREAKS = frozenset({"softbreak", "hardbreak"})


_PARSER = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
_PARSER.validateLink = lambda url: url.lower().startswith(_SCHEMES)  # type: ignore[method-assign]  # its way to say which


def prose(text: str) -> Markup:
    """Return a description as blocks of HTML."""
    tokens = _tokens(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1:]) + _HEADINGS_BELOW)}"
        if "style" in token.attrs:
            # The pages allow no styles in a text: it is `text-align:` and a word.
            token.attrSet("class", str(token.attrs.pop("style")).partition(":")[2])
        for inline in token.children or ():
            if inline.type == "link_open":
                inline.attrSet("rel", "noopener noreferrer")
    # The renderer escapes every text, and HTML is off.
    return Markup(_PARSER.renderer.render(tokens, _PARSER.options, {}))  # noqa: S704


def plain(text: str) -> str:
    """Return a description without the signs of Markdown, for a list or a search; its blocks are behind each other."""
    texts = [
        token.content
        if token.children is None
        else "".join(" " if one.type in _BREAKS else one.content for one in token.children)
        for token in _tokens(text)
    ]
    return " ".join(" ".join(texts).split())


def _tokens(text: str) -> list[Token]:
    """Return the tokens of a Markdown text, parsed without control characters."""
    return _PARSER.parse(printable(text, keep="\n\t"))
