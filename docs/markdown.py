"""Markdown, written."""

import re
from collections.abc import Iterable, Sequence

_LEXERS = {
    "pipeline": "yaml",
    "run": "yaml",
    "bytes": "text",
    "log": "text",
    "lance": "json",
    "parquet": "json",
    "csv": "text",
}
"""Languages that Pygments does not have, as what they are shown."""
_FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CAPTIONS = {"wrong": "Wrong", "right": "Right"}


def heading(title: str, *paragraphs: str) -> str:
    """A page with its title."""
    return "\n\n".join((f"# {title}", *(text for text in paragraphs if text))) + "\n"


def section(title: str, *paragraphs: str) -> str:
    """A part of a page."""
    return "\n\n".join((f"## {title}", *(text for text in paragraphs if text)))


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; empty without rows."""
    body = [_row(row) for row in rows]
    return "\n".join([_row(columns), _row(["---"] * len(columns)), *body]) if body else ""


def code(text: str, language: str = "text") -> str:
    """A block of code."""
    return f"```{language}\n{text.rstrip()}\n```"


def toctree(entries: Iterable[str], *, caption: str = "") -> str:
    """The pages below a page, with a caption for the list of all pages."""
    options = (":maxdepth: 1", *((f":caption: {caption}", ":hidden:") if caption else ()))
    return "\n".join(("```{toctree}", *options, "", *entries, "```"))


def captioned(text: str) -> str:
    """A page with its examples as the site shows them: a caption before each, and a language of Pygments."""

    def fence(found: re.Match[str]) -> str:
        language, word, body = found[1], found[2], found[3]
        caption = _CAPTIONS.get(word or "", f"`{word}`" if word else "")
        block = code(body, _LEXERS.get(language, language))
        return f"{caption}:\n\n{block}" if caption else block

    return _FENCE.sub(fence, text)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
