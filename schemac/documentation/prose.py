"""Descriptions as prose: what their authors wrote in Markdown, without anything that a page would obey or load.

Layer: documentation.
Source: CommonMark 0.31, with tables of GitHub Flavored Markdown. HTML in a text stays a text, and a picture is a link to it. Links lead to
`https`, `http` and `mailto` addresses; all others stay as they were written, for what they are relative to is not on the site.
"""

from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from schemac.source.printable import printable

_SCHEMES = ("https://", "http://", "mailto:")
_HEADINGS_BELOW = 3
"""The levels of headings that a page has of its own."""
_BREAKS = frozenset({"softbreak", "hardbreak"})


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    parser.validateLink = lambda url: url.lower().startswith(_SCHEMES)  # type: ignore[method-assign]  # its way to say which
    return parser


_PARSER = _parser()


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
    return " ".join(" ".join(_texts(_tokens(text))).split())


def _tokens(text: str) -> list[Token]:
    return _PARSER.parse(printable(text, keep="\n\t"))


def _texts(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.children is not None:
            yield "".join(" " if one.type in _BREAKS else one.content for one in token.children)
        elif token.content:
            yield token.content
